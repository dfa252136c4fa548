// ridge device: this machine, and what an engine would use on it.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "backend/device.h"
#include "command.h"
#include "device/machine.h"
#include "term.h"

namespace ridge::app {
namespace {

std::string known(const std::string& s) {
  return s.empty() ? "not said by the system" : s;
}
std::string known(const std::optional<uint64_t>& n) {
  return n ? human_bytes(*n) : "not said by the system";
}

std::string join(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view w : words) out += fmt::format("{}{}", out.empty() ? "" : " ", w);
  return out;
}

std::string as_json(const Machine& m, const DeviceInfo& d) {
  const auto text = [](const std::string& s) {
    return s.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(s);
  };
  const auto number = [](const std::optional<uint64_t>& n) {
    return n ? nlohmann::ordered_json(*n) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json caches = nlohmann::ordered_json::array();
  for (const CacheLevel& c : m.caches) {
    caches.push_back({{"level", c.level}, {"type", c.type}, {"n_bytes", c.n_bytes}, {"shared_cpus", c.shared_cpus}});
  }
  nlohmann::ordered_json doc;
  doc["machine"] = {
      {"cpu_model", text(m.cpu_model)},
      {"architecture", text(m.architecture)},
      {"os", text(m.os)},
      {"kernel", text(m.kernel)},
      {"hypervisor", text(m.hypervisor)},
      {"n_cpus_online", m.n_cpus_online},
      {"n_numa_nodes", m.n_numa_nodes > 0 ? nlohmann::ordered_json(m.n_numa_nodes) : nlohmann::ordered_json(nullptr)},
      {"memory_bytes", number(m.memory_bytes)},
      {"memory_available_bytes", number(m.memory_available_bytes)},
      {"cgroup_memory_limit_bytes", number(m.cgroup_memory_limit_bytes)},
      {"page_bytes", m.page_bytes},
      {"caches", caches}};
  doc["device"] = {{"backend", d.name},          {"isa", d.isa},
                   {"isa_reason", d.isa_reason}, {"isas", cpu_isas()},
                   {"n_threads", d.n_threads},   {"threads_reason", d.threads_reason},
                   {"backends", device_names()}};
  return doc.dump(2) + "\n";
}

}  // namespace

int cmd_device(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("device", "this machine, its instruction sets and threads, and what will be used");
  DeviceOptions options;
  int n_threads = 0;
  std::string backend = "cpu";
  bool json = false;
  cli.value("-t, --threads", n_threads, "threads to ask for; 0 = choose", 0, 1024);
  cli.value("--isa", options.isa, "instruction set to ask for; empty = the best here");
  cli.value("--backend", backend, "cpu or reference");
  cli.flag("--json", json, "one JSON document");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;

  options.n_threads = n_threads;
  MemoryLedger ledger;
  options.ledger = &ledger;
  const auto device = make_device(backend, options);
  if (!device) return report(device.error());
  const DeviceInfo d = (*device)->info();
  const Machine m = read_machine();
  if (json) return put(as_json(m, d)) ? kExitOk : kExitFailed;

  const Style style{is_terminal(1)};
  std::string out = style.bold("machine") + "\n";
  out += fmt::format("  {}, {}, {} CPUs online, {} NUMA nodes\n", known(m.cpu_model), m.architecture, m.n_cpus_online,
                     m.n_numa_nodes > 0 ? std::to_string(m.n_numa_nodes) : "an unknown number of");
  out += fmt::format("  {}, Linux {}{}\n", known(m.os), m.kernel,
                     m.hypervisor.empty() ? "" : ", virtual machine (" + m.hypervisor + ")");
  out += fmt::format("  memory {} ({} available), cgroup limit {}\n", known(m.memory_bytes),
                     known(m.memory_available_bytes),
                     m.cgroup_memory_limit_bytes ? human_bytes(*m.cgroup_memory_limit_bytes) : "none");
  for (const CacheLevel& c : m.caches) {
    out += fmt::format("  L{} {} {} (shared by CPUs {})\n", c.level, c.type, human_bytes(c.n_bytes), c.shared_cpus);
  }
  out += style.bold("what will run") + "\n";
  out += fmt::format("  backend {} (built in: {})\n", d.name, join(device_names()));
  out += fmt::format("  isa {} (here: {}): {}\n", d.isa, join(cpu_isas()), d.isa_reason);
  out += fmt::format("  {}\n", d.threads_reason);
  return put(out) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
