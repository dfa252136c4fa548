"""`ridge bench` on the stories model: llama-bench's flags, table and JSON; what it refuses. Speeds are not judged."""
import csv
import io
import json
import os
import tempfile

from _e2e import Check, ridge, stories

MODEL = stories()
check = Check()
with tempfile.TemporaryDirectory() as folder:
    os.environ['XDG_CACHE_HOME'] = folder
    quick = ('bench', '-m', MODEL, '-t', 1, '-r', 2)

    table = ridge(*quick, '-p', '16,32', '-n', 4, '-pg', '8,2', '-d', '0,32')
    check.that(table.code == 0, table)
    rows = [line for line in table.out.splitlines() if line.startswith('|')]
    check.that(len(rows) == 2 + 8, 'a head, a rule and 8 rows\n%s' % table)
    head = [cell.strip() for cell in rows[0].strip('|').split('|')]
    check.that(head[:7] == ['model', 'size', 'params', 'backend', 'threads', 'test', 't/s'], head)
    tests = [row.split('|')[6].strip() for row in rows[2:]]
    check.that(tests == ['pp16', 'pp32', 'tg4', 'pp8+tg2'] + [t + ' @ d32' for t in ('pp16', 'pp32', 'tg4', 'pp8+tg2')], tests)
    check.that('build:' in table.out, table)

    found = ridge(*quick, '-p', 16, '-n', 4, '-o', 'json')
    doc = json.loads(found.out)
    check.that([d['n_prompt'] for d in doc] == [16, 0] and [d['n_gen'] for d in doc] == [0, 4], found)
    for d in doc:
        check.that(len(d['samples_ns']) == 2 and d['avg_ts'] > 0, d)
        own = d['ridge']
        check.that((own['arithmetic_share'] is None) == (own['arithmetic_share_reason'] is not None), own)
        check.that(own['read_share'] is None and 'cache' in own['read_share_reason'], 'one megabyte stays in a cache: %s' % own)
        check.that(own['kernels'] and own['isa'], own)
        check.that(own['synthetic'] is False, own)
    lines = ridge(*quick, '-p', 16, '-n', 4, '-o', 'jsonl', '--roofs', 'off').out.splitlines()
    check.that([json.loads(line)['n_prompt'] for line in lines] == [16, 0], lines)
    check.that(all('--roofs off' in json.loads(line)['ridge']['arithmetic_share_reason'] for line in lines), lines)

    sheet = list(csv.DictReader(io.StringIO(ridge(*quick, '-p', 16, '-n', 0, '-o', 'csv', '--roofs', 'off').out)))
    check.that(len(sheet) == 1 and sheet[0]['n_prompt'] == '16' and sheet[0]['model_size'] == str(doc[0]['model_size']), sheet)
    check.that('INSERT INTO llama_bench' in ridge(*quick, '-p', 16, '-n', 0, '-o', 'sql', '--roofs', 'off').out, 'sql')

    axes = ridge(*quick, '-p', 8, '-n', 0, '-ctk', 'f16,q8_0', '-ctv', 'f16', '-ub', '4', '-fa', '1', '--roofs', 'off')
    check.that(axes.code != 0 or all(word in axes.out for word in ('type_k', 'n_ubatch', 'fa')), axes)

    batched = ridge('bench', '-m', MODEL, '-t', 1, '--batched', '-npp', '32', '-ntg', 4, '-npl', '1,2', '--roofs', 'off')
    lines = batched.out.splitlines()
    check.that(batched.code == 0 and lines[0].startswith('main: n_kv_max = 72, n_batch = 2048'), batched)
    check.that([line.split('|')[3].strip() for line in lines[4:]] == ['1', '2'], batched)
    many = ridge('bench', '-m', MODEL, '-t', 1, '--batched', '-npp', '32', '-ntg', 4, '-npl', '2', '-pps', '-o', 'jsonl', '--roofs', 'off')
    check.that(json.loads(many.out)['is_pp_shared'] == 1 and json.loads(many.out)['n_kv'] == 40, many)
    ops = ridge('bench', '-m', MODEL, '-t', 1, '--ops', '-p', 16, '-n', 2, '-r', 2)
    check.that(ops.code == 0 and 'prefill: a step of 16 rows' in ops.out and 'decode: a step of 1 row' in ops.out, ops)
    check.that('outside the verbs' in ops.out, ops)
    ops = json.loads(ridge('bench', '-m', MODEL, '-t', 1, '--ops', '-p', 16, '-n', 2, '-r', 2, '-o', 'json').out)
    check.that({row['phase'] for row in ops['ops']} == {'prefill', 'decode'} and all(row['kernel'] for row in ops['ops']), ops)
    check.refusal(2, ridge('bench', '-m', MODEL, '--batched', '--roofs', 'off'), '-npp')
    check.refusal(2, ridge('bench', '-m', MODEL, '--batched', '--ops'), 'different')
    check.refusal(2, ridge('bench', '-m', MODEL, '--ops', '-t', '1,2'), 'one value')

    for args, code, word in ((('-p', 'x'), 2, "found 'x'"), (('-pg', '5'), 2, '512,128'), (('-o', 'xml'), 2, 'jsonl'),
                             (('-p', 0, '-n', 0), 2, 'nothing to run'), (('-r', 0), 2, '-r'), (('-ctk', 'q9'), 2, 'q9'),
                             (('--isa', 'mmx'), 4, 'mmx')):
        ran = ridge('bench', '-m', MODEL, '--roofs', 'off', *args)
        check.that(ran.code == code, 'exit code %d expected\n%s' % (code, ran))
        check.that(word in ran.err, 'the error must have %s\n%s' % (word, ran))
    check.refusal(3, ridge('bench', '-m', 'missing.gguf', '-p', 1, '--roofs', 'off'), 'missing.gguf')
check.finish()
