#!/usr/bin/env python3
"""Prints the text on which perplexity is measured: each held-out question, then the right answer, as plain lines.

usage: heldout_text.py > heldout.txt
The questions were never trained on; the answers were, so this measures how well the subject is known, not English or Chinese."""
import pathlib
import sys

from check_data import lang_of, load


def main():
    concepts, _, _, heldout, problems = load(pathlib.Path(__file__).resolve().parent / 'data')
    if problems:
        print(problems[0], file=sys.stderr)
        return 1
    by_id = {c.id: c for c in concepts}
    for ident, question, _ in heldout:
        print(f'{question}\n{by_id[ident].one(lang_of(question), "a")}\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
