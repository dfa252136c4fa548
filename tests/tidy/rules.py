"""The rules. Each takes the tree and returns [(path, line, text)]; RULES at the end names them all.
Where a rule has numbers or names, they stand in a table above it. The reasons are in ARCHITECTURE.md and CONTRIBUTING.md."""
import glob
import os
import re
import subprocess
import sys

import cpp_text

# ---- layers: which folder may include which -------------------------------------------------------------------------------

_CORE = ['base', 'account', 'tensor']
_ENGINE_BELOW = _CORE + ['quant', 'file', 'text', 'backend', 'kv', 'model', 'sample']
MAY_INCLUDE = {
    'base': [],
    'account': ['base'],
    'tensor': ['base'],
    'quant': _CORE,
    'file': _CORE,
    'text': _CORE,
    'backend': _CORE + ['quant'],
    'backend/*': _CORE + ['quant', 'backend'],
    'kv': _CORE + ['backend'],
    'model': _CORE + ['quant', 'file', 'backend', 'kv'],
    'sample': ['base', 'tensor'],
    'device': ['base', 'account'],
    'engine': _ENGINE_BELOW + ['device', 'include'],
    'record': ['base', 'account', 'device'],
    'quality': _ENGINE_BELOW + ['device', 'engine', 'record', 'include'],
    'bench': _ENGINE_BELOW + ['device', 'engine', 'record', 'include'],
    'lab': _ENGINE_BELOW + ['device', 'engine', 'record', 'bench', 'quality', 'include'],
    'api': ['base', 'text', 'sample', 'include'],
    'server': ['api', 'base', 'account', 'device', 'include'],
}
# include/ridge holds what the public interface shares with the folder that owns it: that folder builds on the public header.
PUBLIC_TWINS = {'base': ['ridge/result.h'], 'account': ['ridge/account.h'], 'sample': ['ridge/sampling.h']}
# Only these name the children of their folder.
REGISTRIES = {
    'src/backend/registry.cc': 'backend/',
    'src/model/registry.cc': 'model/arch/',
    'src/backend/cpu/dispatch.cc': 'backend/cpu/',
}
# Outside libraries: who may include them. Anything not listed here is the standard library's or the system's.
OUTSIDE = {
    'tl/': None,  # everybody
    'fmt/': None,
    'nlohmann/': ['text', 'api', 'record', 'engine', 'device', 'apps', 'tests', 'bench', 'tools'],
    'utf8proc': ['text'],
    'CLI/': ['apps'],
    'boost/': ['server'],
    'sqlite3': ['record'],
    'openssl/': ['record'],
    'gtest/': ['tests'],
    'gmock/': ['tests'],
    'benchmark/': ['benches'],
}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
_INTRINSICS = re.compile(r'^(\w*mmintrin|immintrin|x86intrin|arm_neon|arm_sve)\.h$')
_ISA_FILE = re.compile(r'^[^.]+\.([a-z0-9_]+)\.cc$')


def _line(text, position):
    return text.count('\n', 0, position) + 1


def _is_test(path):
    return path.startswith('tests/') or re.search(r'(_test|_fuzz|test_util|test_support)\.(cc|h)$', path) is not None


def module_of(path):
    """'src/backend/cpu/x.cc' -> 'backend/cpu'; 'src/text/jinja/x.cc' -> 'text'; 'include/ridge/x.h' -> 'include'."""
    parts = path.split('/')
    if parts[0] == 'src' and len(parts) > 2:
        return '/'.join(parts[1:3]) if parts[1] == 'backend' and len(parts) > 3 else parts[1]
    return parts[0]


def _included_module(tree, path, name):
    """The module that an include in quotes reaches, or None for a header of tests or of the same folder."""
    for candidate in ('src/' + name, 'include/' + name):
        if tree.exists(candidate):
            return module_of(candidate)
    if name.startswith('ridge/'):
        return 'include'
    return None


def _allowed(module, path):
    if module in ('apps', 'tests'):
        return None
    if module == 'include':
        return {'include'}
    if module == 'examples':
        return {'include'}
    key = 'backend/*' if module.startswith('backend/') else module
    allowed = set(MAY_INCLUDE.get(key, [])) | {module}
    if _is_test(path) and ('backend' in allowed or module.startswith('backend')):
        allowed.add('backend/reference')
    if _is_test(path) and module == 'engine':
        return None
    if path in REGISTRIES:
        allowed.add(REGISTRIES[path].rstrip('/').split('/arch')[0])
    return allowed


def layers(tree):
    findings = []
    for path in tree.cpp('src/', 'apps/', 'include/', 'examples/'):
        text = cpp_text.strip(tree.text(path), keep_strings=True)
        module = module_of(path)
        allowed = _allowed(module, path)
        if module not in ('apps', 'include', 'examples') and not module.startswith('backend/') and module not in MAY_INCLUDE:
            findings.append((path, 1, "folder '%s' has no row in MAY_INCLUDE (tests/tidy/rules.py) and ARCHITECTURE.md" % module))
            continue
        for match in _INCLUDE.finditer(text):
            quote, name = match.groups()
            line = _line(text, match.start())
            if quote == '<':
                findings += _outside(path, line, name, module)
                continue
            target = _included_module(tree, path, name)
            if target is None:
                if not (_is_test(path) or path.endswith('_bench.cc')) and not tree.exists(os.path.dirname(path) + '/' + name):
                    findings.append((path, line, "'%s' is no header of src/ or include/" % name))
                continue
            registry = REGISTRIES.get(path)
            if registry and ('src/' + name).startswith('src/' + registry):
                continue
            if name in PUBLIC_TWINS.get(module, []):
                continue
            if allowed is not None and target not in allowed:
                findings.append((path, line, "%s may not include '%s' (%s); it may include: %s" %
                                 (module, name, target, ', '.join(sorted(allowed - {module})) or 'the standard library')))
            if name.startswith('model/arch/') and not path.startswith('src/model/arch/') and not _is_test(path):
                findings.append((path, line, "only model/registry.cc names what is in model/arch/, not '%s'" % name))
    return findings


def _outside(path, line, name, module):
    if _INTRINSICS.match(name):
        if _ISA_FILE.match(os.path.basename(path)) or module == 'base' or path.startswith('src/backend/cpu/simd/vec_'):
            return []
        return [(path, line, "<%s> belongs in a file with an ISA suffix (NAME.<isa>.cc), which gets the compiler flags" % name)]
    for prefix, users in OUTSIDE.items():
        if not name.startswith(prefix) or users is None:
            continue
        roles = {module.split('/')[0]}
        if _is_test(path):
            roles |= {'tests'}
        if path.endswith('_bench.cc'):
            roles |= {'benches', 'bench'}
        if prefix == 'nlohmann/' and roles & set(users) and path.endswith('.h') and module == 'text' and '/jinja/' not in path and '/grammar/schema_' not in path:
            return [(path, line, '<%s> in a widely included header: it is slow to compile; include it in the .cc' % name)]
        if not roles & set(users):
            return [(path, line, '<%s>: only %s may use this library' % (name, ', '.join(users)))]
    return []


# ---- sizes ----------------------------------------------------------------------------------------------------------------

CC_SOFT, CC_HARD, HEADER_MAX, FUNCTION_SOFT, FUNCTION_HARD = 500, 800, 300, 70, 100
COLUMNS = 120
SIZE_REASON = re.compile(r'^(//|#|"""|\s*)\s*Size: \S+', re.M)  # the line at the top that says why a file or function is long


def _generated(path):
    return re.search(r'_tables\.(cc|h)$', path) is not None


def _has_size_reason(text):
    return SIZE_REASON.search('\n'.join(text.splitlines()[:30])) is not None


def sizes(tree):
    findings = []
    for path in tree.cpp():
        text = tree.text(path)
        n_lines = text.count('\n')
        if _generated(path):
            continue
        if path.endswith('.h'):
            if n_lines > HEADER_MAX:
                findings.append((path, 1, 'header of %d lines, at most %d' % (n_lines, HEADER_MAX)))
        elif n_lines > CC_HARD:
            findings.append((path, 1, '%d lines, at most %d' % (n_lines, CC_HARD)))
        elif n_lines > CC_SOFT and not _has_size_reason(text):
            findings.append((path, 1, "%d lines: over %d the top of the file says why ('// Size: ...')" % (n_lines, CC_SOFT)))
    for path in tree.paths:
        if path.startswith('apps/ridge/cmd_') and path.endswith('.cc') and tree.text(path).count('\n') > 150:
            findings.append((path, 1, 'a subcommand of %d lines, at most 150: move what is not flags and output below' %
                             tree.text(path).count('\n')))
    return findings


def function_sizes(tree):
    findings = []
    for path in tree.cpp():
        if _generated(path):
            continue
        text = tree.text(path)
        for first, n_lines, head in cpp_text.functions(text):
            name = head[-60:] if len(head) > 60 else head
            if n_lines > FUNCTION_HARD:
                findings.append((path, first, 'function of %d lines, at most %d: %s' % (n_lines, FUNCTION_HARD, name)))
            elif n_lines > FUNCTION_SOFT and not _has_size_reason(text):
                findings.append((path, first, "function of %d lines: over %d the top of the file says why ('// Size: ...'): %s" %
                                 (n_lines, FUNCTION_SOFT, name)))
    return findings


def form(tree):
    """Each source opens with a comment; lines fit; no tabs, no blanks at the end."""
    findings = []
    for path in tree.paths:
        if not path.endswith(('.cc', '.h', '.c', '.py', '.cmake', '.sh', 'CMakeLists.txt')) or not tree.text(path):
            continue
        text = tree.text(path)
        if not text.lstrip().startswith(('//', '/*', '#', '"""')) and os.path.basename(path) != 'CMakeLists.txt':
            findings.append((path, 1, 'the file must open with a comment: what it owns, what it refuses, where the truth came from'))
        own_header = path[:-3] + '.h' if path.endswith('.cc') else ''  # it carries the comment for both
        if path.endswith(('.cc', '.h', '.c')) and re.match(r'#\s*(include|pragma|ifndef)', text) and not tree.exists(own_header or '-'):
            findings.append((path, 1, 'the file must open with a comment: what it owns, what it refuses, where the truth came from'))
        if not text.endswith('\n'):
            findings.append((path, text.count('\n') + 1, 'no newline at the end'))
        for number, line in enumerate(text.split('\n'), 1):
            if len(line) > COLUMNS and path.endswith(('.cc', '.h', '.c')) and not _generated(path) and not _is_long_literal(line):
                findings.append((path, number, '%d columns, at most %d' % (len(line), COLUMNS)))
            if '\t' in line and not _generated(path):
                findings.append((path, number, 'a tab; the tree uses spaces'))
            if line != line.rstrip() and '\\' not in line:
                findings.append((path, number, 'blanks at the end of the line'))
    return findings


def _is_long_literal(line):
    """A string or a test vector that cannot be broken without being changed."""
    return re.search(r'"[^"]{60,}|R"', line) is not None


# ---- banned calls ---------------------------------------------------------------------------------------------------------

# (pattern in code without comments and strings, where it is banned, what to use instead)
_SRC = r'^(src|include)/'
_ALL = r'^(src|include|apps|examples|tests|bench)/'
_NOT_BASE = r'^(src/(?!base/)|include/|apps/)'
# text/jinja unwinds its interpreter with one exception type of its own, which its face (chat_template, value_from_json) turns into a
# Result: an error deep in an expression would otherwise be carried through every operator by hand.
_NOT_JINJA = r'^(src/(?!text/jinja/)|include/)'
BANNED = [
    (r'\bstd::(w?regex|regex_match|regex_search|regex_replace)\b|#\s*include\s*<regex>', _ALL,
     'std::regex is slow and recurses on its input', 'a hand-written scanner'),
    (r'\b(std::)?(abort|terminate|quick_exit|_Exit)\s*\(', _SRC, 'a library never ends the process', 'Result<T>, or assert'),
    (r'(?<![\w.>])(std::|::)?_?exit\s*\(', _SRC, 'a library never ends the process', 'Result<T>'),
    (r'(?<![\w.>])(std::)?(printf|fprintf|vprintf|puts|putchar|perror)\s*\(', _SRC, 'a library never prints',
     'return the text, or Result<T>'),
    (r'\bfmt::print(ln)?\s*\(', _SRC, 'a library never prints', 'return the text, or Result<T>'),
    (r'\bstd::(cout|cerr|clog)\b', _SRC, 'a library never prints', 'return the text, or Result<T>'),
    (r'(?<![\w:])(throw)\b(?!\s*\(\))', _NOT_JINJA, 'no exception crosses a module', 'Result<T> (base/result.h)'),
    (r'(?<![\w.>:])new\b\s*(\(|[A-Za-z_:])', _NOT_BASE, 'raw new', 'std::make_unique, or a value'),
    (r'(?<![\w.>])(std::)?(malloc|calloc|realloc|aligned_alloc|posix_memalign)\s*\(', _NOT_BASE, 'raw allocation',
     'AlignedBuffer (base/) or TaggedBuffer (account/)'),
    (r'(?<![\w.>])delete\s*(\[\])?\s*[A-Za-z_*(]', _NOT_BASE, 'raw delete', 'std::unique_ptr'),
    (r'\b(std::)?(secure_)?getenv\s*\(', _NOT_BASE, 'a hidden option', 'a flag; the few variables are read in base/'),
    (r'(?<![\w.>])(std::)?(strcpy|strcat|sprintf|vsprintf|gets|strtok)\s*\(', _ALL, 'writes without knowing the size',
     'std::string, fmt::format_to_n'),
    (r'(?<![\w.>])(std::)?s?rand\s*\(', _ALL, 'hidden state', 'base/rng.h, a function of (seed, sequence, position)'),
    (r'\bstd::(atoi|atol|atof|stoi|stol|stoul|stof|stod)\b|(?<![\w.>:])(atoi|atol|atof)\s*\(', r'^(src/(?!base/)|include/|apps/)',
     'hides or throws its errors', 'std::from_chars'),
    (r'\busing\s+namespace\s+std\b', _ALL, 'brings in names nobody asked for', 'the names that are used'),
    (r'\bstd::endl\b', _ALL, 'flushes', "'\\n'"),
]
# A private constructor cannot be reached by make_unique.
_OWNED_AT_ONCE = re.compile(r'unique_ptr<[\w:]+>\s*(\w+\s*)?[({]\s*$')
_COMPILED = [(re.compile(p), re.compile(where), why, instead) for p, where, why, instead in BANNED]


def banned(tree):
    findings = []
    for path in tree.cpp():
        code = cpp_text.strip(tree.text(path))
        test = _is_test(path) or path.endswith('_bench.cc')
        for pattern, where, why, instead in _COMPILED:
            if not where.match(path) or (test and where.pattern != _ALL):
                continue
            for match in pattern.finditer(code):
                if match.group(0).startswith('new') and _OWNED_AT_ONCE.search(code, max(0, match.start() - 120), match.start()):
                    continue
                findings.append((path, _line(code, match.start()), "'%s': %s; use %s" % (match.group(0).strip(), why, instead)))
    return findings


# ---- ISA files: flags that follow a file name are an ODR trap -------------------------------------------------------------


def isa_files(tree):
    findings = []
    for path in tree.cpp('src/'):
        if not _ISA_FILE.match(os.path.basename(path)):
            continue
        code = cpp_text.strip(tree.text(path), keep_strings=True)
        for match in re.finditer(r'^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)\b[^\n]*(__AVX|__SSE|__FMA|__F16C|__ARM|__aarch64|__x86_64)',
                                 code, re.M):
            findings.append((path, _line(code, match.start()), 'an ISA #if inside a kernel file; make another file with its suffix'))
        for match in _INCLUDE.finditer(code):
            if match.group(1) == '<' and '.' not in match.group(2) and match.group(2) not in _PLAIN_HEADERS:
                findings.append((path, _line(code, match.start()),
                                 '<%s> brings inline functions into a file with its own flags; only %s and intrinsics' %
                                 (match.group(2), ', '.join(sorted(_PLAIN_HEADERS)))))
    return findings


_PLAIN_HEADERS = {'cstdint', 'cstddef', 'cstring', 'cassert', 'type_traits', 'cfloat', 'climits', 'bit', 'span', 'array', 'cmath'}


def isa_objects(tree, build_dir, nm='nm'):
    findings, n_objects, isas = [], 0, set()
    sources = [p for p in tree.cpp('src/') if _ISA_FILE.match(os.path.basename(p)) and not _is_test(p)]
    for path in sources:
        for found in glob.glob(os.path.join(glob.escape(build_dir), 'CMakeFiles', '*.dir', glob.escape(path) + '.o')):
            n_objects += 1
            isa = _ISA_FILE.match(os.path.basename(path)).group(1)
            isas.add(isa)
            out = subprocess.run([nm, '-C', found], capture_output=True, text=True)
            if out.returncode != 0:
                findings.append((path, 1, '%s failed on %s: %s' % (nm, found, out.stderr.strip())))
                continue
            findings += [(path, 1, text) for text in symbol_findings(out.stdout, isa)]
    if sources and n_objects == 0:
        findings.append((sources[0], 1, 'no object of any ISA file under %s: nothing was checked' % build_dir))
    return findings


def symbol_findings(nm_output, isa):
    """What is wrong in the output of `nm -C` of one object."""
    findings = []
    for line in nm_output.splitlines():
        match = re.match(r'^[0-9a-fA-F ]{16,} ([A-Za-z]) (.*)$', line)
        if not match:
            continue
        kind, name = match.groups()
        if kind in 'WVuw' and not (kind == 'w' or name.startswith('DW.ref.')):
            findings.append("weak symbol '%s': the linker may keep this copy for everybody; make it static or always inline" % name)
        elif kind in 'TDBRGSC':
            plain = re.split(r'[(\[<]', name.split(' [clone')[0])[0].split('::')[-1]
            if not plain.endswith('__' + isa):
                findings.append("exported '%s' does not end in '__%s'" % (plain, isa))
    return findings


# ---- words, links, documents ----------------------------------------------------------------------------------------------

_MARK = 'TO' + 'DO|FIX' + 'ME|XX' + 'X|HA' + 'CK'


def open_ends(tree):
    """A mark for later names its issue: the word, then (#N)."""
    findings = []
    for path in tree.paths:
        if not path.endswith(('.cc', '.h', '.c', '.py', '.cmake', '.sh', 'CMakeLists.txt')) and path not in ('run', 'test', '.ci/run'):
            continue
        for match in re.finditer(r'\b(' + _MARK + r')\b(?!\(#\d+\))', tree.text(path)):
            findings.append((path, _line(tree.text(path), match.start()), "'%s' without an issue: write %s(#N), or do it" %
                             (match.group(1), match.group(1))))
    return findings


# A place on somebody's machine, or how the work was organised, means nothing to a reader of the tree. Split, so as not to find itself.
WORDS = [
    (r'(?<![\w.])/wo' r'rk/', 'an absolute path of one machine'),
    (r'/tmp/[a-z]-', 'an absolute path of one machine'),
    (r'(?<![\w.])/(home|Users)/[a-z]', 'an absolute path of one machine'),
    (r'(?i)\bsub-?ag' r'ents?\b', 'how the work was organised'),
    (r'(?i)\b(this|previous|next|last|earlier|another) ses' r'sion\b', 'how the work was organised'),
    (r'(?i)\bthe br' r'ief\b|\bmy ta' r'sk\b', 'how the work was organised'),
]


def words(tree):
    findings = []
    for path in tree.paths:
        text = tree.text(path)
        for pattern, why in WORDS:
            for match in re.finditer(pattern, text):
                findings.append((path, _line(text, match.start()), "'%s': %s" % (match.group(0), why)))
    return findings


_LINK = re.compile(r'(?<!\!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)')


def _slug(heading):
    heading = re.sub(r'[`*]', '', heading.strip().lower())
    return re.sub(r'[^\w\- ]', '', heading).replace(' ', '-')


def _prose(text):
    return re.sub(r'^(```|~~~).*?^\1[^\n]*$', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text, flags=re.M | re.S)


def links(tree):
    findings = []
    for path in [p for p in tree.paths if p.endswith('.md')]:
        text = _prose(tree.text(path))
        for match in _LINK.finditer(text):
            target = match.group(1) or match.group(2)
            if re.match(r'[a-z]+:', target):
                continue
            file, _, anchor = target.partition('#')
            where = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            line = _line(text, match.start())
            if where.startswith('..') or not tree.exists(where):
                findings.append((path, line, "dead link '%s'" % target))
            elif anchor and where.endswith('.md'):
                slugs = {_slug(h) for h in re.findall(r'^#{1,6} (.*)$', _prose(tree.text(where)), re.M)}
                if anchor not in slugs:
                    findings.append((path, line, "dead link '%s': %s has no such heading" % (target, where)))
    return findings


def readme_pair(tree):
    """README.md and README.zh-CN.md: the same headings by level, and the same commands."""
    pair = ['README.md', 'README.zh-CN.md']
    if not all(tree.exists(p) for p in pair):
        return [(p, 1, 'missing') for p in pair if not tree.exists(p)]
    levels = [[len(h) for h in re.findall(r'^(#{1,6}) ', _prose(tree.text(p)), re.M)] for p in pair]
    commands = [_commands(tree.text(p)) for p in pair]
    findings = []
    if levels[0] != levels[1]:
        findings.append((pair[1], 1, 'headings by level %s, in %s %s' % (levels[1], pair[0], levels[0])))
    for command in [c for c in commands[0] if c not in commands[1]]:
        findings.append((pair[1], 1, "the command '%s' of %s is missing" % (command, pair[0])))
    for command in [c for c in commands[1] if c not in commands[0]]:
        findings.append((pair[0], 1, "the command '%s' of %s is missing" % (command, pair[1])))
    if not findings and commands[0] != commands[1]:
        findings.append((pair[1], 1, 'the commands stand in another order than in %s' % pair[0]))
    return findings


def _commands(text):
    """The lines of the code blocks without their comments, which may be in either language."""
    lines = []
    for block in re.findall(r'^```(?:sh|bash|console)\n(.*?)^```', text, re.M | re.S):
        lines += [re.sub(r'\s+#.*', '', line).strip() for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith('#')]


def dead_headers(tree):
    included = set()
    for path in tree.cpp():
        for _, name in _INCLUDE.findall(tree.text(path)):
            included |= {name, os.path.normpath(os.path.join(os.path.dirname(path), name))}
    findings = []
    for path in tree.cpp('src/', 'tests/', 'apps/'):
        if path.endswith('.h') and not included & {path, path.split('/', 1)[1]}:
            findings.append((path, 1, 'nobody includes this header'))
    return findings


def shadowed_modules(tree):
    """A test script named like a module of Python's own is run in its place by whoever imports that module, other tests included."""
    names = [(p, os.path.basename(p)[:-3]) for p in tree.paths if p.startswith(('tests/', 'tools/')) and p.endswith('.py')]
    return [(p, 1, "Python has a module '%s': name this file otherwise" % name) for p, name in names if name in sys.stdlib_module_names]


RULES = {
    'layers': layers,
    'sizes': sizes,
    'function_sizes': function_sizes,
    'form': form,
    'banned': banned,
    'isa_files': isa_files,
    'isa_objects': isa_objects,
    'open_ends': open_ends,
    'words': words,
    'links': links,
    'readme_pair': readme_pair,
    'dead_headers': dead_headers,
    'shadowed_modules': shadowed_modules,
}
