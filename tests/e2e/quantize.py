"""`ridge quantize` as users meet it: the words of llama-quantize, a model that still tells its story, refusals that leave no file."""
import os
import tempfile

from _e2e import Check, error_lines, ridge, stories

check = Check()
model = stories()
with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    for kind in ('F16', 'q8_0', 'Q4_0', 'Q4_K_M'):
        ran = ridge('quantize', model, path(kind), kind, 2)
        check.that(ran.code == 0 and '->' in ran.out and os.path.exists(path(kind)), ran)
    prompt = ('-p', 'Once upon a time', '-n', '24', '--temp', '0')
    truth = ridge('run', '-m', model, *prompt).out
    check.that(ridge('run', '-m', path('F16'), *prompt).out == truth, 'F16 tells another story')
    check.that('Once upon a time' in ridge('run', '-m', path('Q4_K_M'), *prompt).out, 'Q4_K_M does not run')
    check.that(os.path.getsize(path('Q4_0')) < os.path.getsize(path('q8_0')) < os.path.getsize(path('F16')), 'sizes')

    before = sorted(os.listdir(folder))
    dry = ridge('quantize', '--dry-run', model, 'Q4_K_M')
    check.that(dry.code == 0 and 'blk.0.attn_q.weight' in dry.out, dry)
    typed = ridge('quantize', '--dry-run', '--tensor-type', 'attn_q=q8_0', '--output-tensor-type', 'f16', model, path('x'), 'Q4_0')
    lines = [line for line in typed.out.splitlines() if 'attn_q.weight' in line]
    check.that(lines and all('q8_0' in line for line in lines), typed)
    for args, code in ((('quantize', path('Q4_0'), path('x'), 'Q8_0'), 4),
                       (('quantize', model, path('x'), 'Q9_9'), 2),
                       (('quantize', model), 2),
                       (('quantize', '--tensor-type', 'attn_q', model, path('x'), 'Q8_0'), 2),
                       (('quantize', '--output-tensor-type', 'iq1_s', model, path('x'), 'Q8_0'), 2),
                       (('quantize', path('none'), path('x'), 'Q8_0'), 3),
                       (('quantize', '--imatrix', model, model, path('x'), 'Q8_0'), 3),
                       (('quantize', model, os.path.join(folder, 'no', 'x'), 'Q8_0'), 3)):
        ran = ridge(*args)
        check.that(ran.code == code and len(error_lines(ran)) == 1, ran)
    check.that(sorted(os.listdir(folder)) == before, 'files were left behind: %s' % os.listdir(folder))
check.finish()
