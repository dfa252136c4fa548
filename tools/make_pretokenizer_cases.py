#!/usr/bin/env python3
"""Writes tests/golden/pretokenizers.jsonl: random texts cut by the published expressions of the pre-tokenisers.

The expressions are those of the models' tokenizer.json files; the engine is the Python package `regex` (development only), which
knows \\p{..}, \\p{Han} and possessive groups. Line: {"pre": name, "text": ..., "words": [...]}. Repeatable.
"""
import json
import random
import sys

import regex

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
END = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + END
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + END
QWEN35 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + END
JAIS2 = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)"
         r"|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}")
U = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
W = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PRE = r"[^\r\n\p{L}\p{N}]?"


def cased(suffix, digits, tail, u=U, w=W):
    return (PRE + u + "*" + w + "+" + suffix + "|" + PRE + u + "+" + w + "*" + suffix + "|" + digits +
            r"| ?[^\s\p{L}\p{N}]+" + tail + END)


GPT4O = cased(CONTRACTIONS + "?", r"\p{N}{1,3}", r"[\r\n/]*")
TEKKEN = cased("", r"\p{N}", r"[\r\n/]*")
UH = r"[[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]--[\p{Han}]]"
WH = r"[[\p{Ll}\p{Lm}\p{Lo}\p{M}]--[\p{Han}]]"
KIMI = r"\p{Han}+|" + cased(CONTRACTIONS + "?", r"\p{N}{1,3}", r"[\r\n]*", UH, WH)
DS3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*""" + END)
SPARK = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]"""
         r"|\s+(?!\S)|\s+")
DS3CJK = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
DSCJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
DSPUNCT = "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+"
EXAONE_MOE = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]"
              r"|\s+(?!\S)|\s+")
YOUTU = "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+"

KINDS = {
    "gpt-2": [GPT2],
    "llama-bpe": [LLAMA3],
    "qwen2": [QWEN2],
    "qwen35": [QWEN35],
    "jais-2": [JAIS2],
    "minicpm5": [r"\p{N}{1,3}", CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*" + END],
    "seed-coder": [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+" + END],
    "ufakzeka": [r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + END],
    "laguna": [r"[^\n]+|[\n]+", QWEN2],
    "exaone-moe": [EXAONE_MOE],
    "bailingmoe": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "starcoder": [r"\p{N}", GPT2],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, r"[0-9][0-9][0-9]"],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]"],
    "deepseek-llm": [r"[\r\n]", r"\s?\p{gc=LC}+", DSPUNCT, r"\s+$", DSCJK, r"\p{N}+"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", DSCJK, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", DS3CJK, DS3],
    "spark2_5": [r"\p{N}{1,3}", DS3CJK, SPARK, r"\p{N}"],
    "youtu": [YOUTU, cased(CONTRACTIONS + "?", r"\p{N}", r"[\r\n/]*")],
    "gpt-4o": [GPT4O],
    "tekken": [TEKKEN],
    "kimi-k2": [KIMI],
    "tiny_aya": [r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O],
    "bloom": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    "chameleon": [r"<sentinel:[0-9]+>", r"IMGIMG[A-I]{1,4}Z", r"[\t\n]|    |  ", r"\p{N}", r"[\p{P}!-/:-@\[-`{-~]", GPT2],
    "gemma4": [r"[^\n]+|[\n]+"],
    "whitespace": [r"\S+"],
}

PARTS = [
    "a", "b", "xyz", "Hello", "WORLD", "iPhone", "McDonald", "ABCdef", "I", "'s", "'S", "'ll", "'LL", "'re", "'t", "'", "don't",
    " ", " ", " ", "  ", "   ", "     ", "\t", "\n", "\n\n", "\r\n", "\r", " \n", "\u00a0", "\u3000", "\u2029", "\u0085",
    "1", "22", "333", "4444", "1234567", "½", "²", "Ⅳ", "٣٤٥", "_", "/", "//", ".", "...", "!", "?!", ",", "-", "->", "(", ")",
    "[", "]", "{}", "=", "+=", "$", "`", "~", "^", "|", "<", ">", "“", "”", "…", "。", "，", "！", "：", "、", "،", "।",
    "é", "Éa", "ß", "ñ", "Ω", "αβγ", "ЖЖ", "дом", "ǅ", "ʰ", "ª", "ا", "مرحبا", "שלום", "नमस्ते", "ก", "กำ", "中", "中文", "漢字", "々",
    "〇", "あ", "カタ", "가나", "ㄱ", "ㄅ", "e\u0301", "\u0301", "\u0301\u0302", "A\u0301", "\u0e31", "🙂", "👍🏽", "\u200d", "\u200b",
    "\ufeff", "\ufe0f", "\x00", "\x7f", "\ufffd", "<sentinel:12>", "IMGIMGABZ", "𐐀𐐨", "\U00020000",
]


def cut(texts, expression):
    out = []
    pattern = regex.compile(expression, regex.V1)
    for text in texts:
        at = 0
        for m in pattern.finditer(text):
            if m.start() > at:
                out.append(text[at:m.start()])
                at = m.start()
            if m.end() > m.start():
                out.append(m.group())
                at = m.end()
        if at < len(text):
            out.append(text[at:])
    return out


def main():
    rng = random.Random(20240607)
    path = sys.argv[1] if len(sys.argv) > 1 else "tests/golden/pretokenizers.jsonl"
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    with open(path, "w", encoding="utf-8") as f:
        for name, stages in KINDS.items():
            for i in range(n):
                some = rng.sample(PARTS, 14)
                text = "".join(rng.choice(some) for _ in range(rng.randint(1, 24)))
                words = [text]
                for stage in stages:
                    words = cut(words, stage)
                f.write(json.dumps({"pre": name, "text": text, "words": words}, ensure_ascii=True) + "\n")


main()
