// What a verb's body needs while a step runs: the step, this worker, its scratch, and a way to share the work.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

#include "backend/cpu/kernel_set.h"
#include "backend/program.h"
#include "quant/formats.h"

namespace ridge {
class ThreadPool;
}

namespace ridge::cpu {

// A multiply takes 32 unpacked rows of a sum chunk; the rows are kept an odd number of lines apart, or they would all
// fall on the same sets of the L1 cache.
inline constexpr int32_t kUnpackRows = 32;
inline constexpr int64_t kUnpackStride = kSumChunk + 16;
// Attention: 32 positions of keys and of values, and the sums of a tile of query rows.
inline constexpr int32_t kMaxHeadDim = 1024;
inline constexpr int32_t kMaxQueryRows = 64;
inline constexpr int64_t kTileFloats = 32 * 1024;
// The largest user is attention: keys, values, sums, scores.
inline constexpr int64_t kScratchFloats =
    2 * int64_t{kKvBlockPositions} * kMaxHeadDim + kTileFloats + kMaxQueryRows * kKvBlockPositions;
static_assert(kScratchFloats >= kUnpackRows * kUnpackStride);
inline constexpr int32_t kMaxExperts = 16384;

class RopeTables;

struct Step {
  const Program* program = nullptr;
  const KernelSet* kernels = nullptr;
  float* arena = nullptr;
  const RopeTables* rope = nullptr;
  int32_t* packed = nullptr;  // activations as integers (matmul/panel_layout.h), shared by all workers
  int64_t packed_words = 0;
  bool packed_is_current = false;  // they are the x of the MatMul that runs

  float* row(const Act& a, int64_t r) const { return arena + a.offset + r * a.stride; }
  int32_t* row(const ActIds& a, int64_t r) const { return reinterpret_cast<int32_t*>(arena + a.offset) + r * a.cols; }
};

struct Worker {
  int idx = 0, n = 1;
  float* scratch = nullptr;              // kScratchFloats
  std::atomic<int32_t>* next = nullptr;  // shared by all workers of a verb
  ThreadPool* pool = nullptr;            // for a barrier inside a verb

  // The next item that nobody has taken. Which worker takes which changes no bit of a result.
  int32_t take() const { return next->fetch_add(1, std::memory_order_relaxed); }

  // This worker's part of n equal items.
  struct Range {
    int64_t begin, end;
  };
  Range share(int64_t n_items) const { return {n_items * idx / n, n_items * (idx + 1) / n}; }
};

// A vector weight as floats: prepare() made the copy when the file holds another format.
inline const float* floats_of(const Weight& w) {
  assert((w.dtype() == DType::f32 || w.prepared != nullptr) && "a vector weight goes through Device::prepare");
  return w.dtype() == DType::f32 ? reinterpret_cast<const float*>(w.host.data) : static_cast<const float*>(w.prepared);
}

// Unpacks rows of one format: the instruction set's kernel, or quant/'s decoder.
class Unpacker {
 public:
  Unpacker(const KernelSet& kernels, DType type);
  void operator()(const std::byte* blocks, int64_t n, float* out) const {
    if (kernels_ != nullptr)
      kernels_->unpack(reinterpret_cast<const uint8_t*>(blocks), n, out);
    else
      decode_(blocks, out, n);
  }
  const FormatKernels* kernels() const { return kernels_; }

 private:
  const FormatKernels* kernels_;
  quant::DecodeFn decode_;
};

// The bodies, one a verb; every worker calls each.
void run_verb(const Step& s, const Worker& w, const verb::Embed& v);
void run_verb(const Step& s, const Worker& w, const verb::RmsNorm& v);
void run_verb(const Step& s, const Worker& w, const verb::MatMul& v);
void run_verb(const Step& s, const Worker& w, const verb::Add& v);
void run_verb(const Step& s, const Worker& w, const verb::Mul& v);
void run_verb(const Step& s, const Worker& w, const verb::Scale& v);
void run_verb(const Step& s, const Worker& w, const verb::Softcap& v);
void run_verb(const Step& s, const Worker& w, const verb::Activate& v);
void run_verb(const Step& s, const Worker& w, const verb::Gated& v);
void run_verb(const Step& s, const Worker& w, const verb::Rope& v);
void run_verb(const Step& s, const Worker& w, const verb::KvAppend& v);
void run_verb(const Step& s, const Worker& w, const verb::Attention& v);
void run_verb(const Step& s, const Worker& w, const verb::Router& v);
void run_verb(const Step& s, const Worker& w, const verb::ExpertMatMul& v);
void run_verb(const Step& s, const Worker& w, const verb::ExpertCombine& v);
void run_verb(const Step& s, const Worker& w, const verb::GatherRows& v);

}  // namespace ridge::cpu
