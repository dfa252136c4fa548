"""68 malformed or odd GGUF files through `ridge inspect` and `ridge run`: no signal, no hang, no more than 512 MiB of address space,
and every refusal is one error line. Own inputs: written by probes/gguf_probe.py of the reference data."""
import importlib.util
import os
import tempfile

from _e2e import SANITIZED, Check, died, error_lines, golden, ridge

LIMIT_S = 20 if SANITIZED or os.environ.get('CI') == 'true' else 2  # the aim is 1 s; a loaded machine is given more
LIMIT_BYTES = 512 << 20

path = golden('..', 'probes', 'gguf_probe.py')
spec = importlib.util.spec_from_file_location('gguf_probe', path)
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)

check = Check()
n_refused = 0
with tempfile.TemporaryDirectory() as folder:
    for name, content in probe.C.items():
        file = os.path.join(folder, name.replace('^', 'e') + '.gguf')
        with open(file, 'wb') as f:
            f.write(content)
        for args in (['inspect', '-m', file], ['inspect', '-m', file, '-c', '4096'], ['tokenize', '-m', file, 'a a'],
                     ['run', '-m', file, '-p', 'a', '-n', '1', '-t', '1']):
            ran = ridge(*args, limit_bytes=LIMIT_BYTES, timeout_s=60)
            check.that(not died(ran), '%s: died\n%s' % (name, ran))
            check.that(ran.seconds < LIMIT_S, '%s: took longer than %d s\n%s' % (name, LIMIT_S, ran))
            if ran.code != 0:
                n_refused += 1
                check.that(len(error_lines(ran)) == 1, '%s: a refusal is one error: line\n%s' % (name, ran))
        if name == 'v_ok(control)':
            check.that(ridge('inspect', '-m', file).code == 0, 'the control file must be accepted')
check.that(n_refused > len(probe.C), 'only %d refusals: is anything checked?' % n_refused)
check.finish()
