// ridge serve: an HTTP server with the interfaces of OpenAI and of llama-server.
#include <fmt/core.h>

#include <cstdio>
#include <sstream>

#include "answer.h"
#include "builtin_model.h"
#include "command.h"
#include "server/server.h"

namespace ridge::app {
namespace {

struct ServeFlags {
  ModelFlags model;
  server::ServerOptions server;
  std::vector<std::string> keys;
  std::string key_file, metrics, host = "127.0.0.1";
  int port = 8080, n_parallel = -1, n_threads_http = 2, n_predict = -1, max_queue = 256, drain_s = 10;
  int header_deadline_s = 10;
  bool no_slots = false, no_auth = false, ignored = false;
};

void add_flags(Cli& cli, ServeFlags& f) {
  cli.value("--host", f.host, "address to listen on");
  cli.value("--port", f.port, "port to listen on; 0 = any free one, which is printed", 0, 65535);
  cli.value("-np, --parallel", f.n_parallel, "requests that may run at once; -1 = 4", -1, 1024);
  cli.value("--max-queue", f.max_queue, "requests that may wait beside them; more get a 429", 1, 65536);
  cli.values("--api-key", f.keys, "a key that clients must send; several by ',' or by repeating the flag");
  cli.value("--api-key-file", f.key_file, "file with a key a line");
  cli.flag("--no-auth", f.no_auth, "listen on other addresses than this machine's own without keys");
  cli.value("-a, --alias", f.server.alias, "name of the model that clients see");
  cli.flag("--metrics", f.server.metrics, "serve /metrics for Prometheus");
  cli.flag("--no-slots", f.no_slots, "do not serve /slots");
  cli.flag("--accounts", f.server.defaults.accounts, "books with every answer; else where a request asks for them");
  cli.value("-n, --predict, --n-predict", f.n_predict, "most tokens of an answer whose request gives no number", -1,
            1 << 30);
  cli.value("--threads-http", f.n_threads_http, "threads that parse, render templates and tokenise", 1, 256);
  cli.value("--drain", f.drain_s, "seconds that running requests get after SIGTERM or Ctrl-C", 0, 3600);
  cli.value("--header-deadline", f.header_deadline_s, "seconds in which a request's head must be there", 1, 3600);
  cli.flag("-cb, --cont-batching", f.ignored, "accepted for familiarity; batching is always continuous");
  cli.flag("--jinja", f.ignored, "accepted for familiarity; templates are always Jinja");
}

void take_key(std::vector<std::string>& keys, std::string_view key) {
  while (!key.empty() && (key.back() == '\r' || key.back() == ' ')) key.remove_suffix(1);
  if (!key.empty()) keys.emplace_back(key);
}

Result<void> read_keys(ServeFlags& f) {
  for (const std::string& list : f.keys) {
    std::istringstream parts(list);
    for (std::string key; std::getline(parts, key, ',');) take_key(f.server.api_keys, key);
  }
  if (f.key_file.empty()) return {};
  RIDGE_TRY(const std::string text, read_text(f.key_file));
  std::istringstream lines(text);
  for (std::string key; std::getline(lines, key);) take_key(f.server.api_keys, key);
  if (f.server.api_keys.empty())
    return fail(ErrorCode::invalid_argument, "--api-key-file: '{}' holds no key", f.key_file);
  return {};
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<int> serve(ServeFlags& f) {
  RIDGE_CHECK_OK(read_keys(f));
  if (!is_loopback(f.host) && f.server.api_keys.empty() && !f.no_auth) {
    return fail(ErrorCode::invalid_argument,
                "--host {}: others than this machine could use the server; give a key (--api-key), or say --no-auth",
                f.host);
  }
  EngineOptions& o = f.model.options;
  o.n_parallel = f.n_parallel > 0 ? f.n_parallel : 4;
  o.max_queue = f.max_queue;
  o.on_progress = load_progress();
  RIDGE_TRY(const auto engine, Engine::load(o));
  if (!engine->model().note.empty()) warn(engine->model().note);
  if (!engine->path().placement_note.empty()) warn(engine->path().placement_note);
  f.server.host = f.host;
  f.server.port = static_cast<uint16_t>(f.port);
  f.server.n_threads = f.n_threads_http;
  f.server.n_parallel = o.n_parallel;
  f.server.slots = !f.no_slots;
  f.server.defaults.max_tokens = f.n_predict;
  f.server.limits.drain_s = f.drain_s;
  f.server.limits.header_deadline_s = f.header_deadline_s;
  const bool has_keys = !f.server.api_keys.empty();
  RIDGE_TRY(const auto server, server::Server::create(*engine, std::move(f.server)));
  const bool is_v6 = f.host.find(':') != std::string::npos;
  put(fmt::format("ridge serve: listening on http://{}{}{}:{}\n  {} of {} tokens of context, {} requests at once{}\n",
                  is_v6 ? "[" : "", f.host, is_v6 ? "]" : "", server->port(), engine->model().architecture,
                  engine->model().n_ctx, o.n_parallel, has_keys ? ", with keys" : ""));
  server->run(true);
  put("ridge serve: ended\n");
  return kExitOk;
}

}  // namespace

int cmd_serve(const std::vector<std::string>& args, const ProcessStart&) {
  Cli cli("serve", "answer over HTTP: OpenAI's interface and llama-server's; SIGTERM or Ctrl-C drains and ends");
  ServeFlags flags;
  add_model_flags(cli, flags.model);
  add_flags(cli, flags);
  add_sampling_flags(cli, flags.server.defaults.sampling);
  const auto parsed = cli.parse(args);
  if (!parsed) return report(parsed.error());
  if (*parsed == Cli::Parsed::help_was_printed) return kExitOk;
  if (const auto ok = check_model_flags(flags.model); !ok) return report(ok.error());
  builtin_sampling(cli, flags.model, flags.server.defaults.sampling);
  const auto code = serve(flags);
  return code ? *code : report(code.error());
}

}  // namespace ridge::app
