"""`ridge tokenize --jsonl` gives the reference's ids, plain, with special tokens recognised, and with BOS and EOS as the file asks;
`--decode` gives the text back. Truth: golden/tokenizers."""
import glob
import json
import os

from _e2e import FAST, Check, golden, ridge

check = Check()
files = sorted(glob.glob(os.path.join(golden('tokenizers'), '*.jsonl')))
for file in files[:2] if FAST else files:
    name = os.path.basename(file)[:-6]
    model = golden('tokenizers', 'ggml-vocab-' + name + '.gguf')
    with open(file, encoding='utf-8') as f:
        cases = [json.loads(line) for line in f]
    stdin = ''.join(json.dumps(case['text']) + '\n' for case in cases)
    for flags, column in (([], 'ids'), (['--special'], 'ids_parse_special'), (['--bos'], 'ids_add_special')):
        ran = ridge('tokenize', '-m', model, '--jsonl', *flags, stdin=stdin, timeout_s=300)
        lines = ran.out.splitlines()
        if not check.that(ran.code == 0 and len(lines) == len(cases), '%s %s: %d lines for %d\n%s' % (
                name, column, len(lines), len(cases), ran)):
            continue
        for case, line in zip(cases, lines):
            ids = json.loads(line)['ids']
            check.that(ids == case[column], '%s %s %r\n  %s\n  %s' % (name, column, case['text'], ids, case[column]))
    some = [case for case in cases if 0 < len(case['text']) < 200 and case['text'].isascii() and case['text'][0].isalpha()][:50]
    stdin = ''.join(json.dumps({'ids': case['ids']}) + '\n' for case in some)
    ran = ridge('tokenize', '-m', model, '--decode', '--jsonl', stdin=stdin, timeout_s=300)
    lines = ran.out.splitlines()
    if check.that(ran.code == 0 and len(lines) == len(some), ran):
        for case, line in zip(some, lines):
            text = json.loads(line)
            check.that(text.strip() == case['text'].strip(), '%s decode %r: %r' % (name, case['text'], text))
check.that(len(files) > 0, 'no vocabularies')
check.finish()
