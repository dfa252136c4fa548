// Owns: the plainest possible body of every verb. Weights are decoded a row at a time by quant/, sums run in double,
// one thread. Refuses: nothing that quant/ can decode. Speed is no aim here; being obviously right is.
#include "backend/reference/reference_device.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "quant/formats.h"

namespace ridge {
namespace {

using quant::decode_row;
using quant::encode_row;
using quant::find_format;

double apply(ActFn fn, double x) {
  switch (fn) {
    case ActFn::silu:
      return x / (1.0 + std::exp(-x));
    case ActFn::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    case ActFn::gelu_erf:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case ActFn::relu:
      return x > 0.0 || std::isnan(x) ? x : 0.0;
    case ActFn::sigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case ActFn::swiglu_oai:
      return x;
  }
  return x;
}

class ReferenceDevice final : public Device {
 public:
  explicit ReferenceDevice(const DeviceOptions& options)
      : ledger_(options.ledger != nullptr ? *options.ledger : own_ledger_) {}

  DeviceInfo info() const override {
    return {.name = "reference",
            .isa = "scalar",
            .isa_reason = "the oracle is scalar by design",
            .n_threads = 1,
            .threads_reason = "the oracle runs on one thread by design"};
  }

  size_t prepared_bytes(const Weight&) const override { return 0; }
  Result<void> prepare(Weight& weight) override {
    if (find_format(weight.dtype()) == nullptr) {
      return fail(ErrorCode::unsupported, "tensor '{}': format {} cannot be decoded to numbers", weight.host.name,
                  ridge::info(weight.dtype()).name);
    }
    return {};
  }

  Result<void> reserve(int64_t arena_floats) override {
    if (static_cast<size_t>(arena_floats) * sizeof(float) <= arena_.size()) return {};
    arena_ = TaggedBuffer();
    RIDGE_TRY(arena_, TaggedBuffer::allocate(ledger_, MemoryOwner::activations, kArenaDetail,
                                             static_cast<size_t>(arena_floats) * sizeof(float)));
    return {};
  }

  std::vector<Scratch> scratch(int64_t) const override { return {}; }

  Result<void> run(const Program& program, StepTrace* trace) override {
    RIDGE_CHECK_OK(reserve(program.arena_floats));
    program_ = &program;
    if (trace != nullptr) trace->verb_ns.assign(program.verbs.size(), 0);
    for (size_t i = 0; i < program.verbs.size(); ++i) {
      const int64_t start = now_ns();
      std::visit([this](const auto& v) { exec(v); }, program.verbs[i].body);
      if (trace != nullptr) trace->verb_ns[i] = now_ns() - start;
    }
    return {};
  }

  MatrixView<const float> read(const Act& a) const override { return {at(a), a.rows, a.cols, a.stride}; }

  std::string describe(const Verb& verb) const override {
    return fmt::format("{} reference (scalar, double)", verb_name(verb.body));
  }

 private:
  float* at(const Act& a) const { return arena_.as<float>() + a.offset; }
  float* row(const Act& a, int64_t r) const { return at(a) + r * a.stride; }
  int32_t* row(const ActIds& a, int64_t r) const {
    return reinterpret_cast<int32_t*>(arena_.as<float>() + a.offset) + r * a.cols;
  }

  // Row r of a weight as f32 (all matrices of a stack lie one after the other).
  const std::vector<float>& decoded(const Weight& w, int64_t r) {
    row_.resize(static_cast<size_t>(w.in));
    decode_row(w.dtype(), w.host.row(r), row_.data(), w.in);
    return row_;
  }

  void exec(const verb::Embed& v) {
    for (int32_t r = 0; r < v.out.rows; ++r) {
      const auto& w = decoded(*v.table, program_->input.tokens[static_cast<size_t>(r)]);
      for (int32_t c = 0; c < v.out.cols; ++c)
        row(v.out, r)[c] = static_cast<float>(double{w[static_cast<size_t>(c)]} * v.scale);
    }
  }

  void exec(const verb::RmsNorm& v) {
    std::vector<float> w(static_cast<size_t>(v.group), 1.0f);
    if (v.w != nullptr) w = decoded(*v.w, 0);
    for (int32_t r = 0; r < v.x.rows; ++r) {
      for (int32_t g = 0; g < v.x.cols; g += v.group) {
        const float* x = row(v.x, r) + g;
        float* out = row(v.out, r) + g;
        double sum = 0;
        for (int32_t c = 0; c < v.group; ++c) sum += double{x[c]} * x[c];
        const double inv = 1.0 / std::sqrt(sum / v.group + v.eps);
        for (int32_t c = 0; c < v.group; ++c) out[c] = static_cast<float>(x[c] * inv * w[static_cast<size_t>(c)]);
      }
    }
  }

  static double dot(const float* a, const float* b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += double{a[i]} * b[i];
    return sum;
  }

  void exec(const verb::MatMul& v) {
    std::vector<float> bias;
    if (v.bias != nullptr) bias = decoded(*v.bias, 0);
    for (int64_t o = 0; o < v.w->out; ++o) {
      const auto& w = decoded(*v.w, o);
      for (int32_t r = 0; r < v.x.rows; ++r) {
        const double b = bias.empty() ? 0.0 : bias[static_cast<size_t>(o)];
        row(v.out, r)[o] = static_cast<float>(dot(row(v.x, r), w.data(), v.w->in) + b);
      }
    }
  }

  template <class F>
  void each(const Act& out, F&& f) {
    for (int32_t r = 0; r < out.rows; ++r) {
      for (int32_t c = 0; c < out.cols; ++c) row(out, r)[c] = static_cast<float>(f(r, c));
    }
  }
  double get(const Act& a, int32_t r, int32_t c) const { return row(a, r)[c]; }

  void exec(const verb::Add& v) {
    each(v.out, [&](int32_t r, int32_t c) { return get(v.a, r, c) + double{v.scale} * get(v.b, r, c); });
  }
  void exec(const verb::Mul& v) {
    each(v.out, [&](int32_t r, int32_t c) { return get(v.a, r, c) * get(v.b, r, v.b.cols == 1 ? 0 : c); });
  }
  void exec(const verb::Scale& v) {
    each(v.out, [&](int32_t r, int32_t c) { return get(v.x, r, c) * v.factor; });
  }
  void exec(const verb::Softcap& v) {
    each(v.out, [&](int32_t r, int32_t c) { return v.cap * std::tanh(get(v.x, r, c) / v.cap); });
  }
  void exec(const verb::Activate& v) {
    each(v.out, [&](int32_t r, int32_t c) { return apply(v.fn, get(v.x, r, c)); });
  }
  void exec(const verb::Gated& v) {
    each(v.out, [&](int32_t r, int32_t c) {
      double g = get(v.gate, r, c), u = get(v.up, r, c);
      if (v.fn != ActFn::swiglu_oai) return apply(v.fn, g) * u;
      // Written so that a NaN stays one.
      g = g > v.limit ? v.limit : g;
      u = u > v.limit ? v.limit : (u < -v.limit ? -v.limit : u);
      return g / (1.0 + std::exp(-double{v.alpha} * g)) * (u + 1.0);
    });
  }

  void exec(const verb::Rope& v) {
    const int32_t half = v.spec->n_rot() / 2;
    for (const SeqSpan& s : program_->input.seqs) {
      for (int32_t i = 0; i < s.n_rows; ++i) {
        for (int32_t h = 0; h < v.x.cols; h += v.head_dim) {
          float* x = row(v.x, s.row0 + i) + h;
          for (int32_t j = 0; j < half; ++j) {
            const double angle = (double{1.0} * (s.pos0 + i)) * v.spec->inv_freq[static_cast<size_t>(j)];
            const double c = std::cos(angle) * v.spec->magnitude, n = std::sin(angle) * v.spec->magnitude;
            float& a = v.spec->split_halves ? x[j] : x[2 * j];
            float& b = v.spec->split_halves ? x[j + half] : x[2 * j + 1];
            const double a0 = a, b0 = b;
            a = static_cast<float>(a0 * c - b0 * n);
            b = static_cast<float>(a0 * n + b0 * c);
          }
        }
      }
    }
  }

  void exec(const verb::KvAppend& v) {
    const KvLayer& kv = program_->input.kv[static_cast<size_t>(v.layer)];
    for (const SeqSpan& s : program_->input.seqs) {
      for (int32_t i = 0; i < s.n_rows; ++i) {
        const int32_t p = s.pos0 + i;
        const int32_t block = s.blocks[static_cast<size_t>(p / kKvBlockPositions)];
        encode_row(kv.k_type, row(v.k, s.row0 + i), kv.k_row(block, p % kKvBlockPositions), v.k.cols);
        encode_row(kv.v_type, row(v.v, s.row0 + i), kv.v_row(block, p % kKvBlockPositions), v.v.cols);
      }
    }
  }

  void exec(const verb::Attention& v) {
    for (const SeqSpan& s : program_->input.seqs) {
      for (int32_t i = 0; i < s.n_rows; ++i) attend(v, s, i);
    }
  }

  // One row: decode the keys and values that it may see, then the textbook softmax for each head.
  void attend(const verb::Attention& v, const SeqSpan& s, int32_t i) {
    const KvLayer& kv = program_->input.kv[static_cast<size_t>(v.layer)];
    const int32_t pos = s.pos0 + i, first = v.window > 0 ? std::max(0, pos - v.window + 1) : 0, n = pos - first + 1;
    std::vector<float> keys(static_cast<size_t>(n) * kv.n_kv_head * kv.k_dim),
        values(static_cast<size_t>(n) * kv.n_kv_head * kv.v_dim);
    for (int32_t j = 0; j < n; ++j) {
      const int32_t p = first + j, block = s.blocks[static_cast<size_t>(p / kKvBlockPositions)];
      const int64_t k_cols = int64_t{kv.n_kv_head} * kv.k_dim, v_cols = int64_t{kv.n_kv_head} * kv.v_dim;
      decode_row(kv.k_type, kv.k_row(block, p % kKvBlockPositions), keys.data() + j * k_cols, k_cols);
      decode_row(kv.v_type, kv.v_row(block, p % kKvBlockPositions), values.data() + j * v_cols, v_cols);
    }
    double q_scale = 1.0;
    if (v.temperature_scale > 0) {
      q_scale += v.temperature_scale * std::log(1.0 + std::floor(1.0 * pos / v.temperature_length));
    }
    std::vector<float> sinks;
    if (v.sinks != nullptr) sinks = decoded(*v.sinks, 0);
    std::vector<double> score(static_cast<size_t>(n));
    for (int32_t h = 0; h < v.n_head; ++h) {
      const int32_t kv_head = h / (v.n_head / kv.n_kv_head);
      const float* q = row(v.q, s.row0 + i) + int64_t{h} * kv.k_dim;
      double top = sinks.empty() ? -INFINITY : double{sinks[static_cast<size_t>(h)]};
      for (int32_t j = 0; j < n; ++j) {
        double x = dot(q, keys.data() + (int64_t{j} * kv.n_kv_head + kv_head) * kv.k_dim, kv.k_dim) * q_scale * v.scale;
        if (v.softcap > 0) x = v.softcap * std::tanh(x / v.softcap);
        score[static_cast<size_t>(j)] = x;
        top = std::max(top, x);
      }
      double sum = sinks.empty() ? 0.0 : std::exp(sinks[static_cast<size_t>(h)] - top);
      for (double& x : score) sum += x = std::exp(x - top);
      float* out = row(v.out, s.row0 + i) + int64_t{h} * kv.v_dim;
      for (int32_t d = 0; d < kv.v_dim; ++d) {
        double acc = 0;
        for (int32_t j = 0; j < n; ++j)
          acc += score[static_cast<size_t>(j)] *
                 values[static_cast<size_t>((int64_t{j} * kv.n_kv_head + kv_head) * kv.v_dim + d)];
        out[d] = static_cast<float>(acc / sum);
      }
    }
  }

  void exec(const verb::Router& v) {
    const int32_t n_expert = v.logits.cols, n_used = v.ids.cols;
    std::vector<float> bias(static_cast<size_t>(n_expert), 0.0f);
    if (v.selection_bias != nullptr) bias = decoded(*v.selection_bias, 0);
    std::vector<double> gate(static_cast<size_t>(n_expert));
    std::vector<int32_t> order(static_cast<size_t>(n_expert));
    for (int32_t r = 0; r < v.logits.rows; ++r) {
      const float* x = row(v.logits, r);
      const double top = *std::max_element(x, x + n_expert);
      double sum = 0;
      for (int32_t e = 0; e < n_expert; ++e) sum += std::exp(x[e] - top);
      for (int32_t e = 0; e < n_expert; ++e) {
        gate[static_cast<size_t>(e)] = v.gating == verb::Gating::softmax   ? std::exp(x[e] - top) / sum
                                       : v.gating == verb::Gating::sigmoid ? 1.0 / (1.0 + std::exp(-double{x[e]}))
                                                                           : double{x[e]};
        order[static_cast<size_t>(e)] = e;
      }
      // A NaN sorts last, so that the order stays one; it comes through in the weights all the same.
      const auto rank = [&](int32_t e) {
        const double g = gate[static_cast<size_t>(e)] + bias[static_cast<size_t>(e)];
        return std::isnan(g) ? -INFINITY : g;
      };
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return rank(a) > rank(b); });
      double chosen = 0;
      if (v.gating == verb::Gating::softmax_of_chosen) {
        const double best = gate[static_cast<size_t>(order[0])];
        for (int32_t j = 0; j < n_used; ++j) {
          double& g = gate[static_cast<size_t>(order[static_cast<size_t>(j)])];
          g = std::exp(g - best);
        }
      }
      for (int32_t j = 0; j < n_used; ++j) chosen += gate[static_cast<size_t>(order[static_cast<size_t>(j)])];
      const bool divide = v.normalise || v.gating == verb::Gating::softmax_of_chosen;
      for (int32_t j = 0; j < n_used; ++j) {
        const int32_t e = order[static_cast<size_t>(j)];
        row(v.ids, r)[j] = e;
        row(v.weights, r)[j] = static_cast<float>(gate[static_cast<size_t>(e)] / (divide ? chosen : 1.0) * v.scale);
      }
    }
  }

  void exec(const verb::ExpertMatMul& v) {
    const int32_t n_used = v.ids.cols;
    for (int32_t r = 0; r < v.out.rows; ++r) {
      const int32_t e = row(v.ids, r / n_used)[r % n_used];
      const float* x = row(v.x, v.x.rows == v.out.rows ? r : r / n_used);
      std::vector<float> bias;
      if (v.bias != nullptr) bias = decoded(*v.bias, e);
      for (int64_t o = 0; o < v.w->out; ++o) {
        const double b = bias.empty() ? 0.0 : bias[static_cast<size_t>(o)];
        row(v.out, r)[o] = static_cast<float>(dot(x, decoded(*v.w, e * v.w->out + o).data(), v.w->in) + b);
      }
    }
  }

  void exec(const verb::ExpertCombine& v) {
    const int32_t n_used = v.weights.cols;
    each(v.out, [&](int32_t r, int32_t c) {
      double sum = 0;
      for (int32_t j = 0; j < n_used; ++j) sum += get(v.weights, r, j) * get(v.x, r * n_used + j, c);
      return sum;
    });
  }

  void exec(const verb::GatherRows& v) {
    each(v.out, [&](int32_t r, int32_t c) { return get(v.x, program_->input.out_rows[static_cast<size_t>(r)], c); });
  }

  MemoryLedger own_ledger_;  // used when the caller gives none
  MemoryLedger& ledger_;
  TaggedBuffer arena_;
  const Program* program_ = nullptr;
  std::vector<float> row_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_reference_device(const DeviceOptions& options) {
  if (!options.isa.empty() && options.isa != "scalar") {
    return fail(ErrorCode::unsupported, "the reference backend has one ISA, 'scalar'; '{}' was asked for", options.isa);
  }
  return std::unique_ptr<Device>(std::make_unique<ReferenceDevice>(options));
}

}  // namespace ridge
