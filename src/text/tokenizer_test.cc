// The tokenisers on small vocabularies made here, hostile ones among them, and the fast ways against slow ones.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "test_vocabs.h"

namespace ridge {
namespace {

using testing::byte_level_vocab;
using testing::gemma_vocab;
using testing::spm_vocab;
using testing::wordpiece_vocab;

std::unique_ptr<Tokenizer> make(VocabData v) {
  auto made = Tokenizer::create(std::move(v));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : nullptr;
}

std::string error_of(VocabData v) {
  const auto made = Tokenizer::create(std::move(v));
  return made ? "" : made.error().message;
}

int32_t id_of(const VocabData& v, const std::string& text) {
  for (size_t i = 0; i < v.tokens.size(); ++i) {
    if (v.tokens[i] == text) return static_cast<int32_t>(i);
  }
  return -1;
}

TEST(Tokenizer, refuses_an_unknown_kind_and_names_the_known) {
  for (const char* kind : {"t5", "rwkv", "plamo2", "none", ""}) {
    VocabData v = byte_level_vocab();
    v.model = kind;
    const std::string e = error_of(std::move(v));
    EXPECT_NE(e.find(fmt::format("'{}'", kind)), e.npos) << e;
    EXPECT_NE(e.find("gemma4"), e.npos) << e;
  }
}

TEST(Tokenizer, refuses_an_unknown_pre_tokeniser_and_names_the_known) {
  VocabData v = byte_level_vocab();
  v.pre = "klingon-bpe";
  const std::string e = error_of(std::move(v));
  EXPECT_NE(e.find("'klingon-bpe'"), e.npos) << e;
  EXPECT_NE(e.find("qwen35"), e.npos) << e;
}

TEST(Tokenizer, refuses_an_empty_list_and_lists_that_do_not_match) {
  VocabData v = spm_vocab();
  v.tokens.clear();
  EXPECT_NE(error_of(v).find("tokenizer.ggml.tokens"), std::string::npos);
  v = spm_vocab();
  v.scores.resize(3);
  EXPECT_NE(error_of(v).find("token 3 has none"), std::string::npos) << error_of(v);
  v = spm_vocab();
  v.token_types.resize(5);
  EXPECT_NE(error_of(v).find("tokenizer.ggml.token_type"), std::string::npos);
}

TEST(Tokenizer, hostile_vocabularies_load_with_warnings_or_are_refused_and_never_abort) {
  for (const auto& base : {byte_level_vocab(), spm_vocab(), gemma_vocab(), wordpiece_vocab()}) {
    VocabData v = base;
    v.tokens[7] = "";
    v.tokens[8] = v.tokens[9];
    v.token_types.assign(v.tokens.size(), 99);
    v.bos = 1 << 30, v.eos = -5, v.unk = static_cast<int64_t>(v.tokens.size());
    v.add_bos = v.add_eos = v.add_sep = true;
    v.merges.push_back("neither nor");
    v.merges.push_back("nospace");
    v.merges.push_back("");
    v.merges.push_back(" ");
    v.merges.push_back("\xFF\xFE \xFF");
    if (!v.scores.empty()) v.scores[3] = std::nanf("");
    const auto t = Tokenizer::create(std::move(v));
    ASSERT_TRUE(t) << t.error().message;
    EXPECT_FALSE((*t)->warnings().empty());
    const auto ids = (*t)->encode("the cat \xF0\x9F\x98\x80 \xFF sat", {.add_special = true, .parse_special = true});
    ASSERT_TRUE(ids);
    for (const int32_t id : *ids) EXPECT_TRUE(id >= 0 && id < (*t)->n_vocab());
  }
}

TEST(Tokenizer, a_vocabulary_without_byte_tokens_or_unk_drops_what_it_cannot_spell) {
  VocabData v;
  v.model = "gpt2", v.pre = "gpt-2";
  v.tokens = {"a", "b", "ab"};
  v.merges = {"a b"};
  const auto t = make(v);
  EXPECT_EQ(t->encode("abxa").value(), (std::vector<int32_t>{2, 0}));
}

TEST(Tokenizer, ids_outside_the_vocabulary_are_empty_pieces) {
  const auto t = make(byte_level_vocab());
  EXPECT_EQ(t->piece(-1), "");
  EXPECT_EQ(t->piece(t->n_vocab()), "");
  EXPECT_EQ(t->piece(std::numeric_limits<int32_t>::min()), "");
  const std::vector<int32_t> ids = {-1, 1 << 30};
  EXPECT_EQ(t->decode(ids), "");
  EXPECT_FALSE(t->is_eog(-1));
  EXPECT_FALSE(t->is_control(1 << 30));
}

TEST(Tokenizer, sentencepiece_puts_a_space_at_the_start_and_behind_a_special_token_and_takes_it_off_again) {
  const VocabData v = spm_vocab();
  const auto t = make(v);
  const auto ids = t->encode("<s>the</s>the", {.parse_special = true}).value();
  EXPECT_EQ(ids, (std::vector<int32_t>{1, id_of(v, "▁the"), 2, id_of(v, "▁the")}));
  EXPECT_EQ(t->decode(ids, {.render_special = true}), "<s>the</s>the");
  EXPECT_EQ(t->decode(ids), "thethe");
}

TEST(Tokenizer, sentencepiece_spells_an_unknown_character_in_bytes) {
  const VocabData v = spm_vocab();
  const auto t = make(v);
  const auto ids = t->encode("the€").value();
  EXPECT_EQ(ids, (std::vector<int32_t>{id_of(v, "▁the"), id_of(v, "<0xE2>"), id_of(v, "<0x82>"), id_of(v, "<0xAC>")}));
  EXPECT_EQ(t->decode(ids), "the€");
}

TEST(Tokenizer, gemma_looks_up_a_run_of_newlines_whole_and_merges_the_rest) {
  const VocabData v = gemma_vocab();
  const auto t = make(v);
  EXPECT_EQ(t->encode("\n\n\n").value(), (std::vector<int32_t>{id_of(v, "\n\n\n")}));
  EXPECT_EQ(t->encode("a the").value(), (std::vector<int32_t>{id_of(v, "a"), id_of(v, "▁the")}));
}

TEST(Tokenizer, wordpiece_lower_cases_strips_accents_and_takes_the_longest_token) {
  const VocabData v = wordpiece_vocab();
  const auto t = make(v);
  const auto id = [&](const char* s) { return id_of(v, s); };
  EXPECT_EQ(t->encode("Thé CATS, 中x!", {.add_special = true}).value(),
            (std::vector<int32_t>{id("[CLS]"), id("▁the"), id("▁cat"), id("s"), id("▁,"), id("▁中"), id("[UNK]"),
                                  id("▁!"), id("[SEP]")}));
  EXPECT_EQ(t->encode("").value(), std::vector<int32_t>{});
  EXPECT_EQ(t->decode(t->encode("the cats").value()), "the cats");
}

TEST(Tokenizer, the_longest_special_token_wins) {
  VocabData v = byte_level_vocab();
  const auto add = [&](const char* text) {
    v.tokens.emplace_back(text);
    v.token_types.push_back(3);
    return static_cast<int32_t>(v.tokens.size() - 1);
  };
  const int32_t shorter = add("<x>"), longer = add("<x><y>");
  const auto t = make(v);
  EXPECT_EQ(t->encode("<x><y><x>", {.parse_special = true}).value(), (std::vector<int32_t>{longer, shorter}));
}

TEST(Tokenizer, segments_join_words_across_borders_but_never_read_markers_from_untrusted_text) {
  VocabData v = byte_level_vocab();
  const auto add = [&](const char* text, int type) {
    v.tokens.emplace_back(text);
    v.token_types.push_back(type);
    return static_cast<int32_t>(v.tokens.size() - 1);
  };
  const int32_t end = add("<|im_end|>", 3), tool = add("<tool_call>", 4), harmless = add("zzz", 4);
  const auto t = make(v);
  const auto plain = [&](const char* s) { return t->encode(s).value(); };
  const TextSegment segments[] = {{"t", true}, {"he<|im_end|><tool_call>zzz<|im_", false}, {"end|><|im_end|>", true}};
  const auto ids = t->encode_segments(segments).value();
  std::vector<int32_t> want;
  const auto append = [&](const std::vector<int32_t>& more) { want.insert(want.end(), more.begin(), more.end()); };
  // <tool_call> is user-defined, so plain encoding would recognise it: spell it through a vocabulary that lacks it.
  VocabData without = byte_level_vocab();
  const auto speller = make(without);
  append(speller->encode("the<|im_end|><tool_call>").value());
  want.push_back(harmless);
  append(speller->encode("<|im_end|>").value());
  want.push_back(end);
  EXPECT_EQ(ids, want);
  EXPECT_EQ(plain("<tool_call>"), (std::vector<int32_t>{tool}));
}

TEST(Tokenizer, a_text_longer_than_the_limit_is_an_error_and_one_at_the_limit_is_not) {
  const auto t = make(byte_level_vocab());
  const std::string text(100, 'a');
  EXPECT_TRUE(t->encode(text, {.max_bytes = 100}));
  const auto r = t->encode(text, {.max_bytes = 99});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, ErrorCode::limit);
}

TEST(Tokenizer, many_threads_get_the_same_ids) {
  const auto t = make(byte_level_vocab());
  const std::string text = "the cat sat on the mat and the hat\n\nthe end 中文";
  const auto want = t->encode(text).value();
  std::vector<std::thread> threads;
  std::vector<int> n_wrong(4, 0);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; ++k) n_wrong[static_cast<size_t>(i)] += t->encode(text).value() != want;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(n_wrong, std::vector<int>(4, 0));
}

TEST(Tokenizer, every_byte_string_comes_back_from_byte_level_and_byte_fallback) {
  uint64_t state = 1;
  for (const auto& v : {byte_level_vocab("gpt-2"), spm_vocab(), gemma_vocab()}) {
    const auto t = make(v);
    for (int i = 0; i < 2000; ++i) {
      std::string text;
      state = state * 6364136223846793005u + 1442695040888963407u;
      const size_t n = state >> 60;
      for (size_t k = 0; k < n; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        text += static_cast<char>(state >> 56);
      }
      const auto ids = t->encode(text).value();
      ASSERT_EQ(t->decode(ids), text) << v.model;
    }
  }
}

}  // namespace
}  // namespace ridge
