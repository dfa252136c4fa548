// The CPU device as a whole: which instruction set ran, what is refused, and that a row's bits do not depend on its
// company.
#include "backend/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include "backend/cpu/count_allocations.h"
#include "backend/encoder.h"
#include "quant/formats.h"

namespace ridge {
namespace {

class CpuDevice : public ::testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Device> make(int n_threads) {
    auto device = make_device("cpu", {.n_threads = n_threads, .isa = std::string(GetParam()), .ledger = &ledger_});
    EXPECT_TRUE(device);
    EXPECT_EQ((*device)->info().isa, GetParam()) << "another ISA ran than was asked for";
    return std::move(*device);
  }

  const Weight& weight(DType type, int64_t in, int64_t out, int64_t n_mats = 1) {
    std::vector<std::byte>& bytes = bytes_.emplace_back(row_bytes(type, in) * static_cast<size_t>(out * n_mats));
    if (const auto* format = quant::find_format(type); format->encode != nullptr) {
      std::vector<float> row(static_cast<size_t>(in));
      for (int64_t r = 0; r < out * n_mats; ++r) {
        for (float& x : row) x = normal_(random_);
        format->encode(row.data(), bytes.data() + static_cast<size_t>(r) * row_bytes(type, in), in);
      }
    } else {
      for (std::byte& b : bytes) b = static_cast<std::byte>(random_() & 0x33);
    }
    Weight w;
    w.host = {.name = "w", .dtype = type, .n_dims = 2, .ne = {in, out, n_mats, 1}, .data = bytes.data()};
    w.in = in, w.out = out, w.n_mats = n_mats;
    return weights_.emplace_back(w);
  }

  MemoryLedger ledger_;
  std::mt19937 random_{17};
  std::normal_distribution<float> normal_;
  std::deque<std::vector<std::byte>> bytes_;
  std::deque<Weight> weights_;
};

// y = W x for the rows `first` .. of a table of inputs.
std::vector<float> product(Device& device, const Weight& table, Weight w, const Weight* bias, int32_t first,
                           int32_t rows) {
  w.prepared = nullptr;  // each device makes its own copy
  EXPECT_TRUE(device.prepare(w));
  std::vector<int32_t> tokens(static_cast<size_t>(rows));
  std::iota(tokens.begin(), tokens.end(), first);
  const std::vector<SeqSpan> seqs = {{0, rows, 0, {}}};
  Program program;
  Encoder e(program, {.tokens = tokens, .seqs = seqs, .out_rows = {}, .kv = {}});
  const Act x = e.act(rows, static_cast<int32_t>(w.in)), y = e.act(rows, static_cast<int32_t>(w.out));
  e.embed("x", table, x);
  e.matmul("mm", x, w, bias, y);
  EXPECT_TRUE(device.reserve(program.arena_floats));
  const auto ran = device.run(program);
  EXPECT_TRUE(ran) << ran.error().message;
  const auto view = device.read(y);
  std::vector<float> out;
  for (int64_t r = 0; r < view.rows; ++r) out.insert(out.end(), view.row(r), view.row(r) + view.cols);
  return out;
}

TEST_P(CpuDevice, a_row_of_a_product_has_the_same_bits_in_any_batch_on_any_number_of_threads) {
  const int32_t most = 513;
  const auto one = make(1), two = make(2), three = make(3);
  for (const quant::Format& format : quant::formats()) {
    const int64_t in = format.block_elems == 1 ? 1100 : (format.block_elems == 32 ? 1120 : 1280), out = 21;
    const Weight& table = weight(DType::f32, in, most);
    const Weight& w = weight(format.type, in, out);
    const Weight& bias = weight(DType::f32, out, 1);
    const std::vector<float> all = product(*one, table, w, &bias, 0, most);
    std::vector<int32_t> counts;
    for (int32_t i = 1; i <= 17; ++i) counts.push_back(i);
    for (const int32_t i : {31, 32, 33, 64, 511, 512, 513}) counts.push_back(i);
    for (const int32_t n : counts) {
      const int32_t first = n % 2 == 0 ? 0 : most - n;
      for (Device* device : {one.get(), two.get(), three.get()}) {
        const std::vector<float> part = product(*device, table, w, &bias, first, n);
        ASSERT_EQ(std::memcmp(part.data(), all.data() + first * out, part.size() * sizeof(float)), 0)
            << format.name() << ' ' << n << " columns on " << device->info().n_threads << " threads";
      }
    }
  }
}

// One sequence of n positions through append and attention, in pieces; the query, key and value rows come from tables.
struct AttentionCase {
  DType kv_type;
  int32_t window;
  float softcap;
  bool sinks;
};
class AttentionRun {
 public:
  AttentionRun(Device& device, const Weight& q, const Weight& k, const Weight& v, const Weight* sinks,
               const AttentionCase& c)
      : device_(device), q_(q), k_(k), v_(v), sinks_(sinks), case_(c) {
    kv_ = {.k_type = c.kv_type, .v_type = c.kv_type, .n_kv_head = 2, .k_dim = 64, .v_dim = 32};
    keys_.resize(kv_.k_row_bytes() * kKvBlockPositions * 8, std::byte{0xFF});  // what was never written is NaN
    values_.resize(kv_.v_row_bytes() * kKvBlockPositions * 8, std::byte{0xFF});
    kv_.k = keys_.data(), kv_.v = values_.data();
  }
  // Rows pos0 .. pos0 + n, with `company` rows of another sequence in front in the same step.
  std::vector<float> step(int32_t pos0, int32_t n, int32_t company) {
    std::vector<int32_t> tokens;
    for (int32_t i = 0; i < company; ++i) tokens.push_back(3 * i);
    for (int32_t i = 0; i < n; ++i) tokens.push_back(pos0 + i);
    const std::vector<int32_t> mine = {5, 2, 7, 0, 3}, other = {1, 4};
    std::vector<SeqSpan> seqs;
    if (company > 0) seqs.push_back({0, company, 0, other});
    seqs.push_back({company, n, pos0, mine});
    Program program;
    Encoder e(program, {.tokens = tokens, .seqs = seqs, .out_rows = {}, .kv = std::span(&kv_, 1)});
    const int32_t rows = company + n;
    const Act q = e.act(rows, 8 * 64), k = e.act(rows, 128), v = e.act(rows, 64), out = e.act(rows, 8 * 32);
    e.embed("q", q_, q);
    e.embed("k", k_, k);
    e.embed("v", v_, v);
    e.kv_append("kv", k, v, 0);
    e.attention("attn", {.q = q,
                         .out = out,
                         .layer = 0,
                         .n_head = 8,
                         .scale = 0.3f,
                         .softcap = case_.softcap,
                         .window = case_.window,
                         .sinks = sinks_,
                         .temperature_scale = 0.1f,
                         .temperature_length = 16});
    EXPECT_TRUE(device_.reserve(program.arena_floats));
    const auto ran = device_.run(program);
    EXPECT_TRUE(ran) << ran.error().message;
    const auto view = device_.read(out);
    return {view.row(company), view.row(company) + int64_t{n} * view.cols};
  }

 private:
  Device& device_;
  const Weight &q_, &k_, &v_;
  const Weight* sinks_;
  AttentionCase case_;
  KvLayer kv_;
  std::vector<std::byte> keys_, values_;
};

TEST_P(CpuDevice, MOD_11_attention_gives_the_same_bits_however_a_prompt_is_split_or_batched) {
  const int32_t n = 130;
  const Weight& q = weight(DType::f32, 8 * 64, n);
  const Weight& k = weight(DType::f32, 128, n);
  const Weight& v = weight(DType::f32, 64, n);
  const Weight& sinks = weight(DType::f32, 8, 1);
  for (const AttentionCase& c : {AttentionCase{DType::f32, 0, 0, false},
                                 {DType::f16, 0, 0, true},
                                 {DType::q8_0, 40, 5.0f, false},
                                 {DType::bf16, 7, 0, true},
                                 {DType::q4_0, 32, 0, false},
                                 {DType::f32, 33, 0, true}}) {
    const auto first_device = make(1);
    const std::vector<float> whole = AttentionRun(*first_device, q, k, v, c.sinks ? &sinks : nullptr, c).step(0, n, 0);
    for (const float x : whole) ASSERT_TRUE(std::isfinite(x));
    for (const int32_t piece : {1, 7, 31, 32, 33, 64, 129}) {
      for (const int32_t company : {0, 3, 40}) {
        const auto device = make(1 + piece % 3);
        AttentionRun run(*device, q, k, v, c.sinks ? &sinks : nullptr, c);
        std::vector<float> joined;
        for (int32_t at = 0; at < n; at += piece) {
          const std::vector<float> part = run.step(at, std::min(piece, n - at), company);
          joined.insert(joined.end(), part.begin(), part.end());
        }
        ASSERT_EQ(std::memcmp(joined.data(), whole.data(), whole.size() * sizeof(float)), 0)
            << info(c.kv_type).name << " window " << c.window << " in pieces of " << piece << " beside " << company
            << " rows";
      }
    }
  }
}

TEST_P(CpuDevice, a_step_allocates_nothing) {
  const auto device = make(2);
  const Weight& table = weight(DType::f32, 64, 40);
  Weight w = weight(DType::q8_0, 64, 64);
  ASSERT_TRUE(device->prepare(w));
  const Weight& experts = weight(DType::f16, 64, 64, 5);
  RopeSpec spec;
  for (int i = 0; i < 16; ++i) spec.inv_freq.push_back(1.0f / static_cast<float>(i + 1));
  KvLayer kv = {.k_type = DType::q8_0, .v_type = DType::f16, .n_kv_head = 2, .k_dim = 32, .v_dim = 32};
  std::vector<std::byte> keys(kv.k_row_bytes() * 64), values(kv.v_row_bytes() * 64);
  kv.k = keys.data(), kv.v = values.data();
  std::vector<int32_t> tokens(37);
  std::iota(tokens.begin(), tokens.end(), 0);
  const std::vector<int32_t> blocks = {0, 1}, out_rows = {36};
  const std::vector<SeqSpan> seqs = {{0, 37, 0, blocks}};
  Program program;
  Encoder e(program, {.tokens = tokens, .seqs = seqs, .out_rows = out_rows, .kv = std::span(&kv, 1)});
  const Act x = e.act(37, 64), y = e.act(37, 64), gate = e.act(37, 5), chosen = e.act(37, 2), wide = e.act(74, 64),
            last = e.act(1, 64);
  const ActIds ids = e.ids(37, 2);
  e.embed("x", table, x, 0.5f);
  e.rms_norm("n", x, nullptr, y, 1e-5f);
  e.matmul("mm", y, w, nullptr, x);
  e.rope("r", x, 32, spec);
  e.kv_append("kv", x, y, 0);
  e.attention("a", {.q = x,
                    .out = y,
                    .layer = 0,
                    .n_head = 2,
                    .scale = 0.2f,
                    .softcap = 0,
                    .window = 0,
                    .sinks = nullptr,
                    .temperature_scale = 0,
                    .temperature_length = 1});
  e.gated("g", x, y, y, ActFn::silu);
  e.scale("s", y.columns(0, 5), gate, 1.0f);
  e.router("route", {.logits = gate,
                     .selection_bias = nullptr,
                     .ids = ids,
                     .weights = chosen,
                     .gating = verb::Gating::softmax,
                     .normalise = true,
                     .scale = 1});
  e.expert_matmul("ex", y, ids, experts, nullptr, wide);
  e.expert_combine("c", wide, chosen, x);
  e.gather_rows("out", x, last);
  ASSERT_TRUE(device->reserve(program.arena_floats));
  ASSERT_TRUE(device->run(program));
  const long before = count_allocations();
  ASSERT_TRUE(device->run(program));
  EXPECT_EQ(count_allocations(), before);
}

TEST_P(CpuDevice, SMP_25_nan_and_infinity_in_weights_are_not_hidden) {
  const auto device = make(2);
  const Weight& table = weight(DType::f32, 64, 3);
  for (const float bad : {std::nanf(""), INFINITY}) {
    Weight w = weight(DType::f16, 64, 9);
    std::vector<float> row(64, 0.25f);
    row[63] = bad;
    quant::find_format(DType::f16)->encode(row.data(), const_cast<std::byte*>(w.host.row(4)), 64);
    for (const int32_t rows : {1, 3}) {
      const std::vector<float> y = product(*device, table, w, nullptr, 0, rows);
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isfinite(y[i]), i % 9 != 4) << i;
    }
  }
}

TEST_P(CpuDevice, SMP_25_nan_and_infinity_in_activations_are_not_hidden) {
  const auto device = make(2);
  for (const DType type : {DType::f32, DType::q8_0, DType::q4_0, DType::q4_k, DType::q6_k}) {
    const Weight& w = weight(type, 256, 9);
    for (const float bad : {std::nanf(""), INFINITY}) {
      const Weight& table = weight(DType::f32, 256, 3);
      float* row = reinterpret_cast<float*>(const_cast<std::byte*>(table.host.row(1)));
      row[200] = bad;
      const std::vector<float> y = product(*device, table, w, nullptr, 0, 3);
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isfinite(y[i]), i / 9 != 1) << info(type).name << ' ' << i;
    }
  }
}

TEST_P(CpuDevice, what_would_leave_its_bounds_is_refused_with_a_sentence) {
  const auto device = make(1);
  const Weight& table = weight(DType::f32, 16, 4);
  const std::vector<int32_t> tokens = {1, 4};
  const std::vector<SeqSpan> seqs = {{0, 2, 0, {}}};
  Program program;
  Encoder e(program, {.tokens = tokens, .seqs = seqs, .out_rows = {}, .kv = {}});
  e.embed("x", table, e.act(2, 16));
  auto ran = device->run(program);
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message.find("reserve"), std::string::npos) << ran.error().message;
  ASSERT_TRUE(device->reserve(program.arena_floats));
  ran = device->run(program);
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message.find("token 4"), std::string::npos) << ran.error().message;
}

TEST_P(CpuDevice, KV_11_head_sizes_that_a_cache_type_cannot_hold_are_refused) {
  const auto device = make(1);
  ASSERT_TRUE(device->reserve(64));
  Program program;
  for (const auto& [type, dim, good] : {std::tuple{DType::q8_0, 80, false},
                                        {DType::q8_0, 96, true},
                                        {DType::q4_0, 48, false},
                                        {DType::f16, 80, true},
                                        {DType::f16, 1024, true},
                                        {DType::f16, 1025, false},
                                        {DType::f16, 0, false},
                                        {DType::q4_k, 256, false}}) {
    KvLayer kv = {.k_type = type, .v_type = type, .n_kv_head = 1, .k_dim = dim, .v_dim = dim};
    program.input.kv = std::span(&kv, 1);
    const auto ran = device->run(program);
    EXPECT_EQ(ran.has_value(), good) << info(type).name << ' ' << dim;
    if (!ran) {
      EXPECT_NE(ran.error().message.find("KV layer 0"), std::string::npos) << ran.error().message;
    }
  }
}

TEST_P(CpuDevice, a_vector_weight_in_another_format_is_copied_under_the_ledger) {
  const auto device = make(1);
  Weight w = weight(DType::bf16, 48, 1);
  ASSERT_TRUE(device->prepare(w));
  ASSERT_NE(w.prepared, nullptr);
  std::vector<float> expected(48);
  ASSERT_TRUE(quant::decode_row(DType::bf16, w.host.data, expected.data(), 48));
  EXPECT_EQ(std::memcmp(w.prepared, expected.data(), 48 * sizeof(float)), 0);
  uint64_t prepared = 0;
  for (const auto& line : ledger_.lines())
    prepared += line.owner == MemoryOwner::weights_prepared ? line.current_bytes : 0;
  EXPECT_EQ(prepared, 48 * sizeof(float));
  Weight integers = w;
  integers.host.dtype = DType::i32;
  EXPECT_FALSE(device->prepare(integers));
}

TEST_P(CpuDevice, copies_of_matrices_are_foretold_to_the_byte) {
  const auto device = make(2);
  for (const DType type : {DType::f32, DType::q8_0, DType::q4_k, DType::q6_k, DType::iq4_nl}) {
    Weight w = weight(type, 768, 37);
    const uint64_t before = ledger_.total_bytes();
    const size_t foretold = device->prepared_bytes(w);
    ASSERT_TRUE(device->prepare(w));
    EXPECT_EQ(ledger_.total_bytes() - before, foretold) << info(type).name;
    EXPECT_EQ(w.prepared != nullptr, foretold > 0) << info(type).name;
  }
}

TEST_P(CpuDevice, running_out_of_memory_is_an_error_that_names_the_owner) {
  const auto device = make(1);
  for (const long nth : {1, 2, 3}) {
    fail_allocations_from(nth);
    const auto reserved = make(1)->reserve(1000);
    fail_allocations_from(0);
    ASSERT_FALSE(reserved) << nth;
    EXPECT_EQ(reserved.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(reserved.error().message.find("activations"), std::string::npos) << reserved.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(AllIsas, CpuDevice, ::testing::ValuesIn(cpu_isas()),
                         [](const auto& i) { return std::string(i.param); });

TEST(CpuIsa, an_instruction_set_that_is_not_there_is_an_error_that_lists_those_that_are) {
  for (const char* name : {"avx1024", "AVX2", "neon", "avx2"}) {
    const auto device = make_device("cpu", {.n_threads = 1, .isa = name, .ledger = nullptr});
    const auto isas = cpu_isas();
    if (std::find(isas.begin(), isas.end(), name) != isas.end()) continue;
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, ErrorCode::unsupported);
    for (const std::string_view isa : isas)
      EXPECT_NE(device.error().message.find(isa), std::string::npos) << device.error().message;
  }
}

TEST(CpuIsa, the_best_is_the_default_and_scalar_is_always_there) {
  const auto device = make_device("cpu", {.n_threads = 1, .isa = "", .ledger = nullptr});
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->info().isa, cpu_isas().front());
  EXPECT_FALSE((*device)->info().isa_reason.empty());
  EXPECT_FALSE((*device)->info().threads_reason.empty());
  EXPECT_EQ(cpu_isas().back(), "scalar");
}

TEST(CpuDescribe, the_executed_path_names_format_kernel_and_instruction_set) {
  const auto device = make_device("cpu", {.n_threads = 1, .isa = "scalar", .ledger = nullptr});
  ASSERT_TRUE(device);
  Weight w;
  w.host.dtype = DType::q4_k;
  Verb verb;
  verb.body = verb::MatMul{{}, &w, nullptr, {}};
  EXPECT_EQ((*device)->describe(verb), "q4_K x f32, unpack (scalar) + f32 fma, scalar");
  w.host.dtype = DType::f32;
  EXPECT_EQ((*device)->describe(verb), "f32 x f32, fma, scalar");
}

}  // namespace
}  // namespace ridge
