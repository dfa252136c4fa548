// The numbers of general.file_type and how llama.cpp prints them: "Q4_K - Medium".
#pragma once

#include <cstdint>
#include <string>

namespace ridge::bench {

// "" for a number that no mix here has.
std::string file_type_name(uint32_t file_type);

}  // namespace ridge::bench
