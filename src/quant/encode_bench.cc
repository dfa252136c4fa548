// Weights a second that one thread encodes, by format: the round-to-nearest encoder and the search, on normal noise.
// Million weights a second; a model of 1.5 billion weights takes 1500 / figure seconds a core.
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "quant/formats.h"

namespace {

using namespace ridge;

constexpr int64_t kElems = 1 << 16;

template <class F>
double million_a_second(const F& f) {
  double best = 0;
  const int64_t start = now_ns();
  while (now_ns() - start < 200'000'000) {
    const int64_t t = now_ns();
    f();
    const double rate = static_cast<double>(kElems) / static_cast<double>(now_ns() - t) * 1e3;
    best = rate > best ? rate : best;
  }
  return best;
}

}  // namespace

int main() {
  std::vector<float> x(kElems), back(kElems);
  for (size_t i = 0; i < x.size(); ++i) {
    double s = 0;
    for (uint64_t k = 0; k < 12; ++k) s += random_uniform(1, 0, i, k) - 0.5;
    x[i] = static_cast<float>(s * 0.03);
  }
  std::printf("%-8s %12s %12s %12s  million weights/s, best of 0.2 s\n", "format", "decode", "encode", "quantise");
  for (const quant::Format& f : quant::formats()) {
    std::vector<std::byte> blocks(row_bytes(f.type, kElems));
    if (f.encode == nullptr) continue;
    const double encode = million_a_second([&] { f.encode(x.data(), blocks.data(), kElems); });
    const double search =
        f.quantise == nullptr ? 0 : million_a_second([&] { f.quantise(x.data(), nullptr, blocks.data(), kElems); });
    const double decode = million_a_second([&] { f.decode(blocks.data(), back.data(), kElems); });
    std::printf("%-8s %12.0f %12.0f %12.0f\n", std::string(f.name()).c_str(), decode, encode, search);
  }
}
