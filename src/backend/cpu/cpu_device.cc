// The CPU device: owns the arena, the workers and their scratch; runs a Program in one parallel region, verb by verb,
// with a barrier between. Refuses at prepare() what quant/ cannot decode, and at run() what would read or write out of
// bounds.
#include "backend/cpu/cpu_device.h"

#include <array>
#include <deque>
#include <optional>

#include "backend/cpu/dispatch.h"
#include "backend/cpu/matmul/panel_matmul.h"
#include "backend/cpu/rope/tables.h"
#include "backend/cpu/step.h"
#include "base/clock.h"
#include "base/thread_pool.h"

namespace ridge {
namespace {

using cpu::Step;
using cpu::Worker;

class CpuDevice final : public Device {
 public:
  CpuDevice(const cpu::KernelChoice& kernels, ThreadChoice threads, MemoryLedger* ledger)
      : kernels_(*kernels.kernels),
        isa_reason_(kernels.reason),
        threads_(std::move(threads)),
        ledger_(ledger != nullptr ? *ledger : own_ledger_),
        pool_(threads_.n_threads) {}

  DeviceInfo info() const override {
    return {.name = "cpu",
            .isa = kernels_.isa,
            .isa_reason = isa_reason_,
            .n_threads = threads_.n_threads,
            .threads_reason = threads_.reason};
  }

  Result<void> prepare(Weight& weight) override;
  size_t prepared_bytes(const Weight& weight) const override { return cpu::plan_panels(kernels_, weight).n_bytes(); }
  std::vector<Scratch> scratch(int64_t arena_floats) const override;
  Result<void> reserve(int64_t arena_floats) override;
  Result<void> run(const Program& program, StepTrace* trace) override;

  MatrixView<const float> read(const Act& a) const override {
    return {arena_.as<float>() + a.offset, a.rows, a.cols, a.stride};
  }

  std::string describe(const Verb& verb) const override;

 private:
  Result<void> check(const Program& program) const;
  Result<void> check(const KvLayer& kv, size_t layer) const;
  Result<void> prepare_panels(Weight& weight, cpu::PanelMatrix matrix);
  void work(const Program& program, int idx, int64_t* verb_ns);

  const cpu::KernelSet& kernels_;
  std::string isa_reason_;
  ThreadChoice threads_;
  MemoryLedger own_ledger_;  // used when the caller gives none
  MemoryLedger& ledger_;
  TaggedBuffer arena_, rope_memory_, scratch_, packed_;
  std::vector<TaggedBuffer> prepared_;     // f32 copies of vector weights, panels
  std::deque<cpu::PanelMatrix> matrices_;  // what Weight::prepared points to, in place
  cpu::RopeTables rope_;
  // Items taken of the verb that runs and of the next: worker 0 clears one while the other is in use.
  std::array<std::atomic<int32_t>, 2> taken_ = {};
  ThreadPool pool_;  // last: its threads end before what they use
};

Result<void> CpuDevice::prepare(Weight& weight) {
  const quant::Format* format = quant::find_format(weight.dtype());
  if (format == nullptr) {
    return fail(ErrorCode::unsupported, "tensor '{}': format {} cannot be decoded to numbers", weight.host.name,
                ridge::info(weight.dtype()).name);
  }
  if (weight.in % format->block_elems != 0) {
    return fail(ErrorCode::bad_file, "tensor '{}': rows of {} elements do not hold whole {} blocks of {}",
                weight.host.name, weight.in, format->name(), format->block_elems);
  }
  // Vectors (norms, biases, sinks) are read as floats by several verbs.
  if (weight.out * weight.n_mats == 1 && weight.dtype() != DType::f32) {
    RIDGE_TRY(TaggedBuffer copy, TaggedBuffer::allocate(ledger_, MemoryOwner::weights_prepared, "f32 vectors",
                                                        static_cast<size_t>(weight.in) * sizeof(float)));
    format->decode(weight.host.data, copy.as<float>(), weight.in);
    weight.prepared = copy.data();
    prepared_.push_back(std::move(copy));
    return {};
  }
  if (const cpu::PanelMatrix matrix = cpu::plan_panels(kernels_, weight); matrix.multiply != nullptr)
    return prepare_panels(weight, matrix);
  return {};
}

Result<void> CpuDevice::prepare_panels(Weight& weight, cpu::PanelMatrix matrix) {
  RIDGE_TRY(TaggedBuffer copy, TaggedBuffer::allocate(ledger_, MemoryOwner::weights_prepared,
                                                      ridge::info(weight.dtype()).name, matrix.n_bytes()));
  matrix.data = copy.as<uint8_t>();
  std::atomic<int64_t> next = 0;
  pool_.run([&](int) {
    for (int64_t p = next.fetch_add(1); p < matrix.n_panels; p = next.fetch_add(1)) cpu::pack_panel(matrix, weight, p);
  });
  weight.prepared = &matrices_.emplace_back(matrix);
  prepared_.push_back(std::move(copy));
  return {};
}

std::vector<Device::Scratch> CpuDevice::scratch(int64_t arena_floats) const {
  const size_t workers = static_cast<size_t>(cpu::kScratchFloats) * sizeof(float) * static_cast<size_t>(pool_.size());
  // Tables hold n_rot values a row and spec; the arena holds queries of n_head times that, keys, and the rest of a
  // layer beside them.
  const size_t rope = std::max<size_t>(static_cast<size_t>(arena_floats) * sizeof(float) / 8, size_t{1} << 16);
  std::vector<Scratch> all = {{"worker scratch", workers}, {"rope tables", rope}};
  if (kernels_.panels.pack_columns != nullptr) all.push_back({"packed int8", cpu::packed_bytes(arena_floats)});
  return all;
}

Result<void> CpuDevice::reserve(int64_t arena_floats) {
  const size_t wanted = static_cast<size_t>(arena_floats) * sizeof(float);
  if (wanted <= arena_.size()) return {};
  const std::vector<Scratch> beside = scratch(arena_floats);
  const auto allocate = [this](TaggedBuffer& buffer, std::string_view detail, size_t n_bytes) -> Result<void> {
    buffer = TaggedBuffer();
    RIDGE_TRY(buffer, TaggedBuffer::allocate(ledger_, MemoryOwner::activations, detail, n_bytes));
    return {};
  };
  RIDGE_CHECK_OK(allocate(arena_, kArenaDetail, wanted));
  RIDGE_CHECK_OK(allocate(scratch_, beside[0].detail, beside[0].n_bytes));
  if (beside.size() > 2) RIDGE_CHECK_OK(allocate(packed_, beside[2].detail, beside[2].n_bytes));
  return allocate(rope_memory_, beside[1].detail, beside[1].n_bytes);
}

Result<void> CpuDevice::check(const KvLayer& kv, size_t layer) const {
  const std::array<std::pair<DType, int32_t>, 2> sides = {{{kv.k_type, kv.k_dim}, {kv.v_type, kv.v_dim}}};
  for (const auto& [type, dim] : sides) {
    const quant::Format* format = quant::find_format(type);
    if (format == nullptr || format->encode == nullptr || format->block_elems > 32) {
      return fail(ErrorCode::unsupported,
                  "KV layer {}: a cache of type {} cannot be written; use f32, f16, bf16, q8_0 or q4_0", layer,
                  ridge::info(type).name);
    }
    if (dim < 1 || dim > cpu::kMaxHeadDim) {
      return fail(ErrorCode::unsupported, "KV layer {}: head size {}, expected 1..{}", layer, dim, cpu::kMaxHeadDim);
    }
    if (dim % static_cast<int32_t>(format->block_elems) != 0) {
      return fail(ErrorCode::unsupported, "KV layer {}: head size {} does not hold whole {} blocks of {}; use f16",
                  layer, dim, format->name(), format->block_elems);
    }
  }
  return {};
}

Result<void> CpuDevice::check(const Program& program) const {
  if (static_cast<size_t>(program.arena_floats) * sizeof(float) > arena_.size() || scratch_.size() == 0) {
    return fail(ErrorCode::device,
                "the step needs {} floats of arena and reserve() made room for {}; reserve the largest step at load",
                program.arena_floats, arena_.size() / sizeof(float));
  }
  for (size_t i = 0; i < program.input.kv.size(); ++i) RIDGE_CHECK_OK(check(program.input.kv[i], i));
  for (const Verb& verb : program.verbs) {
    if (const auto* embed = std::get_if<verb::Embed>(&verb.body)) {
      for (const int32_t token : program.input.tokens) {
        if (token >= 0 && token < embed->table->out) continue;
        return fail(ErrorCode::invalid_argument, "token {} is not in the vocabulary of {} tokens", token,
                    embed->table->out);
      }
    }
    if (const auto* router = std::get_if<verb::Router>(&verb.body);
        router != nullptr && router->logits.cols > cpu::kMaxExperts) {
      return fail(ErrorCode::unsupported, "a router over {} experts, at most {} are supported", router->logits.cols,
                  cpu::kMaxExperts);
    }
  }
  return {};
}

// Whether the verb before left packed what this one multiplies: q, k and v take the same input, so do gate and up.
bool same_packed(const Step& step, const Verb& before, const Verb& verb) {
  const auto* a = std::get_if<verb::MatMul>(&before.body);
  const auto* b = std::get_if<verb::MatMul>(&verb.body);
  return a != nullptr && b != nullptr && a->x.offset == b->x.offset && a->x.rows == b->x.rows &&
         a->x.cols == b->x.cols && a->x.stride == b->x.stride && cpu::panels_of(*a->w) != nullptr &&
         cpu::panels_of(*b->w) != nullptr && cpu::packs_at_once(step, *b);
}

void CpuDevice::work(const Program& program, int idx, int64_t* verb_ns) {
  Step step = {.program = &program,
               .kernels = &kernels_,
               .arena = arena_.as<float>(),
               .rope = &rope_,
               .packed = packed_.as<int32_t>(),
               .packed_words = static_cast<int64_t>(packed_.size() / sizeof(int32_t))};
  Worker worker = {.idx = idx,
                   .n = pool_.size(),
                   .scratch = scratch_.as<float>() + idx * cpu::kScratchFloats,
                   .next = nullptr,
                   .pool = &pool_};
  rope_.fill(program, worker);
  pool_.barrier();
  int64_t start = verb_ns != nullptr ? now_ns() : 0;
  for (size_t i = 0; i < program.verbs.size(); ++i) {
    // All workers have left the verb before this one, so its counter is free for the verb after this one.
    if (idx == 0) taken_[(i + 1) % 2].store(0, std::memory_order_relaxed);
    worker.next = &taken_[i % 2];
    step.packed_is_current = i > 0 && same_packed(step, program.verbs[i - 1], program.verbs[i]);
    std::visit([&](const auto& v) { cpu::run_verb(step, worker, v); }, program.verbs[i].body);
    pool_.barrier();
    if (verb_ns != nullptr) {
      const int64_t end = now_ns();
      verb_ns[i] = end - start;
      start = end;
    }
  }
}

Result<void> CpuDevice::run(const Program& program, StepTrace* trace) {
  RIDGE_CHECK_OK(check(program));
  if (trace != nullptr) trace->verb_ns.assign(program.verbs.size(), 0);
  rope_.plan(program, rope_memory_.as<float>(), static_cast<int64_t>(rope_memory_.size() / sizeof(float)));
  taken_[0].store(0, std::memory_order_relaxed);
  pool_.run([&](int idx) { work(program, idx, trace != nullptr && idx == 0 ? trace->verb_ns.data() : nullptr); });
  return {};
}

std::string describe_product(const cpu::KernelSet& kernels, const Weight& weight) {
  const DType type = weight.dtype();
  const std::string_view format = ridge::info(type).name;
  if (cpu::panels_of(weight) != nullptr)
    return fmt::format("{} x int8, vpdpbusd on panels of 16 rows, {}", format, kernels.isa);
  if (type == DType::f32) return fmt::format("f32 x f32, fma, {}", kernels.isa);
  if (cpu::format_kernels(kernels, type) == nullptr)
    return fmt::format("{} x f32, unpack (scalar) + f32 fma, {}", format, kernels.isa);
  return fmt::format("{} x f32, unpack + fma, {}", format, kernels.isa);
}

std::string CpuDevice::describe(const Verb& verb) const {
  if (const auto* m = std::get_if<verb::MatMul>(&verb.body)) return describe_product(kernels_, *m->w);
  if (const auto* m = std::get_if<verb::ExpertMatMul>(&verb.body))
    return describe_product(kernels_, *m->w) + ", by expert";
  if (const auto* e = std::get_if<verb::Embed>(&verb.body)) {
    const bool scalar = cpu::format_kernels(kernels_, e->table->dtype()) == nullptr;
    return fmt::format("embed {}, unpack{}, {}", ridge::info(e->table->dtype()).name, scalar ? " (scalar)" : "",
                       kernels_.isa);
  }
  if (std::holds_alternative<verb::Attention>(verb.body)) {
    return fmt::format("attention f32, online softmax over blocks of {}, {}", kKvBlockPositions, kernels_.isa);
  }
  return fmt::format("{} f32, {}", verb_name(verb.body), kernels_.isa);
}

}  // namespace

Result<std::unique_ptr<Device>> make_cpu_device(const DeviceOptions& options) {
  RIDGE_TRY(const cpu::KernelChoice kernels, cpu::choose_kernels(options.isa));
  return std::unique_ptr<Device>(
      std::make_unique<CpuDevice>(kernels, choose_threads(options.n_threads), options.ledger));
}

}  // namespace ridge
