// The pool: every worker runs, regions follow each other, barriers hold, also with more workers than cores.
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace ridge {
namespace {

TEST(ThreadPool, every_worker_runs_once_a_region) {
  for (const int n : {1, 2, 3, 8}) {
    ThreadPool pool(n);
    std::vector<int> runs(static_cast<size_t>(n), 0);
    for (int region = 0; region < 200; ++region) pool.run([&](int idx) { ++runs[static_cast<size_t>(idx)]; });
    for (const int r : runs) EXPECT_EQ(r, 200);
  }
}

TEST(ThreadPool, a_barrier_orders_what_is_written_before_it_and_read_after) {
  for (const int n : {2, 5}) {
    ThreadPool pool(n);
    std::vector<int> values(static_cast<size_t>(n), 0);
    std::atomic<int> n_wrong{0};
    pool.run([&](int idx) {
      for (int round = 1; round <= 300; ++round) {
        values[static_cast<size_t>(idx)] = round;  // plain memory: the barrier alone makes it visible
        pool.barrier();
        for (const int v : values) n_wrong += v != round;
        pool.barrier();
      }
    });
    EXPECT_EQ(n_wrong, 0);
  }
}

TEST(ThreadPool, workers_that_slept_wake_for_the_next_region) {
  ThreadPool pool(3);
  std::atomic<int> n_runs{0};
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.run([&](int) { ++n_runs; });
  }
  EXPECT_EQ(n_runs, 9);
}

TEST(ThreadPool, the_choice_of_threads_says_what_decided) {
  const ThreadChoice asked = choose_threads(5), chosen = choose_threads(0);
  EXPECT_EQ(asked.n_threads, 5);
  EXPECT_NE(asked.reason.find("as asked"), std::string::npos);
  EXPECT_GE(chosen.n_threads, 1);
  EXPECT_LE(chosen.n_threads, chosen.n_affinity);
  EXPECT_NE(chosen.reason.find("decided by"), std::string::npos);
}

}  // namespace
}  // namespace ridge
