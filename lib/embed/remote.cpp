#include "embed/remote.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/json_text.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::embed {
namespace {

constexpr size_t kMaxModelName = 200;  // the most bytes of a model name

// Whether the server may have refused a text or the number of texts rather than every request.
bool may_be_caused_by_texts(const net::HttpResponse& answer) {
  switch (answer.status) {
    case 413:
    case 422:
    case 424:
    case 500:
      return true;
    default:
      return net::is_input_too_long(answer);
  }
}

// Recognises the messages of servers that run another kind of model.
bool is_not_embedding_model(const net::HttpResponse& answer, std::string_view message) {
  const auto contains = [&](std::string_view words) { return message.find(words) != message.npos; };
  if (answer.status == 501 || contains("not an embedding model")) return true;
  // The name of the model stands before these words and may have "Embedding" in it. vLLM uses the
  // same words when it refuses `dimensions`, so a message about dimensions does not count.
  message.remove_prefix(std::min(message.find("does not support"), message.size()));
  return contains("mbedding") && !contains("imension");
}

// Returns the server's error message. If the message repeats the key, the key is masked.
std::string server_message(const net::HttpResponse& answer, const Secret& key) {
  const std::string message = net::error_message(answer.body, key);
  return message.empty() ? fmt::format("status {}", answer.status) : message;
}

}  // namespace

std::string clean_model_name(std::string_view name) {
  std::string out = text::one_line(name);
  out.resize(text::floor_char_boundary(out, std::min(kMaxModelName, out.size())));
  return out;
}

std::string RemoteEmbedder::name() const {
  return fmt::format("{} at {}", kind_, upstream_.options().url.display());
}

Result<Identity> RemoteEmbedder::identity(InputType type, std::stop_token stop) {
  STOKA_ASSIGN(ServerInfo server, server_info(deadline_for(type), stop));
  return std::move(server.identity);
}

Result<Vector> RemoteEmbedder::embed_query(std::string_view text, std::stop_token stop) {
  const std::string texts[] = {std::string(text)};
  STOKA_ASSIGN(Embeddings embedded, embed(texts, InputType::query, {}, stop));
  if (embedded.vectors.front().empty())
    return fail(upstream_.protocol_error(embedded.warnings.front().message));
  return std::move(embedded.vectors.front());
}

Result<Embeddings> RemoteEmbedder::embed_documents(std::span<const std::string> texts,
                                                   const EmbedProgress& progress,
                                                   std::stop_token stop) {
  return embed(texts, InputType::document, progress, stop);
}

Result<RemoteEmbedder::ServerInfo> RemoteEmbedder::server_info(const net::Deadline& deadline,
                                                               std::stop_token stop) {
  return server_info_.get([&]() -> Result<ServerInfo> {
    STOKA_ASSIGN(ServerInfo server, fetch_info(deadline, stop));
    const std::string texts[] = {std::string(kProbeText)};
    STOKA_ASSIGN(const BatchReply reply,
                 send_batch(texts, InputType::document, server, deadline, stop));
    if (!reply) return fail(reply.error().error);
    server.identity.dim = static_cast<int>(reply->front().size());
    return server;
  });
}

Result<Embeddings> RemoteEmbedder::embed(std::span<const std::string> texts, InputType type,
                                         const EmbedProgress& progress, std::stop_token stop) {
  const net::Deadline deadline = deadline_for(type);
  STOKA_ASSIGN(const ServerInfo first, server_info(deadline, stop));
  // The cached information may expire between two batches, and the model may have changed then.
  const SendBatch send_checked = [&](std::span<const std::string> batch) -> Result<BatchReply> {
    STOKA_ASSIGN(const ServerInfo now, server_info(deadline, stop));
    if (now.identity != first.identity)
      return fail(ErrorKind::config,
                  fmt::format("{}: the model changed from {} ({} dimensions) to {} ({} dimensions) "
                              "during the run",
                              upstream_.description(), first.identity.name, first.identity.dim,
                              now.identity.name, now.identity.dim),
                  "keep one model behind the address, and index again");
    return send_batch(batch, type, now, deadline, stop);
  };
  return embed_in_batches(texts, first.limits, send_checked, progress);
}

net::Deadline RemoteEmbedder::deadline_for(InputType type) const {
  return net::Deadline(type == InputType::query ? query_timeout_ : net::Milliseconds(0));
}

Result<net::HttpResponse> RemoteEmbedder::send(net::Call call, const net::Deadline& deadline,
                                               std::stop_token stop) {
  call.timeout = deadline.remaining();
  if (call.timeout.count() > 0) call.timeout_setting = "query_timeout";
  return upstream_.call(call, stop);
}

Result<BatchReply> RemoteEmbedder::send_batch(std::span<const std::string> texts, InputType type,
                                              const ServerInfo& server,
                                              const net::Deadline& deadline, std::stop_token stop) {
  STOKA_ASSIGN(const net::HttpResponse answer,
               send(make_request(texts, type, server), deadline, stop));
  if (!answer.ok()) {
    const Error error = error_for(answer, server, deadline, stop);
    if (!may_be_caused_by_texts(answer)) return fail(error);
    return BatchReply(tl::unexpect, BatchRefusal{server_message(answer, upstream_.options().key),
                                                 net::is_input_too_long(answer), error});
  }
  const tl::expected<RawVectors, std::string> raw = parse_response(answer.body);
  if (!raw) return fail(upstream_.protocol_error(raw.error()));
  auto vectors = validate_vectors(*raw, texts.size(), server.identity.dim);
  if (vectors) return BatchReply(std::move(*vectors));
  const InvalidVectors& invalid = vectors.error();
  const Error error = upstream_.protocol_error(invalid.message);
  if (invalid.is_caused_by_text)
    return BatchReply(tl::unexpect, BatchRefusal{"the server " + invalid.message, false, error});
  server_info_.clear();  // the server is asked again, as it may have another model
  return fail(error);
}

Error RemoteEmbedder::refusal_error(const net::HttpResponse& answer, const ServerInfo&,
                                    const net::Deadline&, std::stop_token) const {
  return upstream_.status_error(answer);
}

Error RemoteEmbedder::error_for(const net::HttpResponse& answer, const ServerInfo& server,
                                const net::Deadline& deadline, std::stop_token stop) const {
  const std::string message = server_message(answer, upstream_.options().key);
  if (!is_not_embedding_model(answer, message))
    return refusal_error(answer, server, deadline, stop);
  return Error(
      ErrorKind::config,
      fmt::format("{} does not run an embedding model: {}", upstream_.description(), message),
      fmt::format("serve an embedding model there, or set {} to one",
                  upstream_.setting_name("url")));
}

}  // namespace stoka::embed
