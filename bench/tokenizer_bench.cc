// How fast text becomes ids, on one thread: MB/s for English and Chinese, for each vocabulary named.
//
//   tokenizer_bench DIR [NAME ...]     DIR holds ggml-vocab-NAME.gguf (golden/tokenizers); default qwen2 llama-bpe
//   llama-spm
//
// The text is generated, the same at each run: words drawn from a Zipf distribution over some 30,000 derived forms, so
// that a word cache earns what it would earn on prose and no more; Chinese clauses are put together from characters and
// words and hardly ever repeat. Each line is the median of 9 runs, each of 4 MB in texts of 16 KiB, with the spread
// around it. Time is the thread's processor time, so that what else the machine does disturbs only through its caches.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "text/tokenizer.h"
#include "vocab_reader.h"

namespace {

using ridge::Tokenizer;

constexpr size_t kTextBytes = size_t{4} << 20;
constexpr size_t kChunkBytes = size_t{16} << 10;
constexpr int kRuns = 9;

constexpr std::string_view kCommon =
    "the of and to in is that it was for on are as with his they at be this from have or by one had not but what all "
    "were when we "
    "there can an your which their said if do will each about how up out them then she many some so these would other "
    "into has more "
    "her two like him see time could no make than first been its who now people my made over did down only way find "
    "use may water "
    "long little very after words called just where most know";
constexpr std::string_view kStems =
    "govern nation educat inform communicat develop organ manage product construct operat consider relat educ statist "
    "histor politic "
    "econom industr technolog comput program memor process system measur estim calculat analys model theor observ "
    "experiment result "
    "effect cause reason argu claim debat discuss present report describ explain defin limit extend reduc increas "
    "chang transform "
    "convert translat interpret express represent symbol languag gramm vocabul sentenc paragraph chapter volum librar "
    "archiv museum "
    "galler paint sculpt music rhythm harmon melod instrument orchestr theat dram act direct scen narrat charact plot "
    "settl villag "
    "citi street bridg river mountain valley forest desert island ocean coast harbour ship sail navigat travel journey "
    "explor discov "
    "invent design engin machin electr magnet energ power heat light sound wave particl atom molecul react solut "
    "mixtur element metal "
    "miner rock soil plant seed flower fruit harvest farm animal bird fish insect bacter virus diseas medic treat "
    "patient doctor nurs "
    "hospit surger symptom diagnos therap vaccin infect protect defend attack battl soldier armi gener command strateg "
    "victor defeat "
    "treat alli enemi border territor coloni empir king queen princ noble peasant merchant trade market price cost "
    "profit invest bank "
    "credit debt tax law court judg trial witness evid crime punish prison freedom right duti vote elect parliament "
    "minist presid "
    "constitut reform revolut protest union labour worker employ wage factor shop office compan contract agree negoti "
    "partner compet "
    "customer servic qualit standard test check control regul author licens permit forbid allow accept reject refus "
    "deni admit confess";
constexpr std::string_view kPrefixes =
    " re un over under inter pre post non de dis mis sub super trans anti co out fore";
constexpr std::string_view kSuffixes =
    " s ed ing er ers or ion ions ional ionally ive ively ment ments al ally ity ities able ably ness less ful fully "
    "ous ously ism ist "
    "ists ise ised ising isation ate ated ating ator ology ological";
constexpr std::string_view kHan =
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行"
    "学法所民得经十三之进着等部度家电力里"
    "如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与"
    "关各重新线内数正心反你明看原又么利比"
    "或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管"
    "特件长求老头基资边流路级少图山统接知"
    "较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志"
    "世金增争济阶油思术极交受联什认六共权"
    "收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元"
    "况今集温传土许步群广石记需段研界拉林"
    "律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何"
    "除消构府称太准精值号率族维划选标写存"
    "候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严龙飞";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t to = std::min(text.find(' ', from), text.size());
    out.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

// A generator of our own: the numbers must be the same for ever.
class Random {
 public:
  uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  size_t below(size_t n) { return next() % n; }
  double uniform() { return static_cast<double>(next()) / 2147483648.0; }
  // Rank by Zipf's law (exponent 1) among n: log-uniform.
  size_t zipf(size_t n) { return static_cast<size_t>(std::exp(uniform() * std::log(static_cast<double>(n)))) - 1; }

 private:
  uint64_t state_ = 20240607;
};

std::string english() {
  Random random;
  std::vector<std::string> lexicon = split(kCommon);
  const auto stems = split(kStems), prefixes = split(kPrefixes), suffixes = split(kSuffixes);
  while (lexicon.size() < 30000) {
    const bool plain = random.below(3) != 0;
    lexicon.push_back((plain ? "" : prefixes[random.below(prefixes.size())]) + stems[random.below(stems.size())] +
                      suffixes[random.below(suffixes.size())]);
  }
  std::string text;
  while (text.size() < kTextBytes) {
    const size_t n_words = 4 + random.below(22);
    for (size_t i = 0; i < n_words; ++i) {
      std::string word = lexicon[random.zipf(lexicon.size())];
      if (i == 0 || random.below(40) == 0)
        word[0] = static_cast<char>(word[0] - ('a' <= word[0] && word[0] <= 'z' ? 32 : 0));
      if (random.below(60) == 0) word = fmt::format("{}", random.below(3000));
      if (random.below(90) == 0) word = "\"" + word + "\"";
      if (random.below(80) == 0) word += "'s";
      if (i > 0) text += ' ';
      text += word;
      if (i + 1 < n_words && random.below(9) == 0) text += random.below(6) == 0 ? ";" : ",";
    }
    text += random.below(8) == 0 ? "?" : ".";
    text += random.below(6) == 0 ? "\n\n" : " ";
  }
  return text;
}

std::string chinese() {
  Random random;
  std::vector<std::string> chars;
  for (size_t at = 0; at < kHan.size(); at += 3) chars.emplace_back(kHan.substr(at, 3));
  std::vector<std::string> words = chars;  // characters first: they are the common words
  while (words.size() < 12000) words.push_back(chars[random.zipf(chars.size())] + chars[random.below(chars.size())]);
  std::string text;
  while (text.size() < kTextBytes) {
    const size_t n_clauses = 1 + random.below(4);
    for (size_t c = 0; c < n_clauses; ++c) {
      const size_t n_words = 3 + random.below(7);
      for (size_t i = 0; i < n_words; ++i) text += words[random.zipf(words.size())];
      if (random.below(25) == 0) text += fmt::format("{}年", 1900 + random.below(130));
      text += c + 1 < n_clauses ? "，" : random.below(9) == 0 ? "？" : "。";
    }
    if (random.below(7) == 0) text += "\n";
  }
  return text;
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::vector<std::string_view> chunks(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t n =
        text.size() <= kChunkBytes ? text.size() : ridge::utf8_complete_prefix(text.substr(0, kChunkBytes));
    out.push_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return out;
}

void measure(const Tokenizer& tokenizer, const char* vocabulary, const char* language, const std::string& text) {
  const auto parts = chunks(text);
  std::vector<double> mb_s;
  size_t n_ids = 0;
  for (int run = 0; run < kRuns; ++run) {
    n_ids = 0;
    const double begin = thread_seconds();
    for (const std::string_view part : parts) n_ids += tokenizer.encode(part).value().size();
    mb_s.push_back(static_cast<double>(text.size()) / (thread_seconds() - begin) / 1e6);
  }
  std::sort(mb_s.begin(), mb_s.end());
  fmt::print("{:<16} {:<8} {:8.1f} MB/s  ({:.1f} .. {:.1f})  {:.2f} bytes a token\n", vocabulary, language,
             mb_s[kRuns / 2], mb_s.front(), mb_s.back(), static_cast<double>(text.size()) / static_cast<double>(n_ids));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: tokenizer_bench DIR [NAME ...]\n");
    return 2;
  }
  std::vector<std::string> names(argv + 2, argv + argc);
  if (names.empty()) names = {"qwen2", "llama-bpe", "llama-spm"};
  const std::string en = english(), zh = chinese();
  for (const std::string& name : names) {
    auto vocab = ridge::testing::VocabReader::read(std::filesystem::path(argv[1]) / ("ggml-vocab-" + name + ".gguf"));
    const double begin = thread_seconds();
    const auto tokenizer = Tokenizer::create(std::move(vocab));
    const double built_s = thread_seconds() - begin;
    if (!tokenizer) {
      fmt::print(stderr, "{}: {}\n", name, tokenizer.error().message);
      return 1;
    }
    measure(**tokenizer, name.c_str(), "English", en);
    measure(**tokenizer, name.c_str(), "Chinese", zh);
    fmt::print("{:<16} built in {:.0f} ms, {:.1f} MB of tables\n", name, built_s * 1e3,
               static_cast<double>((*tokenizer)->memory_bytes()) / 1e6);
  }
  return 0;
}
