// Answers that call tools: which format a chat template speaks, and a parser that takes the answer as it comes and
// tells text, reasoning and calls apart. Nothing that was given out is ever taken back: every delta is an addition.
//
// A call that is malformed, or cut by the end of the answer, is reported as broken with its raw text, so that the turn
// is kept. Truth: the chat templates of the models named below.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::tools {

enum class Format : uint8_t {
  generic,  // {"tool_call": {"name": ..., "arguments": {...}}} for templates that know no tools
  hermes,   // <tool_call>{"name": ..., "arguments": {...}}</tool_call>          Qwen2.5, Qwen3, Hermes
  llama3,   // {"name": ..., "parameters": {...}}, also behind <|python_tag|>    Llama 3.x
  mistral,  // [TOOL_CALLS][{"name": ..., "arguments": {...}}] or name[ARGS]{...}
  harmony,  // <|channel|>commentary to=functions.name <|message|>{...}<|call|>  gpt-oss
  deepseek,  // <｜tool▁call▁begin｜>name<｜tool▁sep｜>{...}<｜tool▁call▁end｜>       DeepSeek V3, R1, V3.1
  glm,       // <tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>
};
std::string_view to_string(Format format);

Format find_format(std::string_view chat_template);
// Whether its answers think between <think> and </think>.
bool thinks(std::string_view chat_template);

struct Delta {
  enum class Kind : uint8_t {
    content,    // text
    reasoning,  // text
    call,       // a call begins: index, id, name
    arguments,  // text: a further part of the arguments of call `index`; all parts together are a JSON object
    call_end,   // call `index` is whole
    broken,     // text: the raw form of what was no call after all; call `index` is void if it had begun
  };
  Kind kind = Kind::content;
  std::string text;
  int index = -1;  // of the call, from 0
  std::string id;  // of Kind::call: nine letters and digits, as Mistral's template demands
  std::string name;
};

struct ParserOptions {
  Format format = Format::generic;
  bool thinks = false;             // split <think> ... </think> off as reasoning
  bool starts_in_thought = false;  // the template has already written <think>
  uint64_t id_seed = 0;            // ids are a function of it and of the index
};

// One answer. One thread. The text must show control tokens: most formats mark their calls with them.
class Parser {
 public:
  explicit Parser(ParserOptions options);
  std::vector<Delta> push(std::string_view text);
  std::vector<Delta> finish();
  int n_calls() const { return n_calls_; }  // whole ones

 private:
  enum class Mode : uint8_t { text, thought, call, list };
  bool advance(bool is_final);
  bool advance_text(bool is_final);
  bool advance_thought(bool is_final);
  bool advance_call(bool is_final);
  void emit(Delta::Kind kind, std::string_view text);
  void give(std::string_view name, std::string_view arguments);

  ParserOptions options_;
  Mode mode_ = Mode::text;
  std::string rest_;      // not yet given out, or of the call at work from its marker on
  bool is_start_ = true;  // no content yet but space
  bool begun_ = false;    // the call at work was told of
  size_t n_given_ = 0;    // of its arguments
  int n_calls_ = 0, index_ = 0;
  std::vector<Delta> out_;
};

}  // namespace ridge::tools
