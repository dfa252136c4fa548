#!/usr/bin/env python3
"""tools/test_report.py counts what passed, failed and was skipped; a program that died or leaked after its last case counts as failed."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools'))
import test_report  # noqa: E402

JUNIT = '''<testsuite>
<testcase name="base" status="run"><system-out>ok</system-out></testcase>
<testcase name="quant" status="fail"><failure message=""/><system-out>leak!</system-out></testcase>
<testcase name="text" status="fail"><failure message=""/><system-out>Segmentation fault</system-out></testcase>
<testcase name="tidy" status="run"><system-out/></testcase>
<testcase name="e2e_probe" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out/></testcase>
</testsuite>'''
GTEST = '''<testsuites><testsuite name="A">
<testcase name="ok" status="run" result="completed" classname="A"/>
<testcase name="left_out" status="run" result="skipped" classname="A"><skipped message="no data"/></testcase>
<testcase name="off" status="notrun" result="suppressed" classname="A"/>
%s</testsuite></testsuites>'''
BROKEN = '<testcase name="broken" status="run" result="completed" classname="A"><failure message="1 is not 2"/></testcase>'


class Report(unittest.TestCase):
    def report(self, base_xml):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {'junit.xml': JUNIT, 'base_test.xml': base_xml, 'quant_test.xml': GTEST % ''}.items():
                with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                    f.write(text)
            return test_report.report(os.path.join(folder, 'junit.xml'), folder)

    def test_counts_cases_of_programs_and_other_tests_alike(self):
        passed, failed, skipped, failures = self.report(GTEST % '')
        self.assertEqual((passed, failed, skipped), (3, 2, 3))
        self.assertEqual([name for name, _ in failures], ['quant', 'text'])

    def test_names_the_failed_case_with_its_message(self):
        passed, failed, skipped, failures = self.report(GTEST % BROKEN)
        self.assertEqual((passed, failed, skipped), (3, 3, 3))
        self.assertIn(('base: A.broken', '1 is not 2'), failures)


if __name__ == '__main__':
    unittest.main()
