#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace ridge {
namespace {

// A worker polls this many times before it sleeps (start of a region) or yields (barrier). About 20-50 us on current
// cores: longer than the gap between two verbs, shorter than a scheduler tick.
constexpr int kSpins = 4000;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

std::vector<int> affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

int count_physical(const std::vector<int>& cpus) {
  std::set<std::pair<int, int>> cores;
  for (const int cpu : cpus) {
    const auto read = [&](const char* what) {
      std::ifstream f(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", cpu, what));
      int v = -1;
      f >> v;
      return f ? v : -1;
    };
    const int core = read("core_id");
    cores.insert(core < 0 ? std::pair{-1, cpu} : std::pair{read("physical_package_id"), core});
  }
  return static_cast<int>(cores.size());
}

// cgroup v2 cpu.max of this process's group; 0 when there is no limit or no such file.
double cgroup_quota() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line, path;
  while (std::getline(groups, line)) {
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  }
  double best = 0;
  // A limit may stand at any level above; the tightest counts.
  while (true) {
    std::ifstream f("/sys/fs/cgroup" + path + "/cpu.max");
    std::string quota;
    double period = 0;
    if (f >> quota >> period && quota != "max" && period > 0) {
      const double cpus = std::atof(quota.c_str()) / period;
      if (cpus > 0 && (best == 0 || cpus < best)) best = cpus;
    }
    const size_t slash = path.find_last_of('/');
    if (path.empty() || slash == std::string::npos) break;
    path.resize(slash);
  }
  return best;
}

}  // namespace

ThreadChoice choose_threads(int n_wanted) {
  ThreadChoice c;
  const std::vector<int> cpus = affinity_cpus();
  c.n_affinity = static_cast<int>(cpus.size());
  c.n_physical = count_physical(cpus);
  c.cgroup_quota = cgroup_quota();
  const int quota = c.cgroup_quota > 0 ? std::max(1, static_cast<int>(std::ceil(c.cgroup_quota))) : c.n_affinity;
  if (n_wanted > 0) {
    c.n_threads = n_wanted;
    c.reason = fmt::format("{} threads as asked; {} CPUs are allowed to this process", n_wanted, c.n_affinity);
    if (n_wanted > c.n_affinity) c.reason += " (oversubscribed: expect slow barriers)";
    return c;
  }
  c.n_threads = std::max(1, std::min({c.n_affinity, quota, c.n_physical}));
  const char* by = c.n_threads == quota && quota < c.n_affinity                 ? "cgroup quota"
                   : c.n_threads == c.n_physical && c.n_physical < c.n_affinity ? "physical cores"
                                                                                : "CPU affinity";
  c.reason =
      fmt::format("{} threads, decided by {} (affinity {}, physical cores {}, cgroup quota {})", c.n_threads, by,
                  c.n_affinity, c.n_physical, c.cgroup_quota > 0 ? fmt::format("{:.2f}", c.cgroup_quota) : "none");
  return c;
}

ThreadPool::ThreadPool(int n_threads, bool pin) : n_threads_(std::max(1, n_threads)) {
  for (int i = 1; i < n_threads_; ++i) threads_.emplace_back([this, i, pin] { worker(i, pin); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void ThreadPool::run_raw(Body body, void* ctx) {
  if (n_threads_ == 1) {
    body(ctx, 0);
    return;
  }
  body_ = body;
  ctx_ = ctx;
  n_done_.store(0, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  body(ctx, 0);
  const uint32_t others = static_cast<uint32_t>(n_threads_ - 1);
  for (int spins = 0; n_done_.load(std::memory_order_acquire) != others; ++spins) {
    if (spins < kSpins)
      relax();
    else
      std::this_thread::yield();
  }
}

void ThreadPool::worker(int idx, bool pin) {
  const std::vector<int> cpus = affinity_cpus();
  // Pinning more workers than CPUs would stack them; then the scheduler knows better.
  if (pin && n_threads_ <= static_cast<int>(cpus.size())) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[static_cast<size_t>(idx)], &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
  }
  pthread_setname_np(pthread_self(), fmt::format("ridge-w{}", idx).substr(0, 15).c_str());
  uint32_t seen = 0;
  while (true) {
    uint32_t now = generation_.load(std::memory_order_acquire);
    for (int spins = 0; now == seen; now = generation_.load(std::memory_order_acquire)) {
      if (++spins < kSpins) {
        relax();
      } else {
        generation_.wait(seen, std::memory_order_acquire);
      }
    }
    seen = now;
    if (stop_) return;
    body_(ctx_, idx);
    n_done_.fetch_add(1, std::memory_order_release);
  }
}

void ThreadPool::barrier() {
  if (n_threads_ == 1) return;
  const uint32_t phase = barrier_phase_.load(std::memory_order_relaxed);
  if (barrier_count_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(n_threads_)) {
    barrier_count_.store(0, std::memory_order_relaxed);
    barrier_phase_.fetch_add(1, std::memory_order_release);
    return;
  }
  for (int spins = 0; barrier_phase_.load(std::memory_order_acquire) == phase; ++spins) {
    if (spins < kSpins)
      relax();
    else
      std::this_thread::yield();
  }
}

}  // namespace ridge
