// A generating request on its way: its event streams, the writer that turns events into the endpoint's text, its books.
// Refuses, before anything is queued: prompts that the context cannot hold, a full queue (with a Retry-After).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "account/stages.h"
#include "api/generation.h"
#include "server/context.h"
#include "server/http.h"

namespace ridge::server {

using MakeWriter = std::unique_ptr<api::AnswerWriter> (*)(api::AnswerHead head, const api::Generation& generation);

struct GenerationPlan {
  std::string endpoint;
  api::Generation generation;
  std::vector<std::vector<int32_t>> prompts;  // each gets generation.n choices
  std::vector<std::string> prompt_texts;      // as many
  bool text_continues = true;
  TimeBook book;  // what was spent so far: parse, template, tokenise
  MakeWriter make_writer = nullptr;
  std::string (*render_error)(const api::Refusal&) = api::render_error;
};

// Submits everything, or refuses everything.
Answer start_generation(ServerContext& context, const HttpRequest& request, GenerationPlan plan);

// A refusal as an answer.
HttpReply refuse(const api::Refusal& refusal, std::string (*render)(const api::Refusal&) = api::render_error);
HttpReply refuse(const Error& error);

}  // namespace ridge::server
