// Which instruction sets this machine can run: asked of the processor and of the operating system (which must save the
// registers).
#pragma once

#include <string_view>

namespace ridge::cpu {

// One sentence a row: what an instruction set needs, and whether it is there.
struct IsaRow {
  std::string_view name;
  std::string_view needs;
  bool (*present)();
};

// The row of an instruction set that this build has kernels for; nullptr for any other name.
const IsaRow* find_isa(std::string_view name);

}  // namespace ridge::cpu
