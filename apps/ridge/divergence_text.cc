#include "divergence_text.h"

#include <fmt/core.h>

namespace ridge::app {
namespace {

using quality::Estimate;

std::string with_error(std::string_view name, const Estimate& e, double times = 1, std::string_view unit = "") {
  return fmt::format("{:<30}: {:11.6f} ± {:10.6f}{}\n", name, times * e.value, times * e.error, unit);
}

}  // namespace

std::string divergence_heading() {
  return "chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS          "
         "  "
         "Same top p\n";
}

std::string divergence_line(size_t chunk_idx, const quality::Divergence& d) {
  const Estimate ppl = d.q().perplexity(), ratio = d.log_ratio(), kl = d.mean_kl(), rms = d.rms_delta_p(),
                 same = d.same_top();
  return fmt::format(
      "{:4}  {:10.4f} ± {:8.4f}  {:10.5f} ± {:8.5f}  {:10.5f} ± {:8.5f}  {:7.3f} ± {:6.3f} %  {:7.3f} ± "
      "{:6.3f} %\n",
      chunk_idx + 1, ppl.value, ppl.error, ratio.value, ratio.error, kl.value, kl.error, 100 * rms.value,
      100 * rms.error, 100 * same.value, 100 * same.error);
}

std::string divergence_text(const quality::Divergence& d) {
  std::string out = "\n====== Perplexity statistics ======\n";
  out += with_error("Mean PPL(Q)", d.q().perplexity());
  out += with_error("Mean PPL(base)", d.base().perplexity());
  out += fmt::format("{:<30}: {:6.2f}%\n", "Cor(ln(PPL(Q)), ln(PPL(base)))", 100 * d.correlation());
  out += with_error("Mean ln(PPL(Q)/PPL(base))", d.log_ratio());
  out += with_error("Mean PPL(Q)/PPL(base)", d.ratio());
  out += with_error("Mean PPL(Q)-PPL(base)", d.difference());
  struct Place {
    const char* name;
    double share;
  };
  out += "\n====== KL divergence statistics ======\n";
  out += fmt::format("Mean    KLD: {:10.6f} ± {:10.6f}\n", d.mean_kl().value, d.mean_kl().error);
  for (const Place p : {Place{"Maximum", 1}, Place{"99.9%  ", 0.999}, Place{"99.0%  ", 0.99}, Place{"95.0%  ", 0.95},
                        Place{"90.0%  ", 0.9}, Place{"Median ", 0.5}, Place{"10.0%  ", 0.1}, Place{" 5.0%  ", 0.05},
                        Place{" 1.0%  ", 0.01}, Place{" 0.1%  ", 0.001}, Place{"Minimum", 0}})
    out += fmt::format("{} KLD: {:10.6f}\n", p.name, d.kl_percentile(p.share));
  out += "\n====== Token probability statistics ======\n";
  out += fmt::format("Mean    Δp: {:6.3f} ± {:5.3f} %\n", 100 * d.mean_delta_p().value, 100 * d.mean_delta_p().error);
  for (const Place p : {Place{"Maximum", 1}, Place{"99.9%  ", 0.999}, Place{"99.0%  ", 0.99}, Place{"95.0%  ", 0.95},
                        Place{"90.0%  ", 0.9}, Place{"75.0%  ", 0.75}, Place{"Median ", 0.5}, Place{"25.0%  ", 0.25},
                        Place{"10.0%  ", 0.1}, Place{" 5.0%  ", 0.05}, Place{" 1.0%  ", 0.01}, Place{" 0.1%  ", 0.001},
                        Place{"Minimum", 0}})
    out += fmt::format("{} Δp: {:6.3f}%\n", p.name, 100 * d.delta_p_percentile(p.share));
  out += fmt::format("RMS Δp    : {:6.3f} ± {:5.3f} %\n", 100 * d.rms_delta_p().value, 100 * d.rms_delta_p().error);
  out += fmt::format("Same top p: {:6.3f} ± {:5.3f} %\n", 100 * d.same_top().value, 100 * d.same_top().error);
  return out;
}

}  // namespace ridge::app
