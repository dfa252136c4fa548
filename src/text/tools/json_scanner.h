// Follows a JSON value byte by byte and says where it ends, so that a part of it can be handed on before it is whole.
// Knows nesting and strings; the bytes between are looked at by whoever parses the whole. One thread.
#pragma once

#include <cstdint>
#include <string>

namespace ridge::tools {

class JsonScanner {
 public:
  // True when `c` was the last byte of the value, or, for a number or a word, the first one behind it.
  bool push(char c) {
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
        return depth_ == 0;
      }
      return false;
    }
    if (c == '"') {
      started_ = in_string_ = true;
    } else if (c == '{' || c == '[') {
      started_ = true;
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (depth_ == 0) return ended_behind_ = true;
      return --depth_ == 0;
    } else if (depth_ == 0 && started_ && (c == ',' || c == ' ' || c == '\n')) {
      return ended_behind_ = true;
    } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      started_ = true;
    }
    return false;
  }
  bool started() const { return started_; }
  bool in_string() const { return in_string_; }
  int depth() const { return depth_; }
  // The last push() looked at a byte that is no part of the value.
  bool ended_behind() const { return ended_behind_; }

 private:
  bool in_string_ = false, escaped_ = false, started_ = false, ended_behind_ = false;
  int depth_ = 0;
};

}  // namespace ridge::tools
