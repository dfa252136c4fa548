// Merging against a naive twin that scans the whole sequence at every step, and the character-wise start against bytes.
#include "text/merger.h"

#include <gtest/gtest.h>

#include <random>

#include "golden_dir.h"
#include "test_vocabs.h"
#include "text/encoder.h"
#include "text/tokenizer_tables.h"
#include "vocab_reader.h"

namespace ridge::text {
namespace {

void merge_naively(const PairMap& pairs, std::vector<Symbol>& s) {
  while (true) {
    size_t at = 0;
    Merge best;
    for (size_t i = 0; i + 1 < s.size(); ++i) {
      const Merge m = pairs.find(s[i], s[i + 1]);
      if (m.rank < best.rank) best = m, at = i;
    }
    if (best.rank == kNoRank) return;
    s[at] = best.merged;
    s.erase(s.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

TEST(Merger, both_ways_give_what_the_naive_way_gives) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    PairMap pairs;
    uint32_t next = 4;
    const bool ties = round % 2 == 1;  // SentencePiece: equal scores
    for (uint32_t i = 0; i < 60; ++i) {
      const auto a = static_cast<Symbol>(random() % next), b = static_cast<Symbol>(random() % next);
      pairs.insert(a, b, {ties ? static_cast<uint32_t>(random() % 8) : i, next});
      if (random() % 3 != 0) ++next;
    }
    Merger merger;
    for (const size_t n : {0, 1, 2, 3, 10, 63, 64, 65, 66, 200, 700}) {
      std::vector<Symbol> text(n);
      for (Symbol& s : text) s = static_cast<Symbol>(random() % 4);
      std::vector<Symbol> want = text;
      merge_naively(pairs, want);
      merger.merge(pairs, text);
      ASSERT_EQ(text, want) << "round " << round << ", " << n << " symbols";
    }
  }
}

// Bytes of each word merged naively: what the fast encoder's shortcuts (whole characters, cutting, cache) must equal.
std::vector<int32_t> encode_slowly(const Tables& t, std::string_view text) {
  std::vector<uint32_t> ends, spare;
  split_words(t.pre, text, ends, spare);
  std::vector<int32_t> ids;
  size_t from = 0;
  for (const uint32_t end : ends) {
    const std::string_view word = text.substr(from, end - from);
    from = end;
    std::vector<Symbol> s;
    const Symbol whole = t.pre.ignore_merges ? t.symbols.find(word) : kNoSymbol;
    if (whole < t.n_vocab) {
      s.push_back(whole);
    } else {
      for (const char c : word) s.push_back(t.byte_symbol[static_cast<uint8_t>(c)]);
      merge_naively(t.pairs, s);
    }
    for (const Symbol x : s) ids.push_back(static_cast<int32_t>(x));
  }
  return ids;
}

std::string random_text(std::mt19937& random) {
  static const char* const kParts[] = {
      "the", " ", "中", "文",    "国",   "人",       "的",   "。", "é",  "e\xCC\x81", "а",
      "б",   "в", "ия", "ع",     "ب",    "가",       "다",   "あ", "カ", "🙂",      "\xF0\x9F\x8F\xBD",
      "x",   "1", "\n", " \xE4", "\xB8", "\xAD\xE6", "\xFF", "์",   "ก",  "ा",         "क",
      "ß",   "’"};
  std::string text;
  const size_t n = random() % 24;
  for (size_t i = 0; i < n; ++i) {
    if (random() % 3 == 0) {
      utf8_append(text,
                  static_cast<char32_t>(random() % 4 == 0 ? 0x80 + random() % 0x1F000 : 0x4E00 + random() % 0x2000));
      continue;
    }
    text += kParts[random() % std::size(kParts)];
  }
  return text;
}

void expect_equal_to_slow(const Tables& t, int n_texts, const std::string& name) {
  std::mt19937 random(11);
  Encoder encoder(t);
  for (int i = 0; i < n_texts; ++i) {
    const std::string text = random_text(random);
    if (t.pre.nfc) continue;
    std::vector<int32_t> ids;
    encoder.append(text, true, ids);
    ASSERT_EQ(ids, encode_slowly(t, text)) << name << ": " << text;
  }
}

TEST(Encoder, shortcuts_give_what_merging_bytes_gives) {
  auto t = build_tables(ridge::testing::byte_level_vocab("gpt-2")).value();
  expect_equal_to_slow(*t, 3000, "made here");
  RIDGE_GOLDEN_OR_SKIP(golden);
  for (const char* name : {"gpt-2", "llama-bpe", "qwen2", "deepseek-coder"}) {
    auto v = ridge::testing::VocabReader::read(golden / "tokenizers" / (std::string("ggml-vocab-") + name + ".gguf"));
    t = build_tables(std::move(v)).value();
    t->pre.nfc = false;
    expect_equal_to_slow(*t, 20000, name);
  }
}

// SentencePiece: characters of the whole text merged naively, without cutting.
TEST(Encoder, cutting_where_nothing_joins_gives_what_merging_everything_gives) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  std::mt19937 random(13);
  auto t = build_tables(ridge::testing::VocabReader::read(golden / "tokenizers" / "ggml-vocab-llama-spm.gguf")).value();
  Encoder encoder(*t);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = random_text(random);
    std::vector<int32_t> got, want;
    encoder.append(text, false, got);
    std::vector<Symbol> s;
    const auto flush = [&] {
      merge_naively(t->pairs, s);
      for (const Symbol x : s) {
        if (x < t->n_vocab) {
          want.push_back(static_cast<int32_t>(x));
        } else {
          for (const char c : t->symbols.text(x)) want.push_back(t->byte_token[static_cast<uint8_t>(c)]);
        }
      }
      s.clear();
    };
    for (const char* p = text.data(); p < text.data() + text.size();) {
      const Char c = read_char(p, text.data() + text.size());
      const Symbol x = c.valid ? t->chars.of(c.code) : kNoSymbol;
      if (x == kNoSymbol) {
        flush();
        for (uint32_t k = 0; k < c.n_bytes; ++k) want.push_back(t->byte_token[static_cast<uint8_t>(p[k])]);
      } else {
        s.push_back(x);
      }
      p += c.n_bytes;
    }
    flush();
    ASSERT_EQ(got, want) << text;
  }
}

}  // namespace
}  // namespace ridge::text
