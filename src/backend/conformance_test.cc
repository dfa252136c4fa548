// Every verb, on odd shapes, on each backend and instruction set of this machine, against the reference backend.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>
#include <random>

#include "backend/device.h"
#include "backend/encoder.h"
#include "quant/formats.h"

namespace ridge {
namespace {

using quant::decode_row;
using quant::encode_row;

struct Target {
  std::string backend, isa;
};
void PrintTo(const Target& t, std::ostream* out) {
  *out << t.backend << '/' << t.isa;
}

std::vector<Target> targets() {
  std::vector<Target> all = {{"reference", ""}};
  for (const std::string_view isa : cpu_isas()) all.push_back({"cpu", std::string(isa)});
  return all;
}

// Weights made from random numbers in any format that has an encoder, or from random float values.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) {}

  const Weight& weight(DType type, int64_t in, int64_t out, int64_t n_mats = 1, double spread = 1.0) {
    std::normal_distribution<float> normal(0.0f, static_cast<float>(spread));
    std::vector<std::byte>& bytes = bytes_.emplace_back(row_bytes(type, in) * static_cast<size_t>(out * n_mats));
    std::vector<float> row(static_cast<size_t>(in));
    for (int64_t r = 0; r < out * n_mats; ++r) {
      for (float& x : row) x = normal(random_);
      if (type == DType::f32) {
        std::memcpy(bytes.data() + static_cast<size_t>(r) * row_bytes(type, in), row.data(),
                    row.size() * sizeof(float));
      } else {
        EXPECT_TRUE(encode_row(type, row.data(), bytes.data() + static_cast<size_t>(r) * row_bytes(type, in), in));
      }
    }
    Weight w;
    w.host = {
        .name = "w", .dtype = type, .n_dims = n_mats > 1 ? 3u : 2u, .ne = {in, out, n_mats, 1}, .data = bytes.data()};
    w.in = in, w.out = out, w.n_mats = n_mats;
    return weights_.emplace_back(w);
  }
  std::deque<Weight>& weights() { return weights_; }

 private:
  std::mt19937 random_;
  std::deque<std::vector<std::byte>> bytes_;
  std::deque<Weight> weights_;
};

// A step over `spans` (rows, first position); KV of the given geometry; the positions before each span are random
// history.
struct Scene {
  std::vector<std::pair<int32_t, int32_t>> spans = {{7, 0}};
  DType k_type = DType::f32, v_type = DType::f32;
  int32_t n_kv_head = 2, k_dim = 32, v_dim = 32;
};

struct Outcome {
  std::vector<std::vector<float>> values;
};

using Build = std::function<std::vector<Act>(Encoder&, World&)>;

Outcome run(const Target& target, const Scene& scene, const Build& build, int n_threads) {
  World world(7);
  MemoryLedger ledger;
  auto device = make_device(target.backend, {.n_threads = n_threads, .isa = target.isa, .ledger = &ledger});
  EXPECT_TRUE(device) << device.error().message;
  if (!target.isa.empty()) {
    EXPECT_EQ((*device)->info().isa, target.isa) << "another ISA ran than was asked for";
  }

  // Blocks are dealt in a scrambled order so that nobody can rely on neighbours.
  std::vector<std::vector<int32_t>> tables;
  int32_t n_blocks = 0, rows = 0;
  for (const auto& [n, pos0] : scene.spans) {
    tables.emplace_back(static_cast<size_t>((pos0 + n + kKvBlockPositions - 1) / kKvBlockPositions));
    for (int32_t& b : tables.back()) b = n_blocks++;
    rows += n;
  }
  for (auto& t : tables) {
    for (int32_t& b : t) b = n_blocks - 1 - b;
  }
  KvLayer kv{.k_type = scene.k_type,
             .v_type = scene.v_type,
             .n_kv_head = scene.n_kv_head,
             .k_dim = scene.k_dim,
             .v_dim = scene.v_dim};
  std::vector<std::byte> k(kv.k_row_bytes() * kKvBlockPositions * static_cast<size_t>(n_blocks)),
      v(kv.v_row_bytes() * kKvBlockPositions * static_cast<size_t>(n_blocks));
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<std::byte>& bytes, DType type, int64_t cols, size_t stride) {
    std::vector<float> row(static_cast<size_t>(cols));
    for (size_t at = 0; at < bytes.size(); at += stride) {
      for (float& x : row) x = normal(random);
      EXPECT_TRUE(encode_row(type, row.data(), bytes.data() + at, cols));
    }
  };
  fill(k, scene.k_type, int64_t{scene.n_kv_head} * scene.k_dim, kv.k_row_bytes());
  fill(v, scene.v_type, int64_t{scene.n_kv_head} * scene.v_dim, kv.v_row_bytes());
  kv.k = k.data(), kv.v = v.data();

  std::vector<int32_t> tokens(static_cast<size_t>(rows)), out_rows;
  std::iota(tokens.begin(), tokens.end(), 0);
  for (int32_t r = 0; r < rows; r += 2) out_rows.push_back(r);
  std::vector<SeqSpan> spans;
  int32_t at = 0;
  for (size_t i = 0; i < scene.spans.size(); ++i) {
    spans.push_back({at, scene.spans[i].first, scene.spans[i].second, tables[i]});
    at += scene.spans[i].first;
  }
  Program program;
  Encoder encoder(program, {.tokens = tokens, .seqs = spans, .out_rows = out_rows, .kv = std::span(&kv, 1)});
  const std::vector<Act> outs = build(encoder, world);
  for (Weight& w : world.weights()) EXPECT_TRUE((*device)->prepare(w));
  EXPECT_TRUE((*device)->reserve(program.arena_floats));
  StepTrace trace;
  const auto ran = (*device)->run(program, &trace);
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(trace.verb_ns.size(), program.verbs.size());
  Outcome outcome;
  for (const Act& a : outs) {
    const auto view = (*device)->read(a);
    std::vector<float>& values = outcome.values.emplace_back();
    for (int64_t r = 0; r < view.rows; ++r) values.insert(values.end(), view.row(r), view.row(r) + view.cols);
  }
  // What was written to the cache is a result too.
  std::vector<float>& cache =
      outcome.values.emplace_back(k.size() / kv.k_row_bytes() * static_cast<size_t>(scene.n_kv_head * scene.k_dim));
  EXPECT_TRUE(decode_row(scene.k_type, k.data(), cache.data(), static_cast<int64_t>(cache.size())));
  return outcome;
}

class Conformance : public ::testing::TestWithParam<Target> {
 protected:
  // Products of packed weights round the activations to int8 where an instruction set multiplies integers.
  double product_limit(DType type) const {
    const bool integers = GetParam().isa.find("vnni") != std::string::npos && info(type).block_elems > 1;
    return integers ? 2e-4 : 1e-10;
  }
  // limit: NMSE against the reference.
  void check(const Scene& scene, const Build& build, double limit = 1e-10) {
    const Outcome expected = run({"reference", ""}, scene, build, 1);
    for (const int n_threads : {1, 2, 3}) {
      const Outcome found = run(GetParam(), scene, build, n_threads);
      ASSERT_EQ(found.values.size(), expected.values.size());
      for (size_t i = 0; i < expected.values.size(); ++i) {
        double error = 0, energy = 0;
        ASSERT_EQ(found.values[i].size(), expected.values[i].size());
        for (size_t j = 0; j < expected.values[i].size(); ++j) {
          const double e = expected.values[i][j], f = found.values[i][j];
          ASSERT_FALSE(std::isnan(f)) << "output " << i << " element " << j;
          error += (e - f) * (e - f);
          energy += e * e;
        }
        EXPECT_LE(error, limit * energy + 1e-30) << "output " << i << " on " << n_threads << " threads";
      }
    }
  }
};

// A rows x cols matrix of random numbers: the rows of an f32 table picked by token id.
Act random_act(Encoder& e, World& w, int32_t cols, double spread = 1.0) {
  const Act a = e.act(e.n_rows(), cols);
  e.embed("input", w.weight(DType::f32, cols, e.n_rows(), 1, spread), a);
  return a;
}

TEST_P(Conformance, embed_scales_rows_of_every_encodable_format) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q5_1, DType::iq4_nl}) {
    check({}, [&](Encoder& e, World& w) {
      const Act a = e.act(e.n_rows(), 96);
      e.embed("embed", w.weight(type, 96, 9), a, 1.7f);
      return std::vector{a};
    });
  }
}

TEST_P(Conformance, rms_norm_over_rows_heads_and_without_weight) {
  for (const int32_t cols : {1, 5, 16, 33, 128, 515}) {
    check({}, [&](Encoder& e, World& w) {
      const Act x = random_act(e, w, cols), a = e.act(x.rows, cols), b = e.act(x.rows, cols);
      e.rms_norm("norm", x, &w.weight(DType::f32, cols, 1), a, 1e-5f);
      e.rms_norm("norm", x, nullptr, b, 1e-6f);
      return std::vector{a, b};
    });
  }
  check({}, [&](Encoder& e, World& w) {
    const Act x = random_act(e, w, 4 * 40);
    e.rms_norm("head_norm", x, &w.weight(DType::f32, 40, 1), x, 1e-5f, 40);
    return std::vector{x};
  });
}

TEST_P(Conformance, matmul_in_every_encodable_format_for_all_column_counts) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                           DType::q8_0, DType::iq4_nl}) {
    for (const int32_t rows : {1, 2, 3, 4, 5, 8, 13, 17, 33}) {
      check(
          {.spans = {{rows, 0}}},
          [&](Encoder& e, World& w) {
            const Act x = random_act(e, w, 288), a = e.act(rows, 37), b = e.act(rows, 16);
            e.matmul("mm", x, w.weight(type, 288, 37), &w.weight(DType::f32, 37, 1), a);
            e.matmul("mm", x, w.weight(type, 288, 16), nullptr, b);
            return std::vector{a, b};
          },
          product_limit(type));
    }
  }
}

TEST_P(Conformance, matmul_reads_and_writes_column_slices_of_any_width) {
  for (const int32_t in : {1, 7, 31, 64, 100}) {
    check({.spans = {{5, 0}}}, [&](Encoder& e, World& w) {
      const Act wide = random_act(e, w, in + 9), out = e.act(5, 60);
      e.embed("zero", w.weight(DType::f32, 60, 5), out);
      e.matmul("mm", wide.columns(3, in), w.weight(DType::f32, in, 41), nullptr, out.columns(11, 41));
      return std::vector{out};
    });
  }
}

TEST_P(Conformance, matmul_with_512_columns_and_long_rows) {
  check(
      {.spans = {{513, 0}}, .k_dim = 32},
      [&](Encoder& e, World& w) {
        const Act x = random_act(e, w, 544), a = e.act(513, 19);
        e.matmul("mm", x, w.weight(DType::q8_0, 544, 19), nullptr, a);
        return std::vector{a};
      },
      product_limit(DType::q8_0));
}

TEST_P(Conformance, elementwise_verbs) {
  for (const int32_t cols : {1, 3, 16, 45}) {
    check({}, [&](Encoder& e, World& w) {
      const Act x = random_act(e, w, cols, 4.0), y = random_act(e, w, cols, 4.0), one = random_act(e, w, 1);
      std::vector<Act> out;
      for (int i = 0; i < 14; ++i) out.push_back(e.act(x.rows, cols));
      e.add("add", x, y, out[0]);
      e.add("add", x, y, out[1], 0.22f);
      e.mul("mul", x, y, out[2]);
      e.mul("mul", x, one, out[3]);
      e.scale("scale", x, out[4], -3.5f);
      e.softcap("cap", x, out[5], 2.5f);
      size_t at = 6;
      for (const ActFn fn : {ActFn::silu, ActFn::gelu_tanh, ActFn::gelu_erf, ActFn::relu, ActFn::sigmoid}) {
        e.activate("act", x, out[at++], fn);
      }
      e.gated("gated", x, y, out[at++], ActFn::silu);
      e.gated("gated", x, y, out[at++], ActFn::gelu_tanh);
      e.gated("gated", x, y, out[at++], ActFn::swiglu_oai, 1.702f, 3.0f);
      return out;
    });
  }
}

TEST_P(Conformance, rope_in_both_layouts_full_and_partial) {
  for (const bool split : {false, true}) {
    for (const int32_t n_rot : {2, 20, 40}) {
      RopeSpec spec;
      spec.magnitude = 1.1f, spec.split_halves = split;
      for (int32_t i = 0; i < n_rot / 2; ++i)
        spec.inv_freq.push_back(static_cast<float>(std::pow(10000.0, -2.0 * i / n_rot)));
      check({.spans = {{3, 0}, {5, 1000}, {1, 70}}}, [&](Encoder& e, World& w) {
        const Act x = random_act(e, w, 3 * 40);
        e.rope("rope", x, 40, spec);
        return std::vector{x};
      });
    }
  }
}

TEST_P(Conformance, kv_append_writes_each_type) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0}) {
    check(
        {.spans = {{3, 0}, {40, 30}, {1, 64}}, .k_type = type, .v_type = type},
        [&](Encoder& e, World& w) {
          const Act k = random_act(e, w, 64), v = random_act(e, w, 64);
          e.kv_append("kv", k, v, 0);
          return std::vector{k};
        },
        1e-12);
  }
}

TEST_P(Conformance, attention_over_types_groups_windows_sinks_and_splits) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0}) {
    for (const int32_t window : {0, 1, 16, 40}) {
      check({.spans = {{1, 0}, {9, 28}, {1, 31}, {1, 32}, {35, 70}, {1, 200}},
             .k_type = type,
             .v_type = type,
             .k_dim = 64,
             .v_dim = 32},
            [&](Encoder& e, World& w) {
              const Act q = random_act(e, w, 6 * 64), out = e.act(q.rows, 6 * 32), capped = e.act(q.rows, 6 * 32);
              e.attention("attn", {.q = q,
                                   .out = out,
                                   .layer = 0,
                                   .n_head = 6,
                                   .scale = 0.125f,
                                   .softcap = 0,
                                   .window = window,
                                   .sinks = window == 16 ? &w.weight(DType::f32, 6, 1) : nullptr,
                                   .temperature_scale = window == 1 ? 0.1f : 0.0f,
                                   .temperature_length = 64});
              e.attention("attn", {.q = q,
                                   .out = capped,
                                   .layer = 0,
                                   .n_head = 6,
                                   .scale = 0.3f,
                                   .softcap = 5.0f,
                                   .window = window,
                                   .sinks = nullptr,
                                   .temperature_scale = 0,
                                   .temperature_length = 1});
              return std::vector{out, capped};
            });
    }
  }
}

TEST_P(Conformance, attention_with_odd_head_sizes_and_many_query_heads) {
  for (const int32_t dim : {8, 20, 80, 256}) {
    check({.spans = {{33, 5}}, .n_kv_head = 1, .k_dim = dim, .v_dim = dim}, [&](Encoder& e, World& w) {
      const Act q = random_act(e, w, 7 * dim), out = e.act(q.rows, 7 * dim);
      e.attention("attn", {.q = q,
                           .out = out,
                           .layer = 0,
                           .n_head = 7,
                           .scale = 0.2f,
                           .softcap = 0,
                           .window = 0,
                           .sinks = nullptr,
                           .temperature_scale = 0,
                           .temperature_length = 1});
      return std::vector{out};
    });
  }
}

TEST_P(Conformance, router_and_experts_with_every_gating) {
  for (const verb::Gating gating : {verb::Gating::softmax, verb::Gating::sigmoid, verb::Gating::softmax_of_chosen}) {
    for (const int32_t rows : {1, 6, 40}) {
      for (const bool biased : {false, true}) {
        check({.spans = {{rows, 0}}}, [&](Encoder& e, World& w) {
          const int32_t n_expert = 9, n_used = 3, dim = 64, hidden = 96;
          const Act x = random_act(e, w, dim), logits = random_act(e, w, n_expert), weights = e.act(rows, n_used);
          const ActIds ids = e.ids(rows, n_used);
          e.router("router", {.logits = logits,
                              .selection_bias = biased ? &w.weight(DType::f32, n_expert, 1) : nullptr,
                              .ids = ids,
                              .weights = weights,
                              .gating = gating,
                              .normalise = biased,
                              .scale = biased ? 2.5f : 1.0f});
          const Act up = e.act(rows * n_used, hidden), down = e.act(rows * n_used, dim), out = e.act(rows, dim);
          e.expert_matmul("up", x, ids, w.weight(DType::q8_0, dim, hidden, n_expert),
                          biased ? &w.weight(DType::f32, hidden, n_expert) : nullptr, up);
          e.expert_matmul("down", up, ids, w.weight(DType::f16, hidden, dim, n_expert), nullptr, down);
          e.expert_combine("combine", down, weights, out);
          return std::vector{weights, up, out};
        });
      }
    }
  }
}

TEST_P(Conformance, gather_rows_takes_the_named_rows) {
  check({.spans = {{9, 0}}}, [&](Encoder& e, World& w) {
    const Act x = random_act(e, w, 33), out = e.act(e.n_out_rows(), 33);
    e.gather_rows("gather", x, out);
    return std::vector{out};
  });
}

INSTANTIATE_TEST_SUITE_P(AllDevices, Conformance, ::testing::ValuesIn(targets()), [](const auto& i) {
  return i.param.backend + (i.param.isa.empty() ? "" : "_" + i.param.isa);
});

TEST(Registry, unknown_backend_is_an_error_that_lists_the_known) {
  const auto device = make_device("tpu", {});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::not_found);
  EXPECT_NE(device.error().message.find("reference"), std::string::npos);
}

TEST(Registry, unknown_isa_is_an_error_that_lists_those_present) {
  const auto device = make_device("cpu", {.isa = "mmx"});
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("scalar"), std::string::npos) << device.error().message;
}

}  // namespace
}  // namespace ridge
