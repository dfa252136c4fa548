#!/usr/bin/env python3
"""Reads what one ctest run left (its JUnit file and one XML file from each GoogleTest program) and says how many single tests
passed, failed and were skipped, with the text of the failed ones.

usage: test_report.py JUNIT GTEST_DIR        last line of the output: `PASSED FAILED SKIPPED`
Owns: counting. A GoogleTest program counts by its cases; one that died before writing its XML counts as one failure; every other
ctest counts as one."""
import os
import re
import sys
import xml.etree.ElementTree as ET

TEXT_LINES = 60  # of a failed test's output: enough for a message and a stack, short enough to read


def tail(text):
    lines = (text or '').strip().splitlines()
    return '\n'.join(lines[-TEXT_LINES:])


def gtest_cases(path):
    """(passed, failed, skipped, [(name, text)]) of one GoogleTest XML file."""
    passed, failed, skipped, failures = 0, 0, 0, []
    for case in ET.parse(path).getroot().iter('testcase'):
        name = '%s.%s' % (case.get('classname'), case.get('name'))
        if case.find('failure') is not None:
            failed += 1
            failures.append((name, '\n'.join(tail(f.get('message')) for f in case.findall('failure'))))
        elif case.find('skipped') is not None or case.get('result') == 'skipped':
            skipped += 1
        elif case.get('status') == 'run':
            passed += 1
    return passed, failed, skipped, failures


def report(junit, gtest_dir):
    passed, failed, skipped, failures = 0, 0, 0, []
    for case in ET.parse(junit).getroot().iter('testcase'):
        name, status = case.get('name'), case.get('status')
        output = case.findtext('system-out') or ''
        xml = os.path.join(gtest_dir, name + '_test.xml')
        if os.path.exists(xml):
            try:
                p, f, s, fs = gtest_cases(xml)
            except ET.ParseError:
                p, f, s, fs = 0, 0, 0, []
            passed, failed, skipped = passed + p, failed + f, skipped + s
            failures += [('%s: %s' % (name, n), t) for n, t in fs]
            if status == 'fail' and f == 0:  # every case passed and the program failed all the same: a leak, a race, a crash at exit
                failed += 1
                failures.append((name, tail(output)))
        elif status == 'run':
            passed += 1
        elif status in ('notrun', 'disabled') or case.find('skipped') is not None:
            if status == 'notrun' and re.search('Unable to find|not found|BAD_COMMAND', ET.tostring(case, 'unicode')):
                failed += 1
                failures.append((name, 'could not be started: ' + tail(output)))
            else:
                skipped += 1
        else:
            failed += 1
            failures.append((name, tail(output)))
    return passed, failed, skipped, failures


def main():
    passed, failed, skipped, failures = report(sys.argv[1], sys.argv[2])
    for name, text in failures:
        print('---- FAILED %s\n%s' % (name, text))
    print(passed, failed, skipped)


if __name__ == '__main__':
    main()
