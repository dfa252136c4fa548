// The engine as its callers see it: every request ends exactly once, its books close, and nothing but its own words
// decides its answer.
#include "ridge/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/aligned_buffer.h"
#include "golden_dir.h"
#include "tiny_model.h"

namespace ridge {
namespace {

using testing::TinyModel;

std::unique_ptr<Engine> load(const std::string& path, const std::function<void(EngineOptions&)>& change = {}) {
  EngineOptions options;
  options.model_path = path;
  if (change) change(options);
  auto engine = Engine::load(options);
  EXPECT_TRUE(engine) << engine.error().message;
  return engine ? std::move(*engine) : nullptr;
}

Request greedy(std::vector<int32_t> tokens, int32_t n) {
  Request r;
  r.tokens = std::move(tokens);
  r.max_tokens = n;
  r.sampling.temperature = 0;
  return r;
}

struct Outcome {
  std::vector<int32_t> ids;
  std::string text;
  std::vector<TokenEvent> tokens;
  std::optional<Finished> finished;
  std::optional<Failed> failed;
  int n_terminal = 0;
};

Outcome read_all(EventStream& stream) {
  Outcome o;
  while (auto event = stream.next()) {
    EXPECT_EQ(o.n_terminal, 0) << "an event after the terminal one";
    if (auto* t = std::get_if<TokenEvent>(&*event)) {
      o.ids.push_back(t->id), o.text += t->text, o.tokens.push_back(*t);
    } else if (auto* f = std::get_if<Finished>(&*event)) {
      o.text += f->text, o.finished = *f, ++o.n_terminal;
    } else {
      o.failed = std::get<Failed>(*event), ++o.n_terminal;
    }
  }
  EXPECT_EQ(o.n_terminal, 1);
  return o;
}

Outcome run(Engine& engine, Request request) {
  auto stream = engine.submit(std::move(request));
  EXPECT_TRUE(stream) << stream.error().message;
  return stream ? read_all(*stream) : Outcome{};
}

std::vector<int32_t> ids_of(Engine& engine, std::string_view text) {
  auto ids = engine.tokenize(text, true, false);
  EXPECT_TRUE(ids);
  return ids.value_or(std::vector<int32_t>{1});
}

TEST(Engine, stories_model_gives_the_reference_ids_with_f16_and_f32_cache) {
  RIDGE_GOLDEN_OR_SKIP(golden);
  const auto json = nlohmann::json::parse(std::ifstream(golden / "../models/stories260K.json"));
  for (const std::string type : {"f16", "f32"}) {
    const auto engine =
        load((golden / "../models/stories260K.gguf").string(), [&](EngineOptions& o) { o.type_k = o.type_v = type; });
    ASSERT_TRUE(engine);
    for (const auto& c : json["cases"]) {
      const auto expected = c["greedy_ids"].get<std::vector<int32_t>>();
      EXPECT_EQ(ids_of(*engine, c["prompt"].get<std::string>()), c["prompt_ids"].get<std::vector<int32_t>>());
      const Outcome o = run(*engine, greedy(c["prompt_ids"], static_cast<int32_t>(expected.size())));
      EXPECT_EQ(o.ids, expected) << c["prompt"] << " with " << type;
      // The reference text lacks what a shell would have taken from its end (a quotation mark), so it is compared as a
      // beginning.
      const std::string text = c["prompt"].get<std::string>() + o.text, reference = c["greedy_text_reference"];
      EXPECT_EQ(text.substr(0, reference.size()), reference);
      EXPECT_LE(text.size(), reference.size() + 2);
    }
  }
}

TEST(Engine, accounts_of_a_request_close_and_their_parts_agree) {
  const TinyModel model;
  const auto engine = load(model.path());
  ASSERT_TRUE(engine);
  const Outcome o = run(*engine, greedy(ids_of(*engine, "hello there"), 40));
  ASSERT_TRUE(o.finished);
  const RequestAccount& a = o.finished->account;
  double sum = 0;
  for (const StageTime& s : a.time.stages) {
    EXPECT_GE(s.ms, 0) << s.name;
    sum += s.ms;
  }
  EXPECT_NEAR(sum + a.time.residual_ms, a.time.elapsed_ms, 1e-6);
  EXPECT_EQ(a.n_output, o.ids.size());
  EXPECT_EQ(a.token_ms.size(), o.ids.size());
  EXPECT_EQ(a.prefill.n_tokens, a.n_prompt);
  EXPECT_EQ(a.decode.n_steps, a.n_output - 1) << "the first token comes from the prefill";
  EXPECT_GT(a.ttft_ms, 0);
  EXPECT_LE(a.ttft_ms, a.time.elapsed_ms);
  // A decode step reads every weight once: 2 FLOPs and 4 bytes each.
  EXPECT_GT(a.decode.flops, 0);
  EXPECT_GT(a.decode.weight_bytes / static_cast<double>(a.decode.n_steps), 4.0 * 32 * 32 * 2);
  EXPECT_GT(a.decode.kv_read_bytes, 0);
}

TEST(Engine, memory_is_predicted_to_the_byte_for_what_it_allocates) {
  const TinyModel model;
  for (const char* type : {"f32", "f16"}) {
    const auto engine = load(model.path(), [&](EngineOptions& o) {
      o.type_k = type;
      o.n_ctx = 100;
    });
    ASSERT_TRUE(engine);
    for (const MemoryLine& l : engine->memory().lines) {
      if (l.predicted_bytes == 0) continue;
      EXPECT_EQ(l.predicted_bytes, l.current_bytes) << l.owner << ' ' << l.detail;
    }
    EXPECT_GT(engine->memory().rss_bytes, 0u);
  }
}

TEST(Engine, prompt_longer_than_the_context_is_refused_with_both_lengths) {
  const TinyModel model;
  const auto engine = load(model.path(), [](EngineOptions& o) { o.n_ctx = 64; });
  ASSERT_TRUE(engine);
  EXPECT_TRUE(engine->submit(greedy(std::vector<int32_t>(64, 5), 1)));
  const auto refused = engine->submit(greedy(std::vector<int32_t>(65, 5), 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::context_exceeded);
  EXPECT_NE(refused.error().message.find("65"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("64"), std::string::npos);
}

TEST(Engine, an_answer_ends_when_the_context_is_full) {
  const TinyModel model;
  const auto engine = load(model.path(), [](EngineOptions& o) { o.n_ctx = 64; });
  ASSERT_TRUE(engine);
  Request r = greedy(std::vector<int32_t>(60, 5), -1);
  r.sampling.ignore_eos = true;
  const Outcome o = run(*engine, std::move(r));
  ASSERT_TRUE(o.finished);
  EXPECT_EQ(o.finished->reason, FinishReason::context_full);
  EXPECT_EQ(o.ids.size(), 5u) << "the last token of an answer needs no position";
}

TEST(Engine, bad_requests_are_refused_with_the_field_and_the_engine_lives_on) {
  const TinyModel model;
  const auto engine = load(model.path());
  ASSERT_TRUE(engine);
  const auto refused = [&](const std::function<void(Request&)>& spoil) {
    Request r = greedy({1, 5, 6}, 3);
    spoil(r);
    const auto s = engine->submit(std::move(r));
    return !s && !s.error().message.empty();
  };
  EXPECT_TRUE(refused([](Request& r) { r.tokens.clear(); }));
  EXPECT_TRUE(refused([](Request& r) { r.tokens[1] = -1; }));
  EXPECT_TRUE(refused([](Request& r) { r.tokens[1] = 1 << 30; }));
  EXPECT_TRUE(refused([](Request& r) { r.max_tokens = -2; }));
  EXPECT_TRUE(refused([](Request& r) { r.sampling.top_p = -1; }));
  EXPECT_TRUE(refused([](Request& r) { r.sampling.logit_bias = {{1 << 20, 1.0f}}; }));
  EXPECT_TRUE(refused([](Request& r) { r.stop = {""}; }));
  EXPECT_TRUE(refused([](Request& r) { r.stop.assign(17, "x"); }));
  EXPECT_EQ(run(*engine, greedy({1, 5, 6}, 3)).ids.size(), 3u);
}

TEST(Engine, zero_tokens_compute_the_prompt_and_nothing_else) {
  const TinyModel model;
  const auto engine = load(model.path());
  ASSERT_TRUE(engine);
  const Outcome o = run(*engine, greedy({1, 5, 6}, 0));
  ASSERT_TRUE(o.finished);
  EXPECT_EQ(o.finished->reason, FinishReason::max_tokens);
  EXPECT_TRUE(o.ids.empty());
  EXPECT_EQ(o.finished->account.prefill.n_tokens, 3u);
}

TEST(Engine, stop_strings_end_the_answer_and_are_never_shown) {
  const TinyModel model;
  const auto engine = load(model.path());
  ASSERT_TRUE(engine);
  Request plain = greedy(ids_of(*engine, "abc"), 60);
  plain.sampling.ignore_eos = true;
  const Outcome whole = run(*engine, plain);
  ASSERT_GT(whole.text.size(), 20u);
  // Every stop cut from the answer itself ends it at its first place, whatever tokens it spans.
  for (size_t at = 1; at + 3 < whole.text.size(); at += 3) {
    for (const size_t n : {1u, 2u, 3u}) {
      const std::string stop = whole.text.substr(at, n);
      Request r = plain;
      r.stop = {stop};
      auto stream = engine->submit(std::move(r));
      if (!stream) continue;  // cut inside a character
      const Outcome o = read_all(*stream);
      ASSERT_TRUE(o.finished);
      EXPECT_EQ(o.text, whole.text.substr(0, whole.text.find(stop)));
      EXPECT_EQ(o.finished->reason, FinishReason::stop_string);
      EXPECT_EQ(o.finished->stop_string, stop);
    }
  }
}

TEST(Engine, same_seed_same_answer_another_seed_another) {
  const TinyModel model;
  const auto engine = load(model.path());
  ASSERT_TRUE(engine);
  Request r = greedy({1, 5, 6}, 30);
  r.sampling.temperature = 1.5;
  r.sampling.ignore_eos = true;
  r.sampling.seed = 11;
  const Outcome a = run(*engine, r), b = run(*engine, r);
  r.sampling.seed = 12;
  const Outcome c = run(*engine, r);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_NE(a.ids, c.ids);
  r.sampling.seed.reset();
  const Outcome drawn = run(*engine, r);
  r.sampling.seed = drawn.finished->seed;
  EXPECT_EQ(run(*engine, r).ids, drawn.ids) << "the seed that was drawn is reported";
}

TEST(Engine, logprobs_are_finite_sorted_and_hold_the_chosen_token) {
  const TinyModel model;
  const auto engine = load(model.path());
  ASSERT_TRUE(engine);
  Request r = greedy({1, 5, 6}, 5);
  r.sampling.n_probs = 4;
  for (const TokenEvent& t : run(*engine, r).tokens) {
    ASSERT_TRUE(t.logprob);
    EXPECT_LE(*t.logprob, 0);
    ASSERT_EQ(t.top.size(), 4u);
    EXPECT_EQ(t.top[0].id, t.id) << "greedy takes the most likely";
    for (size_t i = 1; i < 4; ++i) EXPECT_GE(t.top[i - 1].logprob, t.top[i].logprob);
  }
}

TEST(Engine, answers_are_the_same_alone_and_together_and_in_any_step_size) {
  const TinyModel model;
  std::vector<Request> requests;
  for (int i = 0; i < 12; ++i) {
    std::vector<int32_t> prompt = {1};
    for (int j = 0; j < 3 + 9 * i % 50; ++j) prompt.push_back(3 + (i * 37 + j * 11) % 280);
    Request r = greedy(prompt, 20 + i);
    r.sampling.temperature = i % 2 == 0 ? 0.0 : 1.0;
    r.sampling.seed = 100 + i;
    requests.push_back(std::move(r));
  }
  std::vector<std::vector<int32_t>> alone;
  {
    const auto engine = load(model.path());
    ASSERT_TRUE(engine);
    for (const Request& r : requests) alone.push_back(run(*engine, r).ids);
  }
  for (const int n_ubatch : {1, 7, 32, 33, 512}) {
    const auto engine =
        load(model.path(), [&](EngineOptions& o) { o.n_ubatch = n_ubatch, o.n_parallel = 5, o.n_ctx = 1024; });
    ASSERT_TRUE(engine);
    std::vector<EventStream> streams;
    for (const Request& r : requests) streams.push_back(std::move(*engine->submit(r)));
    for (size_t i = 0; i < streams.size(); ++i)
      EXPECT_EQ(read_all(streams[i]).ids, alone[i]) << "request " << i << ", -ub " << n_ubatch;
  }
}

TEST(Engine, cancelled_requests_end_once_whether_queued_or_running) {
  const TinyModel model({.n_ctx = 4096});
  const auto engine = load(model.path(), [](EngineOptions& o) { o.n_ctx = 4096; });
  ASSERT_TRUE(engine);
  for (int round = 0; round < 20; ++round) {
    Request r = greedy({1, 5, 6}, 4000);
    r.sampling.ignore_eos = true;
    auto running = engine->submit(r);
    auto queued = engine->submit(r);
    ASSERT_TRUE(running && queued);
    if (round % 3 != 0) running->next();
    queued->cancel();
    running->cancel();
    const Outcome a = read_all(*running), b = read_all(*queued);
    EXPECT_EQ(a.finished->reason, FinishReason::cancelled);
    EXPECT_EQ(b.finished->reason, FinishReason::cancelled);
    EXPECT_LE(std::abs(b.finished->account.time.residual_ms),
              std::max(0.2, 0.01 * b.finished->account.time.elapsed_ms));
  }
  EXPECT_EQ(run(*engine, greedy({1, 5, 6}, 3)).ids.size(), 3u) << "the blocks came back";
}

TEST(Engine, a_stream_that_is_dropped_frees_its_place) {
  const TinyModel model({.n_ctx = 4096});
  const auto engine = load(model.path(), [](EngineOptions& o) { o.n_ctx = 4096; });
  ASSERT_TRUE(engine);
  for (int i = 0; i < 10; ++i) {
    Request r = greedy({1, 5, 6}, 4000);
    r.sampling.ignore_eos = true;
    ASSERT_TRUE(engine->submit(std::move(r)));  // destroyed at once
  }
  EXPECT_EQ(run(*engine, greedy({1, 5, 6}, 3)).ids.size(), 3u);
}

TEST(Engine, a_full_queue_refuses_and_forgets_nobody) {
  const TinyModel model({.n_ctx = 4096});
  const auto engine = load(model.path(), [](EngineOptions& o) { o.n_ctx = 4096, o.max_queue = 2; });
  ASSERT_TRUE(engine);
  std::vector<EventStream> accepted;
  int n_refused = 0;
  for (int i = 0; i < 50; ++i) {
    Request r = greedy({1, 5, 6}, 2000);
    r.sampling.ignore_eos = true;
    auto s = engine->submit(std::move(r));
    if (s) {
      accepted.push_back(std::move(*s));
    } else {
      EXPECT_EQ(s.error().code, ErrorCode::limit);
      ++n_refused;
    }
  }
  for (EventStream& s : accepted) s.cancel();
  for (EventStream& s : accepted) read_all(s);
  EXPECT_EQ(accepted.size() + static_cast<size_t>(n_refused), 50u);
}

TEST(Engine, shutdown_ends_every_request_once) {
  const TinyModel model({.n_ctx = 4096});
  for (int round = 0; round < 5; ++round) {
    auto engine = load(model.path(), [](EngineOptions& o) { o.n_ctx = 4096, o.n_parallel = 2; });
    ASSERT_TRUE(engine);
    std::vector<EventStream> streams;
    for (int i = 0; i < 4; ++i) {
      Request r = greedy({1, 5, 6}, 1500);
      r.sampling.ignore_eos = true;
      streams.push_back(std::move(*engine->submit(std::move(r))));
    }
    if (round > 0) streams[0].next();
    engine.reset();
    for (EventStream& s : streams) read_all(s);
  }
}

TEST(Engine, damaged_weights_fail_the_request_and_not_the_process) {
  const TinyModel model({.damaged = true});
  const auto engine = load(model.path());
  ASSERT_TRUE(engine);
  const Outcome o = run(*engine, greedy({1, 5, 6}, 3));
  ASSERT_TRUE(o.failed);
  EXPECT_NE(o.failed->error.message.find("NaN"), std::string::npos);
}

TEST(Engine, an_allocation_that_fails_at_load_is_an_error_at_every_place) {
  const TinyModel model;
  int n_failed = 0;
  for (long nth = 1; nth < 100; ++nth) {
    fail_allocations_from(nth);
    EngineOptions options;
    options.model_path = model.path();
    const auto engine = Engine::load(options);
    fail_allocations_from(0);
    if (engine) break;
    EXPECT_EQ(engine.error().code, ErrorCode::out_of_memory) << engine.error().message;
    ++n_failed;
  }
  EXPECT_GT(n_failed, 2);
  EXPECT_LT(n_failed, 99) << "loading succeeds once nothing fails";
}

TEST(Engine, a_context_that_does_not_fit_says_by_owner_what_it_needs_and_what_would_fit) {
  const TinyModel model;
  EngineOptions options;
  options.model_path = model.path();
  options.n_ctx = 1 << 30;
  const auto engine = Engine::load(options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::out_of_memory) << engine.error().message;
  EXPECT_NE(engine.error().message.find("kv K f16"), std::string::npos) << engine.error().message;
  EXPECT_NE(engine.error().message.find("largest context that fits"), std::string::npos);
}

TEST(Engine, gpu_layers_without_a_gpu_are_never_silent) {
  const TinyModel model;
  const auto engine = load(model.path(), [](EngineOptions& o) { o.n_gpu_layers = 99; });
  ASSERT_TRUE(engine);
  EXPECT_NE(engine->path().placement_note.find("-ngl 99"), std::string::npos);
}

TEST(Engine, executed_path_names_the_isa_and_the_kernels) {
  const TinyModel model;
  const auto engine = load(model.path(), [](EngineOptions& o) { o.isa = "scalar"; });
  ASSERT_TRUE(engine);
  EXPECT_EQ(engine->path().isa, "scalar");
  EXPECT_FALSE(engine->path().kernels.empty());
}

TEST(Engine, submit_from_many_threads) {
  const TinyModel model;
  const auto engine = load(model.path(), [](EngineOptions& o) { o.n_parallel = 3, o.n_ctx = 1024; });
  ASSERT_TRUE(engine);
  const std::vector<int32_t> expected = run(*engine, greedy({1, 5, 6}, 8)).ids;
  std::atomic<int> n_equal{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) n_equal += run(*engine, greedy({1, 5, 6}, 8)).ids == expected;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(n_equal, 20);
}

}  // namespace
}  // namespace ridge
