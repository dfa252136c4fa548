// Source: /proc/cpuinfo, /proc/meminfo, /sys/devices/system, uname, cgroup v2.
#include "device/machine.h"

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace ridge {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream f(path);
  std::string line;
  std::getline(f, line);
  return line;
}

// The text after "key : " in a file of such lines.
std::string field(const std::string& path, const std::string& key) {
  std::ifstream f(path);
  std::string line;
  while (std::getline(f, line)) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t at = line.find_first_not_of(" \t", colon + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

std::optional<uint64_t> meminfo(const std::string& key) {
  const std::string text = field("/proc/meminfo", key);
  if (text.empty()) return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10) * 1024;
}

std::string cgroup_dir() {
  std::ifstream f("/proc/self/cgroup");
  std::string line;
  while (std::getline(f, line)) {
    if (line.rfind("0::", 0) == 0) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "/sys/fs/cgroup";
}

std::optional<uint64_t> cgroup_number(const std::string& name) {
  const std::string text = first_line(cgroup_dir() + "/" + name);
  if (text.empty() || text == "max") return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::vector<CacheLevel> read_caches() {
  std::vector<CacheLevel> caches;
  for (int i = 0; i < 8; ++i) {
    const std::string dir = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string size = first_line(dir + "size");
    if (size.empty()) break;
    CacheLevel c;
    c.level = static_cast<int>(std::strtol(first_line(dir + "level").c_str(), nullptr, 10));
    c.type = first_line(dir + "type");
    c.n_bytes = std::strtoull(size.c_str(), nullptr, 10) * (size.back() == 'M' ? 1024u * 1024u : 1024u);
    c.shared_cpus = first_line(dir + "shared_cpu_list");
    caches.push_back(std::move(c));
  }
  return caches;
}

}  // namespace

Machine read_machine() {
  Machine m;
  m.cpu_model = field("/proc/cpuinfo", "model name");
  utsname u{};
  if (uname(&u) == 0) {
    m.architecture = u.machine;
    m.kernel = u.release;
  }
  std::ifstream os("/etc/os-release");
  std::string line;
  while (std::getline(os, line)) {
    if (line.rfind("PRETTY_NAME=", 0) == 0 && line.size() > 14) m.os = line.substr(13, line.size() - 14);
  }
  const std::string flags = field("/proc/cpuinfo", "flags");
  if (flags.find(" hypervisor") != std::string::npos) {
    m.hypervisor = first_line("/sys/class/dmi/id/sys_vendor");
    if (m.hypervisor.empty()) m.hypervisor = "yes, of unknown kind";
  }
  m.n_cpus_online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  m.caches = read_caches();
  m.memory_bytes = meminfo("MemTotal");
  m.memory_available_bytes = meminfo("MemAvailable");
  m.cgroup_memory_limit_bytes = cgroup_number("memory.max");
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", ec)) {
    const std::string name = entry.path().filename().string();
    m.n_numa_nodes += name.rfind("node", 0) == 0 && name.size() > 4 && name[4] >= '0' && name[4] <= '9';
  }
  m.page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return m;
}

std::optional<uint64_t> memory_budget_bytes() {
  std::optional<uint64_t> budget = meminfo("MemAvailable");
  if (const auto limit = cgroup_number("memory.max")) {
    const uint64_t used = cgroup_number("memory.current").value_or(0);
    const uint64_t left = *limit > used ? *limit - used : 0;
    budget = budget ? std::min(*budget, left) : left;
  }
  return budget;
}

}  // namespace ridge
