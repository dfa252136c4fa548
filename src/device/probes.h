// Probes: straight lines of one instruction, which find how fast a core can do it, and streams that only read. They
// measure nothing themselves (ceilings.cc does) and say how much work they did, so that a test can check that they did
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ridge {

enum class PeakType : uint8_t { int8, bf16, f32 };
inline constexpr int kPeakTypeCount = 3;
std::string_view to_string(PeakType type);

// One way to multiply and add in a type. The operands are all ones, so after n iterations lane 0 of the first
// accumulator holds n * lane_step.
struct PeakProbe {
  PeakType type;
  std::string_view instruction;
  double ops_per_iteration;  // multiply and add count as two
  double lane_step;
  bool (*present)();
  double (*run)(int64_t n_iterations);  // returns lane 0; only where present()
};
// Those that this architecture knows, best first within a type; present() says which this machine has.
std::span<const PeakProbe> peak_probes();
// Why a type has no peak here, for a type without a present probe: one sentence.
std::string_view why_absent(PeakType type);

// Reads every byte once with the widest loads there are and folds them by xor, so that the value shows that nothing was
// skipped. n_bytes is a multiple of 256, p aligned to 64. prefetch: asks for lines 4 KiB ahead, beyond a page's end
// too, as the kernels do; some machines read faster with it and some without.
uint64_t read_stream(const std::byte* p, size_t n_bytes, bool prefetch);
std::string_view read_stream_loads();

}  // namespace ridge
