// The one clock: CLOCK_MONOTONIC_RAW in nanoseconds (not slewed by NTP, so stages of one run add up).
#pragma once

#include <cstdint>

namespace ridge {

// Nanoseconds since an arbitrary point; never goes back. Any thread.
int64_t now_ns();

// Nanoseconds from the start of this process to now, from the kernel's own record of the start (resolution:
// 1/_SC_CLK_TCK s, usually 10 ms), or nullopt-like -1 where /proc is not there.
int64_t process_age_ns();

inline double ms_from_ns(int64_t ns) {
  return static_cast<double>(ns) * 1e-6;
}

}  // namespace ridge
