// Inline assembly instead of intrinsics, for two reasons: the compiler can neither drop nor reorder what is counted,
// and the file needs no flags, so it can hold every instruction set and ask the machine at run time. Only registers
// that baseline code knows are used (0 to 15), and the upper halves are cleared before compiled code goes on. Twelve
// chains: latency (4 to 6 cycles) times throughput (2 a cycle on the widest cores).
#include "device/probes.h"

#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace ridge {
namespace {

#if defined(__x86_64__)

// AVX-VNNI (256 bit) has no name in every compiler's check.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1u << 4)) != 0;
}
bool has_avx512_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
}
bool has_avx512_bf16() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16");
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512f");
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2");
}
bool has_fma() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool always() {
  return true;
}

#define RIDGE_TWELVE(X) X("0") X("1") X("2") X("3") X("4") X("5") X("6") X("7") X("8") X("9") X("10") X("11")
#define RIDGE_XMM                                                                                                     \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"
#define RIDGE_ZERO(n) "vpxor %%xmm" n ", %%xmm" n ", %%xmm" n "\n\t"

// NAME(n): BODY for each of twelve accumulators, `ones` in every 32-bit lane of registers 12 and 13; lane 0 as T.
#define RIDGE_X86_PROBE(NAME, T, REG, ONES, BODY)                                               \
  double NAME(int64_t n) {                                                                      \
    const uint32_t ones = ONES;                                                                 \
    T lane = 0;                                                                                 \
    asm volatile("vpbroadcastd %[ones], %%" REG "12\n\t"                                      \
                 "vpbroadcastd %[ones], %%" REG "13\n\t" RIDGE_TWELVE(RIDGE_ZERO)             \
                 ".p2align 5\n\t1:\n\t" RIDGE_TWELVE(BODY)                                    \
                 "dec %[n]\n\tjnz 1b\n\t"                                                     \
                 "vmovd %%xmm0, %[lane]\n\tvzeroupper\n\t"                                    \
                 : [n] "+r"(n), [lane] "=m"(lane)                                             \
                 : [ones] "m"(ones)                                                           \
                 : RIDGE_XMM, "cc"); \
    return static_cast<double>(lane);                                                           \
  }

#define RIDGE_DPBUSD_Z(n) "vpdpbusd %%zmm12, %%zmm13, %%zmm" n "\n\t"
#define RIDGE_DPBUSD_Y(n) "%{vex%} vpdpbusd %%ymm12, %%ymm13, %%ymm" n "\n\t"
#define RIDGE_DPBF16_Z(n) "vdpbf16ps %%zmm12, %%zmm13, %%zmm" n "\n\t"
#define RIDGE_FMA_Z(n) "vfmadd231ps %%zmm12, %%zmm13, %%zmm" n "\n\t"
#define RIDGE_FMA_Y(n) "vfmadd231ps %%ymm12, %%ymm13, %%ymm" n "\n\t"
RIDGE_X86_PROBE(dpbusd_zmm, int32_t, "zmm", 0x01010101u, RIDGE_DPBUSD_Z)
RIDGE_X86_PROBE(dpbusd_ymm, int32_t, "ymm", 0x01010101u, RIDGE_DPBUSD_Y)
RIDGE_X86_PROBE(dpbf16_zmm, float, "zmm", 0x3f803f80u, RIDGE_DPBF16_Z)
RIDGE_X86_PROBE(fma_zmm, float, "zmm", 0x3f800000u, RIDGE_FMA_Z)
RIDGE_X86_PROBE(fma_ymm, float, "ymm", 0x3f800000u, RIDGE_FMA_Y)

// Without a dot product AVX2 takes three instructions: bytes to pairs, pairs to fours, add. All operands are ones; the
// 16-bit ones that add the pairs are in register 15.
#define RIDGE_MADD_Y(n)                      \
  "vpmaddubsw %%ymm12, %%ymm13, %%ymm14\n\t" \
  "vpmaddwd %%ymm15, %%ymm14, %%ymm14\n\t"   \
  "vpaddd %%ymm14, %%ymm" n ", %%ymm" n "\n\t"
double madd_ymm(int64_t n) {
  const uint32_t ones = 0x01010101u, ones16 = 0x00010001u;
  int32_t lane = 0;
  asm volatile(
      "vpbroadcastd %[ones], %%ymm12\n\tvpbroadcastd %[ones], %%ymm13\n\tvpbroadcastd %[ones16], %%ymm15\n\t" RIDGE_TWELVE(
          RIDGE_ZERO) ".p2align 5\n\t1:\n\t" RIDGE_TWELVE(RIDGE_MADD_Y) "dec %[n]\n\tjnz 1b\n\t"
                      "vmovd %%xmm0, %[lane]\n\tvzeroupper\n\t"
      : [n] "+r"(n), [lane] "=m"(lane)
      : [ones] "m"(ones), [ones16] "m"(ones16)
      : RIDGE_XMM, "cc");
  return lane;
}

#define RIDGE_ZERO_SSE(n) "xorps %%xmm" n ", %%xmm" n "\n\t"
#define RIDGE_MULADD_X(n) "movaps %%xmm12, %%xmm14\n\tmulps %%xmm13, %%xmm14\n\taddps %%xmm14, %%xmm" n "\n\t"
double muladd_xmm(int64_t n) {
  const float one = 1.0f;
  float lane = 0;
  asm volatile(
      "movss %[one], %%xmm12\n\tshufps $0, %%xmm12, %%xmm12\n\tmovaps %%xmm12, %%xmm13\n\t" RIDGE_TWELVE(
          RIDGE_ZERO_SSE) ".p2align 5\n\t1:\n\t" RIDGE_TWELVE(RIDGE_MULADD_X) "dec %[n]\n\tjnz 1b\n\t"
                          "movss %%xmm0, %[lane]\n\t"
      : [n] "+r"(n), [lane] "=m"(lane)
      : [one] "m"(one)
      : RIDGE_XMM, "cc");
  return static_cast<double>(lane);
}

constexpr PeakProbe kProbes[] = {
    {PeakType::int8, "vpdpbusd zmm", 12 * 16 * 8, 4, has_avx512_vnni, dpbusd_zmm},
    {PeakType::int8, "vpdpbusd ymm", 12 * 8 * 8, 4, has_avx_vnni, dpbusd_ymm},
    {PeakType::int8, "vpmaddubsw + vpmaddwd + vpaddd ymm", 12 * 8 * 8, 4, has_avx2, madd_ymm},
    {PeakType::bf16, "vdpbf16ps zmm", 12 * 16 * 4, 2, has_avx512_bf16, dpbf16_zmm},
    {PeakType::f32, "vfmadd231ps zmm", 12 * 16 * 2, 1, has_avx512, fma_zmm},
    {PeakType::f32, "vfmadd231ps ymm", 12 * 8 * 2, 1, has_fma, fma_ymm},
    {PeakType::f32, "mulps + addps xmm", 12 * 4 * 2, 1, always, muladd_xmm},
};
constexpr std::array<std::string_view, kPeakTypeCount> kAbsent = {
    "this processor has no AVX2: it multiplies bytes only after widening them",
    "this processor has no dot product of bf16 (AVX512_BF16)",
    "",
};

// Four accumulators a turn, 256 bytes; the prefetch reaches 4 KiB ahead.
#define RIDGE_PREFETCH(line) "prefetcht0 4096+64*" line "(%[p])\n\t"
#define RIDGE_ALL_PREFETCHES RIDGE_PREFETCH("0") RIDGE_PREFETCH("1") RIDGE_PREFETCH("2") RIDGE_PREFETCH("3")
#define RIDGE_READ_Z                     \
  "vpxorq (%[p]), %%zmm0, %%zmm0\n\t"    \
  "vpxorq 64(%[p]), %%zmm1, %%zmm1\n\t"  \
  "vpxorq 128(%[p]), %%zmm2, %%zmm2\n\t" \
  "vpxorq 192(%[p]), %%zmm3, %%zmm3\n\t"
#define RIDGE_READ_Y                                                       \
  "vpxor (%[p]), %%ymm0, %%ymm0\n\tvpxor 32(%[p]), %%ymm1, %%ymm1\n\t"     \
  "vpxor 64(%[p]), %%ymm2, %%ymm2\n\tvpxor 96(%[p]), %%ymm3, %%ymm3\n\t"   \
  "vpxor 128(%[p]), %%ymm0, %%ymm0\n\tvpxor 160(%[p]), %%ymm1, %%ymm1\n\t" \
  "vpxor 192(%[p]), %%ymm2, %%ymm2\n\tvpxor 224(%[p]), %%ymm3, %%ymm3\n\t"
#define RIDGE_FOLD                      \
  "vpxor %%ymm1, %%ymm0, %%ymm0\n\t"    \
  "vpxor %%ymm3, %%ymm2, %%ymm2\n\t"    \
  "vpxor %%ymm2, %%ymm0, %%ymm0\n\t"    \
  "vextracti128 $1, %%ymm0, %%xmm1\n\t" \
  "vpxor %%xmm1, %%xmm0, %%xmm0\n\t"    \
  "vpsrldq $8, %%xmm0, %%xmm1\n\t"      \
  "vpxor %%xmm1, %%xmm0, %%xmm0\n\t"    \
  "vmovq %%xmm0, %[sum]\n\tvzeroupper\n\t"
#define RIDGE_FOLD_Z                     \
  "vpxorq %%zmm1, %%zmm0, %%zmm0\n\t"    \
  "vpxorq %%zmm3, %%zmm2, %%zmm2\n\t"    \
  "vpxorq %%zmm2, %%zmm0, %%zmm0\n\t"    \
  "vextracti64x4 $1, %%zmm0, %%ymm1\n\t" \
  "vpxor %%xmm2, %%xmm2, %%xmm2\n\tvpxor %%xmm3, %%xmm3, %%xmm3\n\t" RIDGE_FOLD
#define RIDGE_READER(NAME, PREFETCHES, READ, FOLD)                                   \
  uint64_t NAME(const std::byte* p, size_t n_turns) {                                \
    uint64_t sum = 0;                                                                \
    asm volatile(RIDGE_ZERO("0") RIDGE_ZERO("1") RIDGE_ZERO("2")                     \
                     RIDGE_ZERO("3") ".p2align 5\n\t1:\n\t" PREFETCHES READ          \
                                     "add $256, %[p]\n\tdec %[n]\n\tjnz 1b\n\t" FOLD \
                 : [p] "+r"(p), [n] "+r"(n_turns), [sum] "=r"(sum)                   \
                 :                                                                   \
                 : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");                  \
    return sum;                                                                      \
  }
RIDGE_READER(read_zmm, "", RIDGE_READ_Z, RIDGE_FOLD_Z)
RIDGE_READER(read_zmm_ahead, RIDGE_ALL_PREFETCHES, RIDGE_READ_Z, RIDGE_FOLD_Z)
RIDGE_READER(read_ymm, "", RIDGE_READ_Y, RIDGE_FOLD)
RIDGE_READER(read_ymm_ahead, RIDGE_ALL_PREFETCHES, RIDGE_READ_Y, RIDGE_FOLD)

#elif defined(__aarch64__)

// Bits of the kernel's interface (asm/hwcap.h), which older headers lack.
bool has_dotprod() {
  return (getauxval(AT_HWCAP) & (1ul << 20)) != 0;
}
bool has_i8mm() {
  return (getauxval(AT_HWCAP2) & (1ul << 13)) != 0;
}
bool has_bf16() {
  return (getauxval(AT_HWCAP2) & (1ul << 14)) != 0;
}
bool always() {
  return true;
}

#define RIDGE_TWELVE(X) X("0") X("1") X("2") X("3") X("4") X("5") X("6") X("7") X("16") X("17") X("18") X("19")
#define RIDGE_V "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21"
#define RIDGE_ZERO(n) "movi v" n ".4s, #0\n\t"
#define RIDGE_ARM_PROBE(NAME, T, EXTENSION, ONES, BODY)                                                     \
  double NAME(int64_t n) {                                                                                  \
    const uint32_t ones = ONES;                                                                             \
    T lane = 0;                                                                                             \
    asm volatile(EXTENSION "dup v20.4s, %w[ones]\n\tdup v21.4s, %w[ones]\n\t" RIDGE_TWELVE(RIDGE_ZERO)    \
                 ".p2align 5\n\t1:\n\t" RIDGE_TWELVE(BODY) "subs %[n], %[n], #1\n\tb.ne 1b\n\t"           \
                 "str s0, %[lane]\n\t"                                                                    \
                 : [n] "+r"(n), [lane] "=m"(lane)                                                         \
                 : [ones] "r"(ones)                                                                       \
                 : RIDGE_V, "cc"); \
    return static_cast<double>(lane);                                                                       \
  }
#define RIDGE_SMMLA(n) "smmla v" n ".4s, v20.16b, v21.16b\n\t"
#define RIDGE_SDOT(n) "sdot v" n ".4s, v20.16b, v21.16b\n\t"
#define RIDGE_BFMMLA(n) "bfmmla v" n ".4s, v20.8h, v21.8h\n\t"
#define RIDGE_BFDOT(n) "bfdot v" n ".4s, v20.8h, v21.8h\n\t"
#define RIDGE_FMLA(n) "fmla v" n ".4s, v20.4s, v21.4s\n\t"
RIDGE_ARM_PROBE(smmla, int32_t, ".arch_extension i8mm\n\t", 0x01010101u, RIDGE_SMMLA)
RIDGE_ARM_PROBE(sdot, int32_t, ".arch_extension dotprod\n\t", 0x01010101u, RIDGE_SDOT)
RIDGE_ARM_PROBE(bfmmla, float, ".arch_extension bf16\n\t", 0x3f803f80u, RIDGE_BFMMLA)
RIDGE_ARM_PROBE(bfdot, float, ".arch_extension bf16\n\t", 0x3f803f80u, RIDGE_BFDOT)
RIDGE_ARM_PROBE(fmla, float, "", 0x3f800000u, RIDGE_FMLA)

constexpr PeakProbe kProbes[] = {
    {PeakType::int8, "smmla", 12 * 64, 8, has_i8mm, smmla},   {PeakType::int8, "sdot", 12 * 32, 4, has_dotprod, sdot},
    {PeakType::bf16, "bfmmla", 12 * 32, 4, has_bf16, bfmmla}, {PeakType::bf16, "bfdot", 12 * 16, 2, has_bf16, bfdot},
    {PeakType::f32, "fmla", 12 * 8, 1, always, fmla},
};
constexpr std::array<std::string_view, kPeakTypeCount> kAbsent = {
    "this processor has neither SDOT nor SMMLA",
    "this processor has no BF16 instructions",
    "",
};

#define RIDGE_READER(NAME, PREFETCHES)                                                                   \
  uint64_t NAME(const std::byte* p, size_t n_turns) {                                                    \
    uint64_t sum = 0;                                                                                    \
    asm volatile(                                                                                        \
        "movi v0.2d, #0\n\tmovi v1.2d, #0\n\tmovi v2.2d, #0\n\tmovi v3.2d, #0\n\t"                       \
        ".p2align 5\n\t1:\n\t" PREFETCHES                                                                \
        "ld1 {v4.2d-v7.2d}, [%[p]], #64\n\teor v0.16b, v0.16b, v4.16b\n\teor v1.16b, v1.16b, v5.16b\n\t" \
        "eor v2.16b, v2.16b, v6.16b\n\teor v3.16b, v3.16b, v7.16b\n\t"                                   \
        "ld1 {v4.2d-v7.2d}, [%[p]], #64\n\teor v0.16b, v0.16b, v4.16b\n\teor v1.16b, v1.16b, v5.16b\n\t" \
        "eor v2.16b, v2.16b, v6.16b\n\teor v3.16b, v3.16b, v7.16b\n\t"                                   \
        "ld1 {v4.2d-v7.2d}, [%[p]], #64\n\teor v0.16b, v0.16b, v4.16b\n\teor v1.16b, v1.16b, v5.16b\n\t" \
        "eor v2.16b, v2.16b, v6.16b\n\teor v3.16b, v3.16b, v7.16b\n\t"                                   \
        "ld1 {v4.2d-v7.2d}, [%[p]], #64\n\teor v0.16b, v0.16b, v4.16b\n\teor v1.16b, v1.16b, v5.16b\n\t" \
        "eor v2.16b, v2.16b, v6.16b\n\teor v3.16b, v3.16b, v7.16b\n\t"                                   \
        "subs %[n], %[n], #1\n\tb.ne 1b\n\t"                                                             \
        "eor v0.16b, v0.16b, v1.16b\n\teor v2.16b, v2.16b, v3.16b\n\teor v0.16b, v0.16b, v2.16b\n\t"     \
        "ext v1.16b, v0.16b, v0.16b, #8\n\teor v0.16b, v0.16b, v1.16b\n\tfmov %[sum], d0\n\t"            \
        : [p] "+r"(p), [n] "+r"(n_turns), [sum] "=r"(sum)                                                \
        :                                                                                                \
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "cc", "memory");                               \
    return sum;                                                                                          \
  }
RIDGE_READER(read_neon, "")
RIDGE_READER(read_neon_ahead,
             "prfm pldl1keep, [%[p], #4096]\n\tprfm pldl1keep, [%[p], #4160]\n\t"
             "prfm pldl1keep, [%[p], #4224]\n\tprfm pldl1keep, [%[p], #4288]\n\t")

#else

double muladd_plain(int64_t n) {
  volatile float one = 1.0f;
  const float a = one, b = one;
  float sum[8] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (float& s : sum) s += a * b;
  }
  volatile float keep = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
  (void)keep;
  return static_cast<double>(sum[0]);
}
bool always() {
  return true;
}
constexpr PeakProbe kProbes[] = {{PeakType::f32, "compiled multiply and add", 8 * 2, 1, always, muladd_plain}};
constexpr std::array<std::string_view, kPeakTypeCount> kAbsent = {
    "no probe for this architecture is built",
    "no probe for this architecture is built",
    "",
};

#endif

#if !defined(__aarch64__)
// Where nothing wider is there.
uint64_t read_words(const std::byte* p, size_t n_turns) {
  const auto* words = reinterpret_cast<const uint64_t*>(p);
  uint64_t sum[4] = {};
  for (size_t i = 0; i < n_turns * 32; i += 4) {
    for (size_t k = 0; k < 4; ++k) sum[k] ^= words[i + k];
  }
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}
#endif

}  // namespace

std::string_view to_string(PeakType type) {
  constexpr std::array<std::string_view, kPeakTypeCount> kNames = {"int8", "bf16", "f32"};
  return kNames[static_cast<size_t>(type)];
}

std::span<const PeakProbe> peak_probes() {
  return kProbes;
}

std::string_view why_absent(PeakType type) {
  return kAbsent[static_cast<size_t>(type)];
}

uint64_t read_stream(const std::byte* p, size_t n_bytes, bool prefetch) {
  const size_t n_turns = n_bytes / 256;
  if (n_turns == 0) return 0;
#if defined(__x86_64__)
  if (has_avx512()) return prefetch ? read_zmm_ahead(p, n_turns) : read_zmm(p, n_turns);
  if (has_avx2()) return prefetch ? read_ymm_ahead(p, n_turns) : read_ymm(p, n_turns);
  return read_words(p, n_turns);
#elif defined(__aarch64__)
  return prefetch ? read_neon_ahead(p, n_turns) : read_neon(p, n_turns);
#else
  return read_words(p, n_turns);
#endif
}

std::string_view read_stream_loads() {
#if defined(__x86_64__)
  return has_avx512() ? "64-byte loads" : has_avx2() ? "32-byte loads" : "8-byte loads";
#elif defined(__aarch64__)
  return "16-byte loads";
#else
  return "8-byte loads";
#endif
}

}  // namespace ridge
