#include "term.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/utf8.h"

namespace ridge::app {

bool is_terminal(int fd) {
  return isatty(fd) == 1;
}

std::string Style::paint(std::string_view code, std::string_view s) const {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, s) : std::string(s);
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = utf8_read(text, i);
    // Hangul, CJK, fullwidth forms and emoji take two columns; enough for names and table cells.
    const bool wide = (c.code >= 0x1100 && c.code <= 0x115F) || (c.code >= 0x2E80 && c.code <= 0xA4CF) ||
                      (c.code >= 0xAC00 && c.code <= 0xD7A3) || (c.code >= 0xF900 && c.code <= 0xFAFF) ||
                      (c.code >= 0xFF00 && c.code <= 0xFF60) || (c.code >= 0x1F300 && c.code <= 0x1FAFF);
    width += wide ? 2 : 1;
    i += c.n_bytes;
  }
  return width;
}

Table::Table(std::vector<std::string> header, std::vector<bool> right)
    : header_(std::move(header)), right_(std::move(right)) {}

void Table::row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}
void Table::rule() {
  rows_.emplace_back();
}

std::string Table::text(const Style& style, std::string_view indent) const {
  std::vector<size_t> width(header_.size());
  for (size_t c = 0; c < header_.size(); ++c) {
    width[c] = display_width(header_[c]);
    for (const auto& r : rows_) {
      if (c < r.size()) width[c] = std::max(width[c], display_width(r[c]));
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out(indent);
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string pad(width[c] - display_width(cells[c]), ' ');
      out += right_[c] ? pad + cells[c] : cells[c] + (c + 1 < cells.size() ? pad : "");
      if (c + 1 < cells.size()) out += "  ";
    }
    return out + "\n";
  };
  size_t total = 0;
  for (const size_t w : width) total += w + 2;
  std::string out;
  std::string head = line(header_);
  head.pop_back();
  out += style.dim(head) + "\n";
  for (const auto& r : rows_)
    out += r.empty() ? std::string(indent) + style.dim(std::string(total - 2, '-')) + "\n" : line(r);
  return out;
}

std::string human_bytes(uint64_t n) {
  const double x = static_cast<double>(n);
  if (n >= uint64_t{1} << 30) return fmt::format("{:.2f} GiB", x / (1u << 30));
  if (n >= 1u << 20) return fmt::format("{:.2f} MiB", x / (1u << 20));
  if (n >= 1u << 10) return fmt::format("{:.1f} KiB", x / (1u << 10));
  return fmt::format("{} B", n);
}

std::string grouped(uint64_t n) {
  std::string s = std::to_string(n);
  for (size_t at = s.size(); at > 3;) s.insert(at -= 3, ",");
  return s;
}

}  // namespace ridge::app
