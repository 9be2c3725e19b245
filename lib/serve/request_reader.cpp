#include "serve/request_reader.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace stoka::serve {
namespace http = boost::beast::http;
using boost::asio::buffer;
using boost::beast::error_code;

struct RequestReader::Parser {
  explicit Parser(const RequestLimits& limits) {
    // The length of the head is checked before the parser gets it. This limit is for the chunk
    // headers and trailers of a body.
    request.header_limit(static_cast<std::uint32_t>(limits.max_head_bytes + 1));
    request.body_limit(limits.max_body_bytes);
  }
  http::request_parser<http::string_body> request;
};

RequestReader::RequestReader(RequestLimits limits) : limits_(limits) {}

RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::push(std::string_view bytes) {
  if (state_ == State::refused) return state_;
  buffer_ += bytes;
  parse();
  return state_;
}

void RequestReader::parse() {
  if (state_ == State::idle || state_ == State::head) parse_head();
  if (state_ == State::body) parse_body();
}

// The head is parsed as a whole, after check_raw(): Beast unfolds header lines, which must be
// refused.
void RequestReader::parse_head() {
  // Empty lines before a request are ignored (RFC 9112, 2.2).
  if (state_ == State::idle) {
    const size_t first = buffer_.find_first_not_of("\r\n");
    buffer_.erase(0, first);
    scanned_ = 0;
    if (buffer_.empty()) return;
    state_ = State::head;
  }
  const size_t end = buffer_.find("\r\n\r\n", scanned_ > 3 ? scanned_ - 3 : 0);
  const bool whole = end != std::string::npos;
  if ((whole ? end + 4 : buffer_.size()) > limits_.max_head_bytes) {
    if (buffer_.find("\r\n") >= limits_.max_head_bytes)
      return refuse(414, "the request's address is too long");
    return refuse(431, "the request's head is too large");
  }
  if (!whole) {
    scanned_ = buffer_.size();
    return;
  }
  const std::string_view head(buffer_.data(), end + 4);
  if (!check_raw(head)) return;
  parser_ = std::make_unique<Parser>(limits_);
  error_code error;
  size_t used = 0;
  parser_->request.eager(false);
  while (used < head.size() && !parser_->request.is_header_done() && !error)
    used += parser_->request.put(buffer(head.data() + used, head.size() - used), error);
  if (error == http::error::need_more) error = {};
  if (error == http::error::body_limit) {
    keep_head();
    return refuse(413, "the request's body is too large");
  }
  if (error == http::error::bad_version)
    return refuse(505, "the request is not HTTP/1.1", "speak HTTP/1.1");
  if (error || !parser_->request.is_header_done())
    return refuse(400, "the request is not valid HTTP");
  buffer_.erase(0, used);
  scanned_ = 0;
  if (!check_fields()) return;
  keep_head();
  state_ = State::body;
}

bool RequestReader::check_raw(std::string_view head) {
  size_t fields = 0;
  for (size_t at = head.find("\r\n"); at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
    const char next = head[at + 2];
    if (next == ' ' || next == '\t') {
      refuse(400, "a header is folded over two lines", "send it on one line");
      return false;
    }
    if (next != '\r') ++fields;
  }
  if (fields > limits_.max_fields) {
    refuse(431, "the request has too many headers");
    return false;
  }
  return true;
}

bool RequestReader::check_fields() {
  const auto& message = parser_->request.get();
  const auto reject = [&](int status, std::string why, std::string hint = {}) {
    refuse(status, std::move(why), std::move(hint));
    return false;
  };
  const bool is_http_1_0 = message.version() == 10;
  if (!is_http_1_0 && message.version() != 11) return reject(505, "the request is not HTTP/1.1");
  const size_t hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !is_http_1_0))
    return reject(400, "the request must have one Host header");
  if (message.count(http::field::content_length) > 1 ||
      message[http::field::content_length].find(',') != boost::beast::string_view::npos)
    return reject(400, "the request has more than one Content-Length");
  if (const size_t codings = message.count(http::field::transfer_encoding); codings > 0) {
    if (is_http_1_0) return reject(400, "a request of HTTP/1.0 cannot have a Transfer-Encoding");
    const auto coding = message[http::field::transfer_encoding];
    if (codings > 1 || to_lower(std::string_view(coding.data(), coding.size())) != "chunked")
      return reject(501, "the only Transfer-Encoding that is supported is chunked");
  }
  const auto expect = message[http::field::expect];
  wants_continue_ = !expect.empty() && !is_http_1_0;  // HTTP/1.0 has no Expect header
  if (wants_continue_ && to_lower(std::string_view(expect.data(), expect.size())) != "100-continue")
    return reject(417, "the only Expect that is supported is 100-continue");
  const auto target = message.target();
  if (target.empty() || target.front() != '/')
    return reject(400, "the request's address must begin with /");
  return true;
}

// Copies the head before the body is parsed: Beast adds the trailers to the headers, and trailers
// must not be trusted.
void RequestReader::keep_head() {
  const auto& message = parser_->request.get();
  request_ = {};
  const auto method = message.method_string();
  request_.method.assign(method.data(), method.size());
  const std::string_view target(message.target().data(), message.target().size());
  const size_t mark = std::min(target.find('?'), target.size());
  request_.path = target.substr(0, mark);
  request_.query = target.substr(std::min(mark + 1, target.size()));
  for (const auto& field : message)
    request_.headers.emplace_back(
        to_lower(std::string_view(field.name_string().data(), field.name_string().size())),
        std::string(field.value().data(), field.value().size()));
  request_.minor_version = static_cast<int>(message.version() % 10);
  // message.keep_alive() would look at the first Connection header only.
  request_.keep_alive = parser_->request.is_header_done() && parser_->request.keep_alive();
}

void RequestReader::parse_body() {
  error_code error;
  size_t used = 0;
  auto& parser = parser_->request;
  // The rest of a chunked body has at least five bytes. Beast aborts if it is given fewer.
  const size_t min_bytes = parser.chunked() ? 5 : 1;
  bool too_large = false;
  while (!parser.is_done() && buffer_.size() - used >= min_bytes && !error && !too_large) {
    const size_t before = parser.get().body().size();
    const size_t taken = parser.put(buffer(buffer_.data() + used, buffer_.size() - used), error);
    // Bytes that add nothing to the body are a chunk header, or the last chunk with trailers.
    too_large = parser.get().body().size() == before && taken > limits_.max_head_bytes;
    used += taken;
  }
  buffer_.erase(0, used);
  if (error == http::error::need_more) error = {};
  // The parser itself has no limit for the end of a chunk header or of trailers.
  too_large = too_large || (!error && !parser.is_done() && buffer_.size() > limits_.max_head_bytes);
  if (error == http::error::body_limit || error == http::error::buffer_overflow)
    return refuse(413, "the request's body is too large");
  if (error) return refuse(400, "the request's body is not valid HTTP");
  if (too_large) return refuse(431, "the request's trailers or chunk extensions are too large");
  if (parser.is_done()) state_ = State::complete;
}

bool RequestReader::expects_continue() {
  return state_ == State::body && buffer_.empty() && std::exchange(wants_continue_, false);
}

HttpRequest RequestReader::take() {
  request_.body = std::move(parser_->request.get().body());
  parser_.reset();
  wants_continue_ = false;
  HttpRequest out = std::exchange(request_, {});
  state_ = State::idle;
  scanned_ = 0;
  parse();
  return out;
}

void RequestReader::refuse(int status, std::string why, std::string hint) {
  state_ = State::refused;
  refusal_ = {status, std::move(why), std::move(hint)};
}

}  // namespace stoka::serve
