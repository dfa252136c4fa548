// The matrix products of every instruction set of this machine through the Device interface, beside the roofs of the
// same run: GB/s of weights as a share of the measured read bandwidth, TOPS (a multiply and an add are two) as a share
// of the measured peak of the integer instruction. The matrix is larger than the caches, so few columns read memory.
// On one thread the rates are by CPU time, which other programs on the machine disturb least; on all threads by the
// clock on the wall. Bytes are those of the file's format: what a copy in another layout adds is counted against the
// kernel.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "backend/device.h"
#include "backend/encoder.h"
#include "device/ceilings.h"

namespace ridge {
namespace {

constexpr int64_t kIn = 4096, kOut = 32768;

// Random bytes are blocks of any format; exponents are kept small so that no subnormal or infinite scale slows the
// arithmetic.
const std::vector<std::byte>& random_blocks(DType type) {
  static std::map<DType, std::vector<std::byte>> all;
  std::vector<std::byte>& bytes = all[type];
  if (bytes.empty()) {
    bytes.resize(row_bytes(type, kIn) * static_cast<size_t>(kOut));
    std::mt19937 random(1);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0x33);
  }
  return bytes;
}

Weight matrix(DType type) {
  Weight w;
  w.host = {.name = "w", .dtype = type, .n_dims = 2, .ne = {kIn, kOut, 1, 1}, .data = random_blocks(type).data()};
  w.in = kIn, w.out = kOut;
  return w;
}

struct Roofs {
  double read_bytes_s = 0, int8_ops_s = 0;
};

void product(benchmark::State& state, DType type, int32_t cols, int n_threads, std::string_view isa,
             const Ceilings& ceilings) {
  Weight w = matrix(type);
  auto device = make_device("cpu", {.n_threads = n_threads, .isa = std::string(isa), .ledger = nullptr});
  if (!device) return state.SkipWithError(device.error().message.c_str());
  const int n = (*device)->info().n_threads;
  const Roofs roofs = {read_roof(ceilings, n).value_or(0), peak_roof(ceilings, PeakType::int8, n).value_or(0)};
  const std::vector<int32_t> tokens(static_cast<size_t>(cols));
  const std::vector<SeqSpan> seqs = {{0, cols, 0, {}}};
  Program program;
  Encoder encoder(program, {.tokens = tokens, .seqs = seqs, .out_rows = {}, .kv = {}});
  const Act x = encoder.act(cols, static_cast<int32_t>(kIn)), y = encoder.act(cols, static_cast<int32_t>(kOut));
  encoder.matmul("mm", x, w, nullptr, y);
  if (!(*device)->prepare(w) || !(*device)->reserve(program.arena_floats)) return state.SkipWithError("out of memory");
  for (auto _ : state) {
    if (!(*device)->run(program)) return state.SkipWithError("run failed");
  }
  using benchmark::Counter;
  const double runs = static_cast<double>(state.iterations()), bytes = w.bytes() * runs;
  const double ops = 2.0 * kIn * kOut * cols * runs;
  state.counters["GB/s"] = Counter(bytes / 1e9, Counter::kIsRate);
  state.counters["TOPS"] = Counter(ops / 1e12, Counter::kIsRate);
  if (roofs.read_bytes_s > 0) state.counters["read%"] = Counter(100 * bytes / roofs.read_bytes_s, Counter::kIsRate);
  if (roofs.int8_ops_s > 0) state.counters["peak%"] = Counter(100 * ops / roofs.int8_ops_s, Counter::kIsRate);
}

// What loading pays: bytes of the file's format packed in a second, on all threads.
void prepare(benchmark::State& state, DType type, std::string_view isa) {
  random_blocks(type);
  for (auto _ : state) {
    auto device = make_device("cpu", {.n_threads = 0, .isa = std::string(isa), .ledger = nullptr});
    Weight w = matrix(type);
    if (!device || !(*device)->prepare(w)) return state.SkipWithError("prepare failed");
  }
  state.counters["GB/s"] = benchmark::Counter(matrix(type).bytes() * static_cast<double>(state.iterations()) / 1e9,
                                              benchmark::Counter::kIsRate);
}

void register_all(const Ceilings& ceilings) {
  for (const std::string_view isa : cpu_isas()) {
    if (isa == "scalar") continue;
    for (const DType type :
         {DType::q8_0, DType::q4_0, DType::q4_k, DType::q6_k, DType::q5_k, DType::q5_0, DType::q4_1, DType::q5_1,
          DType::iq4_nl, DType::iq4_xs, DType::q2_k, DType::q3_k, DType::mxfp4, DType::bf16, DType::f16}) {
      const auto name = [&](std::string_view what) { return fmt::format("{}/{}/{}", isa, info(type).name, what); };
      benchmark::RegisterBenchmark(name("prepare").c_str(), [=](benchmark::State& s) { prepare(s, type, isa); })
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
      for (const int32_t cols : {1, 2, 4, 8, 16, 128}) {
        for (const int n_threads : {1, 0}) {
          const std::string full = name(fmt::format("cols:{}/{}", cols, n_threads == 1 ? "one" : "all"));
          auto* b = benchmark::RegisterBenchmark(
              full.c_str(), [=, &ceilings](benchmark::State& s) { product(s, type, cols, n_threads, isa, ceilings); });
          b->Unit(benchmark::kMillisecond);
          if (n_threads != 1) b->UseRealTime();
        }
      }
    }
  }
}

}  // namespace
}  // namespace ridge

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const auto ceilings = ridge::measure_ceilings({.n_threads = 0, .buffer_bytes = 0, .seconds_a_probe = 0.2});
  if (!ceilings) {
    fmt::print(stderr, "the roofs cannot be measured: {}\n", ceilings.error().message);
    return 1;
  }
  const double read = ridge::read_roof(*ceilings, ceilings->n_threads).value_or(0);
  const double peak = ridge::peak_roof(*ceilings, ridge::PeakType::int8, ceilings->n_threads).value_or(0);
  fmt::print("roofs of {} threads in this run: read {:.1f} GB/s, int8 {:.2f} TOPS\n", ceilings->n_threads, read / 1e9,
             peak / 1e12);
  ridge::register_all(*ceilings);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
