"""What bad input gets: one error line that names what was found, and the exit code that `ridge --help` documents."""
import os
import tempfile

from _e2e import Check, died, golden, ridge, stories

USAGE, FILE, UNSUPPORTED, DOES_NOT_FIT, TEMPLATE = 2, 3, 4, 5, 6  # `ridge --help`

check = Check()
model = stories()

check.refusal(FILE, ridge('run', '-m', '/nowhere/model.gguf', '-p', 'a'), '/nowhere/model.gguf')
check.refusal(FILE, ridge('run', '-m', os.path.dirname(model), '-p', 'a'))
check.refusal(FILE, ridge('run', '-m', __file__, '-p', 'a'), 'GGUF')
check.refusal(USAGE, ridge('run', '-m', model, '-p', 'a', '--tempp', '0'), '--tempp', '--temp')
check.refusal(USAGE, ridge('run', '-m', model, '-p', 'a', '-n', 'many'), 'many')
check.refusal(USAGE, ridge('run', '-m', model, '-p', 'a', '--top-p', '7'), 'top-p', '7')
check.refusal(USAGE, ridge('run', '-m', model, '-p', 'a', '-ctk', 'q3_9'), 'q3_9', 'q8_0')
check.refusal(UNSUPPORTED, ridge('run', '-m', model, '-p', 'a', '--isa', 'mmx'), 'mmx', 'scalar')
check.refusal(FILE, ridge('run', '-m', model, '-f', '/nowhere/prompt.txt'), '/nowhere/prompt.txt')
check.refusal(USAGE, ridge('inspekt', '-m', model), 'inspekt', 'inspect')
check.that(not died(ridge('tokenize', '-m', model, '--decode', '--jsonl', stdin='{"ids": [999999, -1]}\n')), 'ids that are none')
check.refusal(USAGE, ridge('logits', '-m', model, '--tokens', '1,2,999999'), '999999')
check.refusal(USAGE, ridge('logits', '-m', model, '--tokens', '1,x'), 'x')

# A prompt longer than the context: both lengths.
long = ridge('run', '-m', model, '-c', '64', '-p', 'Once upon a time there was. ' * 100, '-n', '4')
check.refusal(DOES_NOT_FIT, long, 'context', '64')

# An architecture that is known and not supported yet is named, with those that are.
for name in ('deepseek2-moe', 'lfm2-dense', 'qwen35-dense'):
    path = golden('architectures', name + '.gguf')
    check.refusal(UNSUPPORTED, ridge('logits', '-m', path, '--tokens', '1,2,3'), name.split('-')[0], 'llama')

with tempfile.TemporaryDirectory() as folder:
    template = os.path.join(folder, 'bad.jinja')
    variables = os.path.join(folder, 'vars.json')
    with open(template, 'w', encoding='utf-8') as f:
        f.write('one\ntwo {{ 1 + }}\n')
    with open(variables, 'w', encoding='utf-8') as f:
        f.write('{"messages": []}')
    check.refusal(TEMPLATE, ridge('template', '--template', template, '--vars', variables), '2')
    with open(variables, 'w', encoding='utf-8') as f:
        f.write('{"messages": [')
    check.refusal(USAGE, ridge('template', '--template', template, '--vars', variables), 'JSON')

# -ngl without a GPU backend runs, and says what it does instead.
ran = ridge('run', '-m', model, '-p', 'Once', '-n', '2', '--temp', '0', '-ngl', '99')
check.that(ran.code == 0 and 'ngl' in ran.err + ran.out, '-ngl 99 must run and be mentioned\n%s' % ran)

# Every subcommand has help.
for command in ('run', 'chat', 'inspect', 'device', 'tokenize', 'template', 'logits'):
    ran = ridge(command, '--help')
    check.that(ran.code == 0 and len(ran.out) > 80, 'help of %s\n%s' % (command, ran))
check.finish()
