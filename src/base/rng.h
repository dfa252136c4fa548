// Counter-based random numbers: a pure function of (seed, stream, position), so that batching, threads and order cannot
// change what a sequence draws. The mixer is splitmix64's finaliser (public domain), applied to each word in turn.
#pragma once

#include <cstdint>

namespace ridge {

inline uint64_t mix64(uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// 64 random bits for draw number `draw` at `position` of `stream` (a sequence) under `seed`.
inline uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t position, uint64_t draw = 0) {
  return mix64(mix64(mix64(mix64(seed) ^ stream) ^ position) ^ draw);
}

// Uniform in [0, 1) with 53 bits.
inline double random_uniform(uint64_t seed, uint64_t stream, uint64_t position, uint64_t draw = 0) {
  return static_cast<double>(random_bits(seed, stream, position, draw) >> 11) * 0x1.0p-53;
}

}  // namespace ridge
