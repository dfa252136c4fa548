// Records verbs and computes what each costs from the operands that it touches: 2 FLOPs a multiply-add, each operand's
// bytes once. Expert weights count only the experts that can be touched (at most n_used a row), KV only the positions
// that a row may see.
#include "backend/encoder.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace ridge {
namespace {

double bytes_of(const Act& a) {
  return 4.0 * a.rows * a.cols;
}
double elems_of(const Act& a) {
  return 1.0 * a.rows * a.cols;
}
[[maybe_unused]] bool same_shape(const Act& a, const Act& b) {
  return a.rows == b.rows && a.cols == b.cols;
}

// Floats are handed out in cache lines, so that no two matrices share one.
constexpr int64_t kLineFloats = 16;

}  // namespace

Encoder::Encoder(Program& program, const StepInput& input) : program_(program), input_(program.input) {
  program.verbs.clear();
  program.arena_floats = 0;
  program.logits = {};
  program.input = input;
}

Act Encoder::act(int32_t rows, int32_t cols) {
  const int64_t at = program_.arena_floats;
  program_.arena_floats += (int64_t{rows} * cols + kLineFloats - 1) / kLineFloats * kLineFloats;
  return {at, rows, cols, cols};
}

ActIds Encoder::ids(int32_t rows, int32_t cols) {
  const Act a = act(rows, cols);
  return {a.offset, rows, cols};
}

void Encoder::record(std::string_view label, VerbBody body, Traffic cost) {
  program_.verbs.push_back({std::move(body), cost, layer_, label});
}

void Encoder::embed(std::string_view label, const Weight& table, Act out, float scale) {
  assert(out.rows == n_rows() && out.cols == table.in);
  Traffic t;
  t.flops = scale == 1.0f ? 0.0 : elems_of(out);
  t.weight_bytes = static_cast<double>(row_bytes(table.dtype(), table.in)) * out.rows;
  t.activation_bytes = bytes_of(out);
  record(label, verb::Embed{&table, out, scale}, t);
}

void Encoder::rms_norm(std::string_view label, Act x, const Weight* w, Act out, float eps, int32_t group) {
  if (group == 0) group = x.cols;
  assert(same_shape(x, out) && x.cols % group == 0 && (w == nullptr || w->in == group));
  Traffic t;
  t.flops = 4.0 * elems_of(x);
  t.weight_bytes = w != nullptr ? w->bytes() : 0.0;
  t.activation_bytes = bytes_of(x) + bytes_of(out);
  record(label, verb::RmsNorm{x, w, out, eps, group}, t);
}

void Encoder::matmul(std::string_view label, Act x, const Weight& w, const Weight* bias, Act out) {
  assert(x.cols == w.in && out.cols == w.out && x.rows == out.rows && w.n_mats == 1);
  assert(bias == nullptr || bias->in == w.out);
  Traffic t;
  t.flops =
      2.0 * static_cast<double>(w.in) * static_cast<double>(w.out) * x.rows + (bias != nullptr ? elems_of(out) : 0.0);
  t.weight_bytes = w.bytes() + (bias != nullptr ? bias->bytes() : 0.0);
  t.activation_bytes = bytes_of(x) + bytes_of(out);
  record(label, verb::MatMul{x, &w, bias, out}, t);
}

void Encoder::add(std::string_view label, Act a, Act b, Act out, float scale) {
  assert(same_shape(a, b) && same_shape(a, out));
  Traffic t;
  t.flops = (scale == 1.0f ? 1.0 : 2.0) * elems_of(a);
  t.activation_bytes = 3.0 * bytes_of(a);
  record(label, verb::Add{a, b, out, scale}, t);
}

void Encoder::mul(std::string_view label, Act a, Act b, Act out) {
  assert(same_shape(a, out) && a.rows == b.rows && (a.cols == b.cols || b.cols == 1));
  Traffic t;
  t.flops = elems_of(a);
  t.activation_bytes = bytes_of(a) + bytes_of(b) + bytes_of(out);
  record(label, verb::Mul{a, b, out}, t);
}

void Encoder::scale(std::string_view label, Act x, Act out, float factor) {
  assert(same_shape(x, out));
  record(label, verb::Scale{x, out, factor}, {.flops = elems_of(x), .activation_bytes = 2.0 * bytes_of(x)});
}

void Encoder::softcap(std::string_view label, Act x, Act out, float cap) {
  assert(same_shape(x, out) && cap > 0);
  record(label, verb::Softcap{x, out, cap}, {.flops = 3.0 * elems_of(x), .activation_bytes = 2.0 * bytes_of(x)});
}

void Encoder::activate(std::string_view label, Act x, Act out, ActFn fn) {
  assert(same_shape(x, out) && fn != ActFn::swiglu_oai);
  record(label, verb::Activate{x, out, fn}, {.flops = 4.0 * elems_of(x), .activation_bytes = 2.0 * bytes_of(x)});
}

void Encoder::gated(std::string_view label, Act gate, Act up, Act out, ActFn fn, float alpha, float limit) {
  assert(same_shape(gate, up) && same_shape(gate, out));
  record(label, verb::Gated{gate, up, out, fn, alpha, limit},
         {.flops = 5.0 * elems_of(out), .activation_bytes = 3.0 * bytes_of(out)});
}

void Encoder::rope(std::string_view label, Act x, int32_t head_dim, const RopeSpec& spec) {
  assert(x.cols % head_dim == 0 && spec.n_rot() <= head_dim && x.rows == n_rows());
  const double turned = 1.0 * x.rows * (x.cols / head_dim) * spec.n_rot();
  record(label, verb::Rope{x, head_dim, &spec}, {.flops = 3.0 * turned, .activation_bytes = 8.0 * turned});
}

void Encoder::kv_append(std::string_view label, Act k, Act v, int32_t kv_layer) {
  const KvLayer& kv = input_.kv[static_cast<size_t>(kv_layer)];
  assert(k.cols == kv.n_kv_head * kv.k_dim && v.cols == kv.n_kv_head * kv.v_dim && k.rows == n_rows() &&
         v.rows == n_rows());
  Traffic t;
  t.kv_write_bytes = static_cast<double>(kv.k_row_bytes() + kv.v_row_bytes()) * k.rows;
  t.activation_bytes = bytes_of(k) + bytes_of(v);
  record(label, verb::KvAppend{k, v, kv_layer}, t);
}

void Encoder::attention(std::string_view label, const verb::Attention& a) {
  const KvLayer& kv = input_.kv[static_cast<size_t>(a.layer)];
  assert(a.q.cols == a.n_head * kv.k_dim && a.out.cols == a.n_head * kv.v_dim && a.n_head % kv.n_kv_head == 0);
  double seen = 0;  // (row, position) pairs
  double read = 0;  // positions read once for all rows of a sequence
  for (const SeqSpan& s : input_.seqs) {
    const int32_t end = s.pos0 + s.n_rows;
    for (int32_t p = s.pos0; p < end; ++p) seen += a.window > 0 ? std::min(p + 1, a.window) : p + 1;
    read += a.window > 0 ? std::min(end, a.window + s.n_rows - 1) : end;
  }
  Traffic t;
  t.flops = 2.0 * seen * a.n_head * (kv.k_dim + kv.v_dim);
  t.kv_read_bytes = read * static_cast<double>(kv.k_row_bytes() + kv.v_row_bytes());
  t.activation_bytes = bytes_of(a.q) + bytes_of(a.out);
  t.weight_bytes = a.sinks != nullptr ? a.sinks->bytes() : 0.0;
  record(label, a, t);
}

void Encoder::router(std::string_view label, const verb::Router& r) {
  assert(r.ids.rows == r.logits.rows && r.weights.rows == r.logits.rows && r.ids.cols == r.weights.cols &&
         r.ids.cols <= r.logits.cols);
  record(label, r,
         {.flops = 4.0 * elems_of(r.logits), .activation_bytes = bytes_of(r.logits) + 2.0 * bytes_of(r.weights)});
}

void Encoder::expert_matmul(std::string_view label, Act x, ActIds ids, const Weight& w, const Weight* bias, Act out) {
  assert(x.cols == w.in && out.cols == w.out && out.rows == ids.rows * ids.cols &&
         (x.rows == ids.rows || x.rows == out.rows));
  assert(bias == nullptr || (bias->in == w.out && bias->out == w.n_mats));
  const double touched = std::min<double>(static_cast<double>(w.n_mats), out.rows);
  Traffic t;
  t.flops = 2.0 * static_cast<double>(w.in) * static_cast<double>(w.out) * out.rows;
  t.weight_bytes = w.bytes() / static_cast<double>(w.n_mats) * touched;
  if (bias != nullptr) {
    t.flops += elems_of(out);
    t.weight_bytes += bias->bytes() / static_cast<double>(w.n_mats) * touched;
  }
  t.activation_bytes = bytes_of(x) + bytes_of(out);
  record(label, verb::ExpertMatMul{x, ids, &w, bias, out}, t);
}

void Encoder::expert_combine(std::string_view label, Act x, Act weights, Act out) {
  assert(x.rows == weights.rows * weights.cols && out.rows == weights.rows && out.cols == x.cols);
  record(label, verb::ExpertCombine{x, weights, out},
         {.flops = 2.0 * elems_of(x), .activation_bytes = bytes_of(x) + bytes_of(out)});
}

void Encoder::gather_rows(std::string_view label, Act x, Act out) {
  assert(out.rows == n_out_rows() && x.cols == out.cols);
  record(label, verb::GatherRows{x, out}, {.activation_bytes = 2.0 * bytes_of(out)});
}

Traffic Program::total() const {
  Traffic t;
  for (const Verb& v : verbs) t += v.cost;
  return t;
}

std::string_view verb_name(const VerbBody& body) {
  static constexpr std::string_view kNames[] = {
      "embed", "rms_norm", "matmul",    "add",       "mul",    "scale",         "softcap",        "activate",
      "gated", "rope",     "kv_append", "attention", "router", "expert_matmul", "expert_combine", "gather_rows"};
  static_assert(std::size(kNames) == kVerbCount);
  return kNames[body.index()];
}

}  // namespace ridge
