#include "net/curl_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <exception>
#include <new>
#include <system_error>

#include "base/ascii.h"
#include "base/clock.h"
#include "net/base_url.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::net {
namespace {

constexpr size_t kMaxHeadBytes = 64u << 10;
constexpr size_t kMaxReasonBytes = 200;
constexpr int kMaxStatus = 599;
constexpr int kMaxRetryAfterSeconds = 24 * 60 * 60;
constexpr Milliseconds kMaxEnding{1000};
constexpr const char* kProxyHint = "check the proxy of the environment (http_proxy, https_proxy)";

// Parses a number of at most nine digits.
std::optional<int> parse_digits(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  int out = 0;
  for (const char c : text) {
    if (!is_ascii_digit(c)) return std::nullopt;
    out = 10 * out + (c - '0');
  }
  return out;
}

// The media type of a header: "application/json" from "Application/JSON; charset=utf-8".
std::string media_type(std::string_view value) {
  std::string out = to_lower(trimmed(value.substr(0, value.find(';'))));
  const auto fits = [](char c) { return c > ' ' && c < '\x7f'; };
  if (out.size() > 100 || !std::all_of(out.begin(), out.end(), fits)) out.clear();
  return out;
}

// A message of libcurl in stoka's style: without a capital letter, except in "SSL certificate
// problem".
std::string own_style(std::string_view text) {
  std::string out = text::collapse_whitespace(text::one_line(text::replace_controls(text, " ")));
  if (out.size() > kMaxReasonBytes) out.resize(text::floor_char_boundary(out, kMaxReasonBytes));
  while (out.ends_with('.')) out.pop_back();
  const bool name = out.size() > 1 && is_ascii_upper(out[1]);
  if (!out.empty() && !name) out[0] = to_lower(out[0]);
  return out;
}

std::string size_text(size_t bytes) {
  const size_t megabyte = 1u << 20;
  return bytes % megabyte == 0 ? fmt::format("{} MB", bytes / megabyte)
                               : fmt::format("{} bytes", bytes);
}

Error head_too_large() {
  return Error(ErrorKind::protocol,
               fmt::format("answers with more than {} KB of headers", kMaxHeadBytes >> 10));
}

// Whether the key contains a byte that would end or corrupt its header line.
bool has_controls(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  return std::any_of(text.begin(), text.end(), is_control);
}

}  // namespace

Result<std::unique_ptr<CurlTransfer>> CurlTransfer::create(const HttpRequest& request,
                                                           BodySink& sink) {
  if (has_controls(request.key.reveal()))
    return fail(ErrorKind::config, "the key contains a line break or control characters",
                "its file must contain only the key, on one line");
  std::unique_ptr<CurlTransfer> transfer(new CurlTransfer(request, sink));
  if (!transfer->set_up()) return fail(ErrorKind::internal, "libcurl rejects an option");
  return transfer;
}

CurlTransfer::CurlTransfer(const HttpRequest& request, BodySink& sink)
    : request_(request),
      sink_(sink),
      start_(std::chrono::steady_clock::now()),
      handle_(curl_easy_init()) {}

bool CurlTransfer::add_header(const std::string& line) {
  curl_slist* list = curl_slist_append(headers_.get(), line.c_str());
  if (list == nullptr) return false;
  headers_.release();
  headers_.reset(list);
  return true;
}

bool CurlTransfer::set_up() {
  bool ok = handle_ != nullptr;
  const auto set = [&](CURLoption option, auto value) {
    ok = ok && curl_easy_setopt(handle_.get(), option, value) == CURLE_OK;
  };
  const bool post = request_.method != "GET";

  ok = ok && add_header("Accept: " + request_.accept) && add_header("Expect:");
  if (post) ok = ok && add_header("Content-Type: application/json");
  if (!request_.key.empty())
    ok = ok && add_header("Authorization: Bearer " + request_.key.reveal());
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_USERAGENT, "stoka/" STOKA_VERSION);

  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_UNRESTRICTED_AUTH, 0L);
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_URL, request_.url.c_str());
  if (!request_.use_proxy) set(CURLOPT_PROXY, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (post) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_POSTFIELDS, request_.body.c_str());
  }

  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  const Milliseconds connect = request_.timeouts.connect;  // libcurl takes zero for its own default
  set(CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(connect.count() > 0 ? std::min<Milliseconds::rep>(connect.count(), INT_MAX)
                                            : INT_MAX));
#if LIBCURL_VERSION_NUM >= 0x075700
  // Without this option, cancelling waits for the DNS resolver.
  set(CURLOPT_QUICK_EXIT, 1L);
#endif

  set(CURLOPT_ERRORBUFFER, reason_.data());
  set(CURLOPT_PREREQFUNCTION, &CurlTransfer::on_connected);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  set(CURLOPT_WRITEDATA, this);
  return ok;
}

int CurlTransfer::on_connected(void* self, char*, char*, int, int) {
  static_cast<CurlTransfer*>(self)->connected_ = true;
  return CURL_PREREQFUNC_OK;
}

template <class Callback>
size_t CurlTransfer::guarded(size_t size, const Callback& callback) {
  try {
    return callback() ? size : 0;
  } catch (const std::bad_alloc&) {
    abort(Error(ErrorKind::internal, "out of memory"));
  } catch (const std::exception& thrown) {
    abort(Error(ErrorKind::internal,
                fmt::format("the response could not be processed: {}", thrown.what())));
  } catch (...) {
    abort(Error(ErrorKind::internal, "the response could not be processed"));
  }
  return 0;
}

size_t CurlTransfer::on_header(char* data, size_t size, size_t count, void* self) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  return transfer->guarded(size * count, [&] { return transfer->header({data, size * count}); });
}

size_t CurlTransfer::on_body(char* data, size_t size, size_t count, void* self) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  return transfer->guarded(size * count, [&] { return transfer->body({data, size * count}); });
}

bool CurlTransfer::abort(Error error) {
  error_ = std::move(error);
  return false;
}

bool CurlTransfer::header(std::string_view line) {
  if (complete_) return true;
  head_bytes_ += line.size();
  if (head_bytes_ > kMaxHeadBytes) return abort(head_too_large());
  if (answered_) return true;  // trailers after the body are ignored
  line = trimmed(line);
  if (line.empty()) {
    // Headers of a 1xx response (100 Continue, 103 Early Hints) precede the real ones.
    return head_.status < 200 || head_complete();
  }
  if (line.starts_with("HTTP/")) {
    head_ = {};
    encoding_.clear();
    location_.clear();
    const size_t space = std::min(line.find(' '), line.size());
    head_.status = parse_digits(trimmed(line.substr(space)).substr(0, 3)).value_or(0);
    return true;
  }
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string name = to_lower(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(std::min(colon + 1, line.size())));
  if (name == "content-type") head_.content_type = media_type(value);
  if (name == "content-encoding") encoding_ = media_type(value);
  if (name == "location") location_ = value;
  if (name == "ratelimit-remaining") head_.rate_limit_remaining = parse_digits(value);
  if (name == "retry-after")
    if (const auto seconds = parse_digits(value))
      head_.retry_after = std::chrono::seconds(std::min(*seconds, kMaxRetryAfterSeconds));
  return true;
}

bool CurlTransfer::head_complete() {
  answered_ = true;
  if (head_.status > kMaxStatus)
    return abort(Error(ErrorKind::protocol,
                       fmt::format("answers with the invalid status {}", head_.status)));
  if (!encoding_.empty() && encoding_ != "identity")
    return abort(Error(
        ErrorKind::protocol,
        fmt::format("answers {} with a compressed body, which was not requested", head_.status)));
  if (location_.find("://") != std::string::npos)
    if (const auto elsewhere = BaseUrl::parse(location_, ApiRoot::plain))
      head_.location = elsewhere->origin();
  auto accepted = sink_.head(head_);
  last_byte_ = std::chrono::steady_clock::now();
  return accepted ? true : abort(std::move(accepted).error());
}

bool CurlTransfer::body(std::string_view bytes) {
  if (complete_) return true;
  if (!answered_) return abort(Error(ErrorKind::protocol, "does not answer in HTTP/1.1"));
  body_bytes_ += bytes.size();
  if (body_bytes_ > request_.max_body_bytes) {
    complete_ = ends_.has_value();
    if (complete_) return true;
    return abort(
        Error(ErrorKind::protocol, "answers with more than " + size_text(request_.max_body_bytes)));
  }
  auto accepted = sink_.body(bytes);
  last_byte_ = std::chrono::steady_clock::now();  // time spent in the sink does not count as idle
  if (!accepted) return abort(std::move(accepted).error());
  flowing_ = flowing_ || *accepted != BodyProgress::nothing_useful;
  complete_ = *accepted == BodyProgress::stop_reading;
  if (*accepted == BodyProgress::content_complete && !ends_) ends_ = last_byte_ + kMaxEnding;
  return true;
}

std::optional<CurlTransfer::PendingTimeout> CurlTransfer::first_timeout() const {
  const Timeouts& limits = request_.timeouts;
  std::optional<PendingTimeout> first;
  const auto consider = [&](Time from, Milliseconds duration, const char* message,
                            FailureCause cause) {
    if (duration.count() > 0 && (!first || from + duration < first->at))
      first = PendingTimeout{from + duration, duration, message, cause};
  };
  consider(start_, limits.total, "not complete after {}", FailureCause::total);
  if (!flowing_)
    consider(start_, limits.first_token, "no first token after {}", FailureCause::first_token);
  if (answered_ && !paused_)
    consider(last_byte_, limits.idle, "sent nothing for {}", FailureCause::idle);
  else if (!answered_)
    consider(start_, limits.headers, "no answer after {}", FailureCause::headers);
  return first;
}

void CurlTransfer::set_paused(bool paused) {
  paused_ = paused;
  if (!paused) last_byte_ = std::chrono::steady_clock::now();
}

bool CurlTransfer::is_complete(Time now) const { return complete_ || (ends_ && now >= *ends_); }

std::optional<CurlTransfer::Time> CurlTransfer::next_timeout() const {
  if (ends_) return ends_;
  const auto first = first_timeout();
  return first ? std::optional(first->at) : std::nullopt;
}

std::optional<TransferFailure> CurlTransfer::expired(Time now) const {
  const auto first = first_timeout();
  if (ends_ || !first || now < first->at) return std::nullopt;
  return failure(Error(ErrorKind::timeout,
                       fmt::format(fmt::runtime(first->message), format_duration(first->duration))),
                 first->cause);
}

TransferFailure CurlTransfer::failure(Error error, FailureCause cause) const {
  return {
      .error = std::move(error), .connected = connected_, .answered = answered_, .cause = cause};
}

std::optional<TransferFailure> CurlTransfer::finish(CURLcode code) const {
  if (error_) return failure(*error_);
  if (complete_ || ends_ || (code == CURLE_OK && answered_)) return std::nullopt;
  const FailureCause cause = code == CURLE_COULDNT_RESOLVE_HOST ? FailureCause::no_host
                             : code == CURLE_OPERATION_TIMEDOUT ? FailureCause::connect
                                                                : FailureCause::other;
  return failure(explain(code), cause);
}

Error CurlTransfer::explain(CURLcode code) const {
  const std::string reason =
      own_style(reason_[0] != '\0' ? reason_.data() : curl_easy_strerror(code));
  switch (code) {
    case CURLE_OK:  // the connection was closed within the headers
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
      return Error(ErrorKind::unavailable, "the connection broke off");
    case CURLE_RECV_ERROR:
      // libcurl uses this code for a refusal by the proxy and for invalid chunks, too.
      if (!connected_) return Error(ErrorKind::unavailable, reason, kProxyHint);
      if (reason.find("chunked-encoding") != std::string::npos)
        return Error(ErrorKind::protocol, "answers with invalid HTTP: " + reason);
      return Error(ErrorKind::unavailable, "the connection broke off");
    case CURLE_COULDNT_RESOLVE_HOST:
      return Error(ErrorKind::unavailable, "host name not found");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Error(ErrorKind::unavailable, "host name of the proxy not found", kProxyHint);
    case CURLE_COULDNT_CONNECT: {
      long number = 0;
      curl_easy_getinfo(handle_.get(), CURLINFO_OS_ERRNO, &number);
      if (number == 0) return Error(ErrorKind::unavailable, "no connection");
      return Error(ErrorKind::unavailable,
                   own_style(std::generic_category().message(static_cast<int>(number))));
    }
    case CURLE_OPERATION_TIMEDOUT:
      return Error(ErrorKind::timeout,
                   "no connection after " + format_duration(request_.timeouts.connect));
    case CURLE_SSL_CONNECT_ERROR:
      return Error(ErrorKind::protocol, "no TLS connection: " + reason,
                   "is it http:// rather than https://?");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
      return Error(ErrorKind::protocol, "no TLS connection: " + reason,
                   "its certificate must be valid for that host and signed by an authority that "
                   "this machine trusts");
    case CURLE_URL_MALFORMAT:
      return Error(ErrorKind::config, "not a valid address");
    case CURLE_UNSUPPORTED_PROTOCOL:  // unknown scheme, or a response without headers
      return connected_ ? Error(ErrorKind::protocol, "does not answer in HTTP/1.1")
                        : Error(ErrorKind::config, "neither http nor https");
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
      return Error(ErrorKind::protocol, "answers with invalid HTTP: " + reason);
    case CURLE_OUT_OF_MEMORY:
      // libcurl reports a header line above its own limit in this way.
      if (connected_ && !answered_) return head_too_large();
      [[fallthrough]];
    case CURLE_FAILED_INIT:
    case CURLE_BAD_FUNCTION_ARGUMENT:
      return Error(ErrorKind::internal, "libcurl: " + reason);
    default:
      return Error(ErrorKind::unavailable, reason);
  }
}

}  // namespace stoka::net
