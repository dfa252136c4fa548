// Checks a vocabulary and builds a tokeniser's tables from it. What contradicts itself is refused with the key and the
// index; what is merely odd is ignored with a warning.
#include <algorithm>

#include "text/tokenizer_tables.h"

namespace ridge::text {
namespace {

constexpr std::string_view kEscapedSpace = "\xE2\x96\x81";

struct KindRow {
  std::string_view model;
  Kind kind;
};
constexpr KindRow kKinds[] = {
    {"llama", Kind::spm}, {"gpt2", Kind::byte_bpe}, {"gemma4", Kind::raw_bpe}, {"bert", Kind::wordpiece}};

Result<Kind> find_kind(const std::string& model) {
  for (const KindRow& row : kKinds) {
    if (row.model == model) return row.kind;
  }
  return fail(ErrorCode::unsupported,
              "tokenizer.ggml.model: '{}' is not a tokeniser this build has; it has llama (SentencePiece BPE), gpt2 "
              "(byte-level BPE), "
              "gemma4 and bert (WordPiece)",
              std::string_view(model).substr(0, 80));
}

Result<void> check(const VocabData& vocab) {
  const size_t n = vocab.tokens.size();
  if (n == 0)
    return fail(ErrorCode::bad_file, "tokenizer.ggml.tokens: found no tokens; a tokeniser needs at least one");
  if (n > kMaxVocabTokens) {
    return fail(ErrorCode::limit, "tokenizer.ggml.tokens: {} tokens are more than the limit of {}", n, kMaxVocabTokens);
  }
  if (!vocab.scores.empty() && vocab.scores.size() < n) {
    return fail(ErrorCode::bad_file, "tokenizer.ggml.scores: {} scores for {} tokens; token {} has none",
                vocab.scores.size(), n, vocab.scores.size());
  }
  if (!vocab.token_types.empty() && vocab.token_types.size() < n) {
    return fail(ErrorCode::bad_file, "tokenizer.ggml.token_type: {} types for {} tokens; token {} has none",
                vocab.token_types.size(), n, vocab.token_types.size());
  }
  size_t n_bytes = 0;
  for (size_t id = 0; id < n; ++id) {
    n_bytes += vocab.tokens[id].size();
    if (n_bytes > kMaxVocabBytes) {
      return fail(ErrorCode::limit, "tokenizer.ggml.tokens: with token {} the texts pass the limit of {} bytes", id,
                  kMaxVocabBytes);
    }
  }
  n_bytes = 0;
  for (size_t i = 0; i < vocab.merges.size(); ++i) {
    n_bytes += vocab.merges[i].size();
    if (n_bytes > kMaxVocabBytes) {
      return fail(ErrorCode::limit, "tokenizer.ggml.merges: with entry {} the texts pass the limit of {} bytes", i,
                  kMaxVocabBytes);
    }
  }
  return {};
}

void unescape_spaces(std::string_view text, std::string& out) {
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, kEscapedSpace.size(), kEscapedSpace) == 0) {
      out.push_back(' ');
      at += kEscapedSpace.size();
    } else {
      out.push_back(text[at++]);
    }
  }
}

void render_pieces(const VocabData& vocab, Tables& t) {
  constexpr uint16_t kVerbatim = kControlToken | kUnknownToken | kMarker;
  t.piece_begin.resize(t.n_vocab + size_t{1});
  std::string bytes;
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    t.piece_begin[id] = static_cast<uint32_t>(t.piece_bytes.size());
    const std::string& text = vocab.tokens[id];
    const uint16_t flags = t.flags[id];
    const bool byte_level = t.kind == Kind::byte_bpe;
    if ((flags & kVerbatim) || (byte_level && (flags & kUserDefined))) {
      t.piece_bytes += text;
    } else if (const int byte = byte_of_token_text(text); byte >= 0 && (flags & kByteToken)) {
      t.piece_bytes.push_back(static_cast<char>(byte));
    } else if (byte_level) {
      t.piece_bytes += bytes_of_alphabet(text, bytes) ? bytes : text;
    } else if (t.kind == Kind::raw_bpe && !t.pre.escape_spaces) {
      t.piece_bytes += text;
    } else {
      unescape_spaces(text, t.piece_bytes);
    }
  }
  t.piece_begin[t.n_vocab] = static_cast<uint32_t>(t.piece_bytes.size());
  t.piece_bytes.shrink_to_fit();
}

void build_wordpiece(const VocabData& vocab, Tables& t) {
  for (uint32_t id = 0; id < t.n_vocab; ++id) {
    const std::string& text = vocab.tokens[id];
    if (text.empty() || text.size() > kMaxTokenBytes || (t.flags[id] & kControlToken)) continue;
    t.words.insert(text, static_cast<int32_t>(id));
    t.max_word_bytes = std::max(t.max_word_bytes, static_cast<uint32_t>(text.size()));
  }
  t.lowercase = vocab.lowercase.value_or(true);
  t.strip_accents = vocab.strip_accents.value_or(t.lowercase);
}

Result<void> choose_pre(const VocabData& vocab, Tables& t) {
  if (t.kind == Kind::byte_bpe) {
    RIDGE_TRY(const PreTokenizer* pre, find_pretokenizer(vocab.pre));
    t.pre = *pre;
    if (!pre->byte_level) t.kind = Kind::raw_bpe;
  } else if (t.kind == Kind::raw_bpe) {
    RIDGE_TRY(const PreTokenizer* pre, find_pretokenizer("gemma4"));
    t.pre = *pre;
  } else {
    t.pre = PreTokenizer{.name = "", .stages = {}, .byte_level = false, .escape_spaces = true};
  }
  if (vocab.pre.empty() && t.kind == Kind::byte_bpe) {
    t.warnings.push_back(
        "tokenizer.ggml.pre is missing; words are cut as 'default' cuts them, which may not be how the model was "
        "trained");
  }
  return {};
}

void choose_flags(const VocabData& vocab, Tables& t) {
  const bool spm = t.kind == Kind::spm, wordpiece = t.kind == Kind::wordpiece;
  t.add_bos = vocab.add_bos.value_or(spm || wordpiece || t.pre.add_bos);
  if (t.pre.newline_words) t.add_bos = true;  // Gemma 4 fails without, whatever early files say
  t.add_eos = vocab.add_eos.value_or(false);
  t.add_sep = vocab.add_sep.value_or(wordpiece);
  t.add_space_prefix = spm && vocab.add_space_prefix.value_or(true);
  if (vocab.ignore_merges) t.pre.ignore_merges = *vocab.ignore_merges;
  const auto need = [&](bool& flag, const std::optional<int32_t>& id, std::string_view name) {
    if (!flag || id) return;
    flag = false;
    t.warnings.push_back(
        fmt::format("tokenizer.ggml.add_{}_token asks for a {} token, and the file has none", name, name));
  };
  need(t.add_bos, t.special.bos, "bos"), need(t.add_eos, t.special.eos, "eos"), need(t.add_sep, t.special.sep, "sep");
}

}  // namespace

size_t Tables::memory_bytes() const {
  size_t n = piece_bytes.capacity() + piece_begin.capacity() * 4 + flags.capacity() * 2 + eog.capacity() * 4;
  n += symbols.memory_bytes() + pairs.memory_bytes() + chars.memory_bytes() + risky.capacity() / 8 +
       joins.capacity() * 8;
  return n + specials.trie.memory_bytes() + words.memory_bytes() + sizeof(Tables);
}

Result<std::unique_ptr<Tables>> build_tables(VocabData vocab) {
  auto t = std::make_unique<Tables>();
  RIDGE_TRY(t->kind, find_kind(vocab.model));
  RIDGE_CHECK_OK(check(vocab));
  t->model = vocab.model;
  t->n_vocab = static_cast<uint32_t>(vocab.tokens.size());
  t->byte_token.fill(-1);
  RIDGE_CHECK_OK(choose_pre(vocab, *t));
  classify_tokens(vocab, *t);
  choose_flags(vocab, *t);
  render_pieces(vocab, *t);
  build_special_matcher(vocab, *t);
  switch (t->kind) {
    case Kind::byte_bpe:
      RIDGE_CHECK_OK(build_byte_bpe(vocab, *t));
      break;
    case Kind::raw_bpe:
      RIDGE_CHECK_OK(build_raw_bpe(vocab, *t));
      break;
    case Kind::spm:
      build_spm(vocab, *t);
      break;
    case Kind::wordpiece:
      build_wordpiece(vocab, *t);
      break;
  }
  return t;
}

}  // namespace ridge::text
