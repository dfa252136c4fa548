// What a server says about itself: /health, /v1/models, /props, /slots, /v1/accounts/{id}. JSON text with
// llama-server's keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/generation.h"
#include "ridge/engine.h"

namespace ridge::api {

std::string render_health(std::string_view status);

std::string render_models(const ModelInfo& model, std::string_view shown_name, int64_t created_s);

struct PropsView {
  const ModelInfo& model;
  const Generation& defaults;
  std::string_view shown_name;
  int32_t n_parallel = 1;
  bool has_metrics = false, has_slots = true;
};
std::string render_props(const PropsView& view);

// A request in flight. Texts are never shown.
struct SlotView {
  uint64_t id_task = 0;
  uint64_t n_prompt = 0, n_decoded = 0;
  Generation generation;
};
// n_parallel entries: first what runs, then idle ones.
std::string render_slots(std::span<const SlotView> running, int32_t n_parallel, int32_t n_ctx);

// The closed books of one request, kept for /v1/accounts/{id}.
struct ClosedAccount {
  std::string id, endpoint, finish_reason;
  int status = 200;
  RequestAccount account;
  TimeBudget whole;
  double write_overlapped_ms = 0;
};
std::string render_account(const ClosedAccount& account);

}  // namespace ridge::api
