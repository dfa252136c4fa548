// The results as llama-bench prints them: the same columns and field names in the same order; what Ridge adds stands
// behind them. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/speed.h"

namespace ridge::bench {

enum class OutputFormat : uint8_t { md, csv, json, jsonl, sql };
// Error: invalid_argument with the list.
Result<OutputFormat> parse_output_format(std::string_view text);

struct OutputContext {
  OutputFormat format = OutputFormat::md;
  Axes axes;  // columns of the Markdown table appear when an axis is swept or not at its default
  std::string cpu_info;
};
// What comes before the first row, for a row (`idx` counts from 0), and after the last.
std::string output_begin(const OutputContext& context);
std::string output_row(const OutputContext& context, const SpeedResult& r, size_t idx);
std::string output_end(const OutputContext& context, std::span<const SpeedResult> results);

// One sentence each: why a share is missing, a roof that was beaten, synthetic weights. For standard error where the
// format has no place for them.
std::vector<std::string> remarks(std::span<const SpeedResult> results);

inline constexpr std::string_view kSyntheticRemark = "synthetic weights, speed only";

}  // namespace ridge::bench
