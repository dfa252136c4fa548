// Source of names and order: llama-bench (llama.cpp, tools/llama-bench), fields as of September 2026.
#include "bench/speed_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace ridge::bench {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& x) {
  return x ? Json(*x) : Json(nullptr);
}
Json text_or_null(const std::string& s) {
  return s.empty() ? Json(nullptr) : Json(s);
}

// llama-bench's fields.
Json common_fields(const OutputContext& o, const SpeedResult& r) {
  const Case& c = r.what;
  const std::vector<double> ns(r.samples_ns.begin(), r.samples_ns.end());
  const auto time = summarise(ns), rate = summarise(r.samples_ts());
  const auto rounded = [](double x) { return static_cast<uint64_t>(x + 0.5); };
  return {{"build_commit", RIDGE_VERSION},
          {"build_number", nullptr},
          {"cpu_info", o.cpu_info},
          {"gpu_info", ""},
          {"backends", r.backend == "cpu" ? "CPU" : r.backend},
          {"model_filename", r.model.filename},
          {"model_type", r.model.type},
          {"model_size", r.model.n_bytes},
          {"model_n_params", r.model.n_params},
          {"n_batch", c.n_batch},
          {"n_ubatch", c.n_ubatch},
          {"n_threads", r.n_threads},
          {"cpu_mask", "0x0"},
          {"cpu_strict", false},
          {"poll", 50},
          {"type_k", c.type_k},
          {"type_v", c.type_v},
          {"n_gpu_layers", 0},
          {"n_cpu_moe", 0},
          {"split_mode", "none"},
          {"main_gpu", 0},
          {"no_kv_offload", false},
          {"flash_attn", c.flash_attn},
          {"devices", "none"},
          {"tensor_split", "0.00"},
          {"tensor_buft_overrides", "none"},
          {"load_mode", "mmap"},
          {"lazy_mode", "off"},
          {"embeddings", false},
          {"no_op_offload", 0},
          {"no_host", false},
          {"fit_target", 0},
          {"fit_min_ctx", 0},
          {"n_prompt", c.n_prompt},
          {"n_gen", c.n_gen},
          {"n_depth", c.n_depth},
          {"test_time", r.test_time},
          {"avg_ns", time ? Json(rounded(time->mean)) : Json(nullptr)},
          {"stddev_ns", time && time->stdev ? Json(rounded(*time->stdev)) : Json(0)},
          {"avg_ts", rate ? Json(rate->mean) : Json(nullptr)},
          {"stddev_ts", rate && rate->stdev ? Json(*rate->stdev) : Json(0.0)}};
}

// Flat additions, for CSV and SQL too. Unknown is null.
Json added_fields(const SpeedResult& r) {
  const Work w = r.total();
  const double s = r.median_s();
  const auto rate = summarise(r.samples_ts());
  const auto per_s = [&](double x) { return s > 0 ? Json(x / s) : Json(nullptr); };
  const bool has_ci = rate && rate->median_95;
  return {{"isa", text_or_null(r.isa)},
          {"median_ts", rate ? Json(rate->median) : Json(nullptr)},
          {"min_ts", rate ? Json(rate->min) : Json(nullptr)},
          {"max_ts", rate ? Json(rate->max) : Json(nullptr)},
          {"median_ts_ci95_low", has_ci ? Json(rate->median_95->lower) : Json(nullptr)},
          {"median_ts_ci95_high", has_ci ? Json(rate->median_95->upper) : Json(nullptr)},
          {"warmup_ns", r.warmup_ns > 0 ? Json(r.warmup_ns) : Json(nullptr)},
          {"flops", w.traffic.flops},
          {"weight_bytes", w.traffic.weight_bytes},
          {"kv_read_bytes", w.traffic.kv_read_bytes},
          {"kv_write_bytes", w.traffic.kv_write_bytes},
          {"activation_bytes", w.traffic.activation_bytes},
          {"read_bytes_s", per_s(w.read_bytes())},
          {"ops_s", per_s(w.traffic.flops)},
          {"read_roof_bytes_s", number_or_null(r.roofs.read_bytes_s)},
          {"read_share", number_or_null(r.read.value)},
          {"read_share_reason", text_or_null(r.read.reason)},
          {"arithmetic_share", number_or_null(r.arithmetic.value)},
          {"arithmetic_share_reason", text_or_null(r.arithmetic.reason)},
          {"roof_valid", !r.read.beats_roof() && !r.arithmetic.beats_roof()},
          {"synthetic", r.model.is_synthetic}};
}

Json document(const OutputContext& o, const SpeedResult& r) {
  Json j = common_fields(o, r);
  j["samples_ns"] = r.samples_ns;
  j["samples_ts"] = r.samples_ts();
  Json more = added_fields(r);
  more["kernels"] = r.kernels;
  if (r.model.is_synthetic) more["remark"] = kSyntheticRemark;
  j["ridge"] = std::move(more);
  return j;
}

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string quoted(const std::string& text, char quote) {
  std::string out(1, quote);
  for (const char ch : text) out.append(ch == quote ? 2 : 1, ch);
  out += quote;
  return out;
}

Json flat(const OutputContext& o, const SpeedResult& r) {
  Json j = common_fields(o, r);
  j.update(added_fields(r));
  return j;
}

template <class F>
std::string joined(const Json& fields, const F& piece) {
  std::string out;
  for (const auto& [key, value] : fields.items()) {
    if (!out.empty()) out += ',';
    out += piece(key, value);
  }
  return out;
}

std::string csv_names(const Json& fields) {
  return joined(fields, [](const std::string& key, const Json&) { return key; });
}

std::string sql_table(const Json& fields) {
  const std::string columns = joined(fields, [](const std::string& key, const Json& v) {
    return fmt::format("\n  {} {}", key, v.is_string() ? "TEXT" : v.is_number_float() ? "REAL" : "INTEGER");
  });
  return fmt::format("CREATE TABLE IF NOT EXISTS llama_bench ({}\n);\n\n", columns);
}

std::string sql_row(const Json& fields) {
  const std::string values = joined(fields, [](const std::string&, const Json& v) {
    return v.is_null() ? std::string("NULL") : quoted(v.is_boolean() ? (v.get<bool>() ? "1" : "0") : cell(v), '\'');
  });
  return fmt::format("INSERT INTO llama_bench ({}) VALUES ({});\n", csv_names(fields), values);
}

// ---- Markdown ----

struct Column {
  std::string name;
  size_t width;
  bool right;
  std::string (*text)(const SpeedResult&);
};

std::string size_text(const SpeedResult& r) {
  const auto n = static_cast<double>(r.model.n_bytes);
  return n < 1024.0 * 1024 * 1024 ? fmt::format("{:.2f} MiB", n / (1024.0 * 1024))
                                  : fmt::format("{:.2f} GiB", n / (1024.0 * 1024 * 1024));
}
std::string params_text(const SpeedResult& r) {
  const auto n = static_cast<double>(r.model.n_params);
  return n < 1e9 ? fmt::format("{:.2f} M", n * 1e-6) : fmt::format("{:.2f} B", n * 1e-9);
}
std::string speed_text(const SpeedResult& r) {
  const auto s = summarise(r.samples_ts());
  return s ? fmt::format("{:.2f} ± {:.2f}", s->mean, s->stdev.value_or(0.0)) : "n/a";
}
std::string share_text(const Share& s) {
  return s.value ? fmt::format("{:.1f} %{}", *s.value * 100.0, s.beats_roof() ? " (!)" : "") : "n/a";
}
std::string rate_text(double amount, double seconds) {
  return seconds > 0 ? fmt::format("{:.2f}", amount / seconds * 1e-9) : "n/a";
}

std::vector<Column> columns(const Axes& a) {
  std::vector<Column> c = {
      {"model", 30, false, [](const SpeedResult& r) { return r.model.type; }},
      {"size", 10, true, size_text},
      {"params", 10, true, params_text},
      {"backend", 10, false, [](const SpeedResult& r) { return r.backend == "cpu" ? "CPU" : r.backend; }},
      {"threads", 7, true, [](const SpeedResult& r) { return std::to_string(r.n_threads); }}};
  const auto when = [&](const auto& list, const auto& usual, Column column) {
    if (list.size() > 1 || (list.size() == 1 && list[0] != usual)) c.push_back(std::move(column));
  };
  when(a.n_batch, kDefaultBatch,
       {"n_batch", 7, true, [](const SpeedResult& r) { return std::to_string(r.what.n_batch); }});
  when(a.n_ubatch, kDefaultUbatch,
       {"n_ubatch", 8, true, [](const SpeedResult& r) { return std::to_string(r.what.n_ubatch); }});
  when(a.type_k, "f16", {"type_k", 6, true, [](const SpeedResult& r) { return r.what.type_k; }});
  when(a.type_v, "f16", {"type_v", 6, true, [](const SpeedResult& r) { return r.what.type_v; }});
  when(a.flash_attn, -1, {"fa", 4, true, [](const SpeedResult& r) { return std::to_string(r.what.flash_attn); }});
  c.push_back({"test", 15, true, [](const SpeedResult& r) { return r.what.test(); }});
  c.push_back({"t/s", 20, true, speed_text});
  // Ridge's own, behind them.
  c.push_back({"min..max", 17, true, [](const SpeedResult& r) {
                 const auto s = summarise(r.samples_ts());
                 return s ? fmt::format("{:.2f}..{:.2f}", s->min, s->max) : std::string("n/a");
               }});
  c.push_back({"GB/s", 8, true, [](const SpeedResult& r) { return rate_text(r.total().read_bytes(), r.median_s()); }});
  c.push_back({"of read", 9, true, [](const SpeedResult& r) { return share_text(r.read); }});
  c.push_back(
      {"GOP/s", 9, true, [](const SpeedResult& r) { return rate_text(r.total().traffic.flops, r.median_s()); }});
  c.push_back({"of peak", 9, true, [](const SpeedResult& r) { return share_text(r.arithmetic); }});
  c.push_back({"isa", 8, false, [](const SpeedResult& r) { return r.isa.empty() ? std::string("-") : r.isa; }});
  return c;
}

std::string padded(const std::string& text, const Column& c) {
  // "±" is two bytes and one column.
  const size_t width = text.size() - static_cast<size_t>(std::count(text.begin(), text.end(), '\xC2'));
  const std::string space(std::max(c.width, width) - width, ' ');
  return c.right ? fmt::format("{}{}", space, text) : fmt::format("{}{}", text, space);
}

std::string md_head(const Axes& axes) {
  std::string names = "|", rule = "|";
  for (const Column& c : columns(axes)) {
    names += fmt::format(" {} |", padded(c.name, c));
    rule += fmt::format(" {:-<{}}{} |", "", c.width - 1, c.right ? ':' : '-');
  }
  return names + "\n" + rule + "\n";
}

std::string md_row(const Axes& axes, const SpeedResult& r) {
  std::string row = "|";
  for (const Column& c : columns(axes)) row += fmt::format(" {} |", padded(c.text(r), c));
  return row + "\n";
}

}  // namespace

Result<OutputFormat> parse_output_format(std::string_view text) {
  constexpr std::string_view kNames[] = {"md", "csv", "json", "jsonl", "sql"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) return static_cast<OutputFormat>(i);
  }
  return fail(ErrorCode::invalid_argument, "found '{}', expected md, csv, json, jsonl or sql", text);
}

std::string output_begin(const OutputContext& o) {
  switch (o.format) {
    case OutputFormat::md:
      return md_head(o.axes);
    case OutputFormat::json:
      return "[\n";
    case OutputFormat::csv:
      return csv_names(flat(o, {})) + "\n";
    case OutputFormat::sql:
    case OutputFormat::jsonl:
      return "";
  }
  return "";
}

std::string output_row(const OutputContext& o, const SpeedResult& r, size_t idx) {
  const auto dump = [](const Json& j, int indent) {
    return j.dump(indent, ' ', false, Json::error_handler_t::replace);
  };
  switch (o.format) {
    case OutputFormat::md:
      return md_row(o.axes, r);
    case OutputFormat::json:
      return fmt::format("{}{}", idx > 0 ? ",\n" : "", dump(document(o, r), 2));
    case OutputFormat::jsonl:
      return dump(document(o, r), -1) + "\n";
    case OutputFormat::csv:
      return joined(flat(o, r), [](const std::string&, const Json& v) { return quoted(cell(v), '"'); }) + "\n";
    case OutputFormat::sql:
      return (idx == 0 ? sql_table(flat(o, r)) : "") + sql_row(flat(o, r));
  }
  return "";
}

std::string output_end(const OutputContext& o, std::span<const SpeedResult> results) {
  if (o.format == OutputFormat::json) return "\n]\n";
  if (o.format != OutputFormat::md) return "";
  std::string out = "\nbuild: " RIDGE_VERSION " (ridge)\n";
  for (const std::string& r : remarks(results)) out += r + "\n";
  return out;
}

std::vector<std::string> remarks(std::span<const SpeedResult> results) {
  // One line a reason, with the tests that it holds for.
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&lines](std::string text, const std::string& test) {
    auto it = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.first == text; });
    if (it == lines.end()) it = lines.insert(it, {std::move(text), ""});
    if (fmt::format(", {},", it->second).find(fmt::format(", {},", test)) == std::string::npos)
      it->second += fmt::format("{}{}", it->second.empty() ? "" : ", ", test);
  };
  for (const SpeedResult& r : results) {
    const std::string test = r.what.test();
    if (r.model.is_synthetic) add(fmt::format("{} {}", r.model.type, kSyntheticRemark), test);
    if (!r.read.reason.empty()) add(fmt::format("of read is n/a: {}", r.read.reason), test);
    if (!r.arithmetic.reason.empty()) add(fmt::format("of peak is n/a: {}", r.arithmetic.reason), test);
    if (r.read.beats_roof() || r.arithmetic.beats_roof()) {
      add("(!) faster than its roof, so the roof is invalid: 'ridge ceilings --refresh' on a quiet machine", test);
    }
  }
  std::vector<std::string> out;
  for (const auto& [text, tests] : lines) out.push_back(fmt::format("{} ({})", text, tests));
  return out;
}

}  // namespace ridge::bench
