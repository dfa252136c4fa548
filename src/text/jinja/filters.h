// Shared by the files that hold filters, tests, methods and global functions.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "text/jinja/interpreter.h"

namespace ridge::jinja {

// Each file of filters offers its own; filters.cc asks them in turn.
Builtin find_string_filter(std::string_view name);
Builtin find_sequence_filter(std::string_view name);
Builtin find_select_filter(std::string_view name);
Builtin find_layout_filter(std::string_view name);
Builtin find_number_filter(std::string_view name);

MarkedText escape_html(const Value& v);                                           // markupsafe.escape of a string
Value format_percent(Interpreter& in, const Value& format, const Value& values);  // "..." % values
Value format_braces(Interpreter& in, const Value& self, Arguments& args);         // "...".format(...)
std::string format_number(const Value& v, std::string_view spec, Interpreter& in);
std::string dump_json(Interpreter& in, const Value& v, const Value& ensure_ascii, const Value& indent,
                      const Value& separators, const Value& sort_keys);
std::string format_time(std::string_view format, const CivilTime& time);
CivilTime local_time();

// As std::string_view's, but linear for every needle: these are the texts of strangers.
size_t find_bytes(std::string_view text, std::string_view needle, size_t from);
size_t rfind_bytes(std::string_view text, std::string_view needle);

// Python's str algorithms on marked text, by bytes. All cost what they read and make.
MarkedText strip(Interpreter& in, const MarkedText& text, const Value& chars, bool left, bool right);
MarkedText replace_all(Interpreter& in, const MarkedText& text, const MarkedText& from, const MarkedText& to,
                       int64_t max_count);
std::vector<MarkedText> split_lines(Interpreter& in, const MarkedText& text, bool keep_ends);
Value join(Interpreter& in, const MarkedText& separator, const std::vector<Value>& items);
MarkedText spaces(Interpreter& in, int64_t n);

// foo.bar.0 as the filters' attribute= reads it.
class AttributePath {
 public:
  AttributePath(Interpreter& in, const Value& attribute);
  Value get(Interpreter& in, Value item, const Value& fallback = Value()) const;

 private:
  std::vector<Value> parts_;
};

// The key by which sort, unique, min, max and groupby compare: strings in lower case unless case_sensitive.
Value fold_key(Interpreter& in, const Value& v, bool case_sensitive);
// Python's sorted().
void sort_values(Interpreter& in, std::vector<std::pair<Value, Value>>& keyed, bool reverse);

}  // namespace ridge::jinja
