// Form C: known cases of UAX #15, and utf8proc's own normalisation (slow on long runs, right on short ones) as the
// twin.
#include "text/nfc.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>

#include "base/utf8.h"

namespace ridge::text {
namespace {

std::string by_utf8proc(const std::string& text) {
  utf8proc_uint8_t* out = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &out, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string result(reinterpret_cast<char*>(out), static_cast<size_t>(n));
  std::free(out);
  return result;
}

TEST(Nfc, every_code_point_alone_and_behind_a_letter_is_as_utf8proc_has_it) {
  for (uint32_t code = 1; code < 0x30000; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string alone, behind = "e";
    utf8_append(alone, code);
    utf8_append(behind, code);
    ASSERT_EQ(nfc(alone), by_utf8proc(alone)) << std::hex << code;
    ASSERT_EQ(nfc(behind), by_utf8proc(behind)) << std::hex << code;
    ASSERT_TRUE(!surely_nfc(behind) || behind == by_utf8proc(behind)) << std::hex << code;
  }
}

TEST(Nfc, random_mixtures_are_as_utf8proc_has_them) {
  std::mt19937 random(17);
  const uint32_t parts[] = {'a',    'e',    'o',     ' ',    0xE9,   0x301,  0x302,  0x323,  0x327,  0x338,  0x345,
                            0x1100, 0x1161, 0x11A8,  0xAC00, 0xAC01, 0x9C7,  0x9BE,  0x212B, 0x1E69, 0x4E2D, 0xF900,
                            0x3042, 0x3099, 0x1D15E, 0x0344, 0x0F71, 0x0F72, 0x0DD9, 0x0DCA, 0x0DCF, 0x1F600};
  for (int round = 0; round < 50000; ++round) {
    std::string text;
    for (size_t n = random() % 10; n > 0; --n) utf8_append(text, parts[random() % std::size(parts)]);
    ASSERT_EQ(nfc(text), by_utf8proc(text));
  }
}

TEST(Nfc, bytes_that_are_not_utf8_pass_through_and_separate) {
  EXPECT_EQ(nfc("e\xFF\xCC\x81"), "e\xFF\xCC\x81");
  EXPECT_EQ(nfc("\xFF"
                "e\xCC\x81\xE4"),
            "\xFF\xC3\xA9\xE4");
  EXPECT_EQ(nfc(""), "");
}

}  // namespace
}  // namespace ridge::text
