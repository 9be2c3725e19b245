// What the embedders over HTTP have in common; the kinds of servers differ in their wire form.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "embed/batches.h"
#include "embed/embedder.h"
#include "embed/remembered.h"
#include "embed/vectors_check.h"
#include "net/time_left.h"
#include "net/upstream.h"

namespace stoka::embed {

// A name that a server gives, fit to be shown and stored: one line, at most 200 bytes.
std::string shown_name(std::string_view name);

// For the embedding of one question, whatever number of requests it takes.
inline constexpr net::Milliseconds kQueryTimeout{10000};

class RemoteEmbedder : public Embedder {
 public:
  std::string name() const override;
  // The dimension is that of a probe. Asked anew after a minute, so that another model behind the
  // same address is noticed.
  Result<Identity> identity(Use use, std::stop_token stop) override;
  Result<Vector> embed_query(std::string_view text, std::stop_token stop) override;
  // A config error if another model answers before it is done.
  Result<Embedded> embed_documents(std::span<const std::string> texts,
                                   const EmbedProgress& progress, std::stop_token stop) override;

 protected:
  struct Server {
    std::string model;  // as its requests name it
    Identity identity;  // dimension 0: whatever the probe has
    BatchLimits limits;
  };

  // The upstream and the clock must outlive it.
  RemoteEmbedder(std::string_view kind, net::Upstream& upstream, const Clock& clock,
                 net::Milliseconds query_timeout)
      : upstream_(upstream), kind_(kind), query_timeout_(query_timeout), remembered_(clock) {}

  virtual Result<Server> meet(const net::TimeLeft& time, std::stop_token stop) = 0;
  virtual net::Call request(std::span<const std::string> texts, Use use,
                            const Server& server) const = 0;
  // What is wrong with an answer is the end of a sentence: "sent something that is not JSON".
  virtual tl::expected<Rows, std::string> read(std::string_view body) const = 0;

  // What it means that the server, which embeds, does not take a request.
  virtual Error refusal(const net::Answer& answer, const Server& server, const net::TimeLeft& time,
                        std::stop_token stop) const;

  // Asks the server within the time that is left; without an end the upstream's own deadlines hold.
  Result<net::Answer> send(net::Call call, const net::TimeLeft& time, std::stop_token stop);

  // "embedder at http://…", as errors name it.
  std::string where() const { return upstream_.who(); }

  net::Upstream& upstream_;

 private:
  net::TimeLeft time_for(Use use) const;
  Result<Server> server(const net::TimeLeft& time, std::stop_token stop);
  Result<Reply> ask(std::span<const std::string> texts, Use use, const Server& server,
                    const net::TimeLeft& time, std::stop_token stop);
  Result<Embedded> embed(std::span<const std::string> texts, Use use, const EmbedProgress& progress,
                         std::stop_token stop);
  Error meaning(const net::Answer& answer, const Server& server, const net::TimeLeft& time,
                std::stop_token stop) const;

  std::string kind_;
  net::Milliseconds query_timeout_;
  Remembered<Server> remembered_;
};

}  // namespace stoka::embed
