// Shared by the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "text/jinja/chat_template.h"

namespace ridge::jinja::testing {

using nlohmann::ordered_json;

inline constexpr CivilTime kNow{2026, 7, 4, 9, 5, 3};

inline RenderOptions options_at_now() {
  RenderOptions options;
  options.now = kNow;
  return options;
}

// The rendered text, or "error: ..." with the whole message.
inline std::string render(std::string_view source, std::string_view variables = "{}",
                          const RenderOptions& options = options_at_now()) {
  const auto tmpl = ChatTemplate::parse(source);
  if (!tmpl) return "error: " + tmpl.error().message;
  const auto values = value_from_json(variables);
  if (!values) return "error: " + values.error().message;
  const auto text = tmpl->render(*values, options);
  return text ? *text : "error: " + text.error().message;
}

inline bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

inline ordered_json read_json(const std::string& path) {
  std::ifstream in(path);
  return ordered_json::parse(in);
}

}  // namespace ridge::jinja::testing
