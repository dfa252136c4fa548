// The Encoder: a model file writes its forward pass as calls of these verbs. It allots the arena, checks shapes
// (assert: a wrong shape here is a bug of the model file, the binder has already checked the weights) and gives each
// verb its cost.
#pragma once

#include "backend/program.h"

namespace ridge {

class Encoder {
 public:
  // Clears `program` and writes into it. The program keeps its capacity: no allocation once it has seen its largest
  // step.
  Encoder(Program& program, const StepInput& input);

  int32_t n_rows() const { return static_cast<int32_t>(input_.tokens.size()); }
  int32_t n_out_rows() const { return static_cast<int32_t>(input_.out_rows.size()); }

  // A fresh rows x cols matrix; lives until the end of the step, so a model takes its scratch once and uses it in every
  // layer.
  Act act(int32_t rows, int32_t cols);
  ActIds ids(int32_t rows, int32_t cols);

  // The layer that the verbs recorded from now on belong to (-1: none).
  void set_layer(int layer) { layer_ = static_cast<int16_t>(layer); }

  void embed(std::string_view label, const Weight& table, Act out, float scale = 1.0f);
  void rms_norm(std::string_view label, Act x, const Weight* w, Act out, float eps, int32_t group = 0);
  void matmul(std::string_view label, Act x, const Weight& w, const Weight* bias, Act out);
  void add(std::string_view label, Act a, Act b, Act out, float scale = 1.0f);
  void mul(std::string_view label, Act a, Act b, Act out);
  void scale(std::string_view label, Act x, Act out, float factor);
  void softcap(std::string_view label, Act x, Act out, float cap);
  void activate(std::string_view label, Act x, Act out, ActFn fn);
  void gated(std::string_view label, Act gate, Act up, Act out, ActFn fn, float alpha = 1.702f, float limit = 7.0f);
  void rope(std::string_view label, Act x, int32_t head_dim, const RopeSpec& spec);
  void kv_append(std::string_view label, Act k, Act v, int32_t kv_layer);
  void attention(std::string_view label, const verb::Attention& a);
  void router(std::string_view label, const verb::Router& r);
  void expert_matmul(std::string_view label, Act x, ActIds ids, const Weight& w, const Weight* bias, Act out);
  void expert_combine(std::string_view label, Act x, Act weights, Act out);
  void gather_rows(std::string_view label, Act x, Act out);
  void set_logits(Act logits) { program_.logits = logits; }

 private:
  void record(std::string_view label, VerbBody body, Traffic cost);
  Program& program_;
  const StepInput& input_;
  int16_t layer_ = -1;
};

}  // namespace ridge
