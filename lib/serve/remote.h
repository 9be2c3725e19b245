// A stoka that answers somewhere else: the other side of the routes of site.h.
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

namespace stoka::serve {

// What it says is untrusted: shapes and sizes are checked, words are not. A path that a citation
// has as its URL is one of the server's own host; a URL that may not be linked is left out.
//
// Errors of all: one line that names the URL, if nobody is there (unavailable, timeout), if who is
// there is no stoka (protocol), or if the connection broke off. What the site refuses is an error
// with its own words: usage (400), not_found (404), busy (429 and 503), unavailable (5xx), protocol
// (others); the hint says when to try again if the site does. Cancelled when stopped.
//
// Threads: any. The transport must outlive it.
class Remote {
 public:
  // An address as people paste it: with or without http://, a path below which the site is, or one
  // of its routes. A usage error says what is wrong with it. The token is sent as
  // "Authorization: Bearer".
  static Result<Remote> make(net::Transport& transport, std::string_view pasted, Secret token = {});

  const std::string& url() const { return url_; }  // "https://example.com/prefix"

  // One turn; its subject is the token's. Every event goes to the sink, on the calling thread. An
  // error returned means that nothing was sent to the sink. Later trouble is an ErrorEvent: done or
  // error is always the last event, unless a stop was asked for.
  Result<> chat(const pipeline::TurnRequest& request, const EventSink& sink,
                std::stop_token stop = {}) const;

  // Without what only the other side knows: hits and interests.
  Result<pipeline::Recommendations> discover(const pipeline::DiscoverRequest& request,
                                             std::stop_token stop = {}) const;
  Result<pipeline::Ambient> context(std::string_view page, std::stop_token stop = {}) const;

  // The whole answer of any status, of a path like "/healthz". Redirects are not followed.
  Result<net::Answer> get(std::string_view path, std::stop_token stop = {}) const;
  Result<net::Answer> post(std::string_view path, std::string body,
                           std::stop_token stop = {}) const;

  // Paths to get and bodies to post.
  static std::string context_path(std::string_view page);
  static std::string open_path(std::string_view slug);
  static std::string chat_body(const pipeline::TurnRequest& request);

  // What an answer that is not the wanted one means.
  Error refusal(const net::Answer& answer) const;

 private:
  Remote(net::Transport& transport, const net::BaseUrl& url, std::string shown, Secret token);

  net::Request request(std::string_view path) const;
  Result<net::Answer> perform(const net::Request& request, std::stop_token stop) const;
  Error named(const net::Failure& failure) const;
  Error no_stoka(std::string_view why) const;
  Result<> check_json(const net::Answer& answer) const;
  void complete_url(Citation& citation) const;

  net::Transport* transport_;
  std::string url_;
  bool loopback_;
  Secret token_;
};

}  // namespace stoka::serve
