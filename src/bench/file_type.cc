#include "bench/file_type.h"

#include "quant/mix.h"

namespace ridge::bench {

std::string file_type_name(uint32_t file_type) {
  if (file_type == 0) return "all F32";
  for (const quant::Target& t : quant::targets()) {
    if (t.file_type != file_type) continue;
    std::string name(t.name);
    // Only names of mixes end so: Q4_K_M.
    const auto spell = [&name](std::string_view end, std::string_view word) {
      if (name.size() <= end.size() || !name.ends_with(end)) return false;
      name.replace(name.size() - end.size(), end.size(), word);
      return true;
    };
    if (spell("_K_S", "_K - Small") || spell("_K_M", "_K - Medium") || spell("_K_L", "_K - Large")) return name;
    return name;
  }
  return "";
}

}  // namespace ridge::bench
