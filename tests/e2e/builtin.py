"""The built-in model: questions that it was never trained on, pinned answers that every kernel gives, a conversation of three turns.
Truth: tools/builtin_model/data (key phrases), builtin_answers.json beside this file (answers of the shipped model)."""
import collections
import concurrent.futures
import json
import os
import sys
import tempfile

from _e2e import FAST, SOURCE, Check, read_json, ridge

sys.path.insert(0, os.path.join(SOURCE, 'tools', 'builtin_model'))
import pathlib  # noqa: E402

import check_data  # noqa: E402

MIN_RIGHT = 0.8
MAX_LOOPS = 0.02
check = Check()
concepts, _, _, heldout, problems = check_data.load(pathlib.Path(SOURCE, 'tools', 'builtin_model', 'data'))
by_id = {c.id: c for c in concepts}


def asked(question, *args):
    """(text, finish reason) of one question to the built-in model."""
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, 'record.json')
        ran = ridge('run', question, '--no-escape', '-n', 200, '-t', 1, '--no-perf', '--json', record, *args)
        if ran.code != 0:
            return str(ran), 'error'
        doc = read_json(record)
        if doc['text'].strip() != ran.out.strip():
            return 'streamed %r, whole %r' % (ran.out, doc['text']), 'error'
        return doc['text'].strip(), doc['finish_reason']


def loops(text):
    """Some 12 characters stand there four times or more."""
    seen = collections.Counter(text[i:i + 12] for i in range(len(text) - 11))
    return bool(seen) and max(seen.values()) >= 4


def check_heldout():
    rows = [(ident, question) for ident, question, _ in heldout]
    if FAST:
        rows = rows[::24]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda row: asked(row[1]), rows))
    n_right = n_loops = 0
    for (ident, question), (text, reason) in zip(rows, answers):
        check.that(reason != 'error', text)
        right = by_id[ident].key[check_data.lang_of(question)].casefold() in text.casefold()
        n_right += right
        looping = loops(text)
        n_loops += looping
        if not looping:
            check.that(text and reason == 'end of generation', 'broken off: %r -> %r (%s)' % (question, text, reason))
        if not right:
            print('miss  %s: %s -> %s' % (ident, question, text[:100]))
    print('held-out questions: %d of %d right, %d loops' % (n_right, len(rows), n_loops))
    if not FAST:
        check.that(n_right >= MIN_RIGHT * len(rows), '%d of %d held-out questions answered right' % (n_right, len(rows)))
    check.that(n_loops <= MAX_LOOPS * len(rows), '%d of %d answers loop' % (n_loops, len(rows)))


def check_pins():
    """Ten greedy answers, the same on every instruction set of this machine and on the reference backend."""
    pins = read_json(os.path.join(SOURCE, 'tests', 'e2e', 'builtin_answers.json'))['answers']
    check.that(len(pins) == 10, '%d pinned answers' % len(pins))
    isas = json.loads(ridge('device', '--json').out)['device']['isas']
    variants = [('--isa', isa) for isa in isas] + [('--backend', 'reference')]
    for i, pin in enumerate(pins):
        for variant in variants if not FAST or i == 0 else variants[-2:-1]:
            text, reason = asked(pin['question'], *variant)
            check.that(text == pin['answer'] and reason != 'error', '%s %s\n  now:    %s\n  pinned: %s' % (pin['question'], variant, text, pin['answer']))


def check_conversation():
    """Each follow-up is answered about what was asked before."""
    for lang, ident, why, example in (('en', 'kv_cache', 'Why?', 'Give me an example.'), ('zh', 'ttft', '为什么？', '举个例子')):
        parts = by_id[ident].text[lang]
        ran = ridge('chat', '--no-show-timings', stdin='%s\n%s\n%s\n' % (parts['q'][0], why, example))
        said = [line.strip() for line in ran.out.splitlines() if line.strip()]
        check.that(ran.code == 0 and said == [parts['a'][0], parts['why'][0], parts['ex'][0]], 'three turns\n%s\n%s' % (said, ran))


check.that(problems == [], problems[:3])
plain = ridge('run', 'What is TTFT?', '--accounts', 'brief')
check.that(plain.code == 0 and len([line for line in plain.err.splitlines() if 'built-in model' in line]) == 1, 'one line says who answers\n%s' % plain)
check.that(all(len(line) <= 80 for line in (plain.out + plain.err).splitlines() if not line.startswith('TTFT')), 'the card fits 80 columns\n%s' % plain.err)
check_heldout()
check_pins()
check_conversation()
check.finish()
