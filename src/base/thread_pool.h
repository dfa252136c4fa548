// Worker threads for kernels: one parallel region a step, a barrier between verbs inside it.
// The calling thread is worker 0, so a pool of n has n - 1 threads of its own. One caller at a time (the engine
// thread).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ridge {

// What the machine lets this process use, and the default that follows.
struct ThreadChoice {
  int n_threads = 1;
  int n_affinity = 1;       // CPUs in the affinity mask
  int n_physical = 1;       // physical cores among them
  double cgroup_quota = 0;  // CPUs granted by the cgroup; 0 = no limit
  std::string reason;       // one sentence: which of them decided
};
// n_wanted 0 = default: min(affinity, cgroup quota rounded up, physical cores).
ThreadChoice choose_threads(int n_wanted);

class ThreadPool {
 public:
  explicit ThreadPool(int n_threads, bool pin = true);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return n_threads_; }

  // Runs body(thread_idx) on every worker and returns when all are done. body must not throw.
  // `body` is called through a plain pointer: no allocation in a step.
  template <class F>
  void run(F&& body) {
    run_raw([](void* ctx, int idx) { (*static_cast<std::remove_reference_t<F>*>(ctx))(idx); }, &body);
  }

  // Inside run(): waits until every worker is here. Spins ~20 us, then yields, so an oversubscribed machine still
  // moves.
  void barrier();

 private:
  using Body = void (*)(void*, int);
  void run_raw(Body body, void* ctx);
  void worker(int idx, bool pin);

  int n_threads_;
  std::vector<std::thread> threads_;
  alignas(64) std::atomic<uint32_t> generation_{0};  // bumped to start a region
  alignas(64) std::atomic<uint32_t> n_done_{0};
  alignas(64) std::atomic<uint32_t> barrier_count_{0};
  alignas(64) std::atomic<uint32_t> barrier_phase_{0};
  std::atomic<bool> stop_{false};
  Body body_ = nullptr;
  void* ctx_ = nullptr;
};

}  // namespace ridge
