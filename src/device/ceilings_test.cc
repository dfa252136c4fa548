// The probes do the work that they count; the roofs have a figure or a reason each; the kept file survives damage. No
// figure is compared with a clock: how fast a machine is, is not for a test to say.
#include "device/ceilings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/aligned_buffer.h"

namespace ridge {
namespace {

namespace fs = std::filesystem;

constexpr CeilingsOptions kQuick{.n_threads = 2, .buffer_bytes = 8 << 20, .seconds_a_probe = 0.01};

// A cache folder of the test's own, for as long as it lives.
class OwnCache {
 public:
  OwnCache() : path_(fs::temp_directory_path() / ("ridge-ceilings-" + std::to_string(getpid()))) {
    if (const char* old = std::getenv("XDG_CACHE_HOME")) old_ = old;
    fs::remove_all(path_);
    setenv("XDG_CACHE_HOME", path_.c_str(), 1);
  }
  ~OwnCache() {
    if (old_.empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", old_.c_str(), 1);
    }
    std::error_code ec;
    fs::remove_all(path_, ec);
  }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;
  fs::path path() const { return path_; }

 private:
  fs::path path_;
  std::string old_;
};

TEST(Probes, do_as_many_operations_as_they_claim) {
  int n_present = 0;
  for (const PeakProbe& p : peak_probes()) {
    if (!p.present()) continue;
    ++n_present;
    for (const int64_t n : {1, 2, 7, 1000}) {
      EXPECT_EQ(p.run(n), static_cast<double>(n) * p.lane_step) << p.instruction << " x " << n;
    }
  }
  EXPECT_GE(n_present, 1);
}

TEST(Probes, stream_reads_every_byte_exactly_once) {
  auto buffer = AlignedBuffer::allocate(64 * 1024).value();
  std::mt19937_64 random(3);
  for (size_t i = 0; i < buffer.size() / 8; ++i) buffer.as<uint64_t>()[i] = random();
  for (const size_t n : {size_t{256}, size_t{512}, size_t{768}, size_t{4096}, buffer.size()}) {
    uint64_t expected = 0;
    for (size_t i = 0; i < n / 8; ++i) expected ^= buffer.as<uint64_t>()[i];
    EXPECT_EQ(read_stream(buffer.data(), n, false), expected) << n;
    EXPECT_EQ(read_stream(buffer.data(), n, true), expected) << n << " with prefetch";
  }
  EXPECT_EQ(read_stream(buffer.data(), 0, true), 0u);
}

TEST(Ceilings, have_a_figure_or_a_reason_for_everything) {
  const auto measured = measure_ceilings(kQuick);
  ASSERT_TRUE(measured) << measured.error().message;
  const Ceilings& c = *measured;
  ASSERT_FALSE(c.read.empty());
  EXPECT_EQ(c.read.back().n_threads, c.n_threads);
  for (const ReadRoof& r : c.read) {
    EXPECT_GT(r.bytes_s.best, 0);
    EXPECT_GE(r.bytes_s.best, r.bytes_s.median);
    EXPECT_GE(r.bytes_s.n_windows, 1);
  }
  for (const PeakRoof& p : c.peaks) {
    EXPECT_EQ(p.core_ops_s.has_value(), p.reason.empty()) << to_string(p.type);
    EXPECT_EQ(p.core_ops_s.has_value(), p.all_ops_s.has_value()) << to_string(p.type);
    EXPECT_EQ(p.core_ops_s.has_value(), !p.instruction.empty()) << to_string(p.type);
  }
  EXPECT_TRUE(c.peaks[static_cast<size_t>(PeakType::f32)].core_ops_s) << "every machine multiplies floats";
  EXPECT_FALSE(c.numa_note.empty());
  EXPECT_FALSE(c.measured_utc.empty());
}

TEST(Ceilings, roof_of_a_number_of_threads_is_the_best_that_no_more_threads_reached) {
  Ceilings c;
  c.n_threads = 8;
  const auto rate = [](double x) { return Rate{.best = x, .median = x, .n_windows = 1}; };
  c.read = {{1, rate(10), false}, {2, rate(20), false}, {4, rate(19), false}, {8, rate(30), true}};
  EXPECT_EQ(read_roof(c, 1), 10);
  EXPECT_EQ(read_roof(c, 3), 20);
  EXPECT_EQ(read_roof(c, 4), 20);
  EXPECT_EQ(read_roof(c, 8), 30);
  EXPECT_EQ(read_roof(c, 99), 30);
  EXPECT_EQ(read_roof({}, 1), std::nullopt);
  PeakRoof& p = c.peaks[static_cast<size_t>(PeakType::int8)];
  EXPECT_EQ(peak_roof(c, PeakType::int8, 1), std::nullopt);
  p.core_ops_s = rate(100), p.all_ops_s = rate(640);
  EXPECT_EQ(peak_roof(c, PeakType::int8, 1), 100);
  EXPECT_EQ(peak_roof(c, PeakType::int8, 7), 640);
  EXPECT_EQ(peak_roof(c, PeakType::int8, 8), 640);
}

TEST(Ceilings, json_holds_every_field_and_reads_back_to_the_same_text) {
  const auto measured = measure_ceilings(kQuick);
  ASSERT_TRUE(measured);
  const std::string text = ceilings_json(*measured);
  const auto again = parse_ceilings(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ceilings_json(*again), text);
}

TEST(Ceilings, damaged_json_is_refused_and_never_believed) {
  const auto measured = measure_ceilings(kQuick);
  ASSERT_TRUE(measured);
  const std::string text = ceilings_json(*measured);
  for (size_t n = 0; n + 2 < text.size(); n += 97) {
    EXPECT_FALSE(parse_ceilings(text.substr(0, n))) << n;
  }
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  EXPECT_FALSE(parse_ceilings(with("\"best\": ", "\"best\": -")));
  EXPECT_FALSE(parse_ceilings(with("\"best\": ", "\"worst\": ")));
  EXPECT_FALSE(parse_ceilings(with("ridge-ceilings/1", "ridge-ceilings/9")));
  EXPECT_FALSE(parse_ceilings("[1]"));
  EXPECT_FALSE(parse_ceilings("{\"read\": 1e999}"));
}

TEST(Ceilings, are_kept_reused_refreshed_and_measured_again_after_damage) {
  const OwnCache cache;
  EXPECT_FALSE(kept_ceilings(kQuick.n_threads));
  const auto first = obtain_ceilings(kQuick, false);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->reused);
  EXPECT_EQ(first->note, "");
  const auto second = obtain_ceilings(kQuick, false);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->reused);
  EXPECT_EQ(ceilings_json(second->ceilings), ceilings_json(first->ceilings));
  EXPECT_TRUE(kept_ceilings(kQuick.n_threads));
  EXPECT_FALSE(obtain_ceilings(kQuick, true)->reused);

  std::ofstream(first->path) << "{\"schema\": \"ridge-ceil";
  EXPECT_FALSE(kept_ceilings(kQuick.n_threads));
  const auto third = obtain_ceilings(kQuick, false);
  ASSERT_TRUE(third);
  EXPECT_FALSE(third->reused);
  EXPECT_NE(third->note.find("measured again"), std::string::npos) << third->note;
  EXPECT_TRUE(obtain_ceilings(kQuick, false)->reused);
  // One file, no temporary left beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.path() / "ridge"), fs::directory_iterator()), 1);
}

TEST(Ceilings, of_another_machine_are_not_used) {
  const OwnCache cache;
  const auto first = obtain_ceilings(kQuick, false);
  ASSERT_TRUE(first);
  Ceilings other = first->ceilings;
  other.fingerprint += " but faster";
  std::ofstream(first->path) << ceilings_json(other);
  EXPECT_FALSE(obtain_ceilings(kQuick, false)->reused);
  Machine a, b;
  a.cpu_model = "one", b.cpu_model = "two";
  EXPECT_NE(machine_fingerprint(a, 2), machine_fingerprint(b, 2));
  EXPECT_NE(machine_fingerprint(a, 2), machine_fingerprint(a, 4));
}

TEST(Ceilings, that_cannot_be_kept_are_still_measured_and_say_so) {
  const OwnCache cache;
  std::ofstream(cache.path()) << "a file where the folder should be";
  const auto stored = obtain_ceilings(kQuick, false);
  ASSERT_TRUE(stored);
  EXPECT_NE(stored->note.find("not kept"), std::string::npos) << stored->note;
  EXPECT_EQ(stored->path, "");
}

}  // namespace
}  // namespace ridge
