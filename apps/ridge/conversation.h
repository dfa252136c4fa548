// A conversation with a model: its messages, the commands that change them, and the next answer.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "ridge/engine.h"

namespace ridge::app {

struct ChatFlags {
  ModelFlags model;
  SamplingParams sampling;
  std::string system, variables;
  int n_predict = -1;
  bool hide_timings = false;
};

class Conversation {
 public:
  Conversation(Engine& engine, const ChatFlags& flags);

  // Takes a line that was typed: a message, or a command such as /regen. False: the conversation is over.
  bool take(const std::string& line);
  // Of the last thing that failed; kExitOk when nothing did.
  int exit_code() const { return exit_code_; }

 private:
  void clear();
  void answer();
  Result<void> try_answer();

  Engine& engine_;
  const ChatFlags& flags_;
  std::vector<Message> messages_;
  int exit_code_ = kExitOk;
};

}  // namespace ridge::app
