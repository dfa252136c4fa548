"""`ridge template` renders a few published templates as the reference does, byte for byte, and fails where it fails.
The whole of golden/chat_templates is tested beside the code; this is the door to it."""
import json
import os
import tempfile

from _e2e import Check, golden, read_json, ridge

check = Check()
for name in ('Qwen-Qwen3-0.6B', 'meta-llama-Llama-3.1-8B-Instruct', 'google-gemma-2-2b-it'):
    data = read_json(golden('chat_templates', name + '.json'))
    with tempfile.TemporaryDirectory() as folder:
        template, variables = os.path.join(folder, 't.jinja'), os.path.join(folder, 'v.json')
        with open(template, 'w', encoding='utf-8', newline='') as f:
            f.write(data['template'])
        for case in data['cases']:
            with open(variables, 'w', encoding='utf-8') as f:
                json.dump(case['variables'], f)
            ran = ridge('template', '--template', template, '--vars', variables, '--now', data['now'])
            if case.get('expected') is None:
                check.refusal(6, ran)
            else:
                check.that(ran.code == 0 and ran.out == case['expected'], '%s %s\n%s\nexpected: %s' % (
                    name, case['name'], ran, case['expected']))
check.finish()
