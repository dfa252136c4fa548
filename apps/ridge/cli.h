// Flags of a subcommand: llama.cpp's spellings (single-dash words such as -ngl included), typed targets, one error
// sentence, the nearest known flag for a misspelt one. CLI11 does the parsing, in cli.cc alone, for it is slow to
// compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ridge::app {

class Cli {
 public:
  Cli(std::string command, std::string about);
  ~Cli();
  Cli(const Cli&) = delete;
  Cli& operator=(const Cli&) = delete;

  using Setter = std::function<Result<void>(std::string_view value)>;

  // names: "-ngl, --gpu-layers". The target keeps its value, shown as the default, when the flag is absent.
  void flag(std::string names, bool& target, std::string help);
  void value(std::string names, std::string& target, std::string help);
  void value(std::string names, int& target, std::string help, int min, int max);
  void values(std::string names, std::vector<std::string>& target, std::string help);  // may be repeated
  void setter(std::string names, Setter set, std::string help, std::string default_text);
  // The value may be left out: then it is `bare`.
  void optional_value(std::string names, std::string& target, std::string bare, std::string help);
  // A switch that may be given a value too (--flag, --flag off); the setter gets "" for the bare form.
  void optional_setter(std::string names, Setter set, std::string help);
  // The one word without a flag.
  void positional(std::string name, std::string& target, std::string help);

  // Several words without a flag; the command says how many it wants.
  void positionals(std::string name, std::vector<std::string>& target, std::string help);

  enum class Parsed : uint8_t { run, help_was_printed };
  // Errors: invalid_argument.
  Result<Parsed> parse(const std::vector<std::string>& args);
  bool given(std::string_view name) const;
  bool has_positional() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The name among `known` that is nearest to `word` by edits, or "" when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace ridge::app
