// Matrix products through the Device interface: GB/s of weights for one column, GFLOP/s for a prompt's worth of
// columns. On one thread the rates are by CPU time, which other programs on the machine disturb least; on all threads
// by the clock on the wall.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <vector>

#include "backend/device.h"
#include "backend/encoder.h"

namespace ridge {
namespace {

// Random bytes are blocks of any format; exponents are kept small so that no subnormal or infinite scale slows the
// arithmetic.
std::vector<std::byte> random_blocks(DType type, int64_t in, int64_t out) {
  std::vector<std::byte> bytes(row_bytes(type, in) * static_cast<size_t>(out));
  std::mt19937 random(1);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0x33);
  return bytes;
}

void matmul(benchmark::State& state, DType type, int32_t cols, int n_threads, std::string_view isa) {
  const int64_t in = 4096, out = 4096;
  const std::vector<std::byte> bytes = random_blocks(type, in, out);
  Weight w;
  w.host = {.name = "w", .dtype = type, .n_dims = 2, .ne = {in, out, 1, 1}, .data = bytes.data()};
  w.in = in, w.out = out;
  auto device = make_device("cpu", {.n_threads = n_threads, .isa = std::string(isa), .ledger = nullptr});
  if (!device) return state.SkipWithError(device.error().message.c_str());
  std::vector<int32_t> tokens(static_cast<size_t>(cols));
  const std::vector<SeqSpan> seqs = {{0, cols, 0, {}}};
  Program program;
  Encoder encoder(program, {.tokens = tokens, .seqs = seqs, .out_rows = {}, .kv = {}});
  const Act x = encoder.act(cols, static_cast<int32_t>(in)), y = encoder.act(cols, static_cast<int32_t>(out));
  encoder.matmul("mm", x, w, nullptr, y);
  if (!(*device)->prepare(w) || !(*device)->reserve(program.arena_floats)) return state.SkipWithError("out of memory");
  for (auto _ : state) {
    if (!(*device)->run(program)) return state.SkipWithError("run failed");
  }
  state.counters["weights"] =
      benchmark::Counter(w.bytes() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["flops"] =
      benchmark::Counter(2.0 * in * out * cols * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void register_all() {
  for (const std::string_view isa : cpu_isas()) {
    for (const DType type : {DType::f32, DType::f16, DType::q8_0, DType::q4_0, DType::q4_k, DType::q6_k}) {
      for (const int32_t cols : {1, 2, 4, 8, 512}) {
        for (const int n_threads : {1, 0}) {
          const std::string name =
              fmt::format("matmul/{}/{}/cols:{}/{}", isa, info(type).name, cols, n_threads == 1 ? "one" : "all");
          auto* b = benchmark::RegisterBenchmark(name.c_str(),
                                                 [=](benchmark::State& s) { matmul(s, type, cols, n_threads, isa); });
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
  ridge::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
