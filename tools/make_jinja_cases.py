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

# One a line.
EXPRESSIONS = (pathlib.Path(__file__).parent / "jinja_expressions.txt").read_text(encoding="utf-8").strip("\n").split("\n")

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
