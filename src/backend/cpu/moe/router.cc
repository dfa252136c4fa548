// The Router verb: the best experts of each row. Gates run in double where they decide an order (with a selection
// bias), so that two experts do not change places by a rounding; without a bias the logits themselves give the order.
#include <cmath>

#include "backend/cpu/step.h"

namespace ridge::cpu {
namespace {

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

// What experts are ordered by.
void fill_order(const verb::Router& v, const float* logits, double softmax_sum, float top, const float* bias,
                double* order) {
  for (int32_t e = 0; e < v.logits.cols; ++e) {
    const double x = logits[e];
    if (bias == nullptr) {
      order[e] = x;
    } else if (v.gating == verb::Gating::softmax) {
      order[e] = std::exp(x - top) / softmax_sum + bias[e];
    } else {
      order[e] = (v.gating == verb::Gating::sigmoid ? sigmoid(x) : x) + bias[e];
    }
  }
}

// The n best of order, best first, ties to the lower index. A NaN never beats a number that came before it, and the
// result is always n different indices.
void select_best(const double* order, int32_t n_expert, int32_t n, int32_t* ids) {
  for (int32_t j = 0; j < n; ++j) {
    int32_t best = -1;
    for (int32_t e = 0; e < n_expert; ++e) {
      if (best >= 0 && !(order[e] > order[best])) continue;
      bool taken = false;
      for (int32_t i = 0; i < j; ++i) taken |= ids[i] == e;
      if (!taken) best = e;
    }
    ids[j] = best;
  }
}

void route(const Step& s, const verb::Router& v, int64_t r, float* scratch) {
  const float* logits = s.row(v.logits, r);
  const int32_t n_expert = v.logits.cols, n_used = v.ids.cols;
  int32_t* ids = s.row(v.ids, r);
  float* weights = s.row(v.weights, r);
  double* order = reinterpret_cast<double*>(scratch);
  float* exps = scratch + 2 * static_cast<int64_t>(n_expert);
  const float* bias = v.selection_bias != nullptr ? floats_of(*v.selection_bias) : nullptr;

  float top = logits[0];
  for (int32_t e = 1; e < n_expert; ++e) top = logits[e] > top ? logits[e] : top;
  double softmax_sum = 0;
  if (v.gating == verb::Gating::softmax) {
    s.kernels->map.exp(logits, top, exps, n_expert);
    for (int32_t e = 0; e < n_expert; ++e) softmax_sum += double{exps[e]};
  }
  fill_order(v, logits, softmax_sum, top, bias, order);
  select_best(order, n_expert, n_used, ids);

  double sum = 0;
  double* gates = order;  // the order has done its work
  for (int32_t j = 0; j < n_used; ++j) {
    const double x = logits[ids[j]];
    switch (v.gating) {
      case verb::Gating::softmax:
        gates[j] = std::exp(x - top) / softmax_sum;
        break;
      case verb::Gating::sigmoid:
        gates[j] = sigmoid(x);
        break;
      case verb::Gating::softmax_of_chosen:
        gates[j] = std::exp(x - logits[ids[0]]);
        break;
    }
    sum += gates[j];
  }
  const bool divide = v.normalise || v.gating == verb::Gating::softmax_of_chosen;
  for (int32_t j = 0; j < n_used; ++j)
    weights[j] = static_cast<float>(gates[j] / (divide ? sum : 1.0) * double{v.scale});
}

}  // namespace

void run_verb(const Step& s, const Worker& w, const verb::Router& v) {
  const auto [begin, end] = w.share(v.logits.rows);
  for (int64_t r = begin; r < end; ++r) route(s, v, r, w.scratch);
}

}  // namespace ridge::cpu
