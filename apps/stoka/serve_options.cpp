#include "serve_options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/ascii.h"
#include "base/files.h"
#include "providers.h"

namespace stoka::app {
namespace {

constexpr uint64_t kMostKeyFile = 64u << 10;

std::optional<long> whole(std::string_view text) {
  long out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0 || out > 1000000)
    return std::nullopt;
  return out;
}

// "30/300": requests and seconds; "0": no limit.
Result<serve::Limit> limit(const Config& config, const std::string& key) {
  const std::string text(trimmed(config.text(key)));
  const size_t slash = std::min(text.find('/'), text.size());
  const auto requests = whole(std::string_view(text).substr(0, slash));
  const auto seconds = whole(std::string_view(text).substr(std::min(slash + 1, text.size())));
  if (requests && *requests == 0) return serve::Limit{};
  if (!requests || !seconds || *seconds == 0)
    return fail(ErrorKind::config, fmt::format("{} is '{}'", key, text),
                "write requests/seconds, e.g. 30/300, or 0 for no limit");
  return serve::Limit{static_cast<size_t>(*requests), std::chrono::seconds(*seconds)};
}

Error named(std::string_view key, const Error& error) {
  return {error.kind, fmt::format("{}: {}", key, error.message), error.hint};
}

Result<std::optional<serve::JwtVerifier>> tokens(const Config& config) {
  serve::JwtOptions options;
  for (const std::string& file : config.list("auth.key_files")) {
    auto key = read_file(file, kMostKeyFile);
    if (!key) return fail(named("auth.key_files", key.error()));
    options.keys.push_back(std::move(*key));
  }
  options.audience = config.text("auth.audience");
  options.issuer = config.text("auth.issuer");
  if (options.keys.empty()) return std::optional<serve::JwtVerifier>();
  auto made = serve::JwtVerifier::make(options);
  if (!made) return fail(named("auth", made.error()));
  return std::optional(std::move(*made));
}

}  // namespace

Result<serve::ServerOptions> serve_options(const Config& config) {
  serve::ServerOptions out;
  out.host = config.text("serve.host");
  out.port = static_cast<uint16_t>(config.integer("serve.port"));
  out.connections = static_cast<size_t>(config.integer("serve.connections"));
  out.workers = static_cast<size_t>(config.integer("serve.workers"));
  out.grace = std::chrono::milliseconds(static_cast<long>(config.number("serve.grace") * 1000));
  out.site.bot_enabled = config.boolean("serve.enabled");
  STOKA_ASSIGN(out.site.chat, limit(config, "serve.chat_limit"));
  STOKA_ASSIGN(out.site.discover, limit(config, "serve.discover_limit"));
  STOKA_ASSIGN(out.site.context, limit(config, "serve.context_limit"));
  auto proxies = serve::Networks::parse(config.list("serve.trusted_proxies"));
  if (!proxies) return fail(named("serve.trusted_proxies", proxies.error()));
  out.site.trusted_proxies = std::move(*proxies);
  auto cors = serve::Cors::make(config.list("serve.cors_origins"));
  if (!cors) return fail(named("serve.cors_origins", cors.error()));
  out.site.cors = std::move(*cors);
  STOKA_ASSIGN(out.site.tokens, tokens(config));
  return out;
}

void watch(Providers& providers, serve::Metrics& metrics) {
  for (const auto& upstream : providers.upstreams()) {
    const std::string role = upstream->options().role;
    const net::Upstream* const server = upstream.get();
    upstream->on_failure(
        [&metrics, role](ErrorKind kind) { metrics.upstream_errors(role, kind).add(); });
    metrics.watch("stoka_gate_taken", {{"gate", role}},
                  [server] { return static_cast<double>(server->gate().taken()); });
    metrics.watch("stoka_gate_waiting", {{"gate", role}},
                  [server] { return static_cast<double>(server->gate().waiting()); });
  }
}

}  // namespace stoka::app
