// An upstream with a client and a log that can be inspected.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "net/capturing_sink.h"
#include "net/http_client.h"
#include "net/upstream.h"
#include "support/setting_names.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::testing {

inline constexpr const char* kTestKey = "sk-canary-0123456789";

struct CapturingLog final : Log {
  std::mutex mutex;
  std::string text;
  int warnings = 0;
  std::function<void()> on_warning;

  void write(LogLevel level, std::string_view message) override {
    const std::lock_guard lock(mutex);
    text += std::string(message) + "\n";
    if (level != LogLevel::warning) return;
    ++warnings;
    if (on_warning) on_warning();
  }
};

// Blocks while a response is streamed into the sink, on a loop of the transport.
inline Result<net::HttpResponse> stream(net::Upstream& upstream, const net::Call& call,
                                        net::BodySink& sink, net::Transport& transport,
                                        const std::stop_token& stop = {}) {
  const net::EventLoopPool::Handle loop = transport.loops().acquire();
  auto result = loop->run<Result<net::HttpResponse>>(
      [&](net::Upstream::ResponseCallback answered) {
        return upstream.start(*loop, call, &sink, std::move(answered));
      },
      stop);
  if (!result) return fail(ErrorKind::cancelled, "stopped");
  return *std::move(result);
}

// Options must be changed before the first call of upstream().
struct UpstreamFixture {
  net::UpstreamOptions options;
  CapturingLog log;
  net::HttpClient client;
  std::unique_ptr<net::Upstream> made;

  explicit UpstreamFixture(const std::string& url, std::string role = "embedder") {
    const net::ApiRoot root = role == "generator" ? net::ApiRoot::versioned : net::ApiRoot::plain;
    auto parsed = net::BaseUrl::parse(url, root);
    REQUIRE(parsed.has_value());
    options.settings = setting_names(role);
    options.role = std::move(role);
    options.url = std::move(*parsed);
  }
  net::Upstream& upstream() {
    if (!made) made = std::make_unique<net::Upstream>(options, client, log);
    return *made;
  }
  Result<net::HttpResponse> embed(std::stop_token stop = {}) {
    return upstream().call({.endpoint = "embed", .body = kEmbed}, stop);
  }
  Result<net::HttpResponse> chat(net::BodySink& sink, std::stop_token stop = {}) {
    return stream(upstream(), {.endpoint = "chat/completions", .body = kChat}, sink, client, stop);
  }
};

// An address where no server listens.
inline std::string unused_url() {
  const FakeUpstream server;
  return server.url();
}

inline bool has(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

}  // namespace stoka::testing
