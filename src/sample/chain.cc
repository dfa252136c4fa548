// Puts the samplers together; see chain.h. A new sampler is a file of its own, a row in params_tables.cc, and a line in
// apply() here.
#include "sample/chain.h"

#include <cmath>
#include <new>

#include "base/rng.h"
#include "sample/samplers.h"

namespace ridge::sample {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

bool listed(const std::vector<SamplerKind>& list, SamplerKind kind) {
  return std::find(list.begin(), list.end(), kind) != list.end();
}

// A window of -1 is the whole context; no window is larger than that.
size_t window_of(int32_t last_n, int32_t n_ctx) {
  return static_cast<size_t>(last_n < 0 ? n_ctx : std::min(last_n, n_ctx));
}

// True if all are below +infinity and none is NaN; the comparison is written so that NaN fails it.
bool usable(std::span<const float> x) {
  int bad = 0;
  for (const float v : x) bad |= !(v <= std::numeric_limits<float>::max());
  return bad == 0;
}

// Walks the cumulated weights e^(logit - best) to the place that u in [0, 1) points to.
size_t draw(Candidates& c, double u) {
  c.softmax();
  const auto items = c.items();
  double sum = 0;
  for (const Candidate& x : items) sum += x.p;
  const double target = u * sum;
  double passed = 0;
  size_t last = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].p <= 0) continue;
    passed += items[i].p;
    last = i;
    if (passed > target) break;
  }
  return last;
}

Result<void> check(const SamplingParams& params, const VocabFacts& facts) {
  RIDGE_CHECK_OK(validate(params, facts.n_vocab));
  if (facts.n_ctx < 1 || facts.n_ctx > kMaxContext) {
    return fail(ErrorCode::invalid_argument, "found a context of {} tokens, expected 1 to {}", facts.n_ctx,
                kMaxContext);
  }
  if (!params.seed) {
    return fail(ErrorCode::invalid_argument,
                "seed: found -1 (random), expected a number: draw one, set it, and report it");
  }
  for (const int32_t id : facts.end_tokens) {
    if (id < 0 || id >= facts.n_vocab) {
      return fail(ErrorCode::invalid_argument, "end token: found id {}, expected 0 to {} (the vocabulary)", id,
                  facts.n_vocab - 1);
    }
  }
  if (facts.scratch && facts.scratch->logits.size() < static_cast<size_t>(facts.n_vocab)) {
    return fail(ErrorCode::invalid_argument, "found sampler memory for {} tokens, expected {}",
                facts.scratch->logits.size(), facts.n_vocab);
  }
  const bool dry =
      params.mirostat == 0 && listed(params.samplers, SamplerKind::dry) && !is_neutral(params, SamplerKind::dry);
  if (dry && !params.dry_sequence_breakers.empty() && !facts.token_text) {
    return fail(ErrorCode::invalid_argument,
                "dry_sequence_breakers: found {} of them and no text of tokens, expected one of both",
                params.dry_sequence_breakers.size());
  }
  return {};
}

}  // namespace

Result<SamplerChain> SamplerChain::create(const SamplingParams& params, const VocabFacts& facts) {
  RIDGE_CHECK_OK(check(params, facts));
  try {
    SamplerChain chain;
    const auto n_vocab = static_cast<size_t>(facts.n_vocab);
    chain.params_ = params;
    chain.n_vocab_ = facts.n_vocab;
    chain.scratch_ = facts.scratch;
    if (!chain.scratch_) {
      RIDGE_TRY(chain.scratch_, SamplerScratch::create(facts.n_vocab));
    }
    if (params.ignore_eos) chain.banned_.assign(facts.end_tokens.begin(), facts.end_tokens.end());
    chain.top_.resize(static_cast<size_t>(params.n_probs));
    if (params.mirostat != 0) {
      chain.mirostat_.emplace(Mirostat::Options{params.mirostat, params.mirostat_tau, params.mirostat_eta, n_vocab});
      return chain;
    }
    const bool greedy = params.temperature <= 0;
    for (const SamplerKind kind : params.samplers) {
      const bool edits = kind == SamplerKind::penalties || kind == SamplerKind::dry;
      if (!is_neutral(params, kind) && (edits || !greedy)) chain.active_.push_back(kind);
    }
    if (listed(chain.active_, SamplerKind::penalties)) {
      chain.penalties_.emplace(
          Penalties::Options{params.repeat_penalty, params.frequency_penalty, params.presence_penalty,
                             window_of(params.repeat_last_n, facts.n_ctx)},
          n_vocab);
    }
    if (listed(chain.active_, SamplerKind::dry)) {
      chain.dry_.emplace(
          Dry::Options{params.dry_multiplier, params.dry_base, static_cast<size_t>(params.dry_allowed_length),
                       window_of(params.dry_penalty_last_n, facts.n_ctx)},
          params.dry_sequence_breakers, facts.token_text, n_vocab);
    }
    return chain;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "the sampler chain for {} tokens could not be allocated", facts.n_vocab);
  }
}

void SamplerChain::accept(int32_t token) {
  if (token < 0 || token >= n_vocab_) return;
  if (penalties_) penalties_->accept(token);
  if (dry_) dry_->accept(token);
  if (mirostat_) mirostat_->accept(token);
}

void SamplerChain::reset() {
  if (penalties_) penalties_->reset();
  if (dry_) dry_->reset();
  if (mirostat_) mirostat_->reset();
}

Result<void> SamplerChain::load(std::span<const float> logits, std::span<const uint32_t> allowed) {
  const auto n = static_cast<size_t>(n_vocab_);
  if (logits.size() != n) {
    return fail(ErrorCode::invalid_argument, "found {} logits, expected {} (the vocabulary)", logits.size(), n);
  }
  if (!allowed.empty() && allowed.size() < (n + 31) / 32) {
    return fail(ErrorCode::invalid_argument, "found a mask of {} words, expected {} for {} tokens", allowed.size(),
                (n + 31) / 32, n);
  }
  if (!usable(logits)) {
    const auto bad =
        std::find_if(logits.begin(), logits.end(), [](float v) { return !(v <= std::numeric_limits<float>::max()); });
    return fail(ErrorCode::internal,
                "found {} as the logit of token {}, expected finite numbers: the model's weights or its "
                "arithmetic are broken; check the file, or run the reference backend",
                *bad, bad - logits.begin());
  }
  const std::span<float> work(scratch_->logits.data(), n);
  std::copy(logits.begin(), logits.end(), work.begin());
  for (const LogitBias& b : params_.logit_bias) work[static_cast<size_t>(b.token)] += b.bias;
  for (const int32_t id : banned_) work[static_cast<size_t>(id)] = kMinusInfinity;
  if (!allowed.empty()) {
    for (size_t i = 0; i < n; ++i) {
      if ((allowed[i / 32] >> (i % 32) & 1u) == 0) work[i] = kMinusInfinity;
    }
  }
  return {};
}

void SamplerChain::apply(SamplerKind kind, Candidates& c, double xtc_chance) {
  const SamplingParams& p = params_;
  const auto min_keep = static_cast<size_t>(p.min_keep);
  switch (kind) {
    case SamplerKind::penalties:
      return penalties_->apply(c);
    case SamplerKind::dry:
      return dry_->apply(c);
    case SamplerKind::top_n_sigma:
      return top_n_sigma(c, p.top_n_sigma);
    case SamplerKind::top_k:
      return top_k(c, p.top_k);
    case SamplerKind::typical:
      return typical(c, p.typical_p, min_keep);
    case SamplerKind::top_p:
      return top_p(c, p.top_p, min_keep);
    case SamplerKind::min_p:
      return min_p(c, p.min_p, min_keep);
    case SamplerKind::xtc:
      return xtc(c, p.xtc_probability, p.xtc_threshold, min_keep, xtc_chance);
    case SamplerKind::temperature:
      return dynamic_temperature(c, p.temperature, p.dynatemp_range, p.dynatemp_exponent);
  }
}

Result<SampleResult> SamplerChain::sample(std::span<const float> logits, uint64_t sequence, uint64_t position,
                                          std::span<const uint32_t> allowed) {
  RIDGE_CHECK_OK(load(logits, allowed));
  const std::span<float> work(scratch_->logits.data(), logits.size());
  if (max_of(work) < -std::numeric_limits<float>::max()) {
    const bool raw = max_of(logits) < -std::numeric_limits<float>::max();
    return fail(
        raw ? ErrorCode::internal : ErrorCode::invalid_argument,
        "found no token that may come: every logit is -inf {}, expected at least one finite",
        raw ? "as the model gave it; check the file, or run the reference backend" : "after mask and logit bias");
  }
  Candidates c(work, std::span<Candidate>(scratch_->items.data(), logits.size()));
  const double xtc_chance = random_uniform(*params_.seed, sequence, position, 1);
  for (const SamplerKind kind : active_) apply(kind, c, xtc_chance);
  if (mirostat_ && params_.temperature > 0) {
    temperature(c, params_.temperature);
    mirostat_->truncate(c);
  }
  SampleResult result;
  if (params_.temperature <= 0) c.keep_top(1);
  const size_t chosen = draw(c, random_uniform(*params_.seed, sequence, position, 0));
  result.token = c.items()[chosen].id;
  if (mirostat_) mirostat_->drawn(result.token, c.items()[chosen].p);
  if (params_.n_probs > 0 || params_.logprobs) report(logits, c, result);
  return result;
}

void SamplerChain::report(std::span<const float> logits, Candidates& c, SampleResult& result) {
  if (!params_.post_sampling_probs) {
    const double lse = log_sum_exp(logits);
    result.logprob = to_logprob(logits[static_cast<size_t>(result.token)], lse);
    const size_t n = top_.empty() ? 0 : top_logprobs(logits, lse, scratch_->probs, top_);
    result.top = std::span<const TokenLogprob>(top_).first(n);
    return;
  }
  const auto logprob = [](float p) { return p > 0 ? to_logprob(std::log(static_cast<double>(p)), 0) : kLogprobFloor; };
  for (const Candidate& x : c.items()) {
    if (x.id == result.token) result.logprob = logprob(x.p);
  }
  const size_t n = std::min(top_.size(), c.items().size());
  c.keep_top(n);  // moves whole candidates, probability included
  for (size_t i = 0; i < n; ++i) top_[i] = {c.items()[i].id, logprob(c.items()[i].p)};
  result.top = std::span<const TokenLogprob>(top_).first(n);
}

}  // namespace ridge::sample
