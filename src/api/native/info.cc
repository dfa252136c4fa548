#include "api/native/info.h"

#include "api/fields.h"
#include "api/native/settings.h"

namespace ridge::api {

std::string render_health(std::string_view status) {
  return dump(Json{{"status", status}});
}

std::string render_models(const ModelInfo& m, std::string_view name, int64_t created_s) {
  std::string formats;
  for (const FormatShare& f : m.formats) formats += (formats.empty() ? "" : " ") + f.format;
  const Json meta = {{"vocab_type", m.tokenizer},    {"n_vocab", m.n_vocab}, {"n_ctx", m.n_ctx},
                     {"n_ctx_train", m.n_ctx_train}, {"n_embd", m.n_embd},   {"n_params", m.n_params},
                     {"size", m.file_bytes},         {"ftype", formats}};
  const Json legacy = {{"name", name},
                       {"model", name},
                       {"type", "model"},
                       {"capabilities", Json::array({"completion"})},
                       {"details", {{"format", "gguf"}, {"family", m.architecture}}}};
  const Json data = {{"id", name}, {"object", "model"}, {"created", created_s}, {"owned_by", "ridge"}, {"meta", meta}};
  return dump(Json{{"models", Json::array({legacy})}, {"object", "list"}, {"data", Json::array({data})}});
}

std::string render_props(const PropsView& v) {
  const ModelInfo& m = v.model;
  Json doc;
  doc["default_generation_settings"] = {{"params", settings_json(v.defaults)}, {"n_ctx", m.n_ctx}};
  doc["total_slots"] = v.n_parallel;
  doc["model_alias"] = v.shown_name;
  doc["model_path"] = m.path;
  doc["modalities"] = {{"vision", false}, {"video", false}, {"audio", false}};
  doc["endpoint_slots"] = v.has_slots;
  doc["endpoint_props"] = false;
  doc["endpoint_metrics"] = v.has_metrics;
  doc["chat_template"] = m.chat_template;
  doc["bos_token"] = m.bos_text;
  doc["eos_token"] = m.eos_text;
  doc["build_info"] = "ridge " RIDGE_VERSION;
  doc["is_sleeping"] = false;
  return dump(doc);
}

std::string render_slots(std::span<const SlotView> running, int32_t n_parallel, int32_t n_ctx) {
  Json slots = Json::array();
  for (int32_t i = 0; i < n_parallel; ++i) {
    Json slot = {{"id", i}, {"n_ctx", n_ctx}, {"speculative", false}};
    const bool busy = static_cast<size_t>(i) < running.size();
    slot["is_processing"] = busy;
    if (busy) {
      const SlotView& s = running[static_cast<size_t>(i)];
      slot["id_task"] = s.id_task;
      slot["n_prompt_tokens"] = s.n_prompt;
      slot["params"] = settings_json(s.generation);
      const Json remain = s.generation.max_tokens < 0
                              ? Json(-1)
                              : Json(std::max<int64_t>(0, s.generation.max_tokens - static_cast<int64_t>(s.n_decoded)));
      slot["next_token"] = Json::array({{{"has_next_token", true}, {"n_remain", remain}, {"n_decoded", s.n_decoded}}});
    }
    slots.push_back(std::move(slot));
  }
  return dump(slots);
}

std::string render_account(const ClosedAccount& a) {
  Json doc = {{"id", a.id},
              {"object", "account"},
              {"endpoint", a.endpoint},
              {"status", a.status},
              {"finish_reason", a.finish_reason.empty() ? Json(nullptr) : Json(a.finish_reason)}};
  doc["timings"] = timings_json(a.account);
  doc["accounts"] = accounts_json(a.account, a.whole);
  doc["accounts"]["write_overlapped_ms"] = a.write_overlapped_ms;
  return dump(doc);
}

}  // namespace ridge::api
