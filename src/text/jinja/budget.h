// What one render may spend. Every node evaluated, item produced and byte copied is charged, so a template's time and
// memory are bounded whatever it does; running out is an error of the template, never a hang.
#pragma once

#include <cstddef>
#include <cstdint>

#include "text/jinja/failure.h"

namespace ridge::jinja {

struct RenderLimits {
  // A step pays for four statements or loop rounds, eight expression nodes, or 256 bytes made; 10^6 are 0.1 to 0.9 s.
  // Templates that look back over the whole conversation at each message use them up at some thousands of messages.
  uint64_t steps = 1'000'000;
  size_t output_bytes = 16u << 20;  // of the rendered text, and of any single string on the way
  uint32_t macro_depth = 200;       // macros, callers and recursive loops inside each other
  size_t stack_bytes = 768u << 10;  // of the C++ stack, for whatever nesting the other limits let through
};

class Budget {
 public:
  explicit Budget(const RenderLimits& limits)
      : limits_(limits),
        units_left_(limits.steps > UINT64_MAX / kUnitsPerStep ? UINT64_MAX : limits.steps * kUnitsPerStep),
        stack_base_(static_cast<const char*>(__builtin_frame_address(0))) {}

  static constexpr uint64_t kUnitsPerStep = 8;

  void charge(uint64_t units) {
    if (units > units_left_) out_of_steps();
    units_left_ -= units;
  }
  void statement() { charge(2); }
  // A new string of so many bytes is about to be made.
  void make_bytes(uint64_t n_bytes) {
    if (n_bytes > limits_.output_bytes) {
      raise_limit("a string of {} bytes passes the limit of {}", n_bytes, limits_.output_bytes);
    }
    charge(n_bytes / 32);
  }
  // So many values are put into a new list.
  void make_items(uint64_t n) { charge(n > UINT64_MAX / 2 ? UINT64_MAX : 2 * n); }
  // A small object of its own (a string, list or dict) is made: some 150 bytes and 100 ns.
  void make_object() { charge(16); }
  // Text is about to be walked character by character, which costs some 20 ns each.
  void walk_chars(uint64_t n_bytes) { charge(n_bytes / 4); }
  void read_bytes(uint64_t n_bytes) { charge(n_bytes / 128); }

  void check_stack() const {
    const auto* here = static_cast<const char*>(__builtin_frame_address(0));
    const size_t used = static_cast<size_t>(stack_base_ > here ? stack_base_ - here : here - stack_base_);
    if (used > limits_.stack_bytes) raise("RecursionError", "maximum recursion depth exceeded");
  }

  const RenderLimits& limits() const { return limits_; }

 private:
  [[noreturn]] void out_of_steps() const {
    raise_limit("the template used up its budget of {} steps: it loops too long or builds too much", limits_.steps);
  }

  const RenderLimits limits_;
  uint64_t units_left_;
  const char* const stack_base_;
};

}  // namespace ridge::jinja
