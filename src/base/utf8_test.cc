// UTF-8 by the standard's own table of well-formed sequences, and the small things beside it.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include "base/aligned_buffer.h"
#include "base/queue.h"
#include "base/rng.h"

namespace ridge {
namespace {

TEST(Utf8, every_code_point_survives_and_every_surrogate_is_refused) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    std::string text;
    utf8_append(text, c);
    const Utf8Char read = utf8_read(text, 0);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(read.valid, !surrogate) << std::hex << static_cast<uint32_t>(c);
    ASSERT_TRUE(surrogate || (read.code == c && read.n_bytes == text.size()));
  }
}

TEST(Utf8, each_maximal_invalid_part_becomes_one_replacement) {
  const std::string r = "\xEF\xBF\xBD";
  // The example of the Unicode standard, chapter 3.9.
  EXPECT_EQ(utf8_sanitise("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a" + r + r + r + "b" + r + "c" + r + r + "d");
  EXPECT_EQ(utf8_sanitise("\xC0\xAF"), r + r);
  EXPECT_EQ(utf8_sanitise("\xF4\x90\x80\x80"), r + r + r + r);
}

TEST(Utf8, the_complete_prefix_ends_before_an_unfinished_character) {
  const std::string smile = "\xF0\x9F\x98\x80";
  for (size_t n = 1; n < 4; ++n) EXPECT_EQ(utf8_complete_prefix("ab" + smile.substr(0, n)), 2u);
  EXPECT_EQ(utf8_complete_prefix("ab" + smile), 6u);
  EXPECT_EQ(utf8_complete_prefix("ab\xFF"), 3u) << "a byte that nothing can complete is not waited for";
  EXPECT_FALSE(utf8_is_valid("ab\xFF"));
}

TEST(Rng, a_draw_is_a_function_of_its_place) {
  EXPECT_EQ(random_bits(1, 2, 3, 4), random_bits(1, 2, 3, 4));
  EXPECT_NE(random_bits(1, 2, 3), random_bits(1, 3, 2));
  double sum = 0;
  for (uint64_t i = 0; i < 100000; ++i) {
    const double u = random_uniform(7, 0, i);
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(AlignedBuffer, is_aligned_zeroed_and_refuses_what_cannot_be) {
  const auto b = AlignedBuffer::allocate(1000);
  ASSERT_TRUE(b);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % kBufferAlign, 0u);
  for (const std::byte x : b->bytes()) ASSERT_EQ(x, std::byte{0});
  EXPECT_FALSE(AlignedBuffer::allocate(SIZE_MAX));
  fail_allocations_from(1);
  EXPECT_FALSE(AlignedBuffer::allocate(10));
  fail_allocations_from(0);
}

TEST(BoundedQueue, full_is_an_answer_and_close_ends_the_waiting) {
  BoundedQueue<int> q(2);
  EXPECT_TRUE(q.try_push(1));
  EXPECT_TRUE(q.try_push(2));
  EXPECT_FALSE(q.try_push(3));
  EXPECT_EQ(q.pop(), 1);
  q.close();
  EXPECT_FALSE(q.try_push(4));
  EXPECT_EQ(q.pop(), 2);
  EXPECT_EQ(q.pop(), std::nullopt);
}

}  // namespace
}  // namespace ridge
