#include "logits_job.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kv/block_table.h"

namespace ridge::app {
namespace {

int32_t best_of(std::span<const float> row) {
  return static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

}  // namespace

Result<LogitsResult> evaluate(const LogitsJob& job, Runner& runner, std::ofstream* out) {
  LogitsResult result;
  const auto n = static_cast<int32_t>(job.tokens.size());
  std::vector<int32_t> tokens = job.tokens;
  BlockTable table(runner.pool(), n + job.n_greedy);
  RIDGE_CHECK_OK(table.grow(n + job.n_greedy));
  std::vector<int32_t> out_rows(static_cast<size_t>(runner.options().max_out_rows));
  const auto step = [&](int32_t pos, int32_t count, bool all) -> Result<MatrixView<const float>> {
    const int32_t n_out = all ? count : 1;
    std::iota(out_rows.begin(), out_rows.begin() + n_out, count - n_out);
    const Slice slice{.tokens = std::span(tokens).subspan(static_cast<size_t>(pos), static_cast<size_t>(count)),
                      .pos0 = pos,
                      .blocks = table.blocks()};
    return runner.forward({&slice, 1}, {out_rows.data(), static_cast<size_t>(n_out)});
  };
  for (int32_t pos = 0; pos < n;) {
    const int32_t count = std::min(runner.options().n_ubatch, n - pos);
    RIDGE_TRY(const auto logits, step(pos, count, out != nullptr));
    for (int64_t r = 0; out != nullptr && r < logits.rows; ++r) {
      out->write(reinterpret_cast<const char*>(logits.row(r)), static_cast<std::streamsize>(logits.cols * 4));
    }
    pos += count;
    if (pos == n) result.last.assign(logits.row(logits.rows - 1), logits.row(logits.rows - 1) + logits.cols);
  }
  for (int i = 0; i < job.n_greedy; ++i) {
    tokens.push_back(i == 0 ? best_of(result.last) : result.greedy.back());
    if (i == 0) result.greedy.push_back(tokens.back());
    if (static_cast<int>(result.greedy.size()) == job.n_greedy) break;
    RIDGE_TRY(const auto logits, step(n + i, 1, false));
    result.greedy.push_back(best_of({logits.row(0), static_cast<size_t>(logits.cols)}));
  }
  return result;
}

std::string as_json(const LogitsJob& job, const LogitsResult& r, const DeviceInfo& device) {
  std::vector<int32_t> order(r.last.size());
  std::iota(order.begin(), order.end(), 0);
  const auto n_top = std::min<size_t>(order.size(), static_cast<size_t>(job.n_top));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_top), order.end(),
                    [&](int32_t a, int32_t b) {
                      const float x = r.last[static_cast<size_t>(a)], y = r.last[static_cast<size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  const double top = r.last[static_cast<size_t>(order[0])];
  double sum = 0;
  for (const float x : r.last) sum += std::exp(x - top);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (size_t i = 0; i < n_top; ++i) {
    const double x = r.last[static_cast<size_t>(order[i])];
    list.push_back({{"id", order[i]}, {"logit", x}, {"logprob", x - top - std::log(sum)}});
  }
  const nlohmann::ordered_json doc = {{"n_tokens", job.tokens.size()},
                                      {"n_vocab", r.last.size()},
                                      {"backend", device.name},
                                      {"isa", device.isa},
                                      {"top", list},
                                      {"greedy", r.greedy}};
  return doc.dump() + "\n";
}

}  // namespace ridge::app
