"""Constrained answers: whatever the model would like to say, what comes out matches the grammar, the schema, the expression; what
cannot be enforced is an error with its place; the books name what it cost."""
import json
import os
import re
import tempfile

from _e2e import Check, read_json, ridge, stories

check = Check()
model = stories()


def answer(*flags, n=200, seed=1):
    return ridge('run', '-m', model, '-p', 'Once upon a time', '-n', n, '--seed', seed, '--no-display-prompt', '--no-perf', *flags)


for seed in range(3):
    ran = answer('--grammar', 'root ::= "yes" | "no" | "may" "be"?', seed=seed)
    check.that(ran.code == 0 and ran.out.strip() in ('yes', 'no', 'may', 'maybe'), ran)
    ran = answer('--regex', '[A-C]{3}-[0-9]{2,4}', seed=seed)
    check.that(ran.code == 0 and re.fullmatch('[A-C]{3}-[0-9]{2,4}', ran.out.strip()), ran)

schema = {
    'type': 'object',
    'properties': {
        'name': {'type': 'string', 'maxLength': 12},
        'age': {'type': 'integer', 'minimum': 0, 'maximum': 120},
        'kind': {'enum': ['cat', 'dog']},
        'tags': {'type': 'array', 'items': {'type': 'boolean'}, 'maxItems': 3},
    },
    'required': ['name', 'age', 'kind', 'tags'],
}
for seed in range(3):
    ran = answer('-j', json.dumps(schema), seed=seed, n=400)
    if check.that(ran.code == 0, ran):
        value = json.loads(ran.out)
        check.that(set(value) == {'name', 'age', 'kind', 'tags'}, ran)
        check.that(isinstance(value['name'], str) and len(value['name']) <= 12, ran)
        check.that(isinstance(value['age'], int) and 0 <= value['age'] <= 120 and value['kind'] in ('cat', 'dog'), ran)
        check.that(len(value['tags']) <= 3 and all(isinstance(t, bool) for t in value['tags']), ran)

with tempfile.TemporaryDirectory() as folder:
    path, record = os.path.join(folder, 'answer.gbnf'), os.path.join(folder, 'record.json')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('# one line\nroot ::= "The " [a-z]{4} "."\n')
    ran = answer('--grammar-file', path, '--json', record)
    check.that(ran.code == 0 and re.fullmatch(r'The [a-z]{4}\.', ran.out.strip()), ran)
    stages = [s['name'] for s in read_json(record)['request']['time']['stages']] if 'request' in read_json(record) else []
    check.that('grammar_mask' in json.dumps(read_json(record)) and 'grammar_compile' in json.dumps(read_json(record)),
               'the accounts name the grammar: %s' % stages)
    with open(path, 'w', encoding='utf-8') as f:
        f.write('{"type": "null"}')
    ran = answer('-jf', path)
    check.that(ran.code == 0 and ran.out.strip() == 'null', ran)
    missing = answer('-jf', os.path.join(folder, 'missing.json'))
    check.that(missing.code == 3 and 'missing.json' in missing.err, missing)

# GRM-04: a complete answer ends although the end token is banned.
ran = answer('--grammar', 'root ::= "one" | "two"', '--ignore-eos')
check.that(ran.code == 0 and ran.out.strip() in ('one', 'two'), ran)

for flags, said in ((('--grammar', 'root ::= "a'), 'line 1, column 10'), (('--grammar', 'Root ::= "a"'), 'root'),
                    (('--regex', 'a(?=b)'), 'position 1'), (('-j', '{"type": "array", "uniqueItems": true}'), '#/uniqueItems'),
                    (('-j', '{'), 'not JSON'), (('--regex', 'a', '-j', '{}'), 'one constraint')):
    ran = answer(*flags)
    check.that(ran.code == 2 and said in ran.err and ran.out.strip() == '', ran)
check.finish()
