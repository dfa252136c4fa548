"""Reads C++ just well enough for the rules: text without comments and strings, and where functions begin and end.
It is no parser: it relies on the tree being formatted by .clang-format, and errs on the side of seeing a function."""
import re

_TOKEN = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|R"(?P<delim>[^()\\\s]{0,16})\(.*?\)(?P=delim)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'",
    re.S)


def _blank(text):
    return re.sub(r'[^\n]', ' ', text)


def strip(text, keep_strings=False):
    """The same number of lines and columns, with comments (and what is inside quotes) turned into spaces."""

    def replace(match):
        token = match.group(0)
        if token.startswith(('//', '/*')):
            return _blank(token)
        return token if keep_strings else token[0] + _blank(token[1:-1]) + token[-1]

    return _TOKEN.sub(replace, text)


_CONTAINER = re.compile(r'\b(namespace|class|struct|union|enum|extern)\b')


def _without_parentheses(head):
    previous = None
    while previous != head:
        previous, head = head, re.sub(r'\([^()]*\)', '', head)
    return head


def _kind(head):
    """What the brace after `head` opens outside any function: 'container', 'function' or 'data'."""
    head = re.sub(r'\boperator\s*[^\s\w(]+', 'operator_', head).strip()
    bare = _without_parentheses(head)
    if '(' not in head:
        return 'container' if _CONTAINER.search(bare) and '=' not in bare else 'data'
    if re.match(r'(template\s*<.*>\s*)?(class|struct|union|enum)\b', bare, re.S) and not head.endswith(')'):
        return 'container'  # struct alignas(64) Name {
    if '=' in bare and not head.endswith(')'):
        return 'data'
    return 'function'


def functions(text):
    """[(first line, lines, head)] of every function body that is not inside another one."""
    code = re.sub(r'^[ \t]*#.*?(?<!\\)$', lambda m: _blank(m.group(0)), strip(text), flags=re.M | re.S)
    found, containers, position, head_from = [], 0, 0, 0
    brace = re.compile(r'[{};]')
    while True:
        match = brace.search(code, position)
        if not match:
            return found
        position = match.end()
        char = match.group(0)
        if char == ';':
            if code.count('(', head_from, position) <= code.count(')', head_from, position):
                head_from = position
            continue
        if char == '}':
            containers = max(0, containers - 1)
            head_from = position
            continue
        head = code[head_from:match.start()]
        kind = _kind(head)
        if kind == 'container':
            containers += 1
            head_from = position
            continue
        end = _closing(code, match.start())
        if kind == 'function':
            first = head_from + len(head) - len(head.lstrip())
            found.append((code.count('\n', 0, first) + 1, code.count('\n', first, end) + 1, ' '.join(head.split())))
        position = end + 1
        head_from = position


def _closing(code, start):
    depth = 0
    for match in re.compile(r'[{}]').finditer(code, start):
        depth += 1 if match.group(0) == '{' else -1
        if depth == 0:
            return match.start()
    return len(code) - 1
