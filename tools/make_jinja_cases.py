#!/usr/bin/env python3
"""Writes tests/golden/jinja/cases.jsonl: small templates and what Jinja2 makes of them, set up as the transformers library sets it
up. Needs python3-jinja2 (3.1). The first line holds the variables of all; each other one a template and expected (the text) or
error ("Type: message"). `loose` marks errors whose words differ on purpose: only their type is compared.

With the folder of published templates as argument also official.jsonl: three official templates, tools absent and empty."""
import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 7, 4, 9, 5, 3)
VARIABLES = {
    "n": 7, "neg": -3, "zero": 0, "f": 2.5, "big": 1e20, "small": 1e-7, "t": True, "fl": False, "none": None,
    "s": "Hello, World", "u": "naïve ß straße ΣΑΣ 北京 🙂", "ws": " \t two  words \n", "empty": "",
    "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "mixed": [1, "a", None, True, 2.0, [1], {"k": 1}], "el": [], "ed": {},
    "d": {"a": 1, "B": 2, "c": {"d": [10, 20, 30], "items": "x"}, "items2": 5}, "nested": [[1, 2], [3, 4]],
    "users": [{"name": "Zoe", "age": 30, "tags": ["x", "y"]}, {"name": "adam", "age": 25, "tags": []},
              {"name": "Bob", "age": 30, "tags": ["z"], "extra": {"deep": 1}}],
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": []}],
    "html": "<a href=\"x\">T & 'C'</a>", "quote": "it's \"q\"", "multi": "line1\nline2\n\nline4\r\nline5", "num": " 42 ",
    "long": "The quick brown fox jumps over the lazy dog, and then some more words follow-up here to wrap around.",
}

EXPRESSIONS = r"""
1 + 2 * 3 - 4
7 // 2 ~ ' ' ~ -7 // 2 ~ ' ' ~ 7 // -2
7 % 3 ~ ' ' ~ -7 % 3 ~ ' ' ~ 7 % -3
7.5 // 2 ~ ' ' ~ -7.5 // 2 ~ ' ' ~ 7.5 % -2 ~ ' ' ~ -7.5 % 2
2 ** 10 ~ ' ' ~ 2 ** -1 ~ ' ' ~ 2 ** 0.5
2 ** 3 ** 2
-2 ** 2
(-2) ** 2
10 / 4 ~ ' ' ~ 10 / 5
1 / 0
1 // 0
1 % 0
1.0 / 0
1.0 // 0
1.0 % 0
0 ** -1
0.0 ** -1
1e16 ~ ' ' ~ 1e15 ~ ' ' ~ 123456789012345680.0 ~ ' ' ~ 1e-4 ~ ' ' ~ 1e-5 ~ ' ' ~ 0.1 + 0.2 ~ ' ' ~ 1e300 * 1e10
1_000 + 0x1F + 0b101 + 0o17
1.5e3
1e3
007
t + 1
t * 2.5
-t
+t
true and 0 or 'x'
none or 'y'
not none
not not s
1 < 2 < 3
1 < 3 < 2
1 == 1.0 == t
'a' < 'b' <= 'b'
[1,2] < [1,3]
(1,2) < (1,2,0)
[1] == (1,)
{'a':1} == {'a':1.0}
1 < 'a'
none < 1
[1] < (1,)
d < d
'a' in s
'Hell' in s
1 in l
'a' in d
'zz' not in d
1 in 's'
1 in 5
1 in none
undefinedvar in s
s in undefinedvar
[1] in nested
[1,2] in nested
1 in (1,2)
'a' ~ 1 ~ none ~ true ~ 2.0 ~ [1,'b'] ~ {'x': none}
'a' + 'b'
'a' + 1
1 + 'a'
none + 'a'
'a' + none
[1] + [2]
[1] + (2,)
(1,) + (2,)
'ab' * 3
3 * 'ab'
'ab' * -1
[1,2] * 2
(1,) * 2
'a' * 'b'
'a' * 1.5
[1] * none
'a' - 'b'
[1] - [1]
-'a'
+none
undefinedvar + 1
1 + undefinedvar
-undefinedvar
undefinedvar.foo
undefinedvar['foo']
undefinedvar()
undefinedvar == undefinedvar2
undefinedvar == none
undefinedvar != 1
undefinedvar < 1
1 < undefinedvar
undefinedvar ~ 'x'
d.nope
d.nope.nope2
d['nope']['x']
d.nope is defined
d.a ~ d['a'] ~ d.B
d.c.d[1]
d.c.d.1
d.c.d[-1] ~ d.c.d[0]
d.c.d[5] is defined
d.c.d[5] + 1
d.c.d[5]
d.c.items
d.items is callable
d['items'] is callable
d.c['items']
d.get('a') ~ d.get('q') ~ d.get('q', 5)
d.get()
d.get([1])
d.keys()
d.values()|list
d.items()|list
d.c.items()
d.keys()|length
d.keys()[0]
d.items()|first
d.update({'x':1})
d.pop('a')
d.pop
d.clear()
d.setdefault('a', 1)
d.copy()
d.__class__
d.__class__.__mro__
d.__foo__
s.__len__()
s._private
l.append(4)
l.append
l.append is defined
l.extend([1])
l.insert(0, 1)
l.sort()
l.reverse()
l.remove(1)
l.index(1)
l.index(9)
l.count(1)
l.copy()
[1,2,3].pop()
[].pop()
none.foo
none.foo.bar
none['x']
n.foo
n.real
f.real
n[0]
n[0] + 1
s[0] ~ s[-1] ~ s[100]
s['x']
s.upper
l.foo + 1
l['foo'] + 1
l['foo']['bar']
l[1.0] is defined
l[true]
l[none] is defined
d[none] is defined
d[[1]] is defined
s[1:4] ~ '|' ~ s[:-1] ~ '|' ~ s[::2] ~ '|' ~ s[::-1] ~ '|' ~ s[5:2:-1]
'abcdef'[5:2:-1]
[0,1,2,3,4,5][4:1:-1]
l[::-1]
l[:10] ~ l[-10:] ~ l[5:] ~ l[2:1]
l[::0]
l['a':]
l[1.0:]
(1,2,3)[1:]
u[0:3] ~ u[-1] ~ u[::-1] ~ u|length
u[2] ~ u[-4:]
d[1:]
undefinedvar[1:]
range(5)[1:3]
range(10)[::-2]|list
range(5)|list
range(1,10,3)|list
range(5,0,-2)|list
range(3)
range(0,6,2)
range(0)|length
range(5)[2]
range(5)[-1]
range(5)[9]
range(100001)
range(1,2,0)
range('a')
range(1.5)
range()
3 in range(5)
range(3) == range(0,3)
'x' if true else 'y'
'x' if false
('x' if false) + 'a'
('x' if false) is defined
'a' if 0 else 'b' if 0 else 'c'
1 if 1 else 2 if 1 else 3
[1,2,'a',none,true,1.5,'it\'s','q"q','\n\t\\é🙂\x00\u200b']
{'a':[1,{'b':none}], 1:2, none:3, 1.5:4, true: 5}
(1,)
()
(1,2)
[]
{}
{[1]: 2}
{'a':1,'a':2}
'\x41\u00e9\U0001F642\101\q'
'a' 'b' 'c'
"it's" ~ 'say "x"'
quote
[quote]
['\'']
s.upper() ~ s.lower() ~ s.title() ~ s.swapcase() ~ s.capitalize()
u.upper()
u.lower()
u.title()
u.capitalize()
u.casefold()
u.swapcase()
'ΑΣ ΣΑΣ. aΣ'.lower()
'ǆ ŉ ﬁ'.title() ~ 'ǆ ŉ ﬁ'.upper()
"they're bill's".title()
"they're bill's o'neil-smith (foo) [bar]"|title
ws.strip() ~ '|' ~ ws.lstrip() ~ '|' ~ ws.rstrip()
'xxaxx'.strip('x') ~ 'xyaxy'.lstrip('yx') ~ 'axx'.rstrip('x')
'abc'.strip(none)
'abc'.strip(1)
ws.split()
'a,b,,c'.split(',')
'a,b,,c'.split(',', 1)
'a,b,c'.rsplit(',', 1)
' a  b  c '.split(none, 1)
' a  b  c '.rsplit(none, 1)
' a  b  c '.rsplit(maxsplit=0)
'a b'.split(maxsplit=1)
'abc'.split('')
'abc'.split(1)
''.split()
''.split(',')
'a</think>b</think>c'.split('</think>')[-1].lstrip('\n')
multi.splitlines()
multi.splitlines(true)
'a\x0bb\x1cc\u2028d'.splitlines()
'a-b-c'.partition('-')
'a-b-c'.rpartition('-')
'abc'.partition('x')
'abc'.rpartition('x')
'aXbX'.replace('X', 'yy')
'aXbX'.replace('X', '', 1)
'abc'.replace('', '-')
'abc'.replace('', '-', 2)
'abc'.replace('a')
'abc'.replace('a', 1)
', '.join(['a','b'])
', '.join([1])
', '.join(1)
''.join('abc')
'abc'.find('c') ~ 'abc'.find('x') ~ 'abcabc'.rfind('b') ~ 'abcabc'.find('a', 1) ~ 'abc'.find('a', 1, 2) ~ 'abc'.find('')
u.find('北') ~ u.index('🙂')
'abc'.index('x')
'abc'.rindex('x')
'abcabc'.count('b') ~ 'abc'.count('') ~ 'aaa'.count('aa')
'abc'.startswith('ab') ~ 'abc'.endswith('bc') ~ 'abc'.startswith(('x','a')) ~ 'abc'.startswith('b', 1) ~ 'abc'.endswith('b', 0, 2)
'abc'.startswith(1)
'abc'.startswith(['a'])
'abc'.startswith('')
'12'.isdigit() ~ '1a'.isdigit() ~ ''.isdigit() ~ '²'.isdigit() ~ '²'.isdecimal() ~ '½'.isnumeric() ~ '½'.isdigit()
'abc'.isalpha() ~ 'é'.isalpha() ~ '1'.isalpha() ~ 'a1'.isalnum() ~ ' '.isspace() ~ 'a'.isspace()
'ABC'.isupper() ~ 'aBC'.isupper() ~ '1'.isupper() ~ 'abc1'.islower() ~ 'Ab Cd'.istitle() ~ 'ab'.istitle()
'a1'.isidentifier() ~ '1a'.isidentifier() ~ 'é'.isascii() ~ 'a\n'.isprintable()
'5'.zfill(3) ~ '-5'.zfill(4) ~ '+5'.zfill(1)
'ab'.center(7, '*') ~ 'abc'.center(6, '*') ~ 'ab'.ljust(4) ~ '|' ~ 'ab'.rjust(4, '.') ~ 'ab'.center(1)
'ab'.center(5, 'xx')
'a\tbc\td'.expandtabs(4)
'prefix_x'.removeprefix('prefix_') ~ 'x.py'.removesuffix('.py') ~ 'x'.removeprefix('y')
'abc'.nope
'abc'.nope()
'{} {}'.format(1, 'a')
'{0} {1} {0}'.format(1, 'a')
'{a} {b}'.format(a=1, b='x')
'{:>5}|{:<5}|{:^5}|{:*^5}'.format('a', 'b', 'c', 'd')
'{:5}|{:05}|{:+d}|{:x}|{:X}|{:o}|{:b}|{:#x}|{:,}'.format(42, 42, 42, 255, 255, 8, 5, 255, 1234567)
'{:.2f}|{:8.3f}|{:e}|{:g}|{:%}|{:.3}|{}'.format(3.14159, 3.14159, 31415.9, 0.00001, 0.25, 3.14159, 2.0)
'{:.2}|{!r}|{!s}|{{}}'.format('abc', 'x', 1)
'{0[a]} {0[c][d][1]} {1.name}'.format(d, users[0])
'{}'.format()
'{} {0}'.format(1)
'{a}'.format()
'{'.format()
'}'.format()
'{:d}'.format('a')
'{:>{w}}'.format('a', w=4)
'{}'.format(none) ~ '{}'.format([1]) ~ '{}'.format(true) ~ '{:d}'.format(true)
'{:5}'.format(none)
'%s %d %f %r' % ('a', 1, 1.5, 'b')
'%5d|%-5d|%05d|%+d|%x|%X|%o|%#x' % (42, 42, 42, 42, 255, 255, 8, 255)
'%.2f|%8.3f|%e|%g|%G' % (3.14159, 3.14159, 31415.9, 0.00001, 1e20)
'%s' % 'a'
'%s' % [1, 2]
'%s %s' % [1, 2]
'%(a)s %(b)d' % {'a': 'x', 'b': 2}
'%(zz)s' % {'a': 'x'}
'%d' % 'a'
'%d' % 1.9
'%x' % 1.5
'%s'  % ()
'%s' % (1, 2)
'%%|%c%c' % ('a', 98)
'%q' % 1
'%' % 1
'a' % 1
'a' % ()
'a' % {}
'a' % undefinedvar
'%s' % undefinedvar
'%5s|%-5s|%.1s' % ('a', 'b', 'cd')
'%*d' % (5, 42)
s|upper ~ s|lower ~ s|capitalize ~ 'hello world-foo'|title
n|upper
none|upper
undefinedvar|upper
l|upper
ws|trim
'xax'|trim('x')
none|trim
'abc'|replace('b', 'X')
'aaa'|replace('a', 'b', 2)
123|replace(2, 9)
s|length ~ l|count ~ d|length ~ u|length
n|length
none|length
undefinedvar|length
l|first ~ l|last ~ s|first ~ s|last ~ d|first ~ d|last
el|first
el|last
el|first is defined
undefinedvar|first
none|first
l|map('string')|last
l|reverse|list
s|reverse
n|reverse
l|reverse
d|reverse|list
l|sort ~ ls|sort ~ ls|sort(case_sensitive=true) ~ l|sort(reverse=true) ~ ls|sort(true, true)
mixed|sort
users|sort(attribute='age,name')|map(attribute='name')|list
users|sort(attribute='name', reverse=true)|map(attribute='name')|join(',')
users|sort(attribute='nope')|length
[none, none]|sort
[[2,1],[1,2]]|sort
nested|sort(attribute=1)
d|dictsort
d|dictsort(true)
{'a':2,'b':1}|dictsort(by='value')
{'a':2,'b':1}|dictsort(false,'value',true)
d|dictsort(by='x')
l|dictsort
undefinedvar|dictsort
d|items|list
none|items|list
undefinedvar|items|list
l|items
l|join ~ l|join(',') ~ l|join(', ', attribute='x') ~ users|join('|', attribute='name') ~ s|join('.')
none|join
n|join
undefinedvar|join(',')
[1,none,'a']|join('-')
l|min ~ l|max ~ ls|min ~ ls|max ~ ls|min(case_sensitive=true)
el|min
el|max is defined
mixed|min
users|min(attribute='age')
users|max(attribute='age')
l|sum ~ [1.5, 2]|sum ~ el|sum ~ users|sum(attribute='age') ~ l|sum(start=10)
ls|sum
['a']|sum(start='')
[[1],[2]]|sum(start=[])
[1,2,1,'a','A','a']|unique|list
[1,2,1,'a','A']|unique(true)|list
users|unique(attribute='age')|map(attribute='name')|list
[[1],[1]]|unique|list
[1, 1.0, true]|unique|list
range(7)|batch(3)|list
range(7)|batch(3, 'x')|list
range(7)|slice(3)|list
range(7)|slice(3, 'x')|list
range(3)|slice(0)|list
users|groupby('age')
users|groupby('age')|map('first')|list
users|groupby('age')|map(attribute='list')|map('length')|list
(users|groupby('age'))[0].grouper
(users|groupby('age'))[1].list|length
ls|groupby(0)|list
users|groupby('nope', default='x')|length
users|map(attribute='name')|list
users|map(attribute='extra.deep')|list
users|map(attribute='extra.deep', default=0)|list
users|map(attribute='tags.0')|list
users|map(attribute='nope')|list
users|map('nofilter')|list
users|map()|list
users|map(attribute='name', foo=1)|list
ls|map('upper')|join
ls|map('replace', 'a', 'z')|join
ls|map('default', 'x')|list
none|map('upper')|list
l|map('upper')
l|select('odd')|list ~ l|reject('odd')|list ~ l|select('gt', 1)|list ~ l|select('>', 1)|list ~ l|select('divisibleby', 3)|list
[0,1,'',none,'a']|select|list ~ [0,1]|reject|list
users|selectattr('age', 'equalto', 30)|map(attribute='name')|list
users|selectattr('tags')|map(attribute='name')|list
users|rejectattr('tags')|map(attribute='name')|list
users|selectattr('extra', 'defined')|list|length
users|selectattr('extra.deep', 'defined')|list|length
users|selectattr('name', 'in', ['Bob'])|list|length
users|selectattr()|list
l|select('notest')|list
l|select(notest)|list
users|selectattr('role', '==', 'x')|first is defined
(users|selectattr('age', '==', 30))[0]
(users|selectattr('age', '==', 30))|length
(l|select('odd'))|tojson
l|select('odd')|last
undefinedvar|default('x') ~ none|default('x') ~ ''|default('x', true) ~ undefinedvar|d ~ d.nope|default(1) ~ s|default('q')
undefinedvar.x|default('y')
'42'|int ~ '4.7'|int ~ 'x'|int ~ 'x'|int(-1) ~ '0x1F'|int(base=16) ~ '0b11'|int(0, 2) ~ '1_000'|int ~ num|int ~ 3.9|int ~ true|int ~ -3.9|int
none|int ~ l|int ~ ''|int(5)
undefinedvar|int
'12345678901234567890'|int
'-12345678901234567890'|int
'1e3'|int ~ 'inf'|float ~ 'nan'|float ~ '1.5'|float ~ 'x'|float ~ none|float ~ 3|float ~ ' 2.5 '|float ~ 'x'|float('y')
'inf'|int
-3|abs ~ -3.5|abs ~ true|abs
'a'|abs
3.7|round ~ 2.5|round ~ 3.5|round ~ -2.5|round ~ 42.55|round(1) ~ 42.55|round(1, 'floor') ~ 42.51|round(1, 'ceil') ~ 7|round ~ 1234|round(-2) ~ 2.675|round(2) ~ 1e20|round
1250|round(-2) ~ 1350|round(-2) ~ 15|round(-1) ~ 25|round(-1) ~ -15|round(-1)
42|round(1, 'floor') ~ 1234.5|round(-2, 'ceil') ~ 7|round(0, 'ceil')
3|round(1, 'x')
'a'|round
1234.567|round(-2)
html|escape ~ html|e|e ~ html|forceescape
html|escape is escaped
html|safe ~ html|safe is escaped
('<b>'|safe) + '<i>'
'<i>' + ('<b>'|safe)
('<b>'|safe) ~ '<i>'
[html|e]
(html|e)|upper
html|striptags
'a <!-- c --> b  <i>x</i> &amp;lt; &lt;'|striptags
'<b>%s</b>'|safe|format('<x>')
'%s-%s'|format(1, 2)
'%(a)s'|format(a=1)
'%s'|format(1, a=2)
'a b/c?d=é&'|urlencode
{'a b': 'c&d', 'é': 1}|urlencode
[('a', 1), ('b', 2)]|urlencode
5|urlencode
'one two  three_four é-x'|wordcount
multi|indent
multi|indent(2, true)
multi|indent(2, blank=true)
multi|indent('> ', first=true)
'a'|indent(4, true)
''|indent
none|indent
5|indent
long|truncate(20)
long|truncate(20, true)
long|truncate(20, true, '~')
long|truncate(20, false, '', 0)
'short'|truncate(3)
'shorter one'|truncate(3, true, leeway=0)
'abc'|truncate(2)
long|wordwrap(20)
long|wordwrap(10, false)
'abcdefghijklmnop qrst'|wordwrap(5)
'a b c'|wordwrap(3, wrapstring='|')
'x\n\ny z'|wordwrap(3)
'ab'|center(6) ~ '|'
{'id': 'x"y', 'class': none, 'n': 1}|xmlattr
{'a b': 1}|xmlattr
{'a': 1}|xmlattr(false)
1|filesizeformat ~ 100|filesizeformat ~ 1000|filesizeformat ~ 1234567|filesizeformat ~ 1024|filesizeformat(true) ~ 1e30|filesizeformat ~ '2000'|filesizeformat
d|tojson
mixed|tojson
u|tojson
'<&\'"\\/\n\r\t\b\f\x01\x7f'|tojson
{'a': 1.0, 'b': 1e100, 'c': 1e-10, 'd': 100000000000000000}|tojson
{1: 'a', none: 'b', true: 'c', 1.5: 'd'}|tojson
{(1,2): 1}|tojson
(1, 2)|tojson
d|tojson(indent=2)
d|tojson(indent=0)
d|tojson(indent='\t')
[]|tojson(indent=2) ~ {}|tojson(indent=2) ~ [[]]|tojson(indent=1)
d|tojson(ensure_ascii=true) ~ u|tojson(ensure_ascii=true) ~ u|tojson(true)
d|tojson(separators=(',', ':'))
d|tojson(sort_keys=true)
{1: 1, 'a': 2}|tojson(sort_keys=true)
d|tojson(indent=2, separators=(',', ':'))
undefinedvar|tojson
range(3)|tojson
d.items()|tojson
namespace(a=1)|tojson
d.nope|tojson
d|tojson(foo=1)
d|pprint
l|attr('index') is callable
d|attr('a')
d|attr('items') is callable
undefinedvar|attr('a')
s|list
d|list
none|list
n|list
undefinedvar|list
5|string ~ none|string ~ [1]|string
s is string ~ n is number ~ f is float ~ n is integer ~ t is integer ~ t is number ~ t is boolean ~ none is none ~ d is mapping ~ l is sequence ~ s is sequence ~ d is sequence ~ l is iterable ~ n is iterable ~ range is callable
undefinedvar is sequence ~ undefinedvar is iterable ~ undefinedvar is callable ~ undefinedvar is string ~ undefinedvar is mapping ~ undefinedvar is none
(l|map('string')) is iterable ~ (l|map('string')) is sequence ~ d.items() is sequence ~ d.items() is iterable ~ range(2) is sequence
n is odd ~ n is even ~ n is divisibleby 7 ~ n is divisibleby(2)
'a' is odd
3.5 is odd
s is upper ~ 'ABC' is upper ~ 'abc' is lower ~ '1' is lower
n is eq 7 ~ n is ne(7) ~ n is gt 3 ~ n is lessthan 3 ~ n is ge(7) ~ n is le 6 ~ n is equalto 7
1 is in [1] ~ 'x' is in 'xyz' ~ 1 is not in [2]
true is true ~ 1 is true ~ false is false ~ 0 is false ~ none is sameas none ~ 1 is sameas true ~ l is sameas l
'upper' is filter ~ 'nope' is filter ~ 'odd' is test ~ 'nope' is test
n is nope
s is not string ~ n is not none
n is odd and n is number or false
not n is odd
n is divisibleby 3 or n is divisibleby 7
l|map('abs')|sum
s|nosuchfilter
s if true else s|nosuchfilter
s if false else s|nosuchfilter
dict(a=1, b=2) ~ dict([('x', 1)]) ~ dict({'y': 2}, z=3)
dict([1])
dict(1)
dict([(1,2,3)])
namespace(a=1).a ~ namespace({'b': 2}).b
namespace(a=1)
namespace(a=1).nope is defined
namespace(a=1)['a']
cycler('a', 'b').next()
cycler()
joiner()()
raise_exception('boom: ' ~ n)
raise_exception()
strftime_now('%Y-%m-%d %H:%M:%S %A %a %B %b %j %p %I %y %d %-d %e %U %W %w %u %V %G %F %T %D %% %c %x %X %R %h %C %f %Z|%-m|%_d|%^a')
strftime_now(1)
s(1)
n()
none()
'a'()
lambda
loop
caller
varargs
n.__class__
s.format
'{0.__class__}'.format(s)
'{.__class__.__name__}'.format(1)
f ~ big ~ small ~ neg ~ 1.0 ~ -0.0 ~ 100.0 ~ 1e22 ~ 123456.789
big|int
f == 2.5 and f > 2 and n >= 7
[1, [2, [3]]]|string
[t, fl, none]
[f, big, small]
l == [3,1,2] ~ l != [3,1,2] ~ l == (3,1,2)
none == false ~ 0 == false ~ '' == false ~ none == none
[undefinedvar]
{'a': undefinedvar}
{undefinedvar: 1}
[1,2,3][1:][0]
users[0].name.upper()[0:2]
users[-1]['extra']['deep']
users[0].tags[0] ~ users[0]['tags'][1]
messages[-1].content is none and not messages[-1].tool_calls
messages[0]['role'] == 'user' and messages|length == 2
(messages|last).role
messages[1:]|length
messages[::-1]|map(attribute='role')|list
s.split(', ')[1][0]|lower
d.c.d|sum / d.c.d|length
(1, 2) ~ (1,) ~ () ~ ((1,2),3)
1 if n > 5 and n < 10 else 0
s|upper|lower|title|length
-n|abs
-n ** 2
2 * -3
2 - -3
n.real.real
'a' if s is string and s|length > 3 else 'b'
not 1 == 2
1 + 1 == 2 and 2 + 2 == 4
'a' ~ 'b' + 'c'
1 ~ 2 + 3
10 - 2 - 3
2 / 2 * 3
'%d%%' % 5
l|join(', ')|upper
{'a': {'b': {'c': 1}}}.a.b.c
[[1,2],[3]]|sum(start=[])|length
'abc'|list|reverse|join
'a' in ['a'] and 'b' not in ['a']
[1,2,3]|last - [1,2,3]|first
s|batch(5)|map('join')|list
3|string|length
'x' * 3 ~ 'y'
none|string + 'a'
(none|default('a', true)) + 'b'
d|length > 2
d == {'a': 1, 'B': 2}
[1,2]|map('string')|join('+')
u|list|length
u|upper|length
'éa'|capitalize
"ab\
cd"
1.
.5
1..real
5 .real
a.b.c
'''x'''
{'a' 1}
[1, 2
f(x for x in y)
1 +
1 ==
a b
a is
a|
a.
a[
x = 1
a if
1 not 2
is defined
not
s[1:2:3:4]
foo(a=1, 2)
foo(*l, *l)
dict(**{'a': 1}, **{'b': 2})
dict(**{'a': 1})
range(*[1, 4])|list
dict(a=1, a=2)
!a
a ? b : c
a && b
$x
`x`
a; b
@x
"unclosed
""".strip("\n").split("\n")

TEMPLATES = [
    # white space control
    "a\n{% if true %}\nb\n{% endif %}\nc\n", "a\n  {% if true %}  \n  b\n  {% endif %}  \nc", "  {{ 1 }}  \n", "{% if true %}\n\nx{% endif %}\n\n",
    "a {%- if true -%} b {%- endif -%} c", "a\n\n  {{- 1 -}}  \n\nb", "a  {%+ if true %}b{% endif %}", "  {%+ if true %}b{% endif +%}\nc",
    "a\n{# comment #}\nb", "a\n  {#- comment -#}  \nb", "{# a #}{# b #}\n  {# c #}x", "a {#+ x +#} b", "\n\n{{ 1 }}\n\n", "x\r\ny\rz\n",
    "{% raw %}{{ x }}{% if %}{% endraw %}", "a\n{% raw %}\n  {{ x }}\n{% endraw %}\nb", "{%- raw -%}  x  {%- endraw -%}  y", "  {% raw %} a {% endraw %}\n b",
    "{% raw %}unclosed", "{# unclosed", "{{ 'a' }", "{% if true %}", "{% endif %}", "{% if true %}{% endfor %}", "{% for x in y %}{% endif %}", "{% foo %}", "{% %}",
    "{{ }}", "{{ 'a'\n~ 'b' }}", "{{ {'a': {'b': 1}}['a']['b'] }}", "{{ {'a': 1}}}", "{%if true%}x{%endif%}", "{%  if   true  %}x{%  endif  %}",
    "{%- if true %}\n    x\n{%- endif %}\n y", "   {%- set x = 1 -%}   {{ x }}", "{{ 1 }}\n{{ 2 }}\n", "{{- 1 }}\n  {{ 2 -}}\n 3", "\t{% if true %}\tx\t{% endif %}\t\n",
    "a\u00a0{%- if true %}b{% endif %}", "{{ '{{' }}{{ '%}' }}", "{ { x } }", "{% if '%}' %}x{% endif %}", "a{% if true %} \n{% endif %}b", "{% set x %}\n a\n{% endset %}[{{ x }}]",
    "line1\n    {%- for i in [1,2] %}\n    {{ i }}\n    {%- endfor %}\nend", "{% for i in [1,2] %}\n{{ i }}\n{% endfor %}\n", "{% for i in [1,2] -%}\n{{ i }}\n{%- endfor %}\n",
    # set and scope
    "{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}", "{% set x = 1 %}{% for i in [1,2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}",
    "{% for i in [1,2] %}{% set y = i %}{% endfor %}{{ y is defined }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a, b = [1] %}", "{% set a, b = [1,2,3] %}", "{% set a, b = 5 %}", "{% set (a, (b, c)) = (1, (2, 3)) %}{{ a ~ b ~ c }}",
    "{% set ns = namespace(x=0) %}{% for i in [1,2,3] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}", "{% set d.x = 1 %}", "{% set nope.x = 1 %}", "{% set x = 1, 2 %}{{ x }}", "{% set x = [] %}{{ x }}", "{% set 1 = 2 %}", "{% set none = 2 %}", "{% set x.y.z = 2 %}", "{% set x[0] = 1 %}",
    "{% set x | upper %}abc{% endset %}{{ x }}", "{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y is defined }}", "{% if fl %}{% set q = 1 %}{% endif %}{{ q is defined }}", "{% if fl %}{% set n = 1 %}{% endif %}{{ n }}", "{% if t %}{% set n = 1 %}{% endif %}{{ n }}",
    "{% macro m() %}{{ n }}{% endmacro %}{{ m() }}{% set n = 5 %}{{ m() }}", "{% for i in [1] %}{{ n }}{% endfor %}{% set n = 5 %}{{ n }}", "{{ n }}{% set n = 5 %}{{ n }}", "{% set n = n + 1 %}{{ n }}", "{% for n in [1,2] %}{{ n }}{% endfor %}{{ n }}", "{% for i in l %}{% if loop.first %}{% set z = i %}{% endif %}{{ z is defined }}{% endfor %}",
    "{% if fl %}{% set z = 1 %}{% elif t %}{% set z = 2 %}{% else %}{% set z = 3 %}{% endif %}{{ z }}", "{% set z = 0 %}{% for i in l %}{% if i == 1 %}{% set z = i %}{% endif %}{{ z }}{% endfor %}{{ z }}",
    "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a is defined }}", "{% set a = 5 %}{% with a = 1, b = a %}{{ b }}{% endwith %}{{ a }}", "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q is defined }}",
    # for
    "{% for i in [] %}x{% else %}empty{% endfor %}", "{% for i in l %}{{ loop.index }}/{{ loop.length }} {{ loop.index0 }} {{ loop.revindex }} {{ loop.revindex0 }} {{ loop.first }} {{ loop.last }};{% endfor %}",
    "{% for i in l %}{{ loop.previtem }}-{{ loop.nextitem }};{% endfor %}", "{% for i in l %}{{ loop.previtem is defined }}-{{ loop.nextitem is defined }};{% endfor %}", "{% for i in l %}{{ loop.cycle('a','b') }}{% endfor %}", "{% for i in l %}{{ loop.cycle() }}{% endfor %}", "{% for i in [1,1,2] %}{{ loop.changed(i) }}{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}", "{% for a, b in nested %}{{ a + b }},{% endfor %}", "{% for a, b in [1] %}{% endfor %}", "{% for a, b in [[1,2,3]] %}{% endfor %}", "{% for c in 'héy' %}{{ c }}.{% endfor %}",
    "{% for i in range(10) if i is odd %}{{ i }}{{ loop.index }}{{ ',' if not loop.last }}{% endfor %}", "{% for i in range(10) if i > 20 %}x{% else %}none{% endfor %}", "{% for i in l if loop.index %}{{ i }}{% endfor %}", "{% for i in l|select('odd') %}{{ loop.length }}{{ i }}{% endfor %}", "{% for i in none %}{% endfor %}", "{% for i in n %}{% endfor %}", "{% for i in undefinedvar %}x{% else %}e{% endfor %}",
    "{% for i in range(5) %}{% if i == 3 %}{% break %}{% endif %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "{% for i in [1] %}{% break %}{% else %}else{% endfor %}", "{% for i in [1] %}{% continue %}{% else %}else{% endfor %}", "{% for i in [1,2] %}{% if i == 2 %}{% break %}{% endif %}{% else %}else{% endfor %}", "{% break %}", "{% for i in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "{% for i in l %}{% set x %}{% break %}{% endset %}{% endfor %}ok",
    "{% for i in l %}{% for j in l %}{{ loop.index }}{% endfor %}{{ loop.index }}|{% endfor %}", "{% for i in l %}{% set outer = loop %}{% for j in [1] %}{{ outer.index }}{% endfor %}{% endfor %}", "{% for i in [[1,[2]],[3]] recursive %}{% if i is iterable %}<{{ loop(i) }}>{% else %}{{ i }}@{{ loop.depth }}{{ loop.depth0 }}{% endif %}{% endfor %}", "{% for i in l %}{{ loop(l) }}{% endfor %}", "{% for loop in l %}{% endfor %}", "{% for i in l %}{% set loop = 1 %}{% endfor %}", "{{ loop is defined }}{% for i in l %}{{ loop is defined }}{% endfor %}", "{% for i in l %}{{ loop }}{% endfor %}", "{% for i in l %}{{ loop.nope is defined }}{% endfor %}", "{% for i in l %}{{ loop.index.foo is defined }}{% endfor %}",
    "{% for u in users if u.age == 30 %}{{ u.name }}{% if not loop.last %}, {% endif %}{% endfor %}", "{% for i in l %}{{ i }}{% if loop.last %}!{% else %},{% endif %}{% endfor %}", "{% for i in range(3) %}{% set x = i %}{% if x == 1 %}{% set x = 9 %}{% endif %}{{ x }}{% endfor %}", "{% for i in l: %}{{ i }}{% endfor %}", "{% for i in 1, 2 %}{{ i }}{% endfor %}", "{% for (a, b) in nested %}{{ a }}{% endfor %}", "{% for i in l recursive %}{{ i }}{% else %}z{% endfor %}", "{% for i in (l if t else el) %}{{ i }}{% endfor %}", "{% for x in l -%} {{ x }} {%- endfor %}", "{% for a in d|dictsort %}{{ a[0] }}{% endfor %}", "{% for item in users|groupby('age') %}{{ item.grouper }}:{{ item.list|length }};{% endfor %}", "{% for age, us in users|groupby('age') %}{{ age }}{{ us|map(attribute='name')|join }};{% endfor %}", "{% set it = l|map('string') %}{% for a in it %}{{ a }}{% endfor %}{% for a in it %}{{ a }}{% endfor %}.",
    # if
    "{% if n > 5 %}a{% elif n > 3 %}b{% else %}c{% endif %}", "{% if el %}a{% elif ed %}b{% elif empty %}c{% elif zero %}d{% else %}e{% endif %}", "{% if undefinedvar %}a{% else %}b{% endif %}", "{% if undefinedvar.x %}a{% endif %}", "{% if d.nope and d.nope.x %}a{% else %}b{% endif %}", "{% if not undefinedvar is defined %}x{% endif %}", "{% if n is defined and n is not none %}x{% endif %}", "{% if 1, 2 %}x{% endif %}", "{% if %}x{% endif %}", "{% if fl %}{{ s|nosuch }}{% endif %}ok", "{% if t %}{{ s|nosuch }}{% endif %}ok", "{% if t %}{% for i in l %}{{ i|nosuch }}{% endfor %}{% endif %}", "{% if fl %}{{ s is nosuch }}{% endif %}ok", "{% if t %}{{ s is nosuch }}{% endif %}ok", "{{ 1 if s is nosuch else 2 }}",
    # macro, call
    "{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, 3) }}|{{ m(1, c='z') }}|{{ m(b=5, a=4) }}", "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m() }}", "{% macro m(a) %}{{ a + 1 }}{% endmacro %}{{ m() }}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(x=2) }}", "{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}", "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}body{% endcall %}", "{% macro m() %}{{ caller(1, b=2) }}{% endmacro %}{% call(a, b) m() %}{{ a }}{{ b }}{% endcall %}", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", "{% macro m() %}x{% endmacro %}{% call m() %}body{% endcall %}", "{% macro m(x) %}{{ x }}{% if x > 0 %}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(3) }}", "{% macro m() %}{% set q = 1 %}{{ q }}{% endmacro %}{{ m() }}{{ q is defined }}", "{% macro m(a, b=a) %}{{ b }}{% endmacro %}{{ m(1) }}", "{% macro m(a=b, b=1) %}{{ a }}{% endmacro %}{{ m() }}", "{% macro m(a, b=1, c) %}{% endmacro %}", "{{ m() }}{% macro m() %}x{% endmacro %}", "{% macro m() %} x {% endmacro %}[{{ m()|trim }}]{{ m() is string }}", "{% macro m(a) -%}\n  {{ a }}\n{%- endmacro %}[{{ m(1) }}]", "{% macro m() %}{{ n }}{% endmacro %}{% for n in [1,2] %}{{ m() }}{% endfor %}", "{% macro m(n) %}{{ n }}{% endmacro %}{% for n in [1,2] %}{{ m(n) }}{% endfor %}", "{% macro outer() %}{% macro inner() %}i{% endmacro %}{{ inner() }}{% endmacro %}{{ outer() }}{{ inner is defined }}", "{% macro m(caller) %}{{ caller() }}{% endmacro %}", "{% macro m(caller=none) %}{{ caller() if caller }}{% endmacro %}{{ m() }}{% call m() %}b{% endcall %}", "{% macro m(a, a) %}{{ a }}{% endmacro %}", "{{ m.name }}{% macro m(x, y=1) %}{% endmacro %}{{ m.name }}{{ m.arguments }}", "{% macro m() %}{{ caller() }}{% endmacro %}{% for i in l %}{% call m() %}{{ i }}{{ loop.index }}{% endcall %}{% endfor %}", "{% macro m() %}{{ caller('x') }}{% endmacro %}{% call(v) m() %}{% for i in [1] %}{{ v }}{% endfor %}{% endcall %}", "{% call s.upper() %}{% endcall %}", "{% call 5 %}{% endcall %}", "{% macro m() %}a{% endmacro %}{{ m() ~ m() + 'b' }}{{ m }}"[:-7], "{% macro m(x=[]) %}{{ x }}{% endmacro %}{{ m() }}{{ m([1]) }}{{ m(none) }}", "{% macro m(kwargs) %}{{ kwargs }}{% endmacro %}{{ m(1) }}", "{% macro m(*a) %}{% endmacro %}", "{% macro a(x) %}{% if x %}{{ b(x - 1) }}{% endif %}{{ x }}{% endmacro %}{% macro b(x) %}{{ a(x) }}{% endmacro %}{{ a(2) }}",
    # filter blocks, generation, blocks, print
    "{% filter upper %}abc{{ s }}{% endfilter %}", "{% filter replace('a', 'b')|upper %}banana{% endfilter %}", "{% filter nosuch %}x{% endfilter %}", "{% generation %}x{{ n }}{% endgeneration %}", "{% generation %}{% set q = 1 %}{{ q }}{% endgeneration %}{{ q is defined }}", "{% for i in l %}{%- generation -%} {{ i }}{{ loop.index }} {%- endgeneration -%}{% endfor %}", "a\n{% generation %}\nb\n{% endgeneration %}\nc", "{% block b %}x{{ n }}{% endblock %}", "{% set q = 3 %}{% block b %}{{ q }}{% endblock b %}", "{% print 1, 2 %}", "{% do 1 %}", 
    # namespaces, joiner, cycler, mutation
    "{% set j = joiner() %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}", "{% set j = joiner('|') %}{{ j() }}a{{ j() }}b", "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}{{ c.reset() }}{{ c.current }}", "{% set ns = namespace(l=[]) %}{% set ns.l = ns.l + [1] %}{{ ns.l }}", "{% set ns = namespace() %}{{ ns.x }}{% set ns.x = 1 %}{{ ns.x }}{{ ns }}", "{% set x = [1,2,3] %}{% set _ = x.append(4) %}{{ x }}", "{% set x = [1,2,3] %}{% set y = x.pop(0) %}{{ x }}{{ y }}", "{% set x = {} %}{% set _ = x.update({'a': 1}) %}", "{% set ns = namespace(found=false) %}{% for m in messages %}{% if m.role == 'user' and not ns.found %}{% set ns.found = true %}{{ m.content }}{% endif %}{% endfor %}{{ ns.found }}", "{% set ns = namespace(a=1) %}{% set ns.b = ns.a + 1 %}{{ ns.b }}", "{% set a = [1] %}{% set b = a %}{{ a is sameas b }}", "{% set x = l|list %}{{ x.pop() }}{{ x|length }}", "{% set x = [1] %}{{ x.clear() }}{{ x }}",
    # errors with lines and whole texts
    "a\nb\n{{ undefinedvar.x }}", "{{ 'a' }}\n\n{{ 1 + 'x' }}", "{% for m in messages %}{{ m.content + 'x' }}{% endfor %}", "{{ messages[5].role }}", "{{ raise_exception('No\\n\"way\"') }}", "{{ d['nope'].x }}", "{{ (none).strip() }}", "{{ l.strip() }}", "{{ s.foo() }}", "{{ foo() }}", "{{ messages[0].nope.nope }}", "{{ messages['x'] }}", "{{ messages.x.y }}", "{{ d.a.b.c }}", "{{ 'abc' | foo }}", "{{ namespace(1) }}", "{{ dict(a) }}", "{{ l|join(',', 1, 2, 3) }}", "{{ s|replace('a') }}", "{{ s|upper('x') }}", "{{ l|first(1) }}", "{{ none|length }}", "{{ 5 in 5 }}",
    # things chat templates do
    "{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}", "{% for message in messages %}{{ '<|' + message['role'] + '|>' + '\\n' + (message['content'] or '') }}{% endfor %}{% if add_generation_prompt %}x{% endif %}", "{%- set image_count = namespace(value=0) %}{%- macro render(c, do_count) %}{%- if c is string %}{{- c }}{%- elif c is iterable and c is not mapping %}{%- for i in c %}{%- if 'text' in i %}{{- i.text }}{%- endif %}{%- endfor %}{%- elif c is none or c is undefined %}{{- '' }}{%- else %}{{- raise_exception('Unexpected') }}{%- endif %}{%- endmacro %}{{ render([{'text': 'a'}, {'x': 1}], true) }}{{ render('z', false) }}{{ render(none) }}", "{%- set loop_messages = messages %}{%- for message in loop_messages %}{%- set content = '<' ~ message['role'] ~ '>' ~ message['content'] | trim %}{{- content }}{%- endfor %}", "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}", "{%- for message in messages[::-1] %}{%- set index = (messages|length - 1) - loop.index0 %}{{ index }}{%- endfor %}", "{%- if messages[0]['role'] == 'system' -%}{%- set system_message = messages[0]['content'] -%}{%- else -%}{%- set loop_messages = messages -%}{%- endif -%}{{ system_message is defined }}{{ loop_messages|length }}", "{%- if tools is defined and tools %}x{% else %}{% set tools = none %}{% endif %}{{ tools }}", "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{% endif %}", "{{ tools | map(attribute='function.name') | join(', ') if tools else 'none' }}", "{% set x = {'a': 1, 'b': [1, 2]} %}{{ x | tojson(indent=4) }}", "{% for k, v in {'type': 'object', 'n': 1}|items %}{{ k }}: {{ v|tojson }}{{ ', ' if not loop.last }}{% endfor %}", "{{ 'a' if messages[-1].tool_calls else 'b' }}", "{{ (messages[0].content | string).split('i')[0] }}", "{% set content = 'a</think>b' %}{% if '</think>' in content %}{% set r = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}{% set content = content.split('</think>')[-1].lstrip('\\n') %}{% endif %}{{ r }}|{{ content }}",
]

# Errors that say the same in other words, or that come from what is refused here on purpose.
LOOSE = ("Invalid format specifier", "Unknown format code", "positional argument", "keyword argument", "expected at", "len()",
         "strip arg", "must be str", "takes", "SyntaxError: keyword", "SyntaxError: duplicate", "SyntaxError: '", "No template",
         "no loader", "int too large", "bytes",
         "does not define", "object cannot be interpreted", "can't multiply", "must be real number")


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_support"), [], [], body).set_lineno(line)

    def _support(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return env


def case_of(env, template, variables):
    case = {"template": template}
    try:
        case["expected"] = env.from_string(template).render(**json.loads(json.dumps(variables)))
    except RecursionError:
        case["error"] = "RecursionError"
    except Exception as e:  # whatever Python raises is the expectation
        case["error"] = f"{type(e).__name__}: {e}"
        if any(word in case["error"] for word in LOOSE):
            case["loose"] = True
    return case


def official(env, folder, out):
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Why <b>?"}]
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}}
    with out.open("w") as f:
        for name in ("google-gemma-2-2b-it", "meta-llama-Llama-3.1-8B-Instruct", "Qwen-Qwen2.5-7B-Instruct"):
            template = json.loads((folder / f"{name}.json").read_text())["template"]
            for system in (False, True):
                for tools in (None, [], [tool]):
                    for generate in (False, True):
                        variables = {"messages": ([{"role": "system", "content": "Be brief."}] if system else []) + turns,
                                     "add_generation_prompt": generate, "bos_token": "<s>", "eos_token": "</s>"}
                        if tools is not None:
                            variables["tools"] = tools
                        case = {"name": name, "variables": variables, **case_of(env, template, variables)}
                        del case["template"]
                        f.write(json.dumps(case, ensure_ascii=False) + "\n")


def main():
    env = environment()
    out = pathlib.Path(__file__).parent.parent / "tests/golden/jinja"
    if len(sys.argv) > 1:
        official(env, pathlib.Path(sys.argv[1]), out / "official.jsonl")
    with (out / "cases.jsonl").open("w") as f:
        head = {"reference": f"Jinja2 {jinja2.__version__}, Python {sys.version.split()[0]}", "now": NOW.isoformat(), "variables": VARIABLES}
        f.write(json.dumps(head, ensure_ascii=False) + "\n")
        templates = ["{{ " + e + " }}" for e in EXPRESSIONS] + TEMPLATES
        for template in dict.fromkeys(templates):
            case = case_of(env, template, VARIABLES)
            if " at 0x" in case.get("expected", ""):
                continue  # an address of the moment
            f.write(json.dumps(case, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
