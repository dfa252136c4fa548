"""`ridge logits` writes the reference's logits: NMSE at most 1e-9 with the reference backend and 1e-5 with the CPU's kernels, and the
same greedy continuation. Truth: golden/architectures. All of them are tested beside the code; this is the door."""
import array
import json
import os
import tempfile

from _e2e import FAST, Check, golden, read_json, ridge

BOUND = {'reference': 1e-9, 'cpu': 1e-5}

check = Check()
names = ['llama-dense', 'qwen3-dense', 'gpt-oss-moe']
with tempfile.TemporaryDirectory() as folder:
    for name in names[:1] if FAST else names:
        model, case = golden('architectures', name + '.gguf'), read_json(golden('architectures', name + '.json'))
        expected = array.array('f')
        with open(golden('architectures', name + '.logits.f32'), 'rb') as f:
            expected.frombytes(f.read())
        for backend, bound in BOUND.items():
            out = os.path.join(folder, 'out.f32')
            ran = ridge('logits', '-m', model, '--tokens', ','.join(map(str, case['tokens'])), '--out', out, '--greedy',
                        len(case['greedy']), '--backend', backend, '-ctk', 'f32', '-ctv', 'f32', timeout_s=300)
            if not check.that(ran.code == 0, ran):
                continue
            got = array.array('f')
            with open(out, 'rb') as f:
                got.frombytes(f.read())
            if check.that(len(got) == len(expected), '%s %s: %d logits, expected %d' % (name, backend, len(got), len(expected))):
                error = sum((a - b) ** 2 for a, b in zip(got, expected)) / sum(b * b for b in expected)
                check.that(error <= bound, '%s %s: NMSE %g, at most %g' % (name, backend, error, bound))
            greedy = json.loads(ran.out.strip().splitlines()[-1])['greedy']
            check.that(greedy == case['greedy'], '%s %s: greedy %s, expected %s' % (name, backend, greedy, case['greedy']))
check.finish()
