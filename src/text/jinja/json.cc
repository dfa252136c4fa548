// JSON to values. The only file here that includes nlohmann-json, whose event interface keeps the order of keys, the
// digits of long integers, and no tree of its own.
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "text/jinja/objects.h"

namespace ridge::jinja {

namespace {

constexpr size_t kMaxDepth = 64;

// Names that templates join into control tokens ("<|" + role + "|>"), and that nobody can abuse.
bool is_known_role(std::string_view text) {
  for (const std::string_view role :
       {"system", "user", "assistant", "tool", "developer", "function", "ipython", "model"}) {
    if (text == role) return true;
  }
  return false;
}

class Reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Value take() { return std::move(result_); }
  const std::string& problem() const { return problem_; }

  bool null() override { return put(Value::none()); }
  bool boolean(bool b) override { return put(Value::boolean(b)); }
  bool number_integer(number_integer_t i) override { return put(Value::integer(i)); }
  bool number_unsigned(number_unsigned_t u) override {
    if (u <= static_cast<number_unsigned_t>(INT64_MAX)) return put(Value::integer(static_cast<int64_t>(u)));
    return put(big(fmt::format("{}", u)));
  }
  bool number_float(number_float_t d, const string_t& digits) override {
    const bool is_whole = digits.find_first_of(".eE") == std::string::npos;
    return put(is_whole ? big(digits) : Value::real(d));
  }
  bool string(string_t& s) override {
    const bool trusted = !open_.empty() && open_.back().is_dict && open_.back().key_is_role && is_known_role(s);
    return put(trusted ? Value::trusted_string(std::move(s)) : Value::string(std::move(s)));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return start(true); }
  bool start_array(size_t) override { return start(false); }
  bool key(string_t& s) override {
    open_.back().key_is_role = s == "role";
    open_.back().key = Value::string(std::move(s));
    return true;
  }
  bool end_object() override {
    Value v = Value::dict(std::move(open_.back().entries));
    open_.pop_back();
    return put(std::move(v));
  }
  bool end_array() override {
    Value v = Value::list(std::move(open_.back().items));
    open_.pop_back();
    return put(std::move(v));
  }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception& e) override {
    // The library's text quotes its own numbering first: "[json.exception.parse_error.101] parse error at line 1, ..."
    const std::string_view text = e.what();
    const size_t bracket = text.find("] ");
    problem_ = fmt::format("byte {}: {}", at, bracket == std::string_view::npos ? text : text.substr(bracket + 2));
    return false;
  }

 private:
  struct Open {
    bool is_dict = false, key_is_role = false;
    Value key;
    std::vector<Value> items;
    std::vector<std::pair<Value, Value>> entries;
  };

  static Value big(std::string digits) { return Value::object(std::make_shared<BigIntegerObject>(std::move(digits))); }

  bool start(bool is_dict) {
    if (open_.size() >= kMaxDepth) {
      problem_ = fmt::format("nested deeper than {} levels", kMaxDepth);
      return false;
    }
    open_.emplace_back().is_dict = is_dict;
    return true;
  }

  bool put(Value v) {
    if (open_.empty()) {
      result_ = std::move(v);
    } else if (open_.back().is_dict) {
      open_.back().entries.emplace_back(std::move(open_.back().key), std::move(v));
    } else {
      open_.back().items.push_back(std::move(v));
    }
    return true;
  }

  std::vector<Open> open_;
  Value result_;
  std::string problem_;
};

}  // namespace

Result<Value> value_from_json(std::string_view json) {
  try {
    Reader reader;
    if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
      return fail(ErrorCode::invalid_argument, "JSON: {}",
                  reader.problem().empty() ? "not understood" : reader.problem());
    }
    return reader.take();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "JSON of {} bytes: not enough memory to read it", json.size());
  } catch (const std::exception& e) {
    return fail(ErrorCode::invalid_argument, "JSON: {}", e.what());
  }
}

}  // namespace ridge::jinja
