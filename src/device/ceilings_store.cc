// Kept as one JSON file a fingerprint; written beside and renamed, so that two programs that measure at the same time
// leave one whole file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/cache_dir.h"
#include "base/thread_pool.h"
#include "device/ceilings.h"

namespace ridge {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kSchema = "ridge-ceilings/1";
constexpr std::uintmax_t kMaxFileBytes = 1u << 20;

Json to_json(const Rate& r) {
  return {{"best", r.best}, {"median", r.median}, {"n_windows", r.n_windows}};
}
Json to_json(const std::optional<Rate>& r) {
  return r ? to_json(*r) : Json(nullptr);
}

Rate rate_from(const Json& j) {
  return {j.at("best").get<double>(), j.at("median").get<double>(), j.at("n_windows").get<int>()};
}
std::optional<Rate> optional_rate_from(const Json& j) {
  return j.is_null() ? std::nullopt : std::optional(rate_from(j));
}

bool in_range(const Rate& r) {
  return r.best > 0 && r.best < 1e18 && r.median > 0 && r.median <= r.best && r.n_windows > 0;
}
bool in_range(const Ceilings& c) {
  const auto ok = [](const auto& roof) { return in_range(roof.bytes_s); };
  const auto peak_ok = [](const PeakRoof& p) {
    return p.core_ops_s.has_value() == p.all_ops_s.has_value() && (!p.core_ops_s || in_range(*p.core_ops_s)) &&
           (!p.all_ops_s || in_range(*p.all_ops_s));
  };
  return !c.read.empty() && c.n_threads > 0 && std::all_of(c.read.begin(), c.read.end(), ok) &&
         std::all_of(c.caches.begin(), c.caches.end(), ok) && std::all_of(c.peaks.begin(), c.peaks.end(), peak_ok);
}

Ceilings from_json(const Json& j) {
  Ceilings c;
  c.fingerprint = j.at("fingerprint").get<std::string>();
  c.measured_utc = j.at("measured_utc").get<std::string>();
  c.n_threads = j.at("n_threads").get<int>();
  c.loads = j.at("loads").get<std::string>();
  c.buffer_bytes = j.at("buffer_bytes").get<uint64_t>();
  c.took_s = j.at("took_s").get<double>();
  c.numa_note = j.at("numa_note").get<std::string>();
  for (const Json& r : j.at("read")) {
    c.read.push_back({r.at("n_threads").get<int>(), rate_from(r.at("bytes_s")), r.at("prefetch").get<bool>()});
  }
  for (const Json& r : j.at("caches")) {
    c.caches.push_back({r.at("level").get<int>(), r.at("n_bytes").get<uint64_t>(), r.at("buffer_bytes").get<uint64_t>(),
                        rate_from(r.at("bytes_s"))});
  }
  for (int i = 0; i < kPeakTypeCount; ++i) {
    const auto type = static_cast<PeakType>(i);
    const Json& p = j.at("peaks").at(std::string(to_string(type)));
    PeakRoof& roof = c.peaks[static_cast<size_t>(i)];
    roof.type = type;
    roof.instruction = p.at("instruction").is_null() ? "" : p.at("instruction").get<std::string>();
    roof.core_ops_s = optional_rate_from(p.at("core_ops_s"));
    roof.all_ops_s = optional_rate_from(p.at("all_ops_s"));
    roof.reason = p.at("reason").is_null() ? "" : p.at("reason").get<std::string>();
  }
  return c;
}

// FNV-1a: a name for a file, not a proof; the whole fingerprint stands inside and is compared.
uint64_t hash_of(std::string_view text) {
  uint64_t h = 14695981039346656037u;
  for (const char ch : text) h = (h ^ static_cast<unsigned char>(ch)) * 1099511628211u;
  return h;
}

std::filesystem::path file_for(const std::filesystem::path& dir, std::string_view fingerprint) {
  return dir / fmt::format("ceilings-{:016x}.json", hash_of(fingerprint));
}

Result<Ceilings> read_kept(const std::filesystem::path& path, std::string_view fingerprint) {
  std::error_code ec;
  const std::uintmax_t n = std::filesystem::file_size(path, ec);
  if (ec) return fail(ErrorCode::not_found, "'{}': {}", path.string(), ec.message());
  if (n > kMaxFileBytes)
    return fail(ErrorCode::limit, "'{}': {} bytes, expected at most {}", path.string(), n, kMaxFileBytes);
  std::ifstream f(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(f), {}};
  auto parsed = parse_ceilings(text);
  if (!parsed) return in_context(fmt::format("'{}'", path.string()), std::move(parsed.error()));
  if (parsed->fingerprint != fingerprint) {
    return fail(ErrorCode::not_found, "'{}': is of another machine", path.string());
  }
  return parsed;
}

Result<void> keep(const std::filesystem::path& path, const Ceilings& c) {
  std::error_code ec;
  std::filesystem::create_directories(path.parent_path(), ec);
  if (ec) return fail(ErrorCode::io, "'{}': cannot create the folder: {}", path.parent_path().string(), ec.message());
  RIDGE_TRY(AtomicFile file, AtomicFile::create(path));
  const std::string text = ceilings_json(c);
  RIDGE_CHECK_OK(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

}  // namespace

std::string ceilings_json(const Ceilings& c) {
  Json read = Json::array(), caches = Json::array(), peaks = Json::object();
  for (const ReadRoof& r : c.read) {
    read.push_back({{"n_threads", r.n_threads}, {"bytes_s", to_json(r.bytes_s)}, {"prefetch", r.prefetch}});
  }
  for (const CacheRoof& r : c.caches) {
    caches.push_back({{"level", r.level},
                      {"n_bytes", r.n_bytes},
                      {"buffer_bytes", r.buffer_bytes},
                      {"bytes_s", to_json(r.bytes_s)}});
  }
  const auto text_or_null = [](const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); };
  for (const PeakRoof& p : c.peaks) {
    peaks[std::string(to_string(p.type))] = {{"instruction", text_or_null(p.instruction)},
                                             {"core_ops_s", to_json(p.core_ops_s)},
                                             {"all_ops_s", to_json(p.all_ops_s)},
                                             {"reason", text_or_null(p.reason)}};
  }
  const Json doc = {{"schema", kSchema},
                    {"fingerprint", c.fingerprint},
                    {"measured_utc", c.measured_utc},
                    {"n_threads", c.n_threads},
                    {"loads", c.loads},
                    {"buffer_bytes", c.buffer_bytes},
                    {"took_s", c.took_s},
                    {"read", read},
                    {"caches", caches},
                    {"peaks", peaks},
                    {"numa", nullptr},
                    {"numa_note", c.numa_note}};
  return doc.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Ceilings> parse_ceilings(std::string_view json) {
  // The library speaks in exceptions; they end here.
  try {
    const Json doc = Json::parse(json);
    const std::string schema = doc.at("schema").get<std::string>();
    if (schema != kSchema) return fail(ErrorCode::bad_file, "schema '{}', expected '{}'", schema, kSchema);
    Ceilings c = from_json(doc);
    if (!in_range(c)) return fail(ErrorCode::bad_file, "no valid ceilings: a rate is missing or out of range");
    return c;
  } catch (const std::exception& e) {
    return fail(ErrorCode::bad_file, "no valid ceilings: {}", e.what());
  }
}

std::optional<StoredCeilings> kept_ceilings(int n_threads) {
  const auto dir = cache_dir();
  if (!dir) return std::nullopt;
  const std::string fingerprint = machine_fingerprint(read_machine(), choose_threads(n_threads).n_threads);
  const std::filesystem::path path = file_for(*dir, fingerprint);
  auto kept = read_kept(path, fingerprint);
  if (!kept) return std::nullopt;
  return StoredCeilings{.ceilings = std::move(*kept), .path = path.string(), .reused = true, .note = {}};
}

Result<StoredCeilings> obtain_ceilings(const CeilingsOptions& options, bool refresh) {
  const std::string fingerprint = machine_fingerprint(read_machine(), choose_threads(options.n_threads).n_threads);
  StoredCeilings stored;
  const auto dir = cache_dir();
  if (dir) {
    const std::filesystem::path path = file_for(*dir, fingerprint);
    stored.path = path.string();
    if (!refresh) {
      auto kept = read_kept(path, fingerprint);
      if (kept) return StoredCeilings{std::move(*kept), path.string(), true, {}};
      if (kept.error().code != ErrorCode::not_found) stored.note = "measured again: " + kept.error().message;
    }
  } else {
    stored.note = dir.error().message;
  }
  RIDGE_TRY(stored.ceilings, measure_ceilings(options));
  if (dir) {
    if (const auto kept = keep(stored.path, stored.ceilings); !kept) {
      stored.note = "not kept: " + kept.error().message;
      stored.path.clear();
    }
  }
  return stored;
}

}  // namespace ridge
