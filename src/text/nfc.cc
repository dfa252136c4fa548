// NFC in linear time (n log n in the length of a run of combining marks). See nfc.h.
#include "text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <unordered_map>

#include "base/utf8.h"
#include "text/unicode.h"

namespace ridge::text {
namespace {

constexpr uint32_t kHangulBase = 0xAC00, kLBase = 0x1100, kVBase = 0x1161, kTBase = 0x11A7;
constexpr uint32_t kLCount = 19, kVCount = 21, kTCount = 28;
constexpr uint32_t kHangulCount = kLCount * kVCount * kTCount;
constexpr uint16_t kNoMapping = 0xFFFF;

const utf8proc_property_t& property(uint32_t code) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
}

uint8_t combining_class(uint32_t code) {
  return static_cast<uint8_t>(property(code).combining_class);
}

bool decomposes(uint32_t code) {
  const auto& p = property(code);
  return p.decomp_type == 0 && p.decomp_seqindex != kNoMapping;
}

uint64_t pair_key(uint32_t a, uint32_t b) {
  return static_cast<uint64_t>(a) << 32 | b;
}

// (first, second) -> composite, for every canonical pair that composition may use.
class Compositions {
 public:
  Compositions() {
    for (uint32_t code = 0xC0; code < 0x30000; ++code) {
      if (code >= kHangulBase && code < kHangulBase + kHangulCount) continue;
      if (!decomposes(code)) continue;
      decomposing_.push_back(code);
      if (property(code).comp_exclusion) continue;
      // The full decomposition, with all but its last character composed again, is the pair that was written in the
      // data.
      std::vector<uint32_t> parts;
      append_nfd(parts, code);
      if (parts.size() < 2) continue;
      waiting_.push_back({code, std::move(parts)});
    }
    // Shorter decompositions first: the composite of a prefix is known when a longer one asks for it.
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    for (const auto& [code, parts] : waiting_) add(code, parts);
    waiting_.clear();
    waiting_.shrink_to_fit();
  }

  uint32_t of(uint32_t a, uint32_t b) const {
    if (a - kLBase < kLCount && b - kVBase < kVCount) {
      return kHangulBase + ((a - kLBase) * kVCount + (b - kVBase)) * kTCount;
    }
    if (a - kHangulBase < kHangulCount && (a - kHangulBase) % kTCount == 0 && b - kTBase - 1 < kTCount - 1) {
      return a + (b - kTBase);
    }
    const auto it = pairs_.find(pair_key(a, b));
    return it == pairs_.end() ? 0 : it->second;
  }

  const std::vector<uint32_t>& decomposing() const { return decomposing_; }
  const std::unordered_map<uint64_t, uint32_t>& pairs() const { return pairs_; }

 private:
  void add(uint32_t code, const std::vector<uint32_t>& parts) {
    uint32_t first = parts[0];
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
      const auto it = pairs_.find(pair_key(first, parts[i]));
      if (it == pairs_.end()) return;
      first = it->second;
    }
    pairs_.emplace(pair_key(first, parts.back()), code);
  }

  std::unordered_map<uint64_t, uint32_t> pairs_;
  std::vector<uint32_t> decomposing_;
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> waiting_;
};

const Compositions& compositions() {
  static const Compositions table;
  return table;
}

struct Marked {
  uint32_t code;
  uint8_t ccc;
};

// Decomposed text of one stretch -> ordered, composed, appended to out.
void compose_stretch(std::vector<Marked>& text, std::string& out) {
  for (size_t i = 0; i < text.size();) {
    if (text[i].ccc == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && text[end].ccc != 0) ++end;
    std::stable_sort(text.begin() + static_cast<ptrdiff_t>(i), text.begin() + static_cast<ptrdiff_t>(end),
                     [](const Marked& a, const Marked& b) { return a.ccc < b.ccc; });
    i = end;
  }
  const Compositions& table = compositions();
  size_t n = 0, starter = SIZE_MAX;
  uint8_t last_ccc = 0;  // of what was last kept behind the starter; 0 where nothing was
  for (size_t i = 0; i < text.size(); ++i) {
    const Marked c = text[i];
    const bool adjacent = starter != SIZE_MAX && starter + 1 == n;
    if (starter != SIZE_MAX && (adjacent || (last_ccc != 0 && last_ccc < c.ccc))) {
      if (const uint32_t composite = table.of(text[starter].code, c.code); composite != 0) {
        text[starter].code = composite;
        continue;
      }
    }
    if (c.ccc == 0) starter = n;
    last_ccc = c.ccc;
    text[n++] = c;
  }
  for (size_t i = 0; i < n; ++i) utf8_append(out, text[i].code);
}

}  // namespace

void append_nfd(std::vector<uint32_t>& out, uint32_t code) {
  if (code < 0xC0) {
    out.push_back(code);
    return;
  }
  utf8proc_int32_t parts[32];
  int last_class = 0;
  const auto n =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts, 32, UTF8PROC_DECOMPOSE, &last_class);
  if (n <= 0 || n > 32) {
    out.push_back(code);
    return;
  }
  for (utf8proc_ssize_t i = 0; i < n; ++i) out.push_back(static_cast<uint32_t>(parts[i]));
}

bool surely_nfc(std::string_view text) {
  const CharTable& table = char_table();
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    // Below U+0300 nothing changes and nothing combines with what stands before it: lead bytes under 0xCC are safe.
    if (static_cast<uint8_t>(*p) < 0xCC) {
      ++p;
      continue;
    }
    const Char c = read_char(p, end);
    if (table.of(c.code) & kNfcCheck) return false;
    p += c.n_bytes;
  }
  return true;
}

std::string nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  const CharTable& table = char_table();
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  const char* copied = begin;     // everything before is in out
  const char* last_safe = begin;  // where the last character that may take part in a composition begins
  std::vector<Marked> stretch;
  std::vector<uint32_t> parts;
  while (p < end) {
    const Char c = read_char(p, end);
    if (c.code < 0x300 || !(table.of(c.code) & kNfcCheck)) {
      last_safe = p;
      p += c.n_bytes;
      continue;
    }
    // A stretch: from the safe character before, up to the next safe one.
    const char* from = p;
    if (last_safe >= copied && last_safe < p && read_char(last_safe, end).valid) from = last_safe;
    out.append(copied, from);
    stretch.clear();
    const char* q = from;
    while (q < end) {
      const Char d = read_char(q, end);
      if (q > from || from == p) {
        if (!d.valid || d.code < 0x300 || !(table.of(d.code) & kNfcCheck)) break;
      }
      parts.clear();
      append_nfd(parts, d.code);
      for (const uint32_t code : parts) stretch.push_back({code, combining_class(code)});
      q += d.n_bytes;
    }
    compose_stretch(stretch, out);
    p = copied = last_safe = q;
  }
  out.append(copied, end);
  return out;
}

std::vector<uint32_t> codes_that_nfc_may_change() {
  std::vector<uint32_t> out;
  const Compositions& table = compositions();
  for (const uint32_t code : table.decomposing()) {
    std::vector<Marked> stretch;
    std::vector<uint32_t> parts;
    append_nfd(parts, code);
    for (const uint32_t part : parts) stretch.push_back({part, combining_class(part)});
    std::string composed, itself;
    compose_stretch(stretch, composed);
    utf8_append(itself, code);
    if (composed != itself) out.push_back(code);
  }
  for (const auto& [key, composite] : table.pairs()) {
    (void)composite;
    out.push_back(static_cast<uint32_t>(key));
  }
  for (uint32_t v = 0; v < kVCount; ++v) out.push_back(kVBase + v);
  for (uint32_t t = 1; t < kTCount; ++t) out.push_back(kTBase + t);
  for (uint32_t code = 0x300; code < 0x20000; ++code) {
    if (combining_class(code) != 0) out.push_back(code);
  }
  return out;
}

}  // namespace ridge::text
