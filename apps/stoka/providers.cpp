#include "providers.h"

#include <fmt/format.h>

#include "api_key.h"
#include "embed/builtin.h"
#include "embed/openai.h"
#include "embed/tei.h"
#include "generate/chat_request.h"
#include "generate/extractive.h"
#include "generate/openai.h"
#include "net/recording.h"
#include "rerank/builtin.h"
#include "rerank/order.h"
#include "rerank/remote.h"
#include "wiring.h"

namespace stoka::app {
namespace {

bool is_given(const Config& config, std::string_view key) {
  return config.origin(key) != Origin::fallback;
}

net::Milliseconds seconds(const Config& config, const std::string& key) {
  return net::Milliseconds(static_cast<long>(config.number(key) * 1000));
}

net::Deadlines deadlines(const Config& config, const std::string& role) {
  net::Deadlines out;
  out.connect = seconds(config, "net.connect_timeout");
  out.total = seconds(config, role + ".timeout");
  out.headers = out.first_token = out.idle = out.total;
  if (role == "generator") {
    out.headers = seconds(config, role + ".headers_timeout");
    out.first_token = seconds(config, role + ".first_token_timeout");
    out.idle = seconds(config, role + ".idle_timeout");
  }
  return out;
}

}  // namespace

std::string embedder_kind(const Config& config) {
  bool by_url = !is_given(config, "embedder.kind") && is_given(config, "embedder.url");
  return by_url ? "tei" : config.text("embedder.kind");
}

std::string reranker_kind(const Config& config) {
  bool by_url = !is_given(config, "reranker.kind") && is_given(config, "reranker.url");
  return by_url ? "tei" : config.text("reranker.kind");
}

// A recording alone selects its generator too.
std::string generator_kind(const Config& config) {
  if (is_given(config, "generator.kind")) return config.text("generator.kind");
  if (is_given(config, "generator.url")) return "openai";
  return config.text("net.replay").empty() ? config.text("generator.kind") : "replay";
}

Result<std::unique_ptr<Providers>> Providers::make(App& app, store::Store* store,
                                                   const golden::Golden& golden) {
  std::unique_ptr<Providers> out(new Providers(app));
  STOKA_TRY(out->open_transport());
  STOKA_TRY(out->make_embedder(store));
  STOKA_TRY(out->make_reranker(store));
  STOKA_TRY(out->make_generator(golden));
  return out;
}

Result<> Providers::open_transport() {
  const std::string& record = app_.config().text("net.record");
  const std::string& replay = app_.config().text("net.replay");
  if (!record.empty() && !replay.empty())
    return fail(ErrorKind::usage, "record and replay are both asked for", "use one of them");
  if (!record.empty()) {
    STOKA_ASSIGN(tape_, net::Recorder::create(record, client_));
  } else if (!replay.empty()) {
    STOKA_ASSIGN(tape_, net::Replay::open(replay));
  }
  if (tape_) transport_ = tape_.get();
  return {};
}

Result<net::Upstream*> Providers::upstream(const std::string& role, net::ApiRoot root) {
  const Config& config = app_.config();
  auto url = net::BaseUrl::parse(config.text(role + ".url"), root);
  if (!url)
    return fail(url.error().kind, fmt::format("{}.url: {}", role, url.error().message),
                url.error().hint);
  net::UpstreamOptions options{role, std::move(*url), {}, deadlines(config, role)};
  STOKA_ASSIGN(ApiKey key, read_api_key(config, role));
  // A key goes to the address it was set for: not to one that a later layer put in its place.
  if (key.secret.empty() || config.origin(role + ".url") <= config.origin(key.setting))
    options.key = std::move(key.secret);
  else
    app_.log.warning(fmt::format("{} is not sent to {}, which the {} gives; set both there",
                                 key.setting, options.url.shown(),
                                 name(config.origin(role + ".url"))));
  options.gate.places = static_cast<size_t>(config.integer(role + ".concurrency"));
  options.gate.most_wait = seconds(config, "net.queue_timeout");
  upstreams_.push_back(std::make_unique<net::Upstream>(std::move(options), *transport_, app_.log));
  return upstreams_.back().get();
}

Result<> Providers::make_embedder(store::Store* store) {
  const Config& config = app_.config();
  std::string kind = embedder_kind(config);
  if (kind == "builtin") {
    if (store) embedder_ = std::make_unique<embed::BuiltinEmbedder>(*store);
    return {};
  }
  const net::Milliseconds query_timeout = seconds(config, "embedder.query_timeout");
  if (kind == "tei") {
    STOKA_ASSIGN(net::Upstream * server, upstream("embedder", net::ApiRoot::plain));
    embedder_ = std::make_unique<embed::TeiEmbedder>(*server, app_.clock, query_timeout);
    return {};
  }
  STOKA_ASSIGN(net::Upstream * server, upstream("embedder", net::ApiRoot::versioned));
  embed::OpenAiOptions options;
  options.model = config.text("embedder.model");
  options.dimensions = static_cast<int>(config.integer("embedder.dimensions"));
  embedder_ = std::make_unique<embed::OpenAiEmbedder>(*server, std::move(options), app_.clock,
                                                      query_timeout);
  return {};
}

Result<> Providers::make_reranker(store::Store* store) {
  const Config& config = app_.config();
  std::string kind = reranker_kind(config);
  rerank::RemoteOptions options;
  options.model = config.text("reranker.model");
  options.budget = seconds(config, "reranker.timeout");
  if (kind == "none") {
    if (store)
      reranker_ = std::make_unique<rerank::RetrievalOrder>(*store);
    else
      reranker_ = std::make_unique<rerank::RetrievalOrder>();
  } else if (kind == "tei") {
    STOKA_ASSIGN(net::Upstream * server, upstream("reranker", net::ApiRoot::plain));
    reranker_ = std::make_unique<rerank::TeiReranker>(*server, std::move(options));
  } else if (kind == "jina") {
    STOKA_ASSIGN(net::Upstream * server, upstream("reranker", net::ApiRoot::versioned));
    reranker_ = std::make_unique<rerank::JinaReranker>(*server, std::move(options));
  } else if (store) {
    reranker_ = std::make_unique<rerank::BuiltinReranker>(*store);
  } else {
    reranker_ = std::make_unique<rerank::BuiltinReranker>();
  }
  return {};
}

Result<> Providers::make_generator(const golden::Golden& golden) {
  const Config& config = app_.config();
  std::string kind = generator_kind(config);
  if (kind == "extractive") {
    STOKA_ASSIGN(generate::VoiceLines lines, generate::read_voice_lines(golden.voice_lines));
    lines.closest = golden.reply("closest");
    generator_ = std::make_unique<generate::ExtractiveVoice>(std::move(lines));
    return {};
  }
  if (kind == "replay" && config.text("net.replay").empty())
    return fail(ErrorKind::config, "generator.kind is replay, and there is no recording to replay",
                "name one with --replay FILE (STOKA_REPLAY)");
  generate::OpenAiOptions options;
  if (is_given(config, "generator.model"))
    options.model = config.text("generator.model");
  else
    options.preferred = config.text("generator.model");
  options.max_tokens = static_cast<int>(config.integer("generator.max_tokens"));
  options.temperature = config.number("generator.temperature");
  options.top_p = config.number("generator.top_p");
  options.stop = config.list("generator.stop");
  options.extra = config.text("generator.extra");
  if (auto valid = generate::check_extra(options.extra); !valid) return fail(valid.error());
  STOKA_ASSIGN(options.framing_voice, generate::read_framing_voice(golden.framing));
  STOKA_ASSIGN(net::Upstream * server, upstream("generator", net::ApiRoot::versioned));
  generator_ = std::make_unique<generate::OpenAiGenerator>(*server, std::move(options), app_.log);
  return {};
}

}  // namespace stoka::app
