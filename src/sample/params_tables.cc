// The one table of sampling fields and the one of sampler names; see params.h.
// Truth: names and letters as users of llama.cpp know them; ranges are this program's own, wide enough for published
// presets.
#include <array>
#include <limits>

#include "sample/params.h"

namespace ridge::sample {

namespace {

using P = SamplingParams;
using K = FieldKind;
constexpr double kIntMax = std::numeric_limits<int32_t>::max();

constexpr std::array<SamplerName, 9> kNames = {{
    {SamplerKind::penalties, 'e', "penalties", "penalties", ""},
    {SamplerKind::dry, 'd', "dry", "dry", ""},
    {SamplerKind::top_n_sigma, 's', "top_n_sigma", "top-n-sigma", "top-n-sigma"},
    {SamplerKind::top_k, 'k', "top_k", "top-k", "top-k"},
    {SamplerKind::typical, 'y', "typ_p", "typical", "typical-p;typical;typ-p;typ;typical_p"},
    {SamplerKind::top_p, 'p', "top_p", "top-p", "top-p;nucleus"},
    {SamplerKind::min_p, 'm', "min_p", "min-p", "min-p"},
    {SamplerKind::xtc, 'x', "xtc", "xtc", ""},
    {SamplerKind::temperature, 't', "temperature", "temp-ext", "temp"},
}};

const std::array<SamplingField, 30> kFields = {{
    {"seed", "-s --seed", "seed", K::seed, 0, 0, "seed of the random numbers; -1 draws one and reports it", {}},
    {"samplers", "--samplers", "samplers", K::samplers, 0, 0, "order of the samplers, names separated by ';'", {}},
    {"sampler_seq",
     "--sampler-seq --sampling-seq",
     "",
     K::sampler_letters,
     0,
     0,
     "order of the samplers, one letter each (edskypmxt)",
     {}},
    {"temperature", "--temp --temperature", "temperature", K::real, -100, 100,
     "divides the logits; 0 or less takes the most likely token", &P::temperature},
    {"dynatemp_range", "--dynatemp-range", "dynatemp_range", K::real, 0, 100,
     "the temperature moves by up to this much with the entropy; 0 = off", &P::dynatemp_range},
    {"dynatemp_exponent", "--dynatemp-exp", "dynatemp_exponent", K::real, 0, 100,
     "how the entropy maps to the temperature", &P::dynatemp_exponent},
    {"top_k", "--top-k", "top_k", K::integer, -1, kIntMax, "keep the k most likely tokens; 0 or less = off", &P::top_k},
    {"top_p", "--top-p", "top_p", K::real, 0, 1, "keep the fewest tokens that hold this probability; 1 = off",
     &P::top_p},
    {"min_p", "--min-p", "min_p", K::real, 0, 1, "keep tokens at least this likely relative to the likeliest; 0 = off",
     &P::min_p},
    {"top_n_sigma", "--top-nsigma --top-n-sigma", "top_n_sigma", K::real, -1, 100,
     "keep logits within n standard deviations of the highest; 0 or less = off", &P::top_n_sigma},
    {"typical_p", "--typical --typical-p", "typical_p", K::real, 0, 1,
     "keep the tokens closest to the expected surprise that hold this probability; 1 = off", &P::typical_p},
    {"xtc_probability", "--xtc-probability", "xtc_probability", K::real, 0, 1,
     "chance that the likeliest choices are removed; 0 = off", &P::xtc_probability},
    {"xtc_threshold", "--xtc-threshold", "xtc_threshold", K::real, 0, 1,
     "probability from which a token counts as a top choice; above 0.5 = off", &P::xtc_threshold},
    {"repeat_last_n", "--repeat-last-n", "repeat_last_n", K::integer, -1, kIntMax,
     "tokens that the penalties look back; 0 = off, -1 = the whole context", &P::repeat_last_n},
    {"repeat_penalty", "--repeat-penalty", "repeat_penalty", K::real, 0.01, 100,
     "divides the logit of what was seen (multiplies it if negative); 1 = off", &P::repeat_penalty},
    {"presence_penalty", "--presence-penalty", "presence_penalty", K::real, -100, 100,
     "subtracted once from the logit of what was seen; 0 = off", &P::presence_penalty},
    {"frequency_penalty", "--frequency-penalty", "frequency_penalty", K::real, -100, 100,
     "subtracted for each time a token was seen; 0 = off", &P::frequency_penalty},
    {"dry_multiplier", "--dry-multiplier", "dry_multiplier", K::real, 0, 1000,
     "strength of the penalty on continuing a repeated sequence; 0 = off", &P::dry_multiplier},
    {"dry_base", "--dry-base", "dry_base", K::real, 1, 100, "growth of that penalty with each further token",
     &P::dry_base},
    {"dry_allowed_length", "--dry-allowed-length", "dry_allowed_length", K::integer, 0, kIntMax,
     "repeats shorter than this are free", &P::dry_allowed_length},
    {"dry_penalty_last_n", "--dry-penalty-last-n", "dry_penalty_last_n", K::integer, -1, kIntMax,
     "tokens searched for repeats; 0 = off, -1 = the whole context", &P::dry_penalty_last_n},
    {"dry_sequence_breakers",
     "--dry-sequence-breaker",
     "dry_sequence_breakers",
     K::breakers,
     0,
     0,
     "text across which no repeat is counted; the first one given replaces the default ones, 'none' clears them",
     {}},
    {"mirostat", "--mirostat", "mirostat", K::integer, 0, 2,
     "1 or 2: replaces the samplers by mirostat of that version; 0 = off", &P::mirostat},
    {"mirostat_tau", "--mirostat-ent", "mirostat_tau", K::real, 0, 100, "surprise aimed at, in bits", &P::mirostat_tau},
    {"mirostat_eta", "--mirostat-lr", "mirostat_eta", K::real, 0, 10, "learning rate of mirostat", &P::mirostat_eta},
    {"min_keep", "--min-keep", "min_keep", K::integer, 0, kIntMax,
     "candidates that top_p, min_p, typical and xtc always leave", &P::min_keep},
    {"n_probs", "", "n_probs", K::integer, 0, kMaxProbs, "report this many of the most likely tokens for each token",
     &P::n_probs},
    {"post_sampling_probs", "", "post_sampling_probs", K::boolean, 0, 1,
     "report the probabilities after the samplers instead of the model's own", &P::post_sampling_probs},
    {"ignore_eos", "--ignore-eos", "ignore_eos", K::boolean, 0, 1, "ban the tokens that end the generation",
     &P::ignore_eos},
    {"logit_bias",
     "-l --logit-bias",
     "logit_bias",
     K::logit_bias,
     -100,
     100,
     "TOKEN_ID(+/-)BIAS, e.g. 15043+1 or 15043-inf; several separated by ','",
     {}},
}};

}  // namespace

std::span<const SamplerName> sampler_names() {
  return kNames;
}
std::span<const SamplingField> sampling_fields() {
  return kFields;
}

}  // namespace ridge::sample
