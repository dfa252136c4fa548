#include "command.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>

#include "builtin_model.h"
#include "sample/params.h"
#include "term.h"

namespace ridge::app {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return kExitUsage;
    case ErrorCode::not_found:
    case ErrorCode::io:
    case ErrorCode::bad_file:
      return kExitFile;
    case ErrorCode::unsupported:
      return kExitUnsupported;
    case ErrorCode::limit:
    case ErrorCode::out_of_memory:
    case ErrorCode::context_exceeded:
      return kExitDoesNotFit;
    case ErrorCode::template_error:
      return kExitTemplate;
    case ErrorCode::cancelled:
      return kExitInterrupted;
    case ErrorCode::device:
    case ErrorCode::internal:
      return kExitFailed;
  }
  return kExitFailed;
}

int report(const Error& error) {
  const Style style{is_terminal(2)};
  std::fprintf(stderr, "%s %s\n", style.bad("error:").c_str(), error.message.c_str());
  return exit_code(error.code);
}

void warn(std::string_view sentence) {
  const Style style{is_terminal(2)};
  std::fprintf(stderr, "%s %.*s\n", style.warn("note:").c_str(), static_cast<int>(sentence.size()), sentence.data());
}

void add_model_flags(Cli& cli, ModelFlags& f) {
  EngineOptions& o = f.options;
  cli.value("-m, --model", o.model_path, "GGUF file; any part of a split one; without it the built-in model answers");
  cli.value("-c, --ctx-size", o.n_ctx, "context in tokens; 0 = what the model was trained for, at most 4096", 0,
            1 << 30);
  cli.value("-b, --batch-size", f.n_batch, "most prompt tokens handed over at once; steps are cut to -ub", 1, 1 << 20);
  cli.value("-ub, --ubatch-size", o.n_ubatch, "most tokens a step", 1, 65536);
  cli.value("-t, --threads", o.n_threads, "threads; 0 = by affinity, cgroup quota and physical cores", -1, 1024);
  cli.value("-ngl, --gpu-layers, --n-gpu-layers", o.n_gpu_layers, "layers for a GPU; -1 = auto", -1, 1 << 20);
  cli.value("-ctk, --cache-type-k", o.type_k, "type of cached keys: f32 f16 bf16 q8_0 q4_0");
  cli.value("-ctv, --cache-type-v", o.type_v, "type of cached values");
  cli.optional_value("-fa, --flash-attn", f.flash_attn, "on",
                     "on, off or auto; attention here is always computed in blocks");
  cli.value("--backend", o.backend, "cpu, or reference (slow, exact)");
  cli.value("--isa", o.isa,
            "instruction set of the kernels: scalar, avx2, avx512, avx512_vnni, neon; empty = the best here");
  cli.value("--chat-template-text", o.chat_template, "Jinja text to use instead of the model's own template");
  cli.flag("--no-mmap", f.no_mmap, "accepted for familiarity; files are always mapped");
  cli.flag("--mlock", f.mlock, "accepted for familiarity; pages are not locked");
}

Result<void> check_model_flags(ModelFlags& f) {
  if (f.flash_attn != "on" && f.flash_attn != "off" && f.flash_attn != "auto" && f.flash_attn != "1" &&
      f.flash_attn != "0") {
    return fail(ErrorCode::invalid_argument, "-fa: found '{}', expected on, off or auto", f.flash_attn);
  }
  if (f.flash_attn == "off" || f.flash_attn == "0")
    warn("-fa off: attention is computed block by block all the same; there is no other kernel");
  if (f.no_mmap) warn("--no-mmap: the file is mapped all the same; no other way of reading it is built in");
  if (f.mlock) warn("--mlock: pages are not locked into memory");
  return choose_model(f);
}

void add_sampling_flags(Cli& cli, SamplingParams& params) {
  const auto defaults = std::make_shared<const SamplingParams>();
  for (const sample::SamplingField& field : sample::sampling_fields()) {
    if (field.flags.empty()) continue;
    std::string names;
    std::istringstream words{std::string(field.flags)};
    for (std::string w; words >> w;) names += (names.empty() ? "" : ", ") + w;
    const std::string name(field.name);
    const auto set = [&params, name](std::string_view v) { return sample::set_field(params, name, v); };
    if (field.kind == sample::FieldKind::boolean) {
      cli.optional_setter(names, set, std::string(field.help));
    } else {
      cli.setter(names, set, std::string(field.help), sample::field_text(*defaults, field));
    }
  }
}

Result<std::string> read_text(const std::string& path) {
  constexpr size_t kMax = size_t{64} << 20;
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file)
      return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io, "'{}': cannot read: {}", path,
                  std::strerror(errno));
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  char chunk[65536];
  while (in.read(chunk, sizeof(chunk)) || in.gcount() > 0) {
    text.append(chunk, static_cast<size_t>(in.gcount()));
    if (text.size() > kMax) return fail(ErrorCode::limit, "'{}': more than {} bytes of text", path, kMax);
  }
  if (in.bad()) return fail(ErrorCode::io, "'{}': cannot read (is it a directory?)", path);
  return text;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    unsigned value = 0;
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case '\'':
        out += '\'';
        break;
      case '"':
        out += '"';
        break;
      case '\\':
        out += '\\';
        break;
      case 'x':
        if (i + 2 < text.size() && std::from_chars(&text[i + 1], &text[i + 1] + 2, value, 16).ptr == &text[i + 1] + 2) {
          out += static_cast<char>(value);
          i += 2;
        } else {
          out += "\\x";
        }
        break;
      default:
        out += '\\', out += c;
    }
  }
  return out;
}

Result<std::vector<int32_t>> parse_ids(std::string_view text) {
  std::vector<int32_t> ids;
  const auto skip = [&](std::string_view set) {
    while (!text.empty() && set.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  };
  skip(" \t\n\r[");
  while (!text.empty() && text.front() != ']') {
    int32_t id = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (ec != std::errc()) {
      return fail(ErrorCode::invalid_argument, "token id {}: found '{}', expected a whole number", ids.size() + 1,
                  text.substr(0, 20));
    }
    ids.push_back(id);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    skip(" \t\n\r,");
  }
  return ids;
}

bool put(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

}  // namespace ridge::app
