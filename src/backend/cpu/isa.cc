// Detection by CPUID and XGETBV on x86-64 (the compiler's own run-time check does both). aarch64 always has NEON.
#include "backend/cpu/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ridge::cpu {
namespace {

bool always() {
  return true;
}

#if defined(__x86_64__)
// The compiler's check of older compilers does not know F16C.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

constexpr IsaRow kRows[] = {
#if defined(__x86_64__)
    {"avx512_vnni", "AVX-512 F, BW, DQ, VL and VNNI", has_avx512_vnni},
    {"avx512", "AVX-512 F, BW, DQ and VL", has_avx512},
    {"avx2", "AVX2, FMA and F16C", has_avx2},
#elif defined(__aarch64__)
    {"neon", "ARMv8-A", always},
#endif
    {"scalar", "nothing", always},
};

}  // namespace

const IsaRow* find_isa(std::string_view name) {
  for (const IsaRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace ridge::cpu
