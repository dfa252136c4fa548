#include "api/native/settings.h"

#include <cmath>

#include "sample/params.h"

namespace ridge::api {

Json settings_json(const Generation& g) {
  const SamplingParams& p = g.sampling;
  Json out;
  out["seed"] = p.seed ? Json(*p.seed) : Json(-1);
  for (const sample::SamplingField& field : sample::sampling_fields()) {
    if (field.json.empty()) continue;
    const std::string key(field.json);
    if (const auto* real = std::get_if<double SamplingParams::*>(&field.member)) out[key] = p.*(*real);
    if (const auto* integer = std::get_if<int32_t SamplingParams::*>(&field.member)) out[key] = p.*(*integer);
    if (const auto* flag = std::get_if<bool SamplingParams::*>(&field.member)) out[key] = p.*(*flag);
  }
  out["dry_sequence_breakers"] = p.dry_sequence_breakers;
  Json samplers = Json::array();
  for (const SamplerKind kind : p.samplers) {
    for (const sample::SamplerName& n : sample::sampler_names()) {
      if (n.kind == kind) samplers.push_back(n.name);
    }
  }
  out["samplers"] = std::move(samplers);
  Json bias = Json::array();
  for (const LogitBias& b : p.logit_bias) {
    // -infinity, a ban, is written as false.
    bias.push_back({{"token", b.token}, {"bias", std::isinf(b.bias) ? Json(false) : Json(b.bias)}});
  }
  out["logit_bias"] = std::move(bias);
  out["max_tokens"] = g.max_tokens;
  out["n_predict"] = g.max_tokens;
  out["stop"] = g.stop;
  out["stream"] = g.stream;
  out["timings_per_token"] = g.timings_per_token;
  return out;
}

}  // namespace ridge::api
