// The Rope verb and its tables.
#include <algorithm>
#include <cmath>

#include "backend/cpu/rope/tables.h"

namespace ridge::cpu {

void fill_rope_row(const RopeSpec& spec, int32_t position, float* cos, float* sin) {
  for (size_t i = 0; i < spec.inv_freq.size(); ++i) {
    const double angle = static_cast<double>(position) * double{spec.inv_freq[i]};
    cos[i] = static_cast<float>(std::cos(angle) * double{spec.magnitude});
    sin[i] = static_cast<float>(std::sin(angle) * double{spec.magnitude});
  }
}

const RopeTables::Table* RopeTables::find(const RopeSpec& spec) const {
  for (size_t i = 0; i < n_; ++i) {
    if (tables_[i].spec == &spec) return &tables_[i];
  }
  return nullptr;
}

void RopeTables::plan(const Program& program, float* memory, int64_t capacity) {
  n_ = 0;
  const int64_t rows = static_cast<int64_t>(program.input.tokens.size());
  for (const Verb& verb : program.verbs) {
    const auto* rope = std::get_if<verb::Rope>(&verb.body);
    if (rope == nullptr || find(*rope->spec) != nullptr || n_ == tables_.size()) continue;
    const int64_t size = rows * rope->spec->n_rot();
    if (size > capacity) continue;
    tables_[n_++] = {rope->spec, memory};
    memory += size;
    capacity -= size;
  }
}

void RopeTables::fill(const Program& program, const Worker& w) const {
  const auto [begin, end] = w.share(static_cast<int64_t>(program.input.tokens.size()));
  for (size_t i = 0; i < n_; ++i) {
    const RopeSpec& spec = *tables_[i].spec;
    for (const SeqSpan& span : program.input.seqs) {
      const int64_t from = std::max<int64_t>(begin, span.row0), to = std::min<int64_t>(end, span.row0 + span.n_rows);
      for (int64_t r = from; r < to; ++r) {
        float* cos = tables_[i].data + r * spec.n_rot();
        fill_rope_row(spec, span.pos0 + static_cast<int32_t>(r - span.row0), cos, cos + spec.n_rot() / 2);
      }
    }
  }
}

const float* RopeTables::row(const RopeSpec& spec, int64_t r) const {
  const Table* table = find(spec);
  return table != nullptr ? table->data + r * spec.n_rot() : nullptr;
}

void run_verb(const Step& s, const Worker& w, const verb::Rope& v) {
  const auto [begin, end] = w.share(v.x.rows);
  const int32_t pairs = v.spec->n_rot() / 2;
  const auto turn = v.spec->split_halves ? s.kernels->rope.split_halves : s.kernels->rope.neighbours;
  for (const SeqSpan& span : s.program->input.seqs) {
    const int64_t from = std::max<int64_t>(begin, span.row0), to = std::min<int64_t>(end, span.row0 + span.n_rows);
    for (int64_t r = from; r < to; ++r) {
      const float* cos = s.rope->row(*v.spec, r);
      if (cos == nullptr) {
        fill_rope_row(*v.spec, span.pos0 + static_cast<int32_t>(r - span.row0), w.scratch, w.scratch + pairs);
        cos = w.scratch;
      }
      float* x = s.row(v.x, r);
      for (int32_t h = 0; h < v.x.cols; h += v.head_dim) turn(x + h, cos, cos + pairs, pairs);
    }
  }
}

}  // namespace ridge::cpu
