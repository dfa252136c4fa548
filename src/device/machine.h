// What this machine is, as its system says it: processor, caches, memory, limits. Read once, on demand; any thread.
// Unknown is an empty string or nullopt, never an invented number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridge {

struct CacheLevel {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  uint64_t n_bytes = 0;
  std::string shared_cpus;
};

struct Machine {
  std::string cpu_model, architecture, kernel, os, hypervisor;
  int n_cpus_online = 0;
  std::vector<CacheLevel> caches;  // of CPU 0
  std::optional<uint64_t> memory_bytes, memory_available_bytes;
  std::optional<uint64_t> cgroup_memory_limit_bytes;
  int n_numa_nodes = 0;  // 0: the system does not say
  uint64_t page_bytes = 0;
};

Machine read_machine();

// What a process may still take: the smaller of available memory and what its cgroup leaves. nullopt: the system does
// not say.
std::optional<uint64_t> memory_budget_bytes();

}  // namespace ridge
