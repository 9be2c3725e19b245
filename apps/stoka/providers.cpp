#include "providers.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/ascii.h"
#include "base/files.h"
#include "base/secret.h"
#include "embed/builtin.h"
#include "embed/openai.h"
#include "embed/tei.h"
#include "generate/chat_request.h"
#include "generate/extractive_voice.h"
#include "generate/openai_generator.h"
#include "net/recording.h"
#include "rerank/builtin.h"
#include "rerank/order.h"
#include "rerank/remote.h"
#include "runtime.h"

namespace stoka::app {
namespace {

bool is_given(const Config& config, std::string_view key) {
  return config.origin(key) != Origin::default_value;
}

net::Milliseconds seconds(const Config& config, const std::string& key) {
  return net::Milliseconds(static_cast<long>(config.number(key) * 1000));
}

net::Timeouts deadlines(const Config& config, const std::string& role) {
  net::Timeouts out;
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

constexpr size_t kMaxKeyBytes = 64 << 10;

// Expands "~/" in a value. A shell expands it in a flag, but not in the configuration file.
std::string expand_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

Result<std::string> run_key_command(const std::string& setting, const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (!pipe)
    return fail(ErrorKind::config, fmt::format("the command of {} cannot be run", setting),
                "check that sh is installed");
  std::string out;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    if (out.size() < kMaxKeyBytes) out.append(buffer, n);
  int status = ::pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorKind::config, fmt::format("the command of {} failed", setting),
                "run it by hand to see why");
  return out;
}

// The functions that make each kind of an embedder, reranker or generator. A new kind must also be
// added to the choices in settings.cpp.
template <class Part>
using Makers =
    std::map<std::string_view, std::function<Result<std::unique_ptr<Part>>()>, std::less<>>;

template <class Part>
Result<std::unique_ptr<Part>> make_kind(const Makers<Part>& makers, const std::string& kind) {
  const auto found = makers.find(kind);
  if (found != makers.end()) return found->second();
  return fail(ErrorKind::internal, fmt::format("nothing makes the kind '{}'", kind));
}

template <class Part>
std::unique_ptr<Part> with_store(store::Store* store) {
  return store ? std::make_unique<Part>(*store) : std::make_unique<Part>();
}

struct ApiKey {
  Secret secret;        // the API key; may be empty
  std::string setting;  // the setting that the key comes from
};

// Reads the key of a server from ROLE.api_key, ROLE.api_key_file or ROLE.api_key_command. A config
// error if several of them are set, the file cannot be read, the command fails, or the key is not
// a valid header value. Error messages never contain the key.
Result<ApiKey> read_api_key(const Config& config, const std::string& role) {
  std::string key = role + ".api_key", file = key + "_file", command = key + "_command";
  int given =
      !config.text(key).empty() + !config.text(file).empty() + !config.text(command).empty();
  if (given > 1)
    return fail(ErrorKind::config,
                fmt::format("several of {0}, {0}_file and {0}_command are set", key),
                "keep one of them");
  if (given == 0) return ApiKey();
  std::string text = config.text(key), from = key;
  if (!config.text(file).empty()) {
    std::string path = expand_home(config.text(file));
    auto read = read_file(path, kMaxKeyBytes);
    // A value without a slash may be the key itself, so the message does not show the value.
    if (!read && path.find('/') == std::string::npos)
      return fail(ErrorKind::config, fmt::format("the file of {} cannot be read", file),
                  fmt::format("if the value is the key itself, set {} instead", key));
    if (!read)
      return fail(ErrorKind::config, file + ": " + read.error().message, read.error().hint);
    text = std::move(*read);
    from = file;
  } else if (!config.text(command).empty()) {
    STOKA_ASSIGN(text, run_key_command(command, config.text(command)));
    from = command;
  }
  text = std::string(trimmed(std::string_view(text).substr(0, text.find('\n'))));
  bool printable =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > 32 && c < 127; });
  if (text.empty() || !printable)
    return fail(
        ErrorKind::config,
        fmt::format("{} gives {}", from,
                    text.empty() ? "an empty key" : "a key with spaces or non-ASCII characters"),
        "the first line must contain only the key");
  return ApiKey{Secret(std::move(text)), from};
}

Result<generate::OpenAiOptions> openai_options(const Config& config, const golden::Golden& golden) {
  generate::OpenAiOptions options;
  if (is_given(config, "generator.model"))
    options.model = config.text("generator.model");
  else
    options.preferred_model = config.text("generator.model");
  options.max_tokens = static_cast<int>(config.integer("generator.max_tokens"));
  options.temperature = config.number("generator.temperature");
  options.top_p = config.number("generator.top_p");
  options.stop = config.list("generator.stop");
  options.extra = config.text("generator.extra");
  if (auto valid = generate::check_extra(options.extra); !valid)
    return fail(valid.error().kind, "generator.extra " + valid.error().message, valid.error().hint);
  STOKA_ASSIGN(options.framing_voice, generate::read_framing_voice(golden.framing));
  return options;
}

}  // namespace

std::string kind_in_effect(const Config& config, const std::string& role) {
  const std::string& kind = config.text(role + ".kind");
  if (is_given(config, role + ".kind")) return kind;
  const bool is_generator = role == "generator";
  if (is_given(config, role + ".url")) return is_generator ? "openai" : "tei";
  return is_generator && !config.text("net.replay").empty() ? "replay" : kind;
}

Result<std::unique_ptr<Providers>> Providers::make(App& app, store::Store* store,
                                                   const golden::Golden& golden) {
  std::unique_ptr<Providers> out(new Providers(app));
  STOKA_TRY(out->open_transport());
  STOKA_TRY(out->make_embedder(store));
  STOKA_TRY(out->make_reranker(store));
  STOKA_ASSIGN(out->generator_, out->generator_for(golden));
  return out;
}

Result<> Providers::open_transport() {
  const std::string& record = app_.config().text("net.record");
  const std::string& replay = app_.config().text("net.replay");
  if (!record.empty() && !replay.empty())
    return fail(ErrorKind::usage, "--record and --replay cannot be used together",
                "use one of them");
  if (!record.empty()) {
    STOKA_ASSIGN(tape_, net::RecordingTransport::create(record, client_));
  } else if (!replay.empty()) {
    STOKA_ASSIGN(tape_, net::ReplayTransport::open(replay, app_.log));
  }
  if (tape_) transport_ = tape_.get();
  return {};
}

Result<net::Upstream*> Providers::upstream(const std::string& role, net::ApiRoot root) {
  for (const auto& made : upstreams_)
    if (made->options().role == role) return made.get();
  const Config& config = app_.config();
  auto url = net::BaseUrl::parse(config.text(role + ".url"), root);
  if (!url)
    return fail(url.error().kind, fmt::format("{}.url: {}", role, url.error().message),
                url.error().hint);
  net::UpstreamOptions options{role, std::move(*url), {}, deadlines(config, role)};
  options.settings = {{"connect_timeout", {"net.connect_timeout", ""}},
                      {"prompt_budget", {"prompt.budget", ""}}};
  for (const Setting& setting : config.settings())
    if (setting.key.starts_with(role + "."))
      options.settings[setting.key.substr(role.size() + 1)] = {setting.key, setting.env};
  STOKA_ASSIGN(ApiKey key, read_api_key(config, role));
  // The key is not sent if a configuration layer above that of the key has changed the address.
  if (key.secret.empty() || config.origin(role + ".url") <= config.origin(key.setting))
    options.key = std::move(key.secret);
  else
    app_.log.warning(
        fmt::format("{} is not sent to {}, because this address comes from the {}; "
                    "set both in the same place",
                    key.setting, options.url.display(), to_string(config.origin(role + ".url"))));
  options.semaphore.permits = static_cast<size_t>(config.integer(role + ".concurrency"));
  options.semaphore.max_wait = seconds(config, "net.queue_timeout");
  upstreams_.push_back(std::make_unique<net::Upstream>(std::move(options), *transport_, app_.log));
  return upstreams_.back().get();
}

template <class Part, class... Options>
Result<std::unique_ptr<Part>> Providers::with_server(const std::string& role, net::ApiRoot root,
                                                     Options&&... options) {
  STOKA_ASSIGN(net::Upstream * server, upstream(role, root));
  return std::make_unique<Part>(*server, std::forward<Options>(options)...);
}

Result<> Providers::make_embedder(store::Store* store) {
  using enum net::ApiRoot;
  const Config& config = app_.config();
  const net::Milliseconds timeout = seconds(config, "embedder.query_timeout");
  embed::OpenAiOptions options;
  options.model = config.text("embedder.model");
  options.dimensions = static_cast<int>(config.integer("embedder.dimensions"));
  const Makers<embed::Embedder> makers = {
      {"builtin", [&] { return with_store<embed::BuiltinEmbedder>(store); }},
      {"tei",
       [&] { return with_server<embed::TeiEmbedder>("embedder", plain, app_.clock, timeout); }},
      {"openai", [&] {
         return with_server<embed::OpenAiEmbedder>("embedder", versioned, options, app_.clock,
                                                   timeout);
       }}};
  STOKA_ASSIGN(embedder_, make_kind(makers, kind_in_effect(config, "embedder")));
  return {};
}

Result<> Providers::make_reranker(store::Store* store) {
  using enum net::ApiRoot;
  const Config& config = app_.config();
  rerank::RemoteRerankerOptions options;
  options.model = config.text("reranker.model");
  options.budget = seconds(config, "reranker.timeout");
  const Makers<rerank::Reranker> makers = {
      {"builtin", [&] { return with_store<rerank::BuiltinReranker>(store); }},
      {"none", [&] { return with_store<rerank::RetrievalOrder>(store); }},
      {"tei", [&] { return with_server<rerank::TeiReranker>("reranker", plain, options); }},
      {"jina", [&] { return with_server<rerank::JinaReranker>("reranker", versioned, options); }}};
  STOKA_ASSIGN(reranker_, make_kind(makers, kind_in_effect(config, "reranker")));
  return {};
}

Result<std::unique_ptr<generate::Generator>> Providers::generator_for(
    const golden::Golden& golden) {
  using Made = Result<std::unique_ptr<generate::Generator>>;
  const Config& config = app_.config();
  const auto make_openai = [&]() -> Made {
    STOKA_ASSIGN(generate::OpenAiOptions options, openai_options(config, golden));
    return with_server<generate::OpenAiGenerator>("generator", net::ApiRoot::versioned,
                                                  std::move(options), app_.log);
  };
  const Makers<generate::Generator> makers = {
      {"extractive",
       [&]() -> Made {
         STOKA_ASSIGN(generate::VoiceLines lines, generate::read_voice_lines(golden.voice_lines));
         lines.closest = golden.reply("closest");
         return std::make_unique<generate::ExtractiveVoice>(std::move(lines));
       }},
      {"openai", make_openai},
      {"replay", [&]() -> Made {
         if (config.text("net.replay").empty())
           return fail(ErrorKind::config, "generator.kind is replay, but there is no recording",
                       "name one with --replay FILE or STOKA_REPLAY");
         return make_openai();
       }}};
  return make_kind(makers, kind_in_effect(config, "generator"));
}

}  // namespace stoka::app
