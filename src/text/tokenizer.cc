// The Tokenizer's face: cuts text at special tokens, hands the rest to an Encoder, puts BOS and EOS where the file
// asks. A call borrows an Encoder from a small pool, so threads neither share scratch memory nor allocate it anew.
#include "text/tokenizer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "text/encoder.h"
#include "text/tokenizer_tables.h"

namespace ridge {

using text::Encoder;
using text::Recognise;
using text::Tables;

namespace {

constexpr size_t kKeptEncoders = 8;

bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Whose text each byte is: `end` of the run of bytes of one origin.
struct Run {
  size_t end;
  bool trusted;
};

}  // namespace

struct Tokenizer::Impl {
  std::unique_ptr<const Tables> tables;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Encoder>> idle;

  std::unique_ptr<Encoder> borrow() const {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto encoder = std::move(idle.back());
        idle.pop_back();
        return encoder;
      }
    }
    return std::make_unique<Encoder>(*tables);
  }

  void give_back(std::unique_ptr<Encoder> encoder) const {
    encoder->trim();
    const std::lock_guard lock(mutex);
    if (idle.size() < kKeptEncoders) idle.push_back(std::move(encoder));
  }

  struct Match {
    int32_t id = -1;
    size_t n_bytes = 0;
  };

  // The longest special token at text[at] that ends by `limit`.
  Match match(std::string_view text, size_t at, size_t limit, Recognise how) const {
    const auto& trie = tables->specials.trie;
    uint32_t node = text::Trie::kRoot;
    Match best;
    for (size_t i = at; i < limit; ++i) {
      node = trie.child(node, static_cast<uint8_t>(text[i]));
      if (node == text::Trie::kNone) break;
      const int32_t id = trie.value(node);
      if (id >= 0 && tables->may_recognise(id, how)) best = {id, i + 1 - at};
    }
    return best;
  }

  // The longer of what the trusted run allows and what user-defined text allows anywhere.
  Match match_in_run(std::string_view text, size_t at, const Run& run) const {
    const Match anywhere = match(text, at, text.size(), Recognise::untrusted);
    if (!run.trusted) return anywhere;
    const Match trusted = match(text, at, run.end, Recognise::all);
    return trusted.n_bytes >= anywhere.n_bytes ? trusted : anywhere;
  }

  template <class Find>
  void encode_parts(std::string_view text, Find find, std::vector<int32_t>& ids) const {
    auto encoder = borrow();
    bool first = true;
    size_t from = 0;
    const auto stretch = [&](size_t to) {
      if (to <= from) return;
      encoder->append(text.substr(from, to - from), first, ids);
      first = false;
    };
    for (size_t at = 0; at < text.size();) {
      const Match m = find(at);
      if (m.id < 0) {
        ++at;
        continue;
      }
      const uint16_t flags = tables->flags[static_cast<size_t>(m.id)];
      size_t to = at;
      if (flags & text::kStripLeft) {
        while (to > from && is_ascii_space(text[to - 1])) --to;
      }
      stretch(to);
      ids.push_back(m.id);
      first = true;
      at += m.n_bytes;
      if (flags & text::kStripRight) {
        while (at < text.size() && is_ascii_space(text[at])) ++at;
      }
      from = at;
    }
    stretch(text.size());
    give_back(std::move(encoder));
  }

  void begin(bool add_special, std::vector<int32_t>& ids) const {
    if (add_special && tables->add_bos) ids.push_back(*tables->special.bos);
  }
  void end(bool add_special, std::vector<int32_t>& ids) const {
    if (add_special && tables->add_eos) ids.push_back(*tables->special.eos);
    if (add_special && tables->kind == text::Kind::wordpiece && tables->add_sep) ids.push_back(*tables->special.sep);
  }
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(VocabData vocab) {
  RIDGE_TRY(auto tables, text::build_tables(std::move(vocab)));
  std::vector<int32_t> newline;
  Encoder(*tables).append("\n", false, newline);
  if (!newline.empty()) tables->special.newline = newline[0];
  auto impl = std::make_unique<Impl>();
  impl->tables = std::move(tables);
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(impl)));
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const size_t limit = std::min(options.max_bytes, kMaxTextBytes);
  if (text.size() > limit) {
    return fail(ErrorCode::limit, "text of {} bytes: one call encodes at most {}; split the text", text.size(), limit);
  }
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 4 + 2);
  impl_->begin(options.add_special, ids);
  const auto how = options.parse_special ? Recognise::all : Recognise::plain;
  const auto& first_byte = impl_->tables->specials.first_byte[static_cast<size_t>(how)];
  const bool any = impl_->tables->specials.any[static_cast<size_t>(how)];
  impl_->encode_parts(
      text,
      [&](size_t& at) -> Impl::Match {
        if (!any) at = text.size();
        while (at < text.size() && !first_byte[static_cast<uint8_t>(text[at])]) ++at;
        return at < text.size() ? impl_->match(text, at, text.size(), how) : Impl::Match{};
      },
      ids);
  impl_->end(options.add_special, ids);
  return ids;
}

Result<std::vector<int32_t>> Tokenizer::encode_segments(std::span<const TextSegment> segments, bool add_special) const {
  std::string text;
  std::vector<Run> runs;
  for (const TextSegment& segment : segments) {
    if (segment.text.empty()) continue;
    if (segment.text.size() > kMaxTextBytes - text.size()) {
      return fail(ErrorCode::limit, "text of {} bytes or more: one call encodes at most {}",
                  text.size() + segment.text.size(), kMaxTextBytes);
    }
    text.append(segment.text);
    if (!runs.empty() && runs.back().trusted == segment.trusted) {
      runs.back().end = text.size();
    } else {
      runs.push_back({text.size(), segment.trusted});
    }
  }
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 4 + 2);
  impl_->begin(add_special, ids);
  size_t run = 0;
  const auto& first_byte = impl_->tables->specials.first_byte[static_cast<size_t>(Recognise::all)];
  impl_->encode_parts(
      text,
      [&](size_t& at) -> Impl::Match {
        while (at < text.size() && !first_byte[static_cast<uint8_t>(text[at])]) ++at;
        if (at >= text.size()) return {};
        while (runs[run].end <= at) ++run;
        return impl_->match_in_run(text, at, runs[run]);
      },
      ids);
  impl_->end(add_special, ids);
  return ids;
}

std::string_view Tokenizer::piece(int32_t id, bool render_special) const {
  if (id < 0 || id >= n_vocab()) return {};
  const uint16_t flags = impl_->tables->flags[static_cast<size_t>(id)];
  if (!render_special && (flags & (text::kControlToken | text::kUnknownToken))) return {};
  return impl_->tables->piece(static_cast<uint32_t>(id));
}

std::string Tokenizer::decode(std::span<const int32_t> ids, DecodeOptions options) const {
  std::string out;
  out.reserve(ids.size() * 4);
  bool strip = strips_first_space() && options.text_start;
  for (const int32_t id : ids) {
    if (id < 0 || id >= n_vocab()) continue;
    std::string_view bytes = piece(id, options.render_special);
    // What encoding does behind a special token, decoding undoes: else each round trip would add a space.
    if (breaks_text(id)) {
      strip = strips_first_space();
    } else {
      if (strip && !bytes.empty() && bytes[0] == ' ') bytes.remove_prefix(1);
      strip = false;
    }
    out.append(bytes);
  }
  return out;
}

int32_t Tokenizer::n_vocab() const {
  return static_cast<int32_t>(impl_->tables->n_vocab);
}
const SpecialIds& Tokenizer::special() const {
  return impl_->tables->special;
}
bool Tokenizer::adds_bos() const {
  return impl_->tables->add_bos;
}

bool Tokenizer::is_control(int32_t id) const {
  return id >= 0 && id < n_vocab() && (impl_->tables->flags[static_cast<size_t>(id)] & text::kControlToken);
}

bool Tokenizer::is_eog(int32_t id) const {
  return id >= 0 && id < n_vocab() && (impl_->tables->flags[static_cast<size_t>(id)] & text::kEndsGeneration);
}

bool Tokenizer::breaks_text(int32_t id) const {
  constexpr uint16_t kSpecial = text::kControlToken | text::kUserDefined | text::kUnknownToken;
  return id >= 0 && id < n_vocab() && (impl_->tables->flags[static_cast<size_t>(id)] & kSpecial);
}

std::span<const int32_t> Tokenizer::eog_ids() const {
  return impl_->tables->eog;
}

std::optional<int32_t> Tokenizer::find_special(std::string_view text) const {
  const int32_t id = impl_->tables->specials.trie.find(text);
  return id < 0 ? std::nullopt : std::optional<int32_t>(id);
}

bool Tokenizer::strips_first_space() const {
  return impl_->tables->add_space_prefix || impl_->tables->kind == text::Kind::wordpiece;
}

std::string_view Tokenizer::kind() const {
  return impl_->tables->model;
}
std::string_view Tokenizer::pre() const {
  return impl_->tables->pre.name;
}
const std::vector<std::string>& Tokenizer::warnings() const {
  return impl_->tables->warnings;
}

size_t Tokenizer::memory_bytes() const {
  size_t n = impl_->tables->memory_bytes();
  const std::lock_guard lock(impl_->mutex);
  for (const auto& encoder : impl_->idle) n += encoder->memory_bytes();
  return n;
}

}  // namespace ridge
