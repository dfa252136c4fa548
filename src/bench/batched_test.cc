// Many sequences at once and verbs one by one: what is counted, what is shared, what the tables hold. No clock is
// judged.
#include "bench/batched.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/ops.h"
#include "tiny_model.h"

namespace ridge::bench {
namespace {

BatchedOptions options(const testing::TinyModel& model) {
  BatchedOptions o;
  o.rig = {.model_path = model.path(), .backend = "cpu", .isa = {}, .n_threads = 1};
  o.n_prompt = {64}, o.n_gen = {3}, o.n_parallel = {1, 4};
  return o;
}

std::vector<BatchedRow> rows_of(const BatchedOptions& o, BatchedRun* out = nullptr) {
  std::vector<BatchedRow> rows;
  const auto done = run_batched(
      o, [&](const BatchedRun& r) { out != nullptr ? void(*out = r) : void(); },
      [&](const BatchedRow& r) { rows.push_back(r); });
  EXPECT_TRUE(done) << done.error().message;
  return rows;
}

TEST(Batched, weights_are_read_once_a_step_however_many_sequences_share_it) {
  const testing::TinyModel model;
  BatchedRun run;
  const auto rows = rows_of(options(model), &run);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(run.n_kv_max, 4 * (64 + 3));
  EXPECT_EQ(rows[0].gen.n_steps, 3);
  EXPECT_EQ(rows[1].gen.n_steps, 3);
  // Embedding rows apart, which are one a sequence.
  EXPECT_LT(rows[1].gen.traffic.weight_bytes, 1.1 * rows[0].gen.traffic.weight_bytes);
  EXPECT_NEAR(rows[1].gen.traffic.kv_read_bytes / rows[0].gen.traffic.kv_read_bytes, 4.0, 1e-9);
  EXPECT_NEAR(rows[1].gen.traffic.flops / rows[0].gen.traffic.flops, 4.0, 1e-9);
  EXPECT_EQ(rows[1].n_kv, 4 * 67);
}

TEST(Batched, shared_prompt_is_computed_once_and_read_by_all) {
  const testing::TinyModel model;
  BatchedOptions o = options(model);
  o.n_parallel = {4};
  const auto apart = rows_of(o);
  o.shared_prompt = true;
  const auto shared = rows_of(o);
  EXPECT_NEAR(apart[0].prompt.traffic.flops / shared[0].prompt.traffic.flops, 4.0, 0.2);
  EXPECT_EQ(apart[0].gen.traffic.kv_read_bytes, shared[0].gen.traffic.kv_read_bytes) << "same positions are seen";
  EXPECT_EQ(shared[0].n_kv, 64 + 4 * 3);
  o.n_prompt = {40};
  const auto refused = run_batched(
      o, [](const BatchedRun&) {}, [](const BatchedRow&) {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("multiple of 32"), std::string::npos);
}

TEST(Batched, rates_are_those_of_llama_batched_bench) {
  BatchedRow r{.pp = 100,
               .tg = 10,
               .pl = 4,
               .n_kv = 440,
               .shared_prompt = false,
               .t_pp_s = 2,
               .t_tg_s = 4,
               .prompt = {},
               .gen = {}};
  EXPECT_DOUBLE_EQ(r.speed_pp(), 200);
  EXPECT_DOUBLE_EQ(r.speed_tg(), 10);
  EXPECT_DOUBLE_EQ(r.speed(), 440.0 / 6);
  r.shared_prompt = true;
  EXPECT_DOUBLE_EQ(r.speed_pp(), 50);
  const std::string line = batched_row(r, {});
  EXPECT_EQ(line.rfind("|   100 |     10 |    4 |    440 |    2.000 |    50.00 |    4.000 |    10.00 |    6.000 |", 0),
            0u)
      << line;
  const auto doc = nlohmann::json::parse(batched_row_jsonl({}, {}, r, {}));
  for (const char* key :
       {"n_kv_max", "n_batch", "n_ubatch", "flash_attn", "is_pp_shared", "n_gpu_layers", "n_threads", "n_threads_batch",
        "pp", "tg", "pl", "n_kv", "t_pp", "speed_pp", "t_tg", "speed_tg", "t", "speed"}) {
    EXPECT_TRUE(doc.contains(key)) << key;
  }
  EXPECT_TRUE(doc["ridge"]["tg_read_share"].is_null());
}

TEST(Batched, empty_lists_are_refused_with_an_example) {
  const auto refused = run_batched(
      {}, [](const BatchedRun&) {}, [](const BatchedRow&) {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find("-npl 1,2,4"), std::string::npos);
}

OpsReport ops_of(const testing::TinyModel& model, const Ceilings* ceilings) {
  OpsOptions o;
  o.rig = {.model_path = model.path(), .backend = "cpu", .isa = {}, .n_threads = 1};
  o.n_prompt = 40, o.n_gen = 2, o.n_repetitions = 3;
  auto report = run_ops(o, ceilings);
  EXPECT_TRUE(report) << report.error().message;
  return *report;
}

TEST(Ops, rows_hold_every_verb_of_a_step_and_its_whole_cost) {
  const testing::TinyModel model;
  const OpsReport report = ops_of(model, nullptr);
  auto rig = Rig::open({.model_path = model.path(), .backend = "cpu", .isa = {}, .n_threads = 1});
  ASSERT_TRUE(rig && (*rig)->arrange({.n_ctx = 40, .type_k = "f16", .type_v = "f16"}));
  for (const auto& [phase, n] : {std::pair{"prefill", 40}, std::pair{"decode", 1}}) {
    (*rig)->clear();
    Meter m;
    ASSERT_TRUE((*rig)->feed({&n, 1}, m));
    double flops = 0, seconds = 0;
    size_t n_calls = 0;
    double last = 1e9;
    for (const OpRow& row : report.rows) {
      if (row.phase != phase) continue;
      flops += row.cost.flops, seconds += row.seconds, n_calls += static_cast<size_t>(row.n_calls);
      EXPECT_LE(row.seconds, last) << "the costliest first";
      last = row.seconds;
      EXPECT_FALSE(row.kernel.empty());
      EXPECT_FALSE(row.ideal_s) << "no roofs, no ideal";
    }
    EXPECT_EQ(n_calls, (*rig)->program().verbs.size()) << phase;
    EXPECT_NEAR(flops / m.work.traffic.flops, 1.0, 1e-9) << phase;
    EXPECT_GT(seconds, 0) << phase;
  }
}

TEST(Ops, bound_is_the_roof_that_takes_longer) {
  const testing::TinyModel model;
  Ceilings c;
  c.n_threads = 1;
  const auto rate = [](double x) { return Rate{.best = x, .median = x, .n_windows = 1}; };
  c.read = {{1, rate(1.0), false}};
  c.peaks[2] = {
      .type = PeakType::f32, .instruction = "x", .core_ops_s = rate(1e18), .all_ops_s = rate(1e18), .reason = {}};
  const auto slow_memory = ops_of(model, &c);
  c.read = {{1, rate(1e18), false}};
  c.peaks[2].core_ops_s = c.peaks[2].all_ops_s = rate(1.0);
  const auto slow_core = ops_of(model, &c);
  for (const OpRow& r : slow_memory.rows) {
    if (r.verb == "matmul") {
      EXPECT_EQ(r.bound, "read") << r.label;
    }
  }
  for (const OpRow& r : slow_core.rows) {
    if (r.verb == "matmul") {
      EXPECT_EQ(r.bound, "f32") << r.label;
    }
  }
  const std::string table = ops_table(slow_core);
  EXPECT_NE(table.find("prefill: a step of 40 rows"), std::string::npos) << table;
  EXPECT_NE(table.find("outside the verbs"), std::string::npos);
  const auto doc = nlohmann::json::parse(ops_json(slow_core));
  EXPECT_EQ(doc["ops"].size(), slow_core.rows.size());
}

}  // namespace
}  // namespace ridge::bench
