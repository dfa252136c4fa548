#include "bench/axes.h"

#include <charconv>
#include <tuple>

namespace ridge::bench {
namespace {

constexpr size_t kMaxValues = 1000, kMaxCases = 4096;

// Calls use(piece) for each piece between commas.
template <class F>
Result<void> each_piece(std::string_view text, const F& use) {
  for (;;) {
    const size_t comma = text.find(',');
    RIDGE_CHECK_OK(use(text.substr(0, comma)));
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

// A whole number at the front of text, which is taken away; -1 where there is none.
int take_number(std::string_view& text) {
  int n = -1;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (ec != std::errc() || n < 0) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return n;
}

struct Range {
  int first = 0, last = 0, step = 1;
  bool multiplies = false;
};

Result<Range> parse_range(std::string_view piece) {
  std::string_view rest = piece;
  const auto bad = [&] {
    return fail(ErrorCode::invalid_argument, "found '{}', expected a number or a range: 512, 1-4, 10-50+20 or 1-64*2",
                piece);
  };
  Range r;
  r.first = r.last = take_number(rest);
  if (r.first < 0) return bad();
  if (rest.empty()) return r;
  if (rest.front() != '-') return bad();
  rest.remove_prefix(1);
  r.last = take_number(rest);
  if (r.last < r.first) return bad();
  if (rest.empty()) return r;
  r.multiplies = rest.front() == '*';
  if (!r.multiplies && rest.front() != '+') return bad();
  rest.remove_prefix(1);
  r.step = take_number(rest);
  if (!rest.empty() || r.step < 1 || (r.multiplies && (r.step < 2 || r.first < 1))) return bad();
  return r;
}

}  // namespace

Result<void> add_numbers(std::string_view text, int min, int max, std::vector<int>& out) {
  return each_piece(text, [&](std::string_view piece) -> Result<void> {
    RIDGE_TRY(const Range r, parse_range(piece));
    if (r.first < min || r.last > max) {
      return fail(ErrorCode::invalid_argument, "found '{}', expected whole numbers from {} to {}", piece, min, max);
    }
    for (int64_t n = r.first; n <= r.last; n = r.multiplies ? n * r.step : n + r.step) {
      if (out.size() >= kMaxValues) return fail(ErrorCode::limit, "'{}': more than {} values", piece, kMaxValues);
      out.push_back(static_cast<int>(n));
    }
    return {};
  });
}

Result<void> add_words(std::string_view text, std::vector<std::string>& out) {
  return each_piece(text, [&](std::string_view piece) -> Result<void> {
    if (piece.empty()) return fail(ErrorCode::invalid_argument, "an empty value between commas in '{}'", text);
    out.emplace_back(piece);
    return {};
  });
}

Result<void> add_pair(std::string_view text, int max, std::vector<std::pair<int, int>>& out) {
  std::string_view rest = text;
  const int a = take_number(rest);
  const bool comma = !rest.empty() && rest.front() == ',';
  if (comma) rest.remove_prefix(1);
  const int b = comma ? take_number(rest) : -1;
  if (a < 1 || b < 1 || a > max || b > max || !rest.empty()) {
    return fail(ErrorCode::invalid_argument, "found '{}', expected two numbers such as 512,128", text);
  }
  out.emplace_back(a, b);
  return {};
}

Result<void> add_flash_attn(std::string_view text, std::vector<int>& out) {
  return each_piece(text, [&](std::string_view piece) -> Result<void> {
    const bool on = piece == "on" || piece == "1", off = piece == "off" || piece == "0";
    if (!on && !off && piece != "auto") {
      return fail(ErrorCode::invalid_argument, "found '{}', expected on, off or auto", piece);
    }
    out.push_back(on ? 1 : off ? 0 : -1);
    return {};
  });
}

std::string Case::test() const {
  std::string name = n_prompt > 0 ? fmt::format("pp{}", n_prompt) : "";
  if (n_gen > 0) name += fmt::format("{}tg{}", name.empty() ? "" : "+", n_gen);
  if (n_depth > 0) name += fmt::format(" @ d{}", n_depth);
  return name;
}

Result<std::vector<Case>> plan(Axes& a) {
  const auto fill = [](auto& list, auto value) {
    if (list.empty()) list.push_back(value);
  };
  fill(a.n_prompt, kDefaultPrompt), fill(a.n_gen, kDefaultGen), fill(a.n_depth, 0);
  fill(a.n_batch, kDefaultBatch), fill(a.n_ubatch, kDefaultUbatch), fill(a.n_threads, 0), fill(a.flash_attn, -1);
  fill(a.type_k, "f16"), fill(a.type_v, "f16");
  std::vector<std::pair<int, int>> tests;
  for (const int n : a.n_prompt) tests.emplace_back(n, 0);
  for (const int n : a.n_gen) tests.emplace_back(0, n);
  tests.insert(tests.end(), a.prompt_gen.begin(), a.prompt_gen.end());
  std::erase(tests, std::pair{0, 0});
  if (tests.empty() || a.models.empty()) {
    return fail(ErrorCode::invalid_argument, "nothing to run: -p, -n and -pg ask for no test");
  }
  const size_t n = a.models.size() * a.n_threads.size() * a.n_batch.size() * a.n_ubatch.size() * a.type_k.size() *
                   a.type_v.size() * a.flash_attn.size() * a.n_depth.size() * tests.size();
  if (n > kMaxCases) return fail(ErrorCode::limit, "{} rows asked for, expected at most {}", n, kMaxCases);
  std::vector<Case> cases;
  // The index of a row counts through the axes, the tests fastest: the loops in one.
  for (size_t i = 0; i < n; ++i) {
    size_t rest = i;
    const auto next = [&rest](const auto& list) -> const auto& {
      const auto& value = list[rest % list.size()];
      rest /= list.size();
      return value;
    };
    Case c;
    std::tie(c.n_prompt, c.n_gen) = next(tests);
    c.n_depth = next(a.n_depth), c.flash_attn = next(a.flash_attn);
    c.type_v = next(a.type_v), c.type_k = next(a.type_k);
    c.n_ubatch = next(a.n_ubatch), c.n_batch = next(a.n_batch);
    c.n_threads = next(a.n_threads), c.model = next(a.models);
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace ridge::bench
