#include "show_brief.h"

#include <fmt/core.h>

#include <algorithm>

namespace ridge::app {
namespace {

constexpr size_t kBarCells = 28;
constexpr size_t kTopStages = 6;

// A bar in eighths of a character cell.
std::string bar(double share) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kBarCells * 8 + 0.5);
  std::string out;
  for (size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + kEighths[eighths % 8];
}

std::string line(const std::string& name, double ms, double elapsed_ms, const Style& style, bool dim) {
  const double share = elapsed_ms > 0 ? ms / elapsed_ms : 0;
  const std::string head = fmt::format("  {:<22}{:>10.2f} ms {:>5.1f} %  ", name, ms, 100 * share);
  return (dim ? style.dim(head) : head) + style.good(bar(share)) + "\n";
}

std::string time_bars(const TimeBudget& whole, const Style& style) {
  std::vector<StageTime> stages = whole.stages;
  std::stable_sort(stages.begin(), stages.end(), [](const StageTime& a, const StageTime& b) { return a.ms > b.ms; });
  std::string out;
  double others_ms = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (i < kTopStages)
      out += line(stages[i].name, stages[i].ms, whole.elapsed_ms, style, false);
    else
      others_ms += stages[i].ms;
  }
  if (stages.size() > kTopStages) {
    out += line(fmt::format("{} other stages", stages.size() - kTopStages), others_ms, whole.elapsed_ms, style, false);
  }
  return out + line("not explained", whole.residual_ms, whole.elapsed_ms, style, true);
}

std::string speed(const char* name, const PhaseWork& w) {
  if (w.n_steps == 0 || w.forward_ms <= 0) return "";
  const double bytes = w.weight_bytes + w.kv_read_bytes + w.kv_write_bytes + w.activation_bytes;
  return fmt::format("  {:<8} {:>4} tokens in {:>7.2f} ms  {:>7.1f} tok/s  {:>6.2f} GFLOP/s  {:>6.2f} GB/s\n", name,
                     w.n_tokens, w.forward_ms, static_cast<double>(w.n_tokens) / w.forward_ms * 1e3,
                     w.flops / w.forward_ms * 1e-6, bytes / w.forward_ms * 1e-6);
}

// The largest owners, as many as a line of 80 columns holds.
std::string memory_line(const MemoryBook& m) {
  std::vector<MemoryLine> owners;
  for (const MemoryLine& l : m.lines) {
    auto same = std::find_if(owners.begin(), owners.end(), [&](const MemoryLine& o) { return o.owner == l.owner; });
    if (same == owners.end())
      owners.push_back(l);
    else
      same->current_bytes += l.current_bytes;
  }
  std::stable_sort(owners.begin(), owners.end(),
                   [](const MemoryLine& a, const MemoryLine& b) { return a.current_bytes > b.current_bytes; });
  std::string out = fmt::format("  {}", human_bytes(m.tagged_bytes));
  std::string separator = " = ";
  for (const MemoryLine& o : owners) {
    const std::string part = fmt::format("{}{} {}", separator, o.owner, human_bytes(o.current_bytes));
    if (o.current_bytes == 0 || out.size() + part.size() > 76) break;
    out += part;
    separator = " + ";
  }
  return out + " + ...\n";
}

}  // namespace

std::string account_card(const RunAccount& a, const Style& style) {
  std::string out = style.bold("time") +
                    fmt::format("   {:.1f} ms from process start, first token {:.1f} ms after it was asked for\n",
                                a.whole.elapsed_ms, a.request.ttft_ms);
  out += time_bars(a.whole, style);
  out += style.bold("speed") + fmt::format("  {} kernels, {} threads\n", a.path.isa, a.path.n_threads);
  out += speed("prefill", a.request.prefill) + speed("decode", a.request.decode);
  out += style.bold("memory") + memory_line(a.memory);
  return out;
}

}  // namespace ridge::app
