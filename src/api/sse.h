// Server-sent events: one event as bytes. The data must hold no line break (JSON text has none).
#pragma once

#include <string>
#include <string_view>

namespace ridge::api {

inline std::string sse_data(std::string_view data) {
  std::string out = "data: ";
  out += data;
  out += "\n\n";
  return out;
}

inline std::string sse_event(std::string_view name, std::string_view data) {
  std::string out = "event: ";
  out += name;
  out += '\n';
  return out + sse_data(data);
}

}  // namespace ridge::api
