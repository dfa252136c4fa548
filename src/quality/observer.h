// A device that looks on: it hands every step to another device verb by verb, and before each matrix product adds the
// squares of the product's inputs to an importance matrix. Exact, and slower than the device alone: it is for
// collecting, not for serving. Source of what is collected: llama-imatrix (llama.cpp, tools/imatrix).
#pragma once

#include "backend/device.h"
#include "quality/imatrix.h"

namespace ridge::quality {

class ObservingDevice final : public Device {
 public:
  // Both outlive it. with_output: the output matrix too.
  ObservingDevice(Device& device, Imatrix& into, bool with_output)
      : device_(device), into_(into), with_output_(with_output) {}

  DeviceInfo info() const override { return device_.info(); }
  size_t prepared_bytes(const Weight& weight) const override { return device_.prepared_bytes(weight); }
  Result<void> prepare(Weight& weight) override { return device_.prepare(weight); }
  Result<void> reserve(int64_t arena_floats) override { return device_.reserve(arena_floats); }
  std::vector<Scratch> scratch(int64_t arena_floats) const override { return device_.scratch(arena_floats); }
  Result<void> run(const Program& program, StepTrace* trace) override;
  MatrixView<const float> read(const Act& act) const override { return device_.read(act); }
  std::string describe(const Verb& verb) const override { return device_.describe(verb); }

 private:
  ImatrixEntry* entry_of(const Weight& weight);
  void observe(const verb::MatMul& m);
  void observe(const verb::ExpertMatMul& m);

  Device& device_;
  Imatrix& into_;
  bool with_output_;
};

}  // namespace ridge::quality
