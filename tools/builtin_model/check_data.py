#!/usr/bin/env python3
"""Checks the text that the built-in model is trained from, and counts it.

usage: check_data.py [DATA_DIR]      default: data/ beside this file; exit code 0 when nothing is wrong
Owns: reading the format described in data/README.md (`load` may be imported by other scripts) and the rules that keep the
evaluation honest: complete concepts, unique ids, a key phrase that names one concept only, and no held-out question in training.
Refuses: judging whether an answer is true; that takes a reader."""
import collections
import pathlib
import re
import sys
import unicodedata

LANGS = ('en', 'zh')
PARTS = ('n', 'q', 'a', 'why', 'ex')
MIN_QUESTIONS = 5
MIN_HELDOUT = 150
MAX_CHARS = 400
MAX_SENTENCES = 4
SENTENCE_END = {'en': re.compile(r'[.!?]+"?(?=\s|$)'), 'zh': re.compile(r'[。！？]+”?|[.!?]+(?=\s|$)')}
COMMAND = re.compile(r'ridge [a-z]+ \S')  # an example may be a command line and nothing else
FIELD = re.compile(r'(key|en|zh)\.([a-z]+): (\S.*)$')
NOT_CONCEPTS = ('followups.txt', 'templates.txt', 'heldout.txt')


class Concept:
    """One subject. `text[lang][part]` is a list of lines; `key[lang]` the phrase that a right answer holds."""

    def __init__(self, ident, where):
        self.id, self.where = ident, where
        self.key = {}
        self.text = {lang: {part: [] for part in PARTS} for lang in LANGS}

    def one(self, lang, part):
        lines = self.text[lang][part]
        return lines[0] if lines else None


def lines_of(path):
    """(line number, line) of what is neither blank nor a comment. Raises UnicodeDecodeError."""
    text = path.read_bytes().decode('utf-8', 'strict')
    for number, line in enumerate(text.split('\n'), 1):
        if line.strip() and not line.startswith('#'):
            yield number, line


def load_concepts(data_dir, problems):
    concepts = []
    for path in sorted(data_dir.glob('*.txt')):
        if path.name in NOT_CONCEPTS:
            continue
        concept = None
        for number, line in lines_of(path):
            where = f'{path.name}:{number}'
            if line.startswith('@'):
                concept = Concept(line[1:], where)
                concepts.append(concept)
                if not re.fullmatch(r'[a-z][a-z0-9_]*', concept.id):
                    problems.append(f'{where}: id {concept.id!r}: expected small letters, digits and _')
                continue
            field = FIELD.match(line)
            if concept is None or not field:
                problems.append(f'{where}: {line[:50]!r}: expected "@id" or "en.q: text"')
                continue
            first, second, text = field.groups()
            if first == 'key' and second in LANGS:
                if second in concept.key:
                    problems.append(f'{where}: a second key.{second}')
                concept.key[second] = text
            elif first in LANGS and second in PARTS:
                concept.text[first][second].append(text)
            else:
                problems.append(f'{where}: unknown field {first}.{second}')
    return concepts


def load_tagged(path, problems):
    """Lines `tag: text` of followups.txt and templates.txt as {tag: [text]}."""
    tagged = collections.defaultdict(list)
    for number, line in lines_of(path):
        tag, colon, text = line.partition(': ')
        if not colon or not text.strip():
            problems.append(f'{path.name}:{number}: expected "tag: text"')
        tagged[tag].append(text)
    return tagged


def load_heldout(path, problems):
    """(id, question, where)"""
    rows = []
    for number, line in lines_of(path):
        ident, bar, question = line.partition(' | ')
        if not bar or not question.strip():
            problems.append(f'{path.name}:{number}: expected "id | question"')
            continue
        rows.append((ident, question, f'{path.name}:{number}'))
    return rows


def load(data_dir):
    """(concepts, followups, templates, heldout, problems) of a folder."""
    problems = []
    concepts = load_concepts(data_dir, problems)
    followups = load_tagged(data_dir / 'followups.txt', problems)
    templates = load_tagged(data_dir / 'templates.txt', problems)
    heldout = load_heldout(data_dir / 'heldout.txt', problems)
    return concepts, followups, templates, heldout, problems


def normal(text):
    """Without case, spaces and punctuation: what makes two questions the same."""
    return ''.join(c for c in unicodedata.normalize('NFKC', text).casefold() if c.isalnum() or c in '+/%')


def lang_of(text):
    return 'zh' if any('\u4e00' <= c <= '\u9fff' for c in text) else 'en'


def training_questions(concept, templates):
    """(language, question): those written out, and each name put into each template of its language."""
    for lang in LANGS:
        for question in concept.text[lang]['q']:
            yield lang, question
        for name in concept.text[lang]['n']:
            for template in templates[lang]:
                yield lang, template.replace('{n}', name)


def check_answer(where, lang, text, problems):
    if where.endswith('.ex') and COMMAND.match(text) and len(text) < 100 and not text.endswith(('.', '。')):
        return
    n_sentences = len(SENTENCE_END[lang].findall(text))
    if not 1 <= n_sentences <= MAX_SENTENCES:
        problems.append(f'{where}: {n_sentences} sentences, expected 1 to {MAX_SENTENCES}: {text[:50]!r}')
    if len(text) >= MAX_CHARS:
        problems.append(f'{where}: {len(text)} characters, expected less than {MAX_CHARS}: {text[:50]!r}')
    if not re.search(r'[.!?。！？]["”]?$', text):
        problems.append(f'{where}: does not end a sentence: {text[-30:]!r}')
    if lang == 'en' and not text.isascii():
        problems.append(f'{where}: English with a character outside ASCII: {text[:50]!r}')
    if lang == 'zh' and lang_of(text) != 'zh':
        problems.append(f'{where}: no Chinese in a Chinese answer: {text[:50]!r}')
    if text != text.strip() or '  ' in text or '\t' in text:
        problems.append(f'{where}: stray space: {text[:50]!r}')


def check_concept(concept, problems):
    for lang in LANGS:
        where = f'{concept.where} @{concept.id} {lang}'
        parts = concept.text[lang]
        for part in ('a', 'why', 'ex'):
            if len(parts[part]) > 1:
                problems.append(f'{where}.{part}: {len(parts[part])} of them, expected one')
            for text in parts[part]:
                check_answer(f'{where}.{part}', lang, text, problems)
        if len(parts['q']) < MIN_QUESTIONS:
            problems.append(f'{where}: {len(parts["q"])} questions, expected {MIN_QUESTIONS}')
        answer, key = concept.one(lang, 'a'), concept.key.get(lang)
        if not answer or not key:
            problems.append(f'{where}: no answer or no key')
        elif key.casefold() not in answer.casefold():
            problems.append(f'{where}: key {key!r} is not in the answer')
    for part in ('why', 'ex'):
        if bool(concept.text['en'][part]) != bool(concept.text['zh'][part]):
            problems.append(f'{concept.where} @{concept.id}: {part} in one language only')


def check_keys_name_one_concept(concepts, problems):
    for lang in LANGS:
        for concept in concepts:
            key = concept.key.get(lang, '').casefold()
            others = [c.id for c in concepts if c is not concept and key and key in (c.one(lang, 'a') or '').casefold()]
            if others:
                problems.append(f'{concept.where} @{concept.id}: key.{lang} {key!r} stands also in the answer of {", ".join(others)}')


def check_questions(concepts, templates, followups, heldout, problems):
    asked = {}
    for concept in concepts:
        written = {}
        for lang in LANGS:
            for question in concept.text[lang]['q']:
                if normal(question) in written:
                    problems.append(f'{concept.where} @{concept.id}: twice: {question!r}')
                written[normal(question)] = True
        for _, question in training_questions(concept, templates):
            other = asked.setdefault(normal(question), concept.id)
            if other != concept.id:
                problems.append(f'{concept.where} @{concept.id}: {question!r} is also a question of @{other}')
    for tag, texts in followups.items():
        for text in texts:
            asked.setdefault(normal(text), tag)
    ids, seen = {c.id for c in concepts}, set()
    for ident, question, where in heldout:
        same = normal(question)
        if ident not in ids:
            problems.append(f'{where}: no concept {ident!r}')
        if same in asked:
            problems.append(f'{where}: {question!r} is a training question of @{asked[same]}')
        if same in seen:
            problems.append(f'{where}: {question!r} twice')
        seen.add(same)
    if len(heldout) < MIN_HELDOUT:
        problems.append(f'heldout.txt: {len(heldout)} questions, expected {MIN_HELDOUT}')
    return len(asked)


def print_counts(concepts, templates, followups, heldout, n_asked):
    def total(lang, part):
        return sum(len(c.text[lang][part]) for c in concepts)

    print(f'concepts              {len(concepts)}')
    for lang in LANGS:
        print(f'{lang}: questions {total(lang, "q")}, names {total(lang, "n")} x templates {len(templates[lang])}, answers {total(lang, "a")}, '
              f'why {total(lang, "why")}, examples {total(lang, "ex")}, '
              f'follow-up phrases {sum(len(v) for k, v in followups.items() if k.startswith(lang))}')
    print(f'distinct questions    {n_asked}')
    by_lang = collections.Counter(lang_of(q) for _, q, _ in heldout)
    print(f'held-out questions    {len(heldout)} ({", ".join(f"{k} {v}" for k, v in sorted(by_lang.items()))}), '
          f'of {len({i for i, _, _ in heldout})} concepts')
    answers = [t for c in concepts for lang in LANGS for part in ('a', 'why', 'ex') for t in c.text[lang][part]]
    print(f'answer texts          {len(answers)}, {sum(len(t.encode()) for t in answers)} bytes, longest {max(map(len, answers))} characters')
    everything = answers + [q for c in concepts for lang in LANGS for q in c.text[lang]['q']]
    print(f'distinct characters   {len(set("".join(everything)))}, of them in answers {len(set("".join(answers)))}')


def main(argv):
    data_dir = pathlib.Path(argv[1]) if len(argv) > 1 else pathlib.Path(__file__).resolve().parent / 'data'
    try:
        concepts, followups, templates, heldout, problems = load(data_dir)
    except (OSError, UnicodeDecodeError) as error:
        print(f'{data_dir}: {error}', file=sys.stderr)
        return 1
    for ident, n in collections.Counter(c.id for c in concepts).items():
        if n > 1:
            problems.append(f'id {ident!r} stands {n} times')
    for concept in concepts:
        check_concept(concept, problems)
    check_keys_name_one_concept(concepts, problems)
    for lang in LANGS:
        problems += [f'templates.txt: {t!r}: expected one {{n}}' for t in templates[lang] if t.count('{n}') != 1]
    n_asked = check_questions(concepts, templates, followups, heldout, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    print_counts(concepts, templates, followups, heldout, n_asked)
    print(f'problems              {len(problems)}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
