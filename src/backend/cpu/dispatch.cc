// Assembles the kernel set of each instruction set from the tables that its files export. Built with baseline flags:
// nothing of a set runs before isa.cc has said that the machine can.
#include "backend/cpu/dispatch.h"

#include <span>

#include "backend/cpu/isa.h"
#include "backend/device.h"

namespace ridge::cpu {

// What the files of each instruction set export.
#if defined(__x86_64__)
extern const SmallPanelKernels kSmallPanels__avx512_vnni;
extern const SuperPanelKernels kSuperPanels__avx512_vnni;
void pack_columns__avx512_vnni(const float* x, int64_t stride, int32_t n_cols, int32_t width, int64_t first_block,
                               int64_t end_block, int32_t* out);
extern const MatmulKernels kMatmul__avx512;
extern const AttentionKernels kAttention__avx512;
extern const NormKernels kNorm__avx512;
extern const RopeKernels kRope__avx512;
extern const MapKernels kMap__avx512;
extern const MatmulKernels kMatmul__avx2;
extern const AttentionKernels kAttention__avx2;
extern const NormKernels kNorm__avx2;
extern const RopeKernels kRope__avx2;
extern const MapKernels kMap__avx2;
#elif defined(__aarch64__)
extern const MatmulKernels kMatmul__neon;
extern const AttentionKernels kAttention__neon;
extern const NormKernels kNorm__neon;
extern const RopeKernels kRope__neon;
extern const MapKernels kMap__neon;
#endif
extern const MatmulKernels kMatmul__scalar;
extern const AttentionKernels kAttention__scalar;
extern const NormKernels kNorm__scalar;
extern const RopeKernels kRope__scalar;
extern const MapKernels kMap__scalar;

namespace {

// Best first. The tables are constant-initialised, so copying them here is in order whenever this first runs.
std::span<const KernelSet> all_sets() {
  static const KernelSet sets[] = {
#if defined(__x86_64__)
    {"avx512_vnni",
     kMatmul__avx512,
     kAttention__avx512,
     kNorm__avx512,
     kRope__avx512,
     kMap__avx512,
     {pack_columns__avx512_vnni, kSmallPanels__avx512_vnni, kSuperPanels__avx512_vnni}},
    {"avx512", kMatmul__avx512, kAttention__avx512, kNorm__avx512, kRope__avx512, kMap__avx512},
    {"avx2", kMatmul__avx2, kAttention__avx2, kNorm__avx2, kRope__avx2, kMap__avx2},
#elif defined(__aarch64__)
    {"neon", kMatmul__neon, kAttention__neon, kNorm__neon, kRope__neon, kMap__neon},
#endif
    {"scalar", kMatmul__scalar, kAttention__scalar, kNorm__scalar, kRope__scalar, kMap__scalar},
  };
  return sets;
}

}  // namespace

std::vector<const KernelSet*> available_kernels() {
  std::vector<const KernelSet*> sets;
  for (const KernelSet& set : all_sets()) {
    const IsaRow* row = find_isa(set.isa);
    if (row != nullptr && row->present()) sets.push_back(&set);
  }
  return sets;
}

Result<KernelChoice> choose_kernels(std::string_view wanted) {
  const std::vector<const KernelSet*> sets = available_kernels();
  if (wanted.empty()) {
    const IsaRow& row = *find_isa(sets.front()->isa);
    return KernelChoice{sets.front(), fmt::format("{} is the best that this build and this machine share (needs {})",
                                                  row.name, row.needs)};
  }
  std::string known;
  for (const KernelSet* set : sets) {
    if (wanted == set->isa)
      return KernelChoice{set, fmt::format("{} as asked; the best here is {}", wanted, sets.front()->isa)};
    known += fmt::format("{}{}", known.empty() ? "" : ", ", set->isa);
  }
  const IsaRow* row = find_isa(wanted);
  if (row != nullptr) {
    return fail(ErrorCode::unsupported, "instruction set '{}' needs {}, which this machine lacks; it can run: {}",
                wanted, row->needs, known);
  }
  return fail(ErrorCode::unsupported, "no instruction set '{}' in this build; this machine can run: {}", wanted, known);
}

const FormatKernels* format_kernels(const KernelSet& kernels, DType type) {
  struct Slot {
    DType type;
    FormatKernels MatmulKernels::*member;
  };
  static constexpr Slot kSlots[] = {
      {DType::f32, &MatmulKernels::f32},       {DType::f16, &MatmulKernels::f16},
      {DType::bf16, &MatmulKernels::bf16},     {DType::q4_0, &MatmulKernels::q4_0},
      {DType::q4_1, &MatmulKernels::q4_1},     {DType::q5_0, &MatmulKernels::q5_0},
      {DType::q5_1, &MatmulKernels::q5_1},     {DType::q8_0, &MatmulKernels::q8_0},
      {DType::q2_k, &MatmulKernels::q2_k},     {DType::q3_k, &MatmulKernels::q3_k},
      {DType::q4_k, &MatmulKernels::q4_k},     {DType::q5_k, &MatmulKernels::q5_k},
      {DType::q6_k, &MatmulKernels::q6_k},     {DType::iq4_nl, &MatmulKernels::iq4_nl},
      {DType::iq4_xs, &MatmulKernels::iq4_xs}, {DType::mxfp4, &MatmulKernels::mxfp4},
  };
  for (const Slot& slot : kSlots) {
    if (slot.type != type) continue;
    const FormatKernels& found = kernels.matmul.*slot.member;
    return found.unpack != nullptr ? &found : nullptr;
  }
  return nullptr;
}

PanelMultiply panel_kernel(const KernelSet& kernels, DType type) {
  const SmallPanelKernels& small = kernels.panels.small;
  const SuperPanelKernels& super = kernels.panels.super;
  switch (type) {
    case DType::q8_0:
      return small.q8_0;
    case DType::q4_0:
      return small.q4_0;
    case DType::q4_1:
      return small.q4_1;
    case DType::q5_0:
      return small.q5_0;
    case DType::q5_1:
      return small.q5_1;
    case DType::iq4_nl:
      return small.iq4_nl;
    case DType::mxfp4:
      return small.mxfp4;
    case DType::q2_k:
      return super.q2_k;
    case DType::q3_k:
      return super.q3_k;
    case DType::q4_k:
      return super.q4_k;
    case DType::q5_k:
      return super.q5_k;
    case DType::q6_k:
      return super.q6_k;
    case DType::iq4_xs:
      return super.iq4_xs;
    default:
      return nullptr;
  }
}

}  // namespace ridge::cpu

namespace ridge {

std::vector<std::string_view> cpu_isas() {
  std::vector<std::string_view> names;
  for (const cpu::KernelSet* set : cpu::available_kernels()) names.push_back(set->isa);
  return names;
}

}  // namespace ridge
