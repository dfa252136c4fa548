#include "quality/observer.h"

#include <cstring>

namespace ridge::quality {
namespace {

void add_squares(const float* x, int64_t n, float* sums) {
  for (int64_t i = 0; i < n; ++i) sums[i] += x[i] * x[i];
}

}  // namespace

// nullptr for a matrix that is not collected: what belongs to no layer, and the output unless it is wanted.
ImatrixEntry* ObservingDevice::entry_of(const Weight& w) {
  const std::string_view name = w.host.name;
  if (!name.starts_with("blk.") && !(with_output_ && name == "output.weight")) return nullptr;
  const auto found = into_.entries.find(name);
  if (found != into_.entries.end()) return &found->second;
  ImatrixEntry e{.n_cols = w.in, .sums = {}, .counts = std::vector<float>(static_cast<size_t>(w.n_mats))};
  e.sums.resize(static_cast<size_t>(w.in * w.n_mats));
  return &into_.entries.emplace(std::string(name), std::move(e)).first->second;
}

void ObservingDevice::observe(const verb::MatMul& m) {
  ImatrixEntry* e = entry_of(*m.w);
  if (e == nullptr) return;
  const MatrixView<const float> x = device_.read(m.x);
  for (int64_t r = 0; r < x.rows; ++r) add_squares(x.row(r), e->n_cols, e->sums.data());
  e->counts[0] += static_cast<float>(x.rows);
}

void ObservingDevice::observe(const verb::ExpertMatMul& m) {
  ImatrixEntry* e = entry_of(*m.w);
  if (e == nullptr) return;
  const MatrixView<const float> x = device_.read(m.x);
  const MatrixView<const float> ids =
      device_.read({.offset = m.ids.offset, .rows = m.ids.rows, .cols = m.ids.cols, .stride = m.ids.cols});
  for (int64_t r = 0; r < ids.rows; ++r) {
    for (int64_t j = 0; j < ids.cols; ++j) {
      int32_t expert = 0;
      std::memcpy(&expert, ids.row(r) + j, sizeof(expert));
      if (expert < 0 || expert >= e->n_experts()) continue;
      const int64_t row = x.rows == ids.rows ? r : r * ids.cols + j;
      add_squares(x.row(row), e->n_cols, e->sums.data() + expert * e->n_cols);
      e->counts[static_cast<size_t>(expert)] += 1;
    }
  }
}

Result<void> ObservingDevice::run(const Program& program, StepTrace* trace) {
  if (trace != nullptr) trace->verb_ns.clear();
  Program one{.input = program.input, .verbs = {}, .arena_floats = program.arena_floats, .logits = program.logits};
  for (const Verb& v : program.verbs) {
    if (const auto* m = std::get_if<verb::MatMul>(&v.body)) observe(*m);
    if (const auto* m = std::get_if<verb::ExpertMatMul>(&v.body)) observe(*m);
    one.verbs.assign(1, v);
    StepTrace step;
    RIDGE_CHECK_OK(device_.run(one, trace != nullptr ? &step : nullptr));
    if (trace != nullptr && !step.verb_ns.empty()) trace->verb_ns.push_back(step.verb_ns[0]);
  }
  return {};
}

}  // namespace ridge::quality
