// Keys, routes and figures, without sockets; tests/e2e/serve*.py has the server as clients meet it.
#include "server/server.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/generation_job.h"
#include "server/routes.h"
#include "tiny_model.h"

namespace ridge::server {
namespace {

HttpRequest request(std::string method, std::string path, std::string authorization = {}) {
  HttpRequest r;
  r.method = std::move(method);
  r.path = std::move(path);
  r.authorization = std::move(authorization);
  return r;
}

TEST(KeyRing, takes_whole_keys_only) {
  const KeyRing ring({"abc", "k2"});
  for (const char* good : {"Bearer abc", "bearer k2", "BEARER abc"})
    EXPECT_TRUE(ring.allows(request("", "", good))) << good;
  for (const char* bad : {"", "abc", "Bearer", "Bearer ", "Bearer ab", "Bearer abcd", "Bearer abcabc", "Bearer  abc",
                          "Basic abc", "Bearer ABC"})
    EXPECT_FALSE(ring.allows(request("", "", bad))) << bad;
  HttpRequest r;
  r.x_api_key = "k2";
  EXPECT_TRUE(ring.allows(r));
  EXPECT_TRUE(KeyRing({}).allows(HttpRequest{}));
}

struct WithEngine : ::testing::Test {
  WithEngine() : model({.n_ctx = 256}) {
    EngineOptions o;
    o.model_path = model.path();
    auto loaded = Engine::load(o);
    EXPECT_TRUE(loaded);
    engine = std::move(*loaded);
  }
  testing::TinyModel model;
  std::unique_ptr<Engine> engine;
};

TEST_F(WithEngine, without_a_key_every_path_but_the_public_ones_is_a_401) {
  ServerOptions o;
  o.api_keys = {"k"};
  ServerContext context(*engine, o);
  for (const Route& route : routes()) {
    const auto found = find_route(context, request(std::string(route.method), std::string(route.path)));
    if (route.is_public) {
      EXPECT_TRUE(std::holds_alternative<const Route*>(found)) << route.path;
    } else {
      ASSERT_TRUE(std::holds_alternative<HttpReply>(found)) << route.path;
      EXPECT_EQ(std::get<HttpReply>(found).status, 401) << route.path;
    }
    const bool is_pattern = route.path.ends_with("/*");
    const std::string path =
        is_pattern ? std::string(route.path.substr(0, route.path.size() - 1)) + "x" : std::string(route.path);
    EXPECT_EQ(std::get<const Route*>(find_route(context, request(std::string(route.method), path, "Bearer k"))),
              &route);
  }
  EXPECT_EQ(std::get<HttpReply>(find_route(context, request("GET", "/nix"))).status, 401);
  EXPECT_EQ(std::get<HttpReply>(find_route(context, request("GET", "/nix", "Bearer k"))).status, 404);
  EXPECT_EQ(std::get<HttpReply>(find_route(context, request("GET", "/v1/accounts/a/b", "Bearer k"))).status, 404);
  EXPECT_EQ(std::get<HttpReply>(find_route(context, request("PUT", "/health", ""))).status, 405);
}

TEST_F(WithEngine, the_ring_of_accounts_forgets_the_oldest) {
  AccountRing ring(2);
  for (const char* id : {"a", "b", "c"})
    ring.keep({.id = id, .endpoint = "", .finish_reason = "", .account = {}, .whole = {}});
  EXPECT_FALSE(ring.find("a"));
  EXPECT_TRUE(ring.find("b") && ring.find("c"));
}

TEST(Metrics, histograms_count_each_value_once_and_scraping_changes_nothing) {
  Metrics m;
  RequestAccount a;
  a.n_prompt = 10;
  a.n_output = 3;
  a.ttft_ms = 20;
  a.token_ms = {20, 22, 30};
  a.prefill.n_tokens = 10;
  for (int i = 0; i < 5; ++i) m.finished(a, "stop", 0.1);
  m.answered(200);
  const std::string text = m.text({}, {});
  EXPECT_EQ(text, m.text({}, {}));
  for (const char* line :
       {"ridge:time_to_first_token_seconds_count 5\n", "ridge:inter_token_latency_seconds_count 10\n",
        "ridge:time_to_first_token_seconds_bucket{le=\"0.01\"} 0\n",
        "ridge:time_to_first_token_seconds_bucket{le=\"0.025\"} 5\n",
        "ridge:time_to_first_token_seconds_bucket{le=\"+Inf\"} 5\n", "llamacpp:prompt_tokens_total 50\n",
        "ridge:request_success_total{finished_reason=\"stop\"} 5\n", "ridge:answers_total{status=\"200\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(WithEngine, starts_and_ends_again_and_again) {
  for (int i = 0; i < 20; ++i) {
    ServerOptions o;
    o.port = 0;
    auto server = Server::create(*engine, o);
    ASSERT_TRUE(server) << server.error().message;
    EXPECT_NE((*server)->port(), 0);
    std::thread thread([&] { (*server)->run(false); });
    (*server)->shutdown();
    thread.join();
  }
}

TEST_F(WithEngine, a_taken_port_is_an_error_that_names_it) {
  ServerOptions o;
  o.port = 0;
  auto first = Server::create(*engine, o);
  ASSERT_TRUE(first);
  o.port = (*first)->port();
  auto second = Server::create(*engine, o);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(o.port)), std::string::npos);
}

}  // namespace
}  // namespace ridge::server
