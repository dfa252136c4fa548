// Which tokens are special, what they end, and how they are found in text. The lists of texts are facts of published
// models: files often say neither which token ends a turn nor that it is a control token.
#include <algorithm>
#include <span>
#include <utility>

#include "text/tokenizer_tables.h"

namespace ridge::text {
namespace {

using Names = std::span<const std::string_view>;

// In order of preference where the file names no end-of-turn token.
constexpr std::string_view kEndOfTurn[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>",         "<|endoftext|>",     "<|end_of_text|>",
    "<EOT>",      "_<EOT>",     "[EOT]",   "<｜end▁of▁sentence｜>", "<end_of_utterance>"};
constexpr std::string_view kEndOfMessage[] = {"<|eom_id|>"};
constexpr std::string_view kFimPrefix[] = {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",    "<｜fim▁begin｜>",
                                           "<PRE>",          "▁<PRE>",       "<|code_prefix|>", "<|prefix|>"};
constexpr std::string_view kFimSuffix[] = {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",    "<｜fim▁hole｜>",
                                           "<SUF>",          "▁<SUF>",       "<|code_suffix|>", "<|suffix|>"};
constexpr std::string_view kFimMiddle[] = {"<|fim_middle|>", "<fim-middle>", "<fim_middle>",    "<｜fim▁end｜>",
                                           "<MID>",          "▁<MID>",       "<|code_middle|>", "<|middle|>"};
constexpr std::string_view kFimPad[] = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"};
constexpr std::string_view kFimRepo[] = {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"};
constexpr std::string_view kFimSeparator[] = {"<|file_sep|>"};
constexpr std::string_view kEndMarkers[] = {"<|eot_id|>",
                                            "<|im_end|>",
                                            "<|end|>",
                                            "<|return|>",
                                            "<|call|>",
                                            "<|flush|>",
                                            "<|calls|>",
                                            "<end_of_turn>",
                                            "<|endoftext|>",
                                            "</s>",
                                            "<|eom_id|>",
                                            "<EOT>",
                                            "_<EOT>",
                                            "[EOT]",
                                            "[EOS]",
                                            "<|end_of_text|>",
                                            "<end_of_utterance>",
                                            "<eos>",
                                            "<turn|>",
                                            "<|tool_response>",
                                            "<｜end▁of▁sentence｜>",
                                            "[e~["};

// User-defined tokens of Gemma that are HTML, which people write: no markers for the model.
constexpr std::string_view kHtml[] = {"table", "caption",    "thead", "tbody", "tfoot", "tr",     "th",     "td",
                                      "h1",    "h2",         "h3",    "h4",    "h5",    "h6",     "b",      "i",
                                      "u",     "blockquote", "sub",   "sup",   "code",  "pre",    "p",      "br",
                                      "hr",    "ul",         "ol",    "li",    "a",     "em",     "strong", "span",
                                      "div",   "img",        "html",  "body",  "head",  "script", "style"};

bool contains(Names names, std::string_view text) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

// <...>, [...], or with the bar that chat formats use on one side only: "<|channel>", "channel|>".
bool looks_like_marker(std::string_view text) {
  if (text.size() < 3) return false;
  if (text.find("<|") != text.npos || text.find("|>") != text.npos) return true;
  if (text.find("<｜") != text.npos || text.find("｜>") != text.npos) return true;
  if (text.front() == '[' && text.back() == ']') return true;
  if (text.front() != '<' || text.back() != '>') return false;
  std::string_view name = text.substr(1, text.size() - 2);
  if (!name.empty() && name.front() == '/') name.remove_prefix(1);
  if (!name.empty() && name.back() == '/') name.remove_suffix(1);
  return !contains(kHtml, name);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

// The texts that matter below -> id, the first of equal texts.
class KnownTexts {
 public:
  explicit KnownTexts(const VocabData& vocab) {
    for (const Names names :
         {Names(kEndOfTurn), Names(kEndOfMessage), Names(kFimPrefix), Names(kFimSuffix), Names(kFimMiddle),
          Names(kFimPad), Names(kFimRepo), Names(kFimSeparator), Names(kEndMarkers)}) {
      for (const std::string_view name : names) wanted_.insert(name, 0);
    }
    for (size_t id = 0; id < vocab.tokens.size(); ++id) {
      if (wanted_.find(vocab.tokens[id]) >= 0) found_.insert(vocab.tokens[id], static_cast<int32_t>(id));
    }
  }
  int32_t find(std::string_view text) const { return found_.find(text); }

 private:
  Trie wanted_, found_;
};

void set_types(const VocabData& vocab, Tables& t) {
  size_t n_odd = 0, first_odd = 0;
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    const int32_t type = vocab.token_types.empty() ? 1 : vocab.token_types[id];
    uint16_t flag = 0;
    switch (static_cast<TokenType>(type)) {
      case TokenType::undefined:
      case TokenType::normal:
        break;
      case TokenType::unknown:
        flag = kUnknownToken;
        break;
      case TokenType::control:
        flag = kControlToken;
        break;
      case TokenType::user_defined:
        flag = kUserDefined;
        break;
      case TokenType::unused:
        flag = kUnused;
        break;
      case TokenType::byte:
        flag = kByteToken;
        break;
      default:
        if (n_odd++ == 0) first_odd = id;
    }
    t.flags[id] = flag;
  }
  if (n_odd > 0) {
    t.warnings.push_back(
        fmt::format("tokenizer.ggml.token_type: {} tokens have a type outside 0..6 (the first is token {} with "
                    "type {}); they are taken as ordinary",
                    n_odd, first_odd, vocab.token_types[first_odd]));
  }
}

void set_ids(const VocabData& vocab, Tables& t) {
  const auto set = [&](std::string_view name, std::optional<int64_t> given, std::optional<int32_t>& id) {
    if (!given) return;
    if (*given >= 0 && *given < static_cast<int64_t>(t.n_vocab)) {
      id = static_cast<int32_t>(*given);
    } else {
      t.warnings.push_back(fmt::format("tokenizer.ggml.{}_token_id is {}, outside the {} tokens; it is ignored", name,
                                       *given, t.n_vocab));
    }
  };
  const auto by_default = [&](std::optional<int32_t>& id, int32_t value) {
    if (!id && value < static_cast<int32_t>(t.n_vocab)) id = value;
  };
  SpecialIds& s = t.special;
  set("bos", vocab.bos, s.bos), set("eos", vocab.eos, s.eos), set("eot", vocab.eot, s.eot),
      set("eom", vocab.eom, s.eom);
  set("unknown", vocab.unk, s.unk), set("seperator", vocab.sep, s.sep), set("padding", vocab.pad, s.pad);
  set("mask", vocab.mask, s.mask), set("fim_pre", vocab.fim_pre, s.fim_pre), set("fim_suf", vocab.fim_suf, s.fim_suf);
  set("fim_mid", vocab.fim_mid, s.fim_mid), set("fim_pad", vocab.fim_pad, s.fim_pad);
  set("fim_rep", vocab.fim_rep, s.fim_rep), set("fim_sep", vocab.fim_sep, s.fim_sep);
  if (t.kind == Kind::spm) {
    by_default(s.bos, 1), by_default(s.eos, 2), by_default(s.unk, 0);
  } else if (t.kind == Kind::wordpiece) {
    by_default(s.bos, 101), by_default(s.unk, 100), by_default(s.sep, 102), by_default(s.pad, 0),
        by_default(s.mask, 103);
  } else if (t.kind == Kind::byte_bpe && t.n_vocab > 11 && vocab.tokens[11] == "<|endoftext|>") {
    by_default(s.bos, 11), by_default(s.eos, 11);  // Falcon, whose files predate the keys
  }
}

void make_control(Tables& t, int32_t id) {
  t.flags[id] = static_cast<uint16_t>((t.flags[id] & ~(kUserDefined | kUnused | kByteToken)) | kControlToken);
}

void find_by_text(const KnownTexts& known, Tables& t) {
  const auto find = [&](std::optional<int32_t>& id, Names names) {
    if (id) return;
    for (const std::string_view name : names) {
      if (const int32_t found = known.find(name); found >= 0) {
        id = found;
        make_control(t, found);
        return;
      }
    }
  };
  SpecialIds& s = t.special;
  find(s.eot, kEndOfTurn), find(s.eom, kEndOfMessage), find(s.fim_pre, kFimPrefix), find(s.fim_suf, kFimSuffix);
  find(s.fim_mid, kFimMiddle), find(s.fim_pad, kFimPad), find(s.fim_rep, kFimRepo), find(s.fim_sep, kFimSeparator);
}

void set_end_markers(const KnownTexts& known, Tables& t) {
  std::vector<int32_t> ends;
  for (const std::string_view name : kEndMarkers) {
    if (const int32_t id = known.find(name); id >= 0) {
      make_control(t, id);
      ends.push_back(id);
    }
  }
  for (const auto& id :
       {t.special.fim_pad, t.special.fim_rep, t.special.fim_sep, t.special.eos, t.special.eot, t.special.eom}) {
    if (id) ends.push_back(*id);
  }
  const auto drop = [&](std::string_view name) { std::erase(ends, known.find(name)); };
  const auto has = [&](std::string_view name) { return known.find(name) >= 0; };
  // Harmony and Solar end a message, not the turn, with <|end|>; Gemma 4's </s> is HTML.
  if ((has("<|return|>") && has("<|call|>")) || ((has("<|call|>") || has("<|calls|>")) && has("<|flush|>")))
    drop("<|end|>");
  if (has("<|tool_response>")) {
    if (const int32_t id = known.find("</s>"); id >= 0) t.flags[id] = 0;
    drop("</s>");
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  for (const int32_t id : ends) t.flags[id] |= kEndsGeneration;
  t.eog = std::move(ends);
}

// Files do not say which special tokens swallow white space; the originals of these families do.
void set_strips(const VocabData& vocab, Tables& t) {
  constexpr uint16_t kSpecial = kControlToken | kUserDefined | kUnknownToken;
  const std::string name = lower(vocab.model_name);
  if (name.find("phi-3") != name.npos || name.find("phi3") != name.npos) {
    for (uint32_t id = 0; id < t.n_vocab; ++id) {
      const std::string& text = vocab.tokens[id];
      if ((t.flags[id] & kSpecial) && text != "<unk>" && text != "<s>" && text != "<|endoftext|>")
        t.flags[id] |= kStripRight;
    }
    return;
  }
  std::string_view mask;
  if (t.pre.name == "jina-v2-de" || t.pre.name == "jina-v2-es" || t.pre.name == "jina-v2-code") mask = "<mask>";
  if (name.find("modern-bert") != name.npos) mask = "[MASK]";
  if (mask.empty()) return;
  const auto it = std::find(vocab.tokens.begin(), vocab.tokens.end(), mask);
  if (it != vocab.tokens.end()) t.flags[static_cast<size_t>(it - vocab.tokens.begin())] |= kStripLeft;
}

}  // namespace

void classify_tokens(const VocabData& vocab, Tables& t) {
  t.flags.assign(t.n_vocab, 0);
  set_types(vocab, t);
  set_ids(vocab, t);
  const KnownTexts known(vocab);
  find_by_text(known, t);
  set_end_markers(known, t);
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    if ((t.flags[id] & kUserDefined) && looks_like_marker(vocab.tokens[id])) t.flags[id] |= kMarker;
  }
  set_strips(vocab, t);
}

bool Tables::may_recognise(int32_t id, Recognise how) const {
  const uint16_t f = flags[static_cast<size_t>(id)];
  switch (how) {
    case Recognise::all:
      return true;
    // Gemma 4 types its channel and tool markers user-defined only so that they are shown.
    case Recognise::plain:
      return (f & kUserDefined) && !(kind == Kind::raw_bpe && (f & kMarker));
    case Recognise::untrusted:
      return (f & kUserDefined) && !(f & kMarker);
  }
  return false;
}

void build_special_matcher(const VocabData& vocab, Tables& t) {
  size_t n_long = 0;
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    if (!(t.flags[id] & (kControlToken | kUserDefined | kUnknownToken))) continue;
    const std::string& text = vocab.tokens[id];
    if (text.empty()) continue;
    if (text.size() > kMaxTokenBytes) {
      ++n_long;
      continue;
    }
    t.specials.trie.insert(text, static_cast<int32_t>(id));
    for (const Recognise how : {Recognise::plain, Recognise::all, Recognise::untrusted}) {
      if (!t.may_recognise(static_cast<int32_t>(id), how)) continue;
      t.specials.first_byte[static_cast<size_t>(how)][static_cast<uint8_t>(text[0])] = true;
      t.specials.any[static_cast<size_t>(how)] = true;
    }
  }
  if (n_long > 0) {
    t.warnings.push_back(fmt::format("{} special tokens are longer than {} bytes and will not be recognised in text",
                                     n_long, kMaxTokenBytes));
  }
}

bool is_ordinary(const Tables& t, uint32_t id) {
  return !(t.flags[id] & (kControlToken | kUnknownToken | kByteToken | kMarker));
}

}  // namespace ridge::text
