// Weights in the layout of the integer kernels: which formats have one, and the copy made at load.
#pragma once

#include "backend/cpu/dispatch.h"
#include "backend/cpu/matmul/panel_layout.h"
#include "backend/weight.h"

namespace ridge::cpu {

// What Weight::prepared points to for a matrix that was packed. Immutable; the device owns it and the bytes.
struct PanelMatrix {
  PanelShape shape = {};
  PanelMultiply multiply = nullptr;
  int64_t in = 0, out = 0, n_blocks = 0;
  int64_t n_panels = 0;
  size_t panel_bytes = 0;
  uint8_t* data = nullptr;

  size_t n_bytes() const { return panel_bytes * static_cast<size_t>(n_panels); }
  const uint8_t* panel(int64_t p) const { return data + static_cast<size_t>(p) * panel_bytes; }
};

// Longer rows stay in the file's layout: 12 columns of one must fit into the largest buffer of packed activations.
inline constexpr int64_t kMaxPanelRow = int64_t{1} << 18;
inline constexpr size_t kMaxPackedBytes = size_t{8} << 20;
static_assert(kMaxPanelRow / kPanelBlock * kPackedWords * kMaxPanelColumns * 4 <=
              static_cast<int64_t>(kMaxPackedBytes));

// The matrix that this weight becomes, without its bytes; shape.blocks is 0 when the kernels or the weight have none:
// vectors, experts, tables, weights that need exact activations, formats without kernel.
PanelMatrix plan_panels(const KernelSet& kernels, const Weight& weight);

// Packs panel p into zeroed bytes. Different panels may be packed by different threads at once.
void pack_panel(const PanelMatrix& m, const Weight& weight, int64_t p);

// The packed form of a weight that a MatMul uses, or nullptr.
inline const PanelMatrix* panels_of(const Weight& w) {
  return w.prepared != nullptr && w.out * w.n_mats > 1 ? static_cast<const PanelMatrix*>(w.prepared) : nullptr;
}

}  // namespace ridge::cpu
