// Replaces the global operator new of the test program by one that counts, so that a test can say that a step allocates
// nothing. In a file of its own: where its calls could be inlined, the compiler would see new and free as a mismatched
// pair.
#include "backend/cpu/count_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> n_allocations{0};
}

long ridge::count_allocations() {
  return n_allocations.load();
}

void* operator new(std::size_t n) {
  n_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(n != 0 ? n : 1)) return p;
  throw std::bad_alloc();
}
// std::stable_sort takes its buffer by this one and gives it back by the plain delete.
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  n_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(n != 0 ? n : 1);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
