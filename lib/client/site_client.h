// A client of another stoka server: it calls the routes of serve/site.h.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "model/event.h"
#include "net/base_url.h"
#include "net/transport.h"
#include "net/upstream.h"
#include "pipeline/discover.h"
#include "pipeline/turn.h"

namespace stoka::client {

// The server is not trusted: the form and size of a response are checked, but not its texts. If the
// URL of a citation is a path, it is completed with the server's host; a URL that must not be
// linked is left out.
//
// All calls fail with one line that names the URL if no server answers (unavailable, timeout), if
// the server is not a stoka server (protocol), or if the connection breaks. A response with an
// error status becomes an error with the server's own message: usage (400), not_found (404), busy
// (429 and 503), unavailable (5xx), protocol (others). The hint says when to try again if the
// server says so. A call that was stopped fails with cancelled.
//
// The class is thread safe. The transport must outlive the client.
class SiteClient {
 public:
  // Takes an address as people paste it: with or without http://, with the path below which the
  // site is, or with the path of a route. A usage error says what is wrong with it. The token is
  // sent as "Authorization: Bearer".
  static Result<SiteClient> make(net::Transport& transport, std::string_view pasted,
                                 Secret token = {});

  const std::string& url() const { return url_; }  // for example "https://example.com/prefix"

  // Asks one question; the subject is that of the token. Passes every event to the sink, on the
  // calling thread. If an error is returned, the sink was not called. A later failure becomes an
  // ErrorEvent, so that done or error is always the last event unless a stop was requested.
  Result<> chat(const pipeline::TurnRequest& request, const EventSink& sink,
                std::stop_token stop = {}) const;

  // The results have no hits and interests, which only the server knows.
  Result<pipeline::Recommendations> discover(const pipeline::DiscoverRequest& request,
                                             std::stop_token stop = {}) const;
  Result<pipeline::Ambient> context(std::string_view page, std::stop_token stop = {}) const;

  // Requests a path such as "/healthz"; returns a response of any status. Follows no redirects.
  Result<net::HttpResponse> get(std::string_view path, std::stop_token stop = {}) const;
  // Sends a body to a path with POST, and otherwise does the same as get().
  Result<net::HttpResponse> post(std::string_view path, std::string body,
                                 std::stop_token stop = {}) const;

  static std::string context_path(std::string_view page);
  static std::string open_path(std::string_view slug);
  static std::string chat_body(const pipeline::TurnRequest& request);

  // Returns the error for a response that has another status or content type than expected.
  Error refusal(const net::HttpResponse& answer) const;

 private:
  SiteClient(net::Transport& transport, const net::BaseUrl& url, std::string shown, Secret token);

  net::HttpRequest request(std::string_view path) const;
  Result<net::HttpResponse> perform(const net::HttpRequest& request, std::stop_token stop) const;
  Error with_url(const net::TransferFailure& failure) const;
  Error not_stoka(std::string_view why) const;
  Result<> check_json(const net::HttpResponse& answer) const;
  void complete_url(Citation& citation) const;

  net::Transport* transport_;
  std::string url_;
  bool loopback_;
  Secret token_;
};

}  // namespace stoka::client
