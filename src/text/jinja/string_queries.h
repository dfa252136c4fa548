// The methods of str that look and do not change: find, startswith, isdigit and their like.
#pragma once

#include <string_view>

#include "text/jinja/interpreter.h"

namespace ridge::jinja {

Method find_string_query(std::string_view name);
bool every_cased_char_is(std::string_view text, bool lower);  // islower, isupper

}  // namespace ridge::jinja
