#!/usr/bin/env python3
"""The rules of the tree that a machine can check, as an ordinary test. Each rule is one function in rules.py; each is shown to
fail by tidy_selftest.py.

usage: tidy.py [--root DIR] [--only RULE] [--objects BUILD_DIR] [--nm NM]

A finding is one line: file:line: [rule] what was found, what was expected. Exceptions stand in exceptions.txt, with a reason each;
their number is recorded below and may only go down."""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import rules  # noqa: E402

MAX_EXCEPTIONS = 0  # lines of exceptions.txt; lower it whenever one goes

SKIP_DIRS = {'.git', 'build', '.cache', '__pycache__', 'corpus'}


class Tree:
    """All files of the checkout as text, read once. Paths are relative to the root, with forward slashes."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.paths = self._listed_by_git() or self._walked()
        self._text = {}

    def _listed_by_git(self):
        if not os.path.exists(os.path.join(self.root, '.git')):
            return None
        command = ['git', '-C', self.root, '-c', 'safe.directory=*', 'ls-files', '-co', '--exclude-standard', '-z']
        try:
            out = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        except (OSError, subprocess.CalledProcessError):
            return None
        names = sorted(set(out.split('\0')) - {''})
        return [p for p in names if not SKIP_DIRS & set(p.split('/')[:-1]) and os.path.isfile(os.path.join(self.root, p))]

    def _walked(self):
        paths = []
        for folder, dirs, files in os.walk(self.root):
            dirs[:] = [d for d in dirs if d not in SKIP_DIRS]
            paths += [os.path.relpath(os.path.join(folder, f), self.root).replace(os.sep, '/') for f in files]
        return sorted(paths)

    def text(self, path):
        if path not in self._text:
            with open(os.path.join(self.root, path), 'rb') as f:
                raw = f.read()
            self._text[path] = '' if b'\0' in raw[:4096] else raw.decode('utf-8', 'replace')
        return self._text[path]

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def cpp(self, *prefixes):
        """C and C++ sources below the given folders (all of the tree without any)."""
        return [p for p in self.paths if p.endswith(('.cc', '.h', '.c')) and (not prefixes or p.startswith(prefixes))]


def read_exceptions(tree):
    """[(rule, path, reason)] and findings about the list itself."""
    listed, findings, path = [], [], 'tests/tidy/exceptions.txt'
    if not tree.exists(path):
        return listed, findings
    for number, line in enumerate(tree.text(path).splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        fields = line.split(None, 2)
        if len(fields) < 3:
            findings.append((path, number, 'exceptions', 'expected: rule path reason'))
        else:
            listed.append(tuple(fields))
    return listed, findings


def run(tree, only=None, objects=None, nm='nm', max_exceptions=MAX_EXCEPTIONS):
    """All findings [(path, line, rule, text)] that no exception covers."""
    findings = []
    for name, rule in rules.RULES.items():
        if only and name != only:
            continue
        if name == 'isa_objects':
            found = rule(tree, objects, nm) if objects else []
        else:
            found = rule(tree)
        findings += [(path, line, name, text) for path, line, text in found]
    if only:
        return findings
    exceptions, list_findings = read_exceptions(tree)
    used, kept = set(), []
    for finding in findings:
        key = (finding[2], finding[0])
        if key in {(rule, path) for rule, path, _ in exceptions}:
            used.add(key)
        else:
            kept.append(finding)
    path = 'tests/tidy/exceptions.txt'
    for rule, of, _ in exceptions:
        if (rule, of) not in used and not (rule == 'isa_objects' and not objects):
            kept.append((path, 1, 'exceptions', '%s %s is no longer needed: remove the line' % (rule, of)))
    if len(exceptions) > max_exceptions:
        kept.append((path, 1, 'exceptions', '%d exceptions, at most %d: the list may only shrink' % (len(exceptions), max_exceptions)))
    if len(exceptions) < max_exceptions:
        kept.append((path, 1, 'exceptions', '%d exceptions: lower MAX_EXCEPTIONS from %d' % (len(exceptions), max_exceptions)))
    return list_findings + kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--root', default=os.path.join(HERE, '..', '..'))
    parser.add_argument('--only')
    parser.add_argument('--objects')
    parser.add_argument('--nm', default='nm')
    args = parser.parse_args()
    tree = Tree(args.root)
    findings = run(tree, args.only, args.objects, args.nm)
    for path, line, rule, text in findings:
        print('%s:%d: [%s] %s' % (path, line, rule, text))
    print('%d files, %d rules, %d findings' % (len(tree.paths), len(rules.RULES), len(findings)))
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
