// The table of fields: every spelling, range and default; and the bug-log rows about parameters.
#include "sample/params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sample/test_support.h"

namespace ridge::sample {
namespace {

std::string error_of(std::string_view key, std::string_view value) {
  SamplingParams p;
  const auto r = set_field(p, key, value);
  return r ? "" : r.error().message;
}

TEST(SamplingParams, names_flags_and_keys_are_unique_and_found) {
  std::set<std::string_view> seen;
  for (const SamplingField& f : sampling_fields()) {
    EXPECT_TRUE(seen.insert(f.name).second) << f.name;
    EXPECT_EQ(find_sampling_field(f.name), &f);
    if (!f.json.empty()) {
      EXPECT_EQ(find_sampling_field(f.json), &f);
    }
    EXPECT_FALSE(f.help.empty());
  }
  for (const char* flag : {"-s",
                           "--seed",
                           "--temp",
                           "--temperature",
                           "--top-k",
                           "--top-p",
                           "--min-p",
                           "--top-nsigma",
                           "--typical",
                           "--repeat-penalty",
                           "--repeat-last-n",
                           "--presence-penalty",
                           "--frequency-penalty",
                           "--dry-multiplier",
                           "--dry-base",
                           "--dry-allowed-length",
                           "--dry-penalty-last-n",
                           "--dry-sequence-breaker",
                           "--xtc-probability",
                           "--xtc-threshold",
                           "--dynatemp-range",
                           "--dynatemp-exp",
                           "--mirostat",
                           "--mirostat-lr",
                           "--mirostat-ent",
                           "-l",
                           "--logit-bias",
                           "--ignore-eos",
                           "--samplers",
                           "--sampler-seq"}) {
    EXPECT_NE(find_sampling_field(flag), nullptr) << flag;
  }
  EXPECT_EQ(find_sampling_field(""), nullptr);
  EXPECT_EQ(find_sampling_field("--nonsense"), nullptr);
}

TEST(SamplingParams, defaults_are_those_that_users_know_and_valid) {
  const SamplingParams p;
  const auto text = [&](std::string_view name) { return field_text(p, *find_sampling_field(name)); };
  EXPECT_EQ(text("temperature"), "0.8");
  EXPECT_EQ(text("top_k"), "40");
  EXPECT_EQ(text("top_p"), "0.95");
  EXPECT_EQ(text("min_p"), "0.05");
  EXPECT_EQ(text("repeat_penalty"), "1");
  EXPECT_EQ(text("seed"), "-1");
  EXPECT_EQ(text("samplers"), "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature");
  EXPECT_EQ(text("sampler_seq"), "edskypmxt");
  EXPECT_EQ(text("dry_sequence_breakers"), "\\n : \" *");
  EXPECT_TRUE(validate(p, 10).has_value());
  EXPECT_EQ(describe_chain(p),
            "logits -> ?penalties -> ?dry -> ?top-n-sigma -> top-k -> ?typical -> top-p -> min-p -> ?xtc -> temp-ext "
            "-> dist");
}

TEST(SamplingParams, what_field_text_writes_set_field_reads) {
  SamplingParams p;
  ASSERT_TRUE(set_field(p, "--logit-bias", "5+1.5,7-inf,8-2").has_value());
  ASSERT_TRUE(set_field(p, "seed", "18446744073709551615").has_value());
  ASSERT_TRUE(set_field(p, "--sampler-seq", "tkkx").has_value());
  ASSERT_TRUE(set_field(p, "mirostat_tau", "3.25").has_value());
  ASSERT_TRUE(set_field(p, "--ignore-eos", "").has_value());
  for (const SamplingField& f : sampling_fields()) {
    if (f.kind == FieldKind::breakers) continue;
    SamplingParams q;
    const std::string text = field_text(p, f);
    if (f.kind == FieldKind::logit_bias && text.empty()) continue;
    ASSERT_TRUE(set_field(q, f.name, text).has_value()) << f.name << " " << text;
    EXPECT_EQ(field_text(q, f), text) << f.name;
  }
}

TEST(SamplingParams, every_number_is_refused_beyond_its_range_with_field_value_and_range) {
  for (const SamplingField& f : sampling_fields()) {
    if (f.kind != FieldKind::real && f.kind != FieldKind::integer) continue;
    SamplingParams p;
    EXPECT_TRUE(set_field(p, f.name, fmt::format("{}", f.min)).has_value()) << f.name;
    EXPECT_TRUE(set_field(p, f.name, fmt::format("{}", f.max)).has_value()) << f.name;
    for (const std::string& bad :
         {fmt::format("{}", f.min - 1), fmt::format("{}", f.max + 1), std::string("nan"), std::string("inf"),
          std::string("-inf"), std::string("1e999"), std::string(""), std::string("abc"), std::string("1x"),
          std::string("true"), std::string("--1"), std::string(" 1")}) {
      const std::string before = field_text(p, f);
      const std::string message = error_of(f.name, bad);
      EXPECT_NE(message.find(f.name), std::string::npos) << f.name << " " << bad << ": " << message;
      EXPECT_NE(message.find("expected"), std::string::npos) << message;
      EXPECT_EQ(field_text(p, f), before);
    }
  }
  EXPECT_EQ(error_of("temperature", "999999"), "temperature: found 999999, expected a number from -100 to 100");
  EXPECT_EQ(error_of("top_p", "-1"), "top_p: found -1, expected a number from 0 to 1");
  EXPECT_EQ(error_of("--repeat-penalty", "0"), "repeat_penalty: found 0, expected a number from 0.01 to 100");
  EXPECT_NE(error_of("top_k", "1.5").find("whole number"), std::string::npos);
}

TEST(SamplingParams, validate_checks_fields_that_were_set_directly) {
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e9};
  for (const SamplingField& f : sampling_fields()) {
    if (f.kind != FieldKind::real) continue;
    for (const double value : bad) {
      SamplingParams p;
      p.*std::get<double SamplingParams::*>(f.member) = value;
      const auto r = validate(p, 100);
      ASSERT_FALSE(r.has_value()) << f.name << " " << value;
      EXPECT_NE(r.error().message.find(f.name), std::string::npos);
    }
  }
}

TEST(SamplingParams, sampler_lists_take_aliases_and_refuse_the_unknown) {
  SamplingParams p;
  ASSERT_TRUE(set_field(p, "--samplers", "top-k;nucleus;typical;temp").has_value());
  EXPECT_EQ(field_text(p, *find_sampling_field("samplers")), "top_k;top_p;typ_p;temperature");
  ASSERT_TRUE(set_field(p, "--samplers", "").has_value());
  EXPECT_TRUE(p.samplers.empty());
  EXPECT_NE(error_of("--samplers", "top_k;banana").find("banana"), std::string::npos);
  EXPECT_NE(error_of("--samplers", "top_k;;top_p").find("expected names"), std::string::npos);
  EXPECT_NE(error_of("--sampler-seq", "kq").find("'q'"), std::string::npos);
  EXPECT_NE(error_of("--sampler-seq", std::string(1000000, 'k')).find("at most 32"), std::string::npos);
}

TEST(SamplingParams, the_first_breaker_replaces_the_default_ones) {
  SamplingParams p;
  ASSERT_TRUE(set_field(p, "--dry-sequence-breaker", "###").has_value());
  ASSERT_TRUE(set_field(p, "--dry-sequence-breaker", "\n").has_value());
  EXPECT_EQ(p.dry_sequence_breakers, (std::vector<std::string>{"###", "\n"}));
  ASSERT_TRUE(set_field(p, "--dry-sequence-breaker", "none").has_value());
  EXPECT_TRUE(p.dry_sequence_breakers.empty());
  EXPECT_FALSE(set_field(p, "--dry-sequence-breaker", "").has_value());
  EXPECT_FALSE(set_field(p, "--dry-sequence-breaker", std::string(129, 'x')).has_value());
  EXPECT_TRUE(set_field(p, "--dry-sequence-breaker", std::string(128, 'x')).has_value());
}

TEST(SamplingParams, booleans_take_the_known_words) {
  SamplingParams p;
  for (const char* yes : {"", "1", "on", "true", "enabled"}) {
    p.ignore_eos = false;
    ASSERT_TRUE(set_field(p, "ignore_eos", yes).has_value());
    EXPECT_TRUE(p.ignore_eos) << yes;
  }
  ASSERT_TRUE(set_field(p, "ignore_eos", "off").has_value());
  EXPECT_FALSE(p.ignore_eos);
  EXPECT_FALSE(set_field(p, "ignore_eos", "maybe").has_value());
}

TEST(SamplingParams, a_hostile_value_does_not_fill_the_message) {
  const std::string message = error_of("--samplers", std::string(1000000, 'z'));
  EXPECT_LT(message.size(), 300u);
}

TEST(Buglog, SMP_09_only_minus_one_is_the_random_seed) {
  const std::vector<std::pair<std::string, std::optional<uint64_t>>> cases = {
      {"-1", std::nullopt},
      {"-2", ~uint64_t{1}},
      {"0", 0},
      {"4294967295", 4294967295u},
      {"9223372036854775808", uint64_t{1} << 63},
      {"18446744073709551615", ~uint64_t{0}}};
  for (const auto& [text, seed] : cases) {
    SamplingParams p;
    ASSERT_TRUE(set_field(p, "--seed", text).has_value()) << text;
    EXPECT_EQ(p.seed, seed) << text;
  }
  EXPECT_FALSE(error_of("seed", "18446744073709551616").empty());
  EXPECT_FALSE(error_of("seed", "1.5").empty());
  // n = 3 choices are three sequences: distinct streams of one seed, each reproducible.
  const auto logits = testing::random_logits(500, 1);
  for (const uint64_t seed : {uint64_t{0}, uint64_t{4294967295}, uint64_t{1} << 63}) {
    std::vector<std::vector<int>> choices(3);
    for (uint64_t c = 0; c < 3; ++c) {
      SamplerChain chain = testing::chain_of(testing::plain(seed), logits.size());
      for (uint64_t i = 0; i < 50; ++i) {
        choices[c].push_back(testing::token_at(chain, logits, i, c));
        ASSERT_EQ(choices[c].back(), testing::token_at(chain, logits, i, c));
      }
    }
    EXPECT_NE(choices[0], choices[1]);
    EXPECT_NE(choices[1], choices[2]);
  }
}

TEST(Buglog, SMP_12_bias_ids_outside_the_vocabulary_are_refused) {
  for (const char* id : {"100", "101", "191222"}) {
    SamplingParams p;
    ASSERT_TRUE(add_logit_bias(p, id, 1).has_value());
    const auto r = validate(p, 100);
    ASSERT_FALSE(r.has_value()) << id;
    EXPECT_NE(r.error().message.find(id), std::string::npos) << r.error().message;
  }
  for (const char* id : {"-1", "2147483648", "9223372036854775808", "99999999999999999999"}) {
    SamplingParams p;
    EXPECT_FALSE(add_logit_bias(p, id, 1).has_value()) << id;
  }
  SamplingParams p;
  ASSERT_TRUE(add_logit_bias(p, "99", 1).has_value());
  EXPECT_TRUE(validate(p, 100).has_value());
}

TEST(Buglog, SMP_13_bias_keys_and_values_that_are_no_numbers_are_refused) {
  SamplingParams p;
  EXPECT_FALSE(add_logit_bias(p, "AI", -100).has_value());
  EXPECT_FALSE(add_logit_bias(p, "", -100).has_value());
  for (const double value : {static_cast<double>(INFINITY), static_cast<double>(NAN), 100.5, -101.0}) {
    EXPECT_FALSE(add_logit_bias(p, "5", value).has_value()) << value;
  }
  for (const char* text : {"5+inf", "5+nan", "AI-100", "5", "+5", "", "5+", "5+1x", "5+101", "5+1,"}) {
    EXPECT_FALSE(set_field(p, "--logit-bias", text).has_value()) << text;
  }
  EXPECT_TRUE(p.logit_bias.empty());
  EXPECT_TRUE(add_logit_bias(p, "5", -INFINITY).has_value());
}

TEST(Buglog, SMP_15_n_probs_beyond_the_cap_or_the_vocabulary_is_refused) {
  for (const char* text : {"1025", "100000", "2000000000", "-1", "true"})
    EXPECT_FALSE(error_of("n_probs", text).empty()) << text;
  SamplingParams p;
  p.n_probs = 21;
  EXPECT_FALSE(validate(p, 20).has_value());
  EXPECT_TRUE(validate(p, 21).has_value());
  p.n_probs = 0;
  p.top_k = 1000000;  // more than the vocabulary is fine
  EXPECT_TRUE(validate(p, 20).has_value());
}

}  // namespace
}  // namespace ridge::sample
