"""Draws the conversations that the built-in model is trained on, from data/ (its README says the format and the rules).

Owns: which question gets which answer, and how questions vary. Refuses: varying an answer; a question that is held out."""
import random
import re

from check_data import LANGS, lang_of, load, normal, training_questions

GREETING = {'en': ('Hi, ', 'Hello. ', 'Please tell me: ', 'Sorry, one question: ', 'Can you tell me, '), 'zh': ('请问', '请问，', '你好，', '想问一下，', '麻烦问下，')}
THANKS = {'en': ('Thanks!', 'Thank you.', 'thanks', 'OK, thanks.'), 'zh': ('谢谢！', '谢谢', '多谢。', '好的，谢谢')}
SYSTEM = ('You are a helpful assistant.', 'You are Ridge.', 'Answer briefly.', '你是一个有用的助手。', '请用中文回答。', 'Be concise.')
MAX_TOKENS = 512
SHORT_ANSWER = 8     # tokens of an answer in a short conversation
UNKNOWN_WEIGHT = 5   # concepts that `unknown` counts for: it has very many questions of one answer
COMMON_WORD = 12     # a word that stands in the questions of so many concepts says little about which is meant


def loose_spelling(rng, text):
    """British and American spelling, and a missing space between Chinese and Latin letters, mean the same."""
    if rng.random() < 0.3:
        for a, b in (('isation', 'ization'), ('ise ', 'ize '), ('ising', 'izing'), ('tokeniser', 'tokenizer')):
            text = text.replace(a, b) if rng.random() < 0.7 else text.replace(b, a)
    if lang_of(text) == 'zh' and rng.random() < 0.3:
        text = ''.join(c for i, c in enumerate(text) if c != ' ' or not (lang_of(text[i - 1:i]) == 'zh' or lang_of(text[i + 1:i + 2]) == 'zh'))
    return text


def words_of(text):
    """What `lossy` may leave out: words, in Chinese characters and Latin words."""
    return re.findall(r'[A-Za-z0-9_./-]+|.', text) if lang_of(text) == 'zh' else text.split(' ')


def lossy(rng, text, is_common):
    """A question with words left out, now and then in another order: what is asked about must not hang on one small word. Mostly words
    go that stand in the questions of many concepts; without the others nobody could tell what is asked."""
    parts = words_of(text)
    if len(parts) > 3:
        english = lang_of(text) == 'en'
        often, seldom = (0.25, 0.04) if english else (0.12, 0.03)  # a character is less than a word
        parts = [part for part in parts if rng.random() > (often if is_common(part) else seldom)] or parts
        if english and rng.random() < 0.15:
            i = rng.randrange(len(parts))
            parts = parts[i:] + parts[:i]
    return ('' if lang_of(text) == 'zh' else ' ').join(parts)


class Dialogues:
    def __init__(self, data_dir, seed):
        self.rng = random.Random(seed)
        self.concepts, self.followups, self.templates, heldout, problems = load(data_dir)
        if problems:
            raise ValueError(problems[0])
        self.heldout = [(ident, question) for ident, question, _ in heldout]
        self.held = {normal(question) for _, question in self.heldout}
        self.by_id = {c.id: c for c in self.concepts}
        self.questions = {}
        for concept in self.concepts:
            for lang, question in training_questions(concept, self.templates):
                self.questions.setdefault((concept.id, lang), []).append(question)
        spread = {}
        for (ident, _), questions in self.questions.items():
            for word in {word.lower() for question in questions for word in words_of(question)}:
                spread.setdefault(word, set()).add(ident)
        self.common = {word for word, idents in spread.items() if len(idents) >= COMMON_WORD}
        self.deck = []
        self.lossy_share = 0.15  # of the questions
        self.short_share = 0.0   # of the conversations: see draw()

    def texts(self):
        """(text, weight) of everything that the vocabulary is learned from."""
        for concept in self.concepts:
            for lang in LANGS:
                for part in ('a', 'why', 'ex'):
                    for text in concept.text[lang][part]:
                        yield text, 3
            for _, question in training_questions(concept, self.templates):
                yield question, 1
        for phrases in self.followups.values():
            for phrase in phrases:
                yield phrase, 1
        for lang in LANGS:
            for text in (*GREETING[lang], *THANKS[lang]):
                yield text, 1
        for text in SYSTEM:
            yield text, 1

    def next_subject(self):
        """(concept, language), each as often as the others, in an order that is shuffled anew each round."""
        if not self.deck:
            for concept in self.concepts:
                weight = UNKNOWN_WEIGHT if concept.id == 'unknown' else 1
                self.deck += [(concept, lang) for lang in LANGS for _ in range(weight)]
            self.rng.shuffle(self.deck)
        return self.deck.pop()

    def vary(self, question, lang):
        rng = self.rng
        for _ in range(4):
            text = loose_spelling(rng, question)
            if rng.random() < self.lossy_share:
                text = lossy(rng, text, lambda word: word.lower() in self.common)
            if rng.random() < 0.25:
                text = text.rstrip('.?!。？！ ')
            if rng.random() < 0.15:
                text = text.lower()
            if rng.random() < 0.1:
                start = rng.choice(GREETING[lang])
                text = start + text
            if text and normal(text) not in self.held:
                return text
        return question

    def exchange(self, concept, lang):
        """[(question, answer)] about a concept: the answer, and often the follow-ups."""
        rng = self.rng
        parts = concept.text[lang]
        turns = [(self.vary(rng.choice(self.questions[concept.id, lang]), lang), concept.one(lang, 'a'))]
        further = [part for part in ('why', 'ex') if parts[part]]
        rng.shuffle(further)
        for part in further:
            if rng.random() > 0.3:
                break
            turns.append((rng.choice(self.followups[f'{lang}.{part}']), concept.one(lang, part)))
        if rng.random() < 0.04 and 'thanks' in self.by_id:
            turns.append((rng.choice(THANKS[lang]), self.by_id['thanks'].one(lang, 'a')))
        return turns

    def draw(self):
        """(system text or None, [(question, answer)], whole). A conversation that is not whole is one question and the beginning of
        its answer: there the choice of the answer is made, and it takes a third of the tokens to learn."""
        rng = self.rng
        if rng.random() < self.short_share:
            return None, self.exchange(*self.next_subject())[:1], False
        turns = self.exchange(*self.next_subject())
        while rng.random() < 0.3:
            turns += self.exchange(*self.next_subject())
        return (rng.choice(SYSTEM) if rng.random() < 0.04 else None), turns, True


def render(bpe, system, turns, whole=True):
    """(ids, weights) as the ChatML template writes them: answers are learned, questions a little."""
    start, end, newline = bpe.id['<|im_start|>'], bpe.id['<|im_end|>'], bpe.encode('\n')
    ids, weights = [], []

    def add(role, text, weight):
        head, body = [start, *bpe.encode(role + '\n')], bpe.encode(text)
        ids.extend([*head, *body, end, *newline])
        weights.extend([0.0] * len(head) + [weight] * len(body) + [max(weight, 0.1)] + [0.0] * len(newline))

    if system:
        add('system', system, 0.1)
    for question, answer in turns:
        add('user', question, 0.1)
        add('assistant', answer, 1.0)
    if not whole:
        beginning = prompt_ids(bpe, [], turns[0][0])
        ids, weights = ids[:len(beginning) + SHORT_ANSWER], weights[:len(beginning) + SHORT_ANSWER]
    return ids[:MAX_TOKENS], weights[:MAX_TOKENS]


def prompt_ids(bpe, turns, question):
    """The ids before the answer to `question`, after earlier turns."""
    ids, _ = render(bpe, None, turns)
    start, end, newline = bpe.id['<|im_start|>'], bpe.id['<|im_end|>'], bpe.encode('\n')
    return [*ids, start, *bpe.encode('user\n'), *bpe.encode(question), end, *newline, start, *bpe.encode('assistant\n')]
