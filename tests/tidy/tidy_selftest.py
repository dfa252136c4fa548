#!/usr/bin/env python3
"""Shows that each rule of tidy can fail: a small clean tree passes, and each change to it gives the finding that it must."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cpp_text  # noqa: E402
import rules  # noqa: E402
import tidy  # noqa: E402

CLEAN = {
    'README.md': '# A\n\n## B\n\n```sh\n./run   # first\n./test\n```\n[b](#b) [m](docs/map.md#a-word)\n',
    'README.zh-CN.md': '# A\n\n## B\n\n```sh\n./run   # 先\n./test\n```\n',
    'docs/map.md': '# Map\n\n## A `word`\n',
    'src/base/result.h': '// Owns results.\n#pragma once\n',
    'src/base/result.cc': '#include "base/result.h"\n',
    'src/backend/device.h': '// Owns devices.\n#pragma once\n#include "base/result.h"\n',
    'src/backend/registry.cc': '// Owns the table.\n#include "backend/cpu/cpu_device.h"\n#include "backend/device.h"\n',
    'src/backend/cpu/cpu_device.h': '// Owns the CPU.\n#pragma once\n#include "backend/device.h"\n',
    'src/backend/reference/reference_device.h': '// Owns the oracle.\n#pragma once\n#include "backend/device.h"\n',
    'src/backend/cpu/cpu_test.cc': '// Compares.\n#include "backend/reference/reference_device.h"\n#include <gtest/gtest.h>\n',
    'src/backend/cpu/matmul.avx2.cc': '// Kernel.\n#include <immintrin.h>\n#include <cstdint>\n',
    'src/model/arch/llama.cc': '// Llama.\n#include "backend/device.h"\n',
}


def body(n_lines):
    return 'int f() {\n' + '  g();\n' * (n_lines - 2) + '}\n'


# rule -> [(file, its text, a part of the finding)]; text None appends to what is there.
BREAKS = {
    'shadowed_modules': [('tests/e2e/tokenize.py', '"""X."""\n', 'Python has a module')],
    'layers': [
        ('src/base/a.cc', '// X.\n#include "backend/device.h"\n', 'may not include'),
        ('src/backend/cpu/a.cc', '// X.\n#include "backend/reference/reference_device.h"\n', 'may not include'),
        ('src/backend/a.cc', '// X.\n#include "backend/cpu/cpu_device.h"\n', 'may not include'),
        ('src/model/a.cc', '// X.\n#include "text/tokenizer.h"\n', 'is no header'),
        ('src/strange/a.cc', '// X.\n', 'has no row'),
        ('src/quant/a.cc', '// X.\n#include <nlohmann/json.hpp>\n', 'may use this library'),
        ('src/backend/cpu/a.cc', '// X.\n#include <immintrin.h>\n', 'ISA suffix'),
        ('examples/a.cc', '// X.\n#include "base/result.h"\n', 'may not include'),
    ],
    'sizes': [
        ('src/base/a.cc', '// X.\n' * 501, 'over 500'),
        ('src/base/a.cc', '// X.\n// Size: no seam.\n' + '\n' * 799, 'at most 800'),
        ('src/base/result.h', '// X.\n' * 301, 'at most 300'),
        ('apps/ridge/cmd_a.cc', '// X.\n' * 151, 'at most 150'),
    ],
    'function_sizes': [
        ('src/base/a.cc', '// X.\n' + body(71), 'over 70'),
        ('src/base/a.cc', '// X.\n// Size: one table.\n' + body(101), 'at most 100'),
        ('src/base/a.cc', '// X.\nnamespace a {\nclass B final : public C {\n public:\n  B() : x_(1) {\n' + '  g();\n' * 80 + '}\n};\n}\n',
         'over 70'),
    ],
    'form': [
        ('src/base/a.cc', 'int a;\n', 'open with a comment'),
        ('src/base/a.cc', '// X.', 'no newline'),
        ('src/base/a.cc', '// X.\n' + 'x' * 121 + '\n', '121 columns'),
        ('src/base/a.cc', '// X.\n\tint a;\n', 'tab'),
        ('src/base/a.cc', '// X.\nint a; \n', 'blanks'),
    ],
    'banned': [('src/quant/a.cc', '// X.\n' + line + '\n', part) for line, part in [
        ('std::regex r;', 'hand-written scanner'), ('void f() { std::abort(); }', 'never ends'), ('void f() { exit(1); }', 'never ends'),
        ('void f() { printf("x"); }', 'never prints'), ('void f() { std::cout << 1; }', 'never prints'), ('void f() { throw 1; }', 'Result'),
        ('auto p = new int(1);', 'make_unique'), ('auto p = malloc(4);', 'AlignedBuffer'), ('void f() { delete p; }', 'unique_ptr'),
        ('auto p = std::getenv("A");', 'hidden option'), ('void f() { strcpy(a, b); }', 'size'), ('int a = std::rand();', 'rng.h'),
        ('int a = std::stoi(b);', 'from_chars'), ('using namespace std;', 'the names'), ('void f() { fmt::print("x"); }', 'never prints'),
    ]],
    'isa_files': [
        ('src/backend/cpu/a.avx2.cc', '// X.\n#ifdef __AVX512F__\n#endif\n', 'ISA #if'),
        ('src/backend/cpu/a.avx2.cc', '// X.\n#include <vector>\n', 'inline functions'),
    ],
    'open_ends': [('src/base/a.cc', '// X.\n// ' + 'TO' + 'DO: later\n', 'without an issue')],
    'words': [
        ('docs/a.md', 'see /wo' 'rk/main\n', 'one machine'),
        ('src/base/a.cc', '// X. Done by a sub' 'agent.\n', 'organised'),
    ],
    'links': [
        ('docs/a.md', '[x](nowhere.md)\n', 'dead link'),
        ('docs/a.md', '[x](map.md#nothing)\n', 'no such heading'),
        ('docs/a.md', '[x](../../outside.md)\n', 'dead link'),
    ],
    'readme_pair': [
        ('README.zh-CN.md', '# A\n\n```sh\n./run\n./test\n```\n', 'headings'),
        ('README.zh-CN.md', '# A\n\n## B\n\n```sh\n./run\n```\n', 'is missing'),
        ('README.md', '# A\n\n## B\n\n```sh\n./run\n```\n', 'is missing'),
    ],
    'dead_headers': [('src/base/alone.h', '// X.\n#pragma once\n', 'nobody includes')],
}


def findings(files, **options):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, 'w', encoding='utf-8') as f:
                f.write(text)
        options.setdefault('max_exceptions', 0)
        return tidy.run(tidy.Tree(root), **options)


class Tidy(unittest.TestCase):
    def test_a_clean_tree_has_no_findings(self):
        self.assertEqual(findings(CLEAN), [])

    def test_each_rule_is_shown_to_fail(self):
        self.assertEqual(set(rules.RULES) - set(BREAKS), {'isa_objects'})
        for rule, cases in BREAKS.items():
            for path, text, part in cases:
                with self.subTest(rule=rule, part=part, text=text[:60]):
                    found = [f for f in findings({**CLEAN, path: text}) if f[2] == rule]
                    self.assertTrue(any(part in f[3] for f in found), found)

    def test_weak_symbols_and_unsuffixed_exports_of_isa_objects_are_found(self):
        good = '0000000000000000 T ridge::cpu::matmul_q4_k__avx2(float const*, long)\n0000000000000010 t helper\n                 U memcpy\n'
        self.assertEqual(rules.symbol_findings(good, 'avx2'), [])
        for line in ['0000000000000000 W std::min(int, int)', '0000000000000000 V typeinfo', '0000000000000000 u guard',
                     '0000000000000000 T ridge::cpu::matmul_q4_k(float const*)', '0000000000000000 T matmul__avx512(int)',
                     '0000000000000000 R ridge::cpu::table']:
            self.assertEqual(len(rules.symbol_findings(good + line + '\n', 'avx2')), 1, line)

    def test_no_isa_object_at_all_is_a_finding(self):
        found = findings(CLEAN, only='isa_objects', objects='nowhere')
        self.assertIn('nothing was checked', found[0][3])

    def test_exceptions_cover_one_rule_of_one_file_and_may_only_shrink(self):
        broken = {**CLEAN, 'src/base/a.cc': '// X.\nstd::regex r;\n'}
        listed = {**broken, 'tests/tidy/exceptions.txt': 'banned src/base/a.cc a good reason\n'}
        self.assertEqual(findings(listed, max_exceptions=1), [])
        self.assertIn('only shrink', findings(listed, max_exceptions=0)[0][3])
        self.assertIn('lower', findings(listed, max_exceptions=2)[0][3])
        stale = {**CLEAN, 'tests/tidy/exceptions.txt': 'banned src/base/a.cc a good reason\n'}
        self.assertIn('no longer needed', findings(stale, max_exceptions=1)[0][3])
        bare = {**broken, 'tests/tidy/exceptions.txt': 'banned src/base/a.cc\n'}
        self.assertTrue(any('expected: rule path reason' in f[3] for f in findings(bare)))

    def test_banned_words_in_comments_and_strings_are_no_calls(self):
        text = '// X. Never throw, never abort().\nconst char* a = "throw new exit(1)";\nint b = 1\'000;  // exit(2)\n'
        self.assertEqual(findings({**CLEAN, 'src/quant/a.cc': text}), [])


class CppText(unittest.TestCase):
    def test_functions_are_found_with_their_lengths(self):
        text = ('namespace a {\nstruct B {\n  int x{0};\n  int f() const { return x; }\n};\nconstexpr int t[] = {\n  1,\n  2,\n};\n'
                'template <class T>\nint g(T a,\n      int b = 3) {\n  auto h = [&] { return a; };\n  if (b) {\n  }\n  return 1;\n}\n'
                'bool operator==(B l, B r) {\n  return "}" != "{";\n}\n}  // namespace a\nTEST(A, b) {\n  f();\n}\n')
        found = [(first, n) for first, n, _ in cpp_text.functions(text)]
        self.assertEqual(found, [(4, 1), (10, 8), (18, 3), (22, 3)])

    def test_stripping_keeps_lines_and_columns(self):
        text = 'a /* b\n c */ "d\\"e" R"x(\n"f")x" \'\\\'\' 1\'000\'000 // g\nh'
        stripped = cpp_text.strip(text)
        self.assertEqual(len(stripped), len(text))
        self.assertEqual(stripped.count('\n'), text.count('\n'))
        for letter in 'bcdefg':
            self.assertNotIn(letter, stripped)
        self.assertIn('h', stripped)


if __name__ == '__main__':
    unittest.main()
