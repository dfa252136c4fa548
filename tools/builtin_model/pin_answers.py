#!/usr/bin/env python3
"""Writes tests/e2e/builtin_answers.json: ten questions and what the shipped model answers greedily on the reference backend.

usage: pin_answers.py RIDGE_PROGRAM
Run it after a new models/builtin.gguf; the test then holds every instruction set to these texts."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
QUESTIONS = (
    'What is TTFT?', 'Why is decode limited by memory bandwidth?', 'What is continuous batching?', 'How large is the KV cache?',
    'What is the capital of France?', '什么是首 token 延迟？', 'Q4 一定比 Q8 快吗？', '什么是屋顶线？', 'Ridge 是什么？', '怎么公平地比较两次运行？')


def main(program):
    answers = []
    for question in QUESTIONS:
        ran = subprocess.run([program, 'run', question, '--backend', 'reference', '--no-perf', '--no-escape', '-n', '200'],
                             capture_output=True, text=True, check=True)
        answers.append({'question': question, 'answer': ran.stdout.strip()})
        print(f'{question}\n    {ran.stdout.strip()}')
    path = ROOT / 'tests' / 'e2e' / 'builtin_answers.json'
    path.write_text(json.dumps({'answers': answers}, ensure_ascii=False, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: pin_answers.py RIDGE_PROGRAM')
    main(sys.argv[1])
