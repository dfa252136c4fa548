"""The vocabulary of the built-in model: byte-level BPE after the qwen2 pre-tokeniser, learned from the project's own text.

Owns: learning merges, encoding and decoding. Refuses: special tokens inside text; the caller adds them by id.
The engine's tokeniser is the truth: `train.py --ridge` compares every training string with `ridge tokenize`."""
import collections

import regex

# The split of the qwen2 pre-tokeniser (its published pattern).
SPLIT = regex.compile(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ('<|endoftext|>', '<|im_start|>', '<|im_end|>')


def byte_letters():
    """The 256 printable letters that stand for bytes in a byte-level vocabulary (the table of GPT-2)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in printable}
    for b in range(256):
        if b not in letters:
            letters[b] = chr(256 + len(letters) - len(printable))
    return letters


LETTER = byte_letters()
BYTE = {letter: b for b, letter in LETTER.items()}


def letters_of(piece):
    return tuple(LETTER[b] for b in piece.encode('utf-8'))


def merged(word, pair):
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


def learn_merges(weighted_texts, n_merges):
    """The n_merges most frequent merges of (text, weight) items; ties go to the pair that sorts first, so a run repeats."""
    words = collections.Counter()
    for text, weight in weighted_texts:
        for piece in SPLIT.findall(text):
            words[letters_of(piece)] += weight
    words = [[word, weight] for word, weight in sorted(words.items())]
    count, where = collections.Counter(), collections.defaultdict(set)
    for i, (word, weight) in enumerate(words):
        for pair in zip(word, word[1:]):
            count[pair] += weight
            where[pair].add(i)
    merges = []
    while len(merges) < n_merges:
        best = min(count, key=lambda pair: (-count[pair], pair))
        if count[best] < 2:
            raise ValueError(f'the text yields {len(merges)} merges, {n_merges} were asked for')
        merges.append(best)
        for i in sorted(where.pop(best)):
            word, weight = words[i]
            for pair in zip(word, word[1:]):
                count[pair] -= weight
                if count[pair] <= 0:
                    del count[pair]
            words[i][0] = word = merged(word, best)
            for pair in zip(word, word[1:]):
                count[pair] += weight
                where[pair].add(i)
        count.pop(best, None)
    return merges


class Bpe:
    def __init__(self, merges):
        self.merges = merges
        self.rank = {pair: i for i, pair in enumerate(merges)}
        self.tokens = [LETTER[b] for b in range(256)] + [a + b for a, b in merges] + list(SPECIAL)
        self.id = {token: i for i, token in enumerate(self.tokens)}
        self.cache = {}

    def encode_piece(self, piece):
        word = letters_of(piece)
        while len(word) > 1:
            pair = min(zip(word, word[1:]), key=lambda p: self.rank.get(p, len(self.rank)))
            if pair not in self.rank:
                break
            word = merged(word, pair)
        return [self.id[token] for token in word]

    def encode(self, text):
        ids = []
        for piece in SPLIT.findall(text):
            if piece not in self.cache:
                self.cache[piece] = self.encode_piece(piece)
            ids += self.cache[piece]
        return ids

    def decode(self, ids):
        letters = ''.join(self.tokens[i] for i in ids if self.tokens[i] not in SPECIAL)
        return bytes(BYTE[letter] for letter in letters).decode('utf-8', 'replace')
