// Cosines and sines of a step's positions, once for each rope spec that its verbs name.
#pragma once

#include <array>

#include "backend/cpu/step.h"

namespace ridge::cpu {

// Angles and their functions run in double; the magnitude is multiplied in before the one rounding.
void fill_rope_row(const RopeSpec& spec, int32_t position, float* cos, float* sin);

class RopeTables {
 public:
  // Finds the specs of the program and gives each a place in `memory`; what does not fit is worked out row by row in
  // the verb, to the same bits. Engine thread.
  void plan(const Program& program, float* memory, int64_t capacity);
  // Every worker; a barrier before the tables are read.
  void fill(const Program& program, const Worker& w) const;
  // cos of row r (n_rot / 2 values), its sin right behind; nullptr: not in the tables.
  const float* row(const RopeSpec& spec, int64_t r) const;

 private:
  struct Table {
    const RopeSpec* spec = nullptr;
    float* data = nullptr;
  };
  const Table* find(const RopeSpec& spec) const;
  std::array<Table, 8> tables_;  // models have one or two
  size_t n_ = 0;
};

}  // namespace ridge::cpu
