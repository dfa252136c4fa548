// ridge ceilings: the roofs of this machine, measured once and kept.
#include <fmt/core.h>

#include "command.h"
#include "device/ceilings.h"
#include "term.h"

namespace ridge::app {
namespace {

std::string giga(double x) {
  return fmt::format("{:.1f}", x * 1e-9);
}

std::string read_table(const Ceilings& c, const Style& style) {
  Table t({"threads", "best GB/s", "median", "windows", "prefetch"}, {true, true, true, true, false});
  for (const ReadRoof& r : c.read) {
    t.row({std::to_string(r.n_threads), giga(r.bytes_s.best), giga(r.bytes_s.median),
           std::to_string(r.bytes_s.n_windows), r.prefetch ? "yes" : "no"});
  }
  return style.bold(fmt::format("reading memory ({} in {})", human_bytes(c.buffer_bytes), c.loads)) + "\n" +
         t.text(style);
}

std::string cache_table(const Ceilings& c, const Style& style) {
  if (c.caches.empty()) return "";
  Table t({"level", "size", "read", "best GB/s", "median"}, {false, true, true, true, true});
  for (const CacheRoof& r : c.caches) {
    t.row({fmt::format("L{}", r.level), human_bytes(r.n_bytes), human_bytes(r.buffer_bytes), giga(r.bytes_s.best),
           giga(r.bytes_s.median)});
  }
  return style.bold("reading caches, one core") + "\n" + t.text(style);
}

std::string peak_table(const Ceilings& c, const Style& style) {
  Table t({"type", "one core", "all", "unit", "instruction"}, {false, true, true, false, false});
  for (const PeakRoof& p : c.peaks) {
    if (p.core_ops_s && p.all_ops_s) {
      t.row({std::string(to_string(p.type)), giga(p.core_ops_s->best), giga(p.all_ops_s->best),
             p.type == PeakType::int8 ? "GOPS" : "GFLOP/s", p.instruction});
    } else {
      t.row({std::string(to_string(p.type)), "null", "null", "", p.reason});
    }
  }
  return style.bold(fmt::format("multiply and add (counted as two), {} threads", c.n_threads)) + "\n" + t.text(style);
}

}  // namespace

int cmd_ceilings(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("ceilings", "the roofs of this machine: read bandwidth, caches, peak arithmetic; measured once and kept");
  int n_threads = 0;
  bool json = false, refresh = false;
  cli.value("-t, --threads", n_threads, "most threads to measure with; 0 = choose", 0, 1024);
  cli.flag("--json", json, "one JSON document");
  cli.flag("--refresh", refresh, "measure again, whatever is kept");
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;

  const auto stored = obtain_ceilings({.n_threads = n_threads}, refresh);
  if (!stored) return report(stored.error());
  if (!stored->note.empty()) warn(stored->note);
  const Ceilings& c = stored->ceilings;
  if (json) return put(ceilings_json(c)) ? kExitOk : kExitFailed;

  const Style style{is_terminal(1)};
  std::string out = read_table(c, style) + cache_table(c, style) + peak_table(c, style);
  out += fmt::format("best: the fastest of many windows of 1.5 ms; NUMA: {}\n", c.numa_note);
  out += stored->reused
             ? fmt::format("measured {} on this machine; --refresh measures again ({})\n", c.measured_utc, stored->path)
             : fmt::format("measured now in {:.1f} s{}\n", c.took_s,
                           stored->path.empty() ? "" : ", kept in " + stored->path);
  return put(out) ? kExitOk : kExitFailed;
}

}  // namespace ridge::app
