// A sink that stores a response, and requests to send.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "net/transport.h"

namespace stoka::testing {

struct CapturingSink final : net::BodySink {
  net::ResponseHead response_head;
  int heads = 0;
  std::string text;
  size_t pieces = 0;
  std::function<Result<>(const net::ResponseHead&)> on_head;
  std::function<Result<net::BodyProgress>(std::string_view)> on_body;

  Result<> head(const net::ResponseHead& head) override {
    response_head = head;
    ++heads;
    return on_head ? on_head(head) : Result<>();
  }
  Result<net::BodyProgress> body(std::string_view bytes) override {
    text += bytes;
    ++pieces;
    return on_body ? on_body(bytes) : net::BodyProgress::content;
  }
};

inline net::HttpRequest get(std::string url) {
  net::HttpRequest out;
  out.method = "GET";
  out.url = std::move(url);
  out.use_proxy = false;
  return out;
}

inline net::HttpRequest post(std::string url, std::string body) {
  net::HttpRequest out = get(std::move(url));
  out.method = "POST";
  out.body = std::move(body);
  return out;
}

// The fake server streams its response to this.
inline constexpr const char* kChat =
    R"({"model":"fake-model","stream":true,"messages":[{"role":"user","content":"hello"}]})";
inline constexpr const char* kEmbed = R"({"inputs":["hello"]})";

}  // namespace stoka::testing
