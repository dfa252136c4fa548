// sample() and accept() allocate nothing: every call of operator new in this program is counted.
#include <atomic>
#include <cstdlib>
#include <new>

#include "sample/test_support.h"

// The sanitizers bring allocators of their own, which must not be mixed with these; there the test is skipped.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RIDGE_COUNTS_ALLOCATIONS 0
#else
#define RIDGE_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<long> n_allocations{0};
}

#if RIDGE_COUNTS_ALLOCATIONS
// Not inlined: the compiler would otherwise see free() meet the result of new and warn of a mismatch.
__attribute__((noinline)) void* operator new(std::size_t n) {
  ++n_allocations;
  if (void* p = std::malloc(n == 0 ? 1 : n)) return p;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* p) noexcept {
  std::free(p);
}
__attribute__((noinline)) void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
#endif

namespace ridge::sample {
namespace {

TEST(SamplerChain, allocates_nothing_while_it_samples) {
  if (!RIDGE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns the allocator in this build";
  const auto logits = testing::random_logits(5000, 1);
  for (int mode = 0; mode < 6; ++mode) {
    SamplingParams p;
    p.seed = 1;
    p.n_probs = 20;
    p.repeat_penalty = 1.1;
    p.repeat_last_n = p.dry_penalty_last_n = mode == 1 ? 64 : -1;
    p.dry_multiplier = 0.5;
    p.top_n_sigma = 4;
    p.typical_p = 0.9;
    p.xtc_probability = 0.5;
    p.dynatemp_range = 0.2;
    if (mode == 2) p.temperature = 0;
    if (mode == 3 || mode == 4) p.mirostat = mode - 2;
    if (mode == 5) p.top_k = 0;
    p.post_sampling_probs = mode % 2 == 1;
    SamplerChain chain = testing::chain_of(p, logits.size(), 200);
    const long before = n_allocations;
    for (uint64_t i = 0; i < 500; ++i) {
      const auto r = chain.sample(logits, 0, i);
      if (r) chain.accept(r->token);
    }
    EXPECT_EQ(n_allocations, before) << "mode " << mode;
  }
}

}  // namespace
}  // namespace ridge::sample
