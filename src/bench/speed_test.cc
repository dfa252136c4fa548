// What is counted is what the model does, every case ends with its samples, and each output format keeps llama-bench's
// names. No figure is compared with a clock.
#include "bench/speed.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/file_type.h"
#include "bench/speed_output.h"
#include "tiny_model.h"

namespace ridge::bench {
namespace {

Ceilings some_roofs(double read, double f32) {
  Ceilings c;
  c.n_threads = 1;
  const auto rate = [](double x) { return Rate{.best = x, .median = x, .n_windows = 1}; };
  c.read = {{1, rate(read), false}};
  c.peaks[2] = {
      .type = PeakType::f32, .instruction = "x", .core_ops_s = rate(f32), .all_ops_s = rate(f32), .reason = {}};
  return c;
}

std::vector<SpeedResult> run(Axes axes, int n_repetitions = 2, const Ceilings* ceilings = nullptr, bool warmup = true) {
  const auto cases = plan(axes);
  EXPECT_TRUE(cases);
  std::vector<SpeedResult> results;
  SpeedOptions o;
  o.n_repetitions = n_repetitions, o.warmup = warmup, o.ceilings = ceilings, o.no_roofs_reason = "none in this test";
  o.on_result = [&](const SpeedResult& r) { results.push_back(r); };
  const auto done = run_speed(*cases, o);
  EXPECT_TRUE(done) << done.error().message;
  return results;
}

Axes small(const testing::TinyModel& model) {
  Axes a;
  a.models = {model.path()}, a.n_threads = {1}, a.n_prompt = {40}, a.n_gen = {3};
  return a;
}

TEST(Speed, work_is_that_of_the_steps_and_grows_with_depth) {
  const testing::TinyModel model;
  Axes a = small(model);
  a.n_depth = {0, 64}, a.n_ubatch = {16};
  const auto r = run(a);
  ASSERT_EQ(r.size(), 4u);
  EXPECT_EQ(r[0].prompt.n_steps, 3) << "40 rows in steps of 16";
  EXPECT_EQ(r[0].gen.n_steps, 0);
  EXPECT_EQ(r[1].gen.n_steps, 3);
  // Every step reads all weights but the embedding table; three steps read three times.
  EXPECT_NEAR(r[0].prompt.traffic.weight_bytes, r[1].gen.traffic.weight_bytes, 0.4 * r[1].gen.traffic.weight_bytes);
  EXPECT_GT(r[2].prompt.traffic.kv_read_bytes, r[0].prompt.traffic.kv_read_bytes);
  EXPECT_GT(r[3].gen.traffic.kv_read_bytes, 10 * r[1].gen.traffic.kv_read_bytes);
  EXPECT_EQ(r[2].prompt.traffic.kv_write_bytes, r[0].prompt.traffic.kv_write_bytes) << "the depth is not timed";
  for (const SpeedResult& x : r) {
    EXPECT_EQ(x.samples_ns.size(), 2u);
    EXPECT_GT(x.warmup_ns, 0);
    double sum = 0;
    for (const double f : x.total().flops) sum += f;
    EXPECT_NEAR(sum, x.total().traffic.flops, 1e-6 * sum);
    EXPECT_FALSE(x.kernels.empty());
  }
}

TEST(Speed, batches_cut_steps_as_ubatches_do) {
  const testing::TinyModel model;
  Axes a = small(model);
  a.n_batch = {20}, a.n_ubatch = {16}, a.n_gen = {0};
  EXPECT_EQ(run(a)[0].prompt.n_steps, 4) << "40 rows: 16 + 4, 16 + 4";
}

TEST(Speed, shares_follow_from_roofs_and_are_null_with_a_reason_without) {
  const testing::TinyModel model;
  const Ceilings slow = some_roofs(1.0, 1.0), fast = some_roofs(1e18, 1e18);
  const auto beaten = run(small(model), 1, &slow)[0];
  EXPECT_TRUE(beaten.read.beats_roof());
  EXPECT_TRUE(beaten.arithmetic.beats_roof());
  const auto below = run(small(model), 1, &fast)[0];
  ASSERT_TRUE(below.read.value && below.arithmetic.value);
  EXPECT_LT(*below.arithmetic.value, 1.0);
  EXPECT_FALSE(below.arithmetic.beats_roof());
  const auto none = run(small(model), 1, nullptr, false)[0];
  EXPECT_FALSE(none.read.value);
  EXPECT_EQ(none.read.reason, "none in this test");
  EXPECT_EQ(none.warmup_ns, 0);
  // What fits into a cache has no share of memory's roof.
  Ceilings cached = slow;
  cached.caches = {{3, 32 << 20, 16 << 20, {1, 1, 1}}};
  const auto inside = run(small(model), 1, &cached)[0];
  EXPECT_FALSE(inside.read.value);
  EXPECT_NE(inside.read.reason.find("cache"), std::string::npos);
}

TEST(Work, operations_are_divided_by_the_peak_of_their_own_type) {
  Work w;
  w.n_steps = 1;
  w.flops = {800, 0, 100};
  Roofs r;
  r.ops_s = {400, 200, 100};
  EXPECT_DOUBLE_EQ(*arithmetic_share(w, 6.0, r).value, 0.5);  // 2 s + 1 s of 6
  EXPECT_EQ(peak_type_of(DType::q4_k), PeakType::int8);
  EXPECT_EQ(peak_type_of(DType::bf16), PeakType::bf16);
  EXPECT_EQ(peak_type_of(DType::f16), PeakType::f32);
  // A machine without a dot product of bytes does them in the next wider type that it has.
  EXPECT_EQ(*roofs_for(some_roofs(1, 77), 1).ops_s[0], 77);
}

TEST(Speed, model_that_is_not_there_and_types_that_do_not_exist_are_errors) {
  Axes a;
  a.models = {"no-such-file.gguf"}, a.n_prompt = {1}, a.n_gen = {0};
  SpeedOptions o;
  EXPECT_EQ(run_speed(*plan(a), o).error().code, ErrorCode::not_found);
  const testing::TinyModel model;
  Axes b = small(model);
  b.type_k = {"q3_7"};
  EXPECT_EQ(run_speed(*plan(b), o).error().code, ErrorCode::invalid_argument);
}

// Field names in order, as in the llama-bench of September 2026.
constexpr std::string_view kFields[] = {"build_commit",   "build_number",
                                        "cpu_info",       "gpu_info",
                                        "backends",       "model_filename",
                                        "model_type",     "model_size",
                                        "model_n_params", "n_batch",
                                        "n_ubatch",       "n_threads",
                                        "cpu_mask",       "cpu_strict",
                                        "poll",           "type_k",
                                        "type_v",         "n_gpu_layers",
                                        "n_cpu_moe",      "split_mode",
                                        "main_gpu",       "no_kv_offload",
                                        "flash_attn",     "devices",
                                        "tensor_split",   "tensor_buft_overrides",
                                        "load_mode",      "lazy_mode",
                                        "embeddings",     "no_op_offload",
                                        "no_host",        "fit_target",
                                        "fit_min_ctx",    "n_prompt",
                                        "n_gen",          "n_depth",
                                        "test_time",      "avg_ns",
                                        "stddev_ns",      "avg_ts",
                                        "stddev_ts"};

SpeedResult made_up() {
  SpeedResult r;
  r.what.n_prompt = 100;
  r.model = {.filename = "a\"b.gguf",
             .type = "it's 1B Q8_0",
             .n_bytes = 3u << 30,
             .n_params = 1500000000,
             .is_synthetic = true};
  r.n_threads = 2, r.backend = "cpu", r.isa = "avx2";
  r.samples_ns = {1000000000, 2000000000, 4000000000};
  r.read.reason = "because";
  return r;
}

TEST(Output, json_has_llama_bench_fields_in_order_and_ours_behind) {
  OutputContext o{.format = OutputFormat::json, .axes = {}, .cpu_info = "cpu"};
  const std::vector<SpeedResult> two = {made_up(), made_up()};
  const std::string text = output_begin(o) + output_row(o, two[0], 0) + output_row(o, two[1], 1) + output_end(o, two);
  const auto doc = nlohmann::ordered_json::parse(text);
  ASSERT_EQ(doc.size(), 2u);
  size_t i = 0;
  for (const auto& [key, value] : doc[0].items()) {
    if (i == std::size(kFields)) break;
    EXPECT_EQ(key, kFields[i++]);
  }
  EXPECT_EQ(i, std::size(kFields));
  EXPECT_EQ(doc[0]["samples_ts"], nlohmann::ordered_json({100.0, 50.0, 25.0}));
  EXPECT_NEAR(doc[0]["avg_ts"].get<double>(), 58.333, 0.001);
  EXPECT_EQ(doc[0]["ridge"]["median_ts"], 50.0);
  EXPECT_EQ(doc[0]["ridge"]["remark"], "synthetic weights, speed only");
  EXPECT_TRUE(doc[0]["ridge"]["read_share"].is_null());
  EXPECT_EQ(doc[0]["ridge"]["read_share_reason"], "because");
  EXPECT_EQ(nlohmann::ordered_json::parse(output_begin(o) + output_end(o, {})).size(), 0u) << "no rows: still JSON";
}

TEST(Output, csv_has_as_many_values_as_names_and_doubles_quotes) {
  OutputContext o{.format = OutputFormat::csv, .axes = {}, .cpu_info = "one, two"};
  const std::string head = output_begin(o), row = output_row(o, made_up(), 0);
  const auto n_names = std::count(head.begin(), head.end(), ',') + 1;
  int n_values = 1;
  bool inside = false;
  for (const char ch : row) {
    if (ch == '"') inside = !inside;
    n_values += ch == ',' && !inside;
  }
  EXPECT_EQ(n_values, n_names);
  EXPECT_NE(row.find("\"a\"\"b.gguf\""), std::string::npos);
  EXPECT_EQ(head.rfind("build_commit,build_number,", 0), 0u);
}

TEST(Output, sql_creates_the_table_once_and_doubles_quotes) {
  OutputContext o{.format = OutputFormat::sql, .axes = {}, .cpu_info = ""};
  EXPECT_NE(output_row(o, made_up(), 0).find("CREATE TABLE IF NOT EXISTS llama_bench"), std::string::npos);
  const std::string second = output_row(o, made_up(), 1);
  EXPECT_EQ(second.find("CREATE"), std::string::npos);
  EXPECT_NE(second.find("'it''s 1B Q8_0'"), std::string::npos);
}

TEST(Output, table_shows_an_axis_only_when_it_matters) {
  OutputContext o{.format = OutputFormat::md, .axes = {}, .cpu_info = ""};
  const std::string plain = output_begin(o);
  EXPECT_EQ(plain.find("n_ubatch"), std::string::npos);
  EXPECT_EQ(plain.find("type_k"), std::string::npos);
  o.axes.n_ubatch = {256}, o.axes.type_k = {"f16", "q8_0"}, o.axes.type_v = {"f16"};
  const std::string head = output_begin(o);
  EXPECT_NE(head.find("n_ubatch"), std::string::npos);
  EXPECT_NE(head.find("type_k"), std::string::npos);
  EXPECT_EQ(head.find("type_v"), std::string::npos);
  const std::string row = output_row(o, made_up(), 0);
  EXPECT_EQ(std::count(row.begin(), row.end(), '|'),
            std::count(head.begin(), head.begin() + static_cast<long>(head.find('\n')), '|'));
  EXPECT_NE(row.find("58.33 ± 38.19"), std::string::npos) << row;
  EXPECT_NE(row.find("3.00 GiB"), std::string::npos);
  EXPECT_NE(row.find("1.50 B"), std::string::npos);
  const std::vector<SpeedResult> one = {made_up()};
  EXPECT_NE(output_end(o, one).find("synthetic weights, speed only"), std::string::npos);
}

TEST(Output, file_types_are_spelled_as_llama_cpp_does) {
  EXPECT_EQ(file_type_name(0), "all F32");
  EXPECT_EQ(file_type_name(7), "Q8_0");
  EXPECT_EQ(file_type_name(15), "Q4_K - Medium");
  EXPECT_EQ(file_type_name(14), "Q4_K - Small");
  EXPECT_EQ(file_type_name(9999), "");
}

}  // namespace
}  // namespace ridge::bench
