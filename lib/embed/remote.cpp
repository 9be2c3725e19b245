#include "embed/remote.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/json_text.h"
#include "net/too_long.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::embed {
namespace {

constexpr size_t kMostName = 200;
constexpr std::string_view kServeAnother =
    "serve an embedding model there, or set embedder.url (STOKA_EMBED_URL) to one";

// Whether asking for fewer or shorter texts may help: one text is to blame, or their number.
bool may_be_the_texts(const net::Answer& answer) {
  switch (answer.status) {
    case 413:
    case 422:
    case 424:
    case 500:
      return true;
    default:
      return net::too_long(answer);
  }
}

// What servers say that run, but run another kind of model.
bool embeds_nothing(const net::Answer& answer, std::string_view message) {
  const auto says = [&](std::string_view words) { return message.find(words) != message.npos; };
  if (answer.status == 501 || says("not an embedding model")) return true;
  // The model's name, before that, may have "Embedding" in it; vLLM refuses `dimensions` so.
  message.remove_prefix(std::min(message.find("does not support"), message.size()));
  return says("mbedding") && !says("imension");
}

// What the server says, without a key that it repeats.
std::string said(const net::Answer& answer, const Secret& key) {
  const std::string message = net::error_message(answer.body, key);
  return message.empty() ? fmt::format("status {}", answer.status) : message;
}

}  // namespace

std::string shown_name(std::string_view name) {
  std::string out = text::one_line(name);
  out.resize(text::floor_border(out, std::min(kMostName, out.size())));
  return out;
}

std::string RemoteEmbedder::name() const {
  return fmt::format("{} at {}", kind_, upstream_.options().url.shown());
}

Result<Identity> RemoteEmbedder::identity(Use use, std::stop_token stop) {
  STOKA_ASSIGN(Server known, server(time_for(use), stop));
  return std::move(known.identity);
}

Result<Vector> RemoteEmbedder::embed_query(std::string_view text, std::stop_token stop) {
  const std::string texts[] = {std::string(text)};
  STOKA_ASSIGN(Embedded embedded, embed(texts, Use::query, {}, stop));
  if (embedded.vectors.front().empty())
    return fail(upstream_.nonsense(embedded.notes.front().what));
  return std::move(embedded.vectors.front());
}

Result<Embedded> RemoteEmbedder::embed_documents(std::span<const std::string> texts,
                                                 const EmbedProgress& progress,
                                                 std::stop_token stop) {
  return embed(texts, Use::document, progress, stop);
}

Result<RemoteEmbedder::Server> RemoteEmbedder::server(const net::TimeLeft& time,
                                                      std::stop_token stop) {
  return remembered_.get([&]() -> Result<Server> {
    STOKA_ASSIGN(Server met, meet(time, stop));
    const std::string probe[] = {std::string(kProbe)};
    STOKA_ASSIGN(const Reply reply, ask(probe, Use::document, met, time, stop));
    if (!reply) return fail(reply.error().error);
    met.identity.dim = static_cast<int>(reply->front().size());
    return met;
  });
}

Result<Embedded> RemoteEmbedder::embed(std::span<const std::string> texts, Use use,
                                       const EmbedProgress& progress, std::stop_token stop) {
  const net::TimeLeft time = time_for(use);
  STOKA_ASSIGN(const Server first, server(time, stop));
  const Ask one = [&](std::span<const std::string> batch) -> Result<Reply> {
    STOKA_ASSIGN(const Server now, server(time, stop));
    if (now.identity != first.identity)
      return fail(
          ErrorKind::config,
          fmt::format("{}: the model changed from {} ({} dimensions) to {} ({}) meanwhile", where(),
                      first.identity.name, first.identity.dim, now.identity.name, now.identity.dim),
          "keep one model behind the address, and index again");
    return ask(batch, use, now, time, stop);
  };
  return embed_in_batches(texts, first.limits, one, progress);
}

net::TimeLeft RemoteEmbedder::time_for(Use use) const {
  return net::TimeLeft(use == Use::query ? query_timeout_ : net::Milliseconds(0));
}

Result<net::Answer> RemoteEmbedder::send(net::Call call, const net::TimeLeft& time,
                                         std::stop_token stop) {
  call.total = time.left();
  if (call.total.count() > 0) call.total_setting = "query_timeout";
  return upstream_.call(call, stop);
}

Result<Reply> RemoteEmbedder::ask(std::span<const std::string> texts, Use use, const Server& server,
                                  const net::TimeLeft& time, std::stop_token stop) {
  STOKA_ASSIGN(const net::Answer answer, send(request(texts, use, server), time, stop));
  if (!answer.ok()) {
    const Error error = meaning(answer, server, time, stop);
    if (!may_be_the_texts(answer)) return fail(error);
    return Reply(tl::unexpect,
                 Refusal{said(answer, upstream_.options().key), net::too_long(answer), error});
  }
  const tl::expected<Rows, std::string> rows = read(answer.body);
  if (!rows) return fail(upstream_.nonsense(rows.error()));
  auto vectors = check_vectors(*rows, texts.size(), server.identity.dim);
  if (vectors) return Reply(std::move(*vectors));
  const Complaint& complaint = vectors.error();
  const Error error = upstream_.nonsense(complaint.what);
  if (complaint.of_a_text)
    return Reply(tl::unexpect, Refusal{"the server " + complaint.what, false, error});
  remembered_.forget();  // another model may be the reason
  return fail(error);
}

Error RemoteEmbedder::refusal(const net::Answer& answer, const Server&, const net::TimeLeft&,
                              std::stop_token) const {
  return upstream_.refusal(answer);
}

Error RemoteEmbedder::meaning(const net::Answer& answer, const Server& server,
                              const net::TimeLeft& time, std::stop_token stop) const {
  const std::string message = said(answer, upstream_.options().key);
  if (!embeds_nothing(answer, message)) return refusal(answer, server, time, stop);
  return Error(ErrorKind::config, fmt::format("{} does not embed: {}", where(), message),
               std::string(kServeAnother));
}

}  // namespace stoka::embed
