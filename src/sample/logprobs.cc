// Log-softmax over a vocabulary; see logprobs.h.
#include "sample/logprobs.h"

#include <bit>
#include <cmath>

namespace ridge::sample {

namespace {

// e^x for x <= 0, relative error below 2e-7; written without branches or calls so that the compiler makes vectors of
// it. x = n ln 2 + r with |r| <= ln 2 / 2 (ln 2 in two parts, Cody and Waite), e^r by the minimax polynomial of Cephes
// expf. Below -87 the result stays at the smallest normal number instead of 0, which no sum of a vocabulary can show.
inline float exp_of_nonpositive(float x) {
  // The bits of negative floats order by magnitude: an integer minimum clamps without the branch that a float one may
  // be.
  x = std::bit_cast<float>(std::min(std::bit_cast<uint32_t>(x), std::bit_cast<uint32_t>(-87.0f)));
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number in the low bits
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.0f;
  return y * std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) << 23) + 0x3f800000u);
}

}  // namespace

double log_sum_exp(std::span<const float> logits) {
  // The exponentials of a chunk go through a buffer: the loop that makes them is then one that compilers turn into
  // vectors. Float sums of 64 terms a lane, then double: the error stays below 1e-6 relative.
  constexpr size_t kLanes = 16;
  constexpr size_t kChunk = 1024;
  const float best = max_of(logits);
  double sum = 0;
  size_t i = 0;
  for (; i + kChunk <= logits.size(); i += kChunk) {
    float e[kChunk];
    float lane[kLanes] = {};
    for (size_t j = 0; j < kChunk; ++j) e[j] = exp_of_nonpositive(logits[i + j] - best);
    for (size_t j = 0; j < kChunk; j += kLanes) {
      for (size_t k = 0; k < kLanes; ++k) lane[k] += e[j + k];
    }
    for (const float x : lane) sum += x;
  }
  for (; i < logits.size(); ++i) sum += exp_of_nonpositive(logits[i] - best);
  return static_cast<double>(best) + std::log(sum);
}

float to_logprob(double logit, double lse) {
  return static_cast<float>(std::clamp(logit - lse, static_cast<double>(kLogprobFloor), 0.0));
}

size_t top_logprobs(std::span<const float> logits, double lse, std::span<Candidate> room, std::span<TokenLogprob> out) {
  const size_t n = select_top(logits, out.size(), room);
  for (size_t i = 0; i < n; ++i) out[i] = {room[i].id, to_logprob(room[i].logit, lse)};
  return n;
}

}  // namespace ridge::sample
