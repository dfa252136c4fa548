"""`ridge perplexity` and `ridge imatrix`: the lines of llama-perplexity, nothing lost against itself, more lost in fewer bits, and an
importance matrix that quantize reads."""
import os
import re
import tempfile

from _e2e import Check, error_lines, ridge, stories

check = Check()
model = stories()
with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    text = '\n'.join(ridge('run', '-m', model, '-p', 'Once upon a time', '-n', 300, '--temp', 1, '--seed', seed).out for seed in (1, 2, 3, 4))
    with open(path('text'), 'w') as out:
        out.write(text)
    common = ('-f', path('text'), '-c', 128)

    def perplexity(file, *args):
        ran = ridge('perplexity', '-m', file, *common, '-ctk', 'f32', '-ctv', 'f32', *args)
        found = re.search(r'^(\[1\]\d+\.\d{4},.*)\nFinal estimate: PPL = (\d+\.\d{4}) \+/- \d+\.\d{5}\n$', ran.out)
        if not check.that(ran.code == 0 and found, ran):
            return 0, 0
        return float(found.group(2)), found.group(1).count('[')

    def divergence(file, base):
        ran = ridge('perplexity', '-m', file, '--base-model', base, '--kl-divergence', *common)
        found = re.search(r'Mean    KLD: +(-?[\d.]+)', ran.out)
        same = re.search(r'Same top p: +([\d.]+)', ran.out)
        if not check.that(ran.code == 0 and found and same and 'Token probability statistics' in ran.out, ran):
            return 9, 0
        return float(found.group(1)), float(same.group(1))

    plain, n = perplexity(model)
    check.that(1 < plain < 30 and n >= 5, 'perplexity %s in %s chunks' % (plain, n))
    check.that(perplexity(model, '--chunks', 2)[1] == 2, '--chunks')
    strided, _ = perplexity(model, '--ppl-stride', 64)
    check.that(abs(strided / plain - 1) < 0.2, 'strided %s, plain %s' % (strided, plain))
    check.that(divergence(model, model) == (0, 100), 'a model differs from itself')

    ran = ridge('imatrix', '-m', model, *common, '-o', path('imatrix.gguf'))
    check.that(ran.code == 0 and 'Final estimate' in ran.out and 'tensors from' in ran.out, ran)
    for name, args in (('q8_0', ()), ('q4_0', ()), ('informed', ('--imatrix', path('imatrix.gguf')))):
        kind = 'q4_0' if name == 'informed' else name
        ran = ridge('quantize', '--pure', *args, model, path(name), kind)
        missing = re.search(r'(\d+) tensors are not in the importance matrix', ran.err)  # the embedding alone
        check.that(ran.code == 0 and (missing.group(1) if missing else '') == ('1' if args else ''), ran)
    check.that(b'quantize.imatrix.file' in open(path('informed'), 'rb').read(65536), 'the matrix is not named in the file')
    eight, four = perplexity(path('q8_0'))[0], perplexity(path('q4_0'))[0]
    check.that(plain <= eight * 1.005 and eight <= four * 1.005, 'F32 %s, Q8_0 %s, Q4_0 %s' % (plain, eight, four))
    lost_eight, lost_four, lost_informed = (divergence(path(f), model)[0] for f in ('q8_0', 'q4_0', 'informed'))
    check.that(0 <= lost_eight < lost_four and lost_informed < 1.1 * lost_four,
               'KL: q8_0 %s, q4_0 %s, informed %s' % (lost_eight, lost_four, lost_informed))

    with open(path('short'), 'w') as out:
        out.write('Once')
    for args, code in ((('perplexity', '-m', model, '-f', path('short')), 2), (('perplexity', '-m', model), 2),
                       (('perplexity', '-m', model, '--kl-divergence', *common), 2),
                       (('perplexity', '-m', model, '-f', path('none')), 3),
                       (('imatrix', '-m', model, *common, '-o', os.path.join(folder, 'no', 'x')), 3)):
        ran = ridge(*args)
        check.that(ran.code == code and len(error_lines(ran)) == 1, ran)
check.finish()
