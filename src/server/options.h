// Options and limits of a server. Defaults are those of `ridge serve`; each limit is refused one past it with its own
// status: 413 body, 414 target, 431 headers, 408 or a closed connection for deadlines, 429 queue, 503 connections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/generation.h"

namespace ridge::server {

struct Limits {
  uint64_t body_bytes = uint64_t{4} << 20;
  uint32_t header_bytes = 32 << 10;
  uint32_t target_bytes = 8 << 10;
  uint32_t n_headers = 100;
  uint32_t n_connections = 2048;
  double header_deadline_s = 10;
  double body_deadline_s = 30;
  double idle_deadline_s = 60;
  double write_stall_s = 30;   // one write that does not get through
  double drain_s = 10;         // from SIGTERM until what still runs is cancelled
  double ping_s = 30;          // a comment in a silent stream, so that proxies keep it open
  uint32_t n_accounts = 1024;  // closed accounts that are kept
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8080;               // 0: any free one
  std::vector<std::string> api_keys;  // empty: everybody may
  std::string alias;                  // the model's shown name; "" = its file name
  int n_threads = 2;                  // that parse, render templates and tokenise
  int n_parallel = 1;                 // what the engine was loaded with
  bool metrics = false, slots = true;
  api::Generation defaults;  // what a request that says nothing gets
  Limits limits;
};

}  // namespace ridge::server
