#include "base/clock.h"

#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ridge {

int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int64_t process_age_ns() {
  std::FILE* f = std::fopen("/proc/self/stat", "r");
  if (f == nullptr) return -1;
  char buffer[1024];
  const size_t n = std::fread(buffer, 1, sizeof(buffer) - 1, f);
  std::fclose(f);
  buffer[n] = 0;
  // Field 22 is the start time in clock ticks since boot; field 2 may hold spaces, so count from its closing bracket.
  const char* p = std::strrchr(buffer, ')');
  if (p == nullptr) return -1;
  for (int field = 2; field < 22 && p != nullptr; ++field) p = std::strchr(p + 1, ' ');
  if (p == nullptr) return -1;
  const long long ticks = std::atoll(p + 1);
  const long hz = sysconf(_SC_CLK_TCK);
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  const int64_t now = int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  const int64_t age = now - ticks * (1'000'000'000 / hz);
  return age < 0 ? 0 : age;
}

}  // namespace ridge
