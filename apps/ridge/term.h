// How the program writes: tables and colour on a terminal, plain text in a pipe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::app {

bool is_terminal(int fd);
// Escape codes only when standard error / output is a terminal and NO_COLOR-like wishes do not stand against it.
struct Style {
  bool colour = false;
  std::string bold(std::string_view s) const { return paint("1", s); }
  std::string dim(std::string_view s) const { return paint("2", s); }
  std::string warn(std::string_view s) const { return paint("33", s); }
  std::string bad(std::string_view s) const { return paint("31", s); }
  std::string good(std::string_view s) const { return paint("32", s); }

 private:
  std::string paint(std::string_view code, std::string_view s) const;
};

// Columns of text; numbers are aligned right when `right` says so. Widths count characters, not bytes.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::vector<bool> right);
  void row(std::vector<std::string> cells);
  void rule();  // a line before the next row
  std::string text(const Style& style, std::string_view indent = "  ") const;

 private:
  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

// "1.50 GiB", "12 KiB", "0 B".
std::string human_bytes(uint64_t n_bytes);
// "1,234,567"
std::string grouped(uint64_t n);
// Columns that text takes on a terminal (wide East Asian characters take two).
size_t display_width(std::string_view text);

}  // namespace ridge::app
