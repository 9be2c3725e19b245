// An OpenAI-style generator that asks a fake server.
#pragma once

#include <doctest/doctest.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generate/openai_generator.h"
#include "net/http_client.h"
#include "support/setting_names.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::testing {

class MemoryLog final : public Log {
 public:
  void write(LogLevel level, std::string_view message) override {
    const std::scoped_lock lock(mutex_);
    lines_ += (level == LogLevel::warning ? "warning: " : "info: ") + std::string(message) + "\n";
  }
  std::string lines() const {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::string lines_;
};

// The outcome of one answer.
struct Outcome {
  Result<generate::FinishReason> finish = generate::FinishReason::complete;
  std::string text;
  std::vector<std::string> order;  // "accepted" and "text", without repetitions of "text"

  // "complete", "length", "truncated", or the kind of the error.
  std::string end() const {
    if (!finish) return std::string(to_string(finish.error().kind));
    if (*finish == generate::FinishReason::complete) return "complete";
    return *finish == generate::FinishReason::length ? "length" : "truncated";
  }
  std::string message() const { return finish ? "" : finish.error().message; }
};

inline net::UpstreamOptions upstream_options(const std::string& url) {
  net::UpstreamOptions out;
  out.role = "generator";
  out.settings = setting_names(out.role);
  out.url = net::BaseUrl::parse(url, net::ApiRoot::versioned).value();
  out.retries = 0;
  return out;
}

// A generator over any transport.
struct GeneratorHarness {
  GeneratorHarness(net::UpstreamOptions upstream_options, generate::OpenAiOptions options,
                   net::Transport& carrier)
      : upstream(std::move(upstream_options), carrier, log),
        generator(upstream, std::move(options), log) {}

  Outcome ask(
      const std::string& query = "why?", std::stop_token stop = {},
      const std::function<void()>& on_text = [] {}) {
    generate::GenerationRequest request;
    request.messages = {{"system", "say it in a line"}, {"user", query}};
    request.query = query;
    Outcome out;
    out.finish = generate::generate_blocking(
        loops, generator, request, [&] { out.order.emplace_back("accepted"); },
        [&](std::string_view delta) {
          CHECK_FALSE(delta.empty());
          out.text += delta;
          if (out.order.empty() || out.order.back() != "text") out.order.emplace_back("text");
          on_text();
        },
        std::move(stop));
    return out;
  }

  MemoryLog log;
  net::Upstream upstream;
  generate::OpenAiGenerator generator;
  net::EventLoopPool loops;
};

inline generate::OpenAiOptions options_for(std::string model = "fake-model") {
  generate::OpenAiOptions out;
  out.model = std::move(model);
  return out;
}

struct GeneratorFixture {
  explicit GeneratorFixture(FakeOptions fake_options = {},
                            generate::OpenAiOptions options = options_for(),
                            net::Timeouts deadlines = {}, Secret key = {})
      : fake(std::move(fake_options)),
        harness(on(fake, deadlines, std::move(key)), options, client) {}

  FakeUpstream fake;
  net::HttpClient client;
  GeneratorHarness harness;

 private:
  static net::UpstreamOptions on(const FakeUpstream& fake, net::Timeouts deadlines, Secret key) {
    net::UpstreamOptions out = upstream_options(fake.url());
    out.timeouts = deadlines;
    out.key = std::move(key);
    return out;
  }
};

}  // namespace stoka::testing
