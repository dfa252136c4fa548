"""`ridge synth`: a file that inspect, run and bench read, each saying that its weights are synthetic; what it refuses."""
import json
import os
import tempfile

from _e2e import Check, ridge

MARK = 'synthetic weights, speed only'
check = Check()
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, 'tiny.gguf')
    made = ridge('synth', '--like', 'tiny', '--format', 'q4_k_m', '-o', file)
    check.that(made.code == 0 and MARK in made.out, made)
    looked = ridge('inspect', '-m', file)
    check.that(looked.code == 0 and MARK in looked.out and 'ridge.synthetic' in looked.out, looked)
    check.that('q4_K' in looked.out and 'q6_K' in looked.out, 'the formats of Q4_K_M\n%s' % looked)
    report = os.path.join(folder, 'run.json')
    ran = ridge('run', '-m', file, '-p', 'hello', '-n', 4, '-t', 1, '--json', report)
    check.that(ran.code == 0 and MARK in ran.err, ran)
    with open(report, encoding='utf-8') as f:
        check.that(json.load(f)['model']['synthetic'] is True, 'the JSON of a run names synthetic weights')
    for form in ('md', 'json'):
        bench = ridge('bench', '-m', file, '-p', 8, '-n', 0, '-r', 1, '-t', 1, '--roofs', 'off', '-o', form)
        check.that(bench.code == 0 and MARK in bench.out, bench)
        check.that('Q4_K - Medium' in bench.out, bench)
    check.that(ridge('tokenize', '-m', file, 'a b').code == 0, 'the vocabulary must load')
    check.refusal(2, ridge('synth', '--like', 'tiny', '-o', file), 'exists', '--force')
    check.that(ridge('synth', '--like', 'tiny', '-o', file, '--force', '--layers', 1).code == 0, '--force writes over it')
    check.refusal(2, ridge('synth', '--like', 'gpt-9', '-o', file), 'gpt-9', 'llama-3.1-8b')
    check.refusal(2, ridge('synth', '--like', 'tiny', '--format', 'q9', '-o', file), 'q9', 'Q4_K_M')
    check.that(len(os.listdir(folder)) == 2, 'nothing half-written is left: %s' % os.listdir(folder))
check.finish()
