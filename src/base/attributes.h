// Compiler attributes, by name. One of the few places where the house allows macros.
#pragma once

// For helpers of kernel files: never emitted on their own, so no copy compiled for one instruction set can reach
// another file.
#define RIDGE_INLINE inline __attribute__((always_inline))
// The same after a lambda's parameter list.
#define RIDGE_INLINE_LAMBDA __attribute__((always_inline))
