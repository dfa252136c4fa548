#include "api/json.h"

#include <cmath>

namespace ridge::api {
namespace {

// Brackets outside strings. Counted before parsing, so that no deep value is ever built.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

bool is_neutral(const Json& v, std::initializer_list<Json> neutral) {
  if (v.is_null() || v == false || ((v.is_string() || v.is_array() || v.is_object()) && v.size() == 0) || v == "")
    return true;
  for (const Json& n : neutral) {
    if (v == n) return true;
  }
  return false;
}

// A whole number, also one written as 5.0; nullopt for anything else.
std::optional<double> whole(const Json& v) {
  if (v.is_number_integer()) return v.is_number_unsigned() ? static_cast<double>(v.get<uint64_t>()) : v.get<double>();
  if (v.is_number_float() && std::nearbyint(v.get<double>()) == v.get<double>()) return v.get<double>();
  return std::nullopt;
}

}  // namespace

Result<Json> parse_json_object(std::string_view text) {
  if (depth_of(text) > kMaxDepth) {
    return fail(ErrorCode::invalid_argument, "the body's JSON is nested deeper than {} levels", kMaxDepth);
  }
  try {
    Json value = Json::parse(text);
    if (!value.is_object())
      return fail(ErrorCode::invalid_argument, "the body: found JSON of type {}, expected an object",
                  value.type_name());
    return value;
  } catch (const Json::parse_error& e) {
    return fail(ErrorCode::invalid_argument, "the body is not valid JSON: it breaks off being so at byte {} of {}",
                e.byte, text.size());
  } catch (const Json::exception&) {
    return fail(ErrorCode::invalid_argument, "the body is not valid JSON: a number is too large for a double");
  }
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shown(const Json& value) {
  std::string text = dump(value);
  if (text.size() <= 40) return text;
  size_t n = 40;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
  return text.substr(0, n) + "...";
}

const Json* Fields::value(std::string_view name) const {
  if (error_) return nullptr;
  const auto at = object_.find(name);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

void Fields::error(std::string_view name, std::string_view problem) {
  if (error_) return;
  error_ = Error{ErrorCode::invalid_argument, fmt::format("'{}{}': {}", prefix_, name, problem)};
}

void Fields::keep(Result<void> result) {
  if (!error_ && !result) error_ = std::move(result.error());
}

Result<void> Fields::done() const {
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

void Fields::boolean(std::string_view name, bool& target) {
  const Json* v = value(name);
  if (v == nullptr) return;
  if (!v->is_boolean()) return error(name, fmt::format("found {}, expected true or false", shown(*v)));
  target = v->get<bool>();
}

void Fields::integer(std::string_view name, int32_t& target, int32_t min, int32_t max) {
  const Json* v = value(name);
  if (v == nullptr) return;
  const auto number = whole(*v);
  if (!number || *number < min || *number > max) {
    return error(name, fmt::format("found {}, expected a whole number from {} to {}", shown(*v), min, max));
  }
  target = static_cast<int32_t>(*number);
}

void Fields::text(std::string_view name, std::string& target) {
  const Json* v = value(name);
  if (v == nullptr) return;
  if (!v->is_string()) return error(name, fmt::format("found {}, expected a text", shown(*v)));
  target = v->get<std::string>();
}

void Fields::texts(std::string_view name, std::vector<std::string>& target, size_t max) {
  const Json* v = value(name);
  if (v == nullptr) return;
  target.clear();
  if (v->is_string()) {
    if (!v->get_ref<const std::string&>().empty()) target.push_back(v->get<std::string>());
    return;
  }
  if (!v->is_array()) return error(name, fmt::format("found {}, expected a text or an array of texts", shown(*v)));
  if (v->size() > max) return error(name, fmt::format("found {} texts, expected at most {}", v->size(), max));
  for (const Json& item : *v) {
    if (!item.is_string()) return error(name, fmt::format("found {} in the array, expected texts", shown(item)));
    target.push_back(item.get<std::string>());
  }
}

bool Fields::tokens(std::string_view name, std::vector<int32_t>& target) {
  const Json* v = value(name);
  if (v == nullptr) return false;
  auto ids = token_ids(*v, name);
  if (ids) target = std::move(*ids);
  if (!ids) keep(tl::unexpected<Error>(std::move(ids.error())));
  return true;
}

void Fields::refuse(std::string_view name, std::string_view why, std::initializer_list<Json> neutral) {
  const Json* v = value(name);
  if (v != nullptr && !is_neutral(*v, neutral)) error(name, fmt::format("found {}; {}", shown(*v), why));
}

Result<std::vector<int32_t>> token_ids(const Json& array, std::string_view name) {
  if (!array.is_array())
    return fail(ErrorCode::invalid_argument, "'{}': found {}, expected an array of token ids", name, shown(array));
  std::vector<int32_t> ids;
  ids.reserve(array.size());
  for (const Json& item : array) {
    const auto id = whole(item);
    if (!id || *id < 0 || *id > std::numeric_limits<int32_t>::max()) {
      return fail(ErrorCode::invalid_argument, "'{}': found {} at place {}, expected token ids", name, shown(item),
                  ids.size());
    }
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

}  // namespace ridge::api
