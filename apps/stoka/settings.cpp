#include "settings.h"

#include <utility>

#include "base/ascii.h"

namespace stoka::app {
namespace {

// Returns the name of a variable: the prefix, then the key in upper case with '_' for '.'.
std::string variable(std::string_view prefix, std::string_view key) {
  std::string out(prefix);
  for (const char c : key) out += c == '.' ? '_' : to_upper(c);
  return out;
}

Setting ranged(ValueType type, std::string key, std::string env, std::string fallback, double min,
               double max, std::string help) {
  return {std::move(key), std::move(env), type, std::move(fallback), std::move(help), {}, min, max};
}

Setting chosen(std::string key, std::string env, std::string fallback,
               std::vector<std::string> choices, std::string help) {
  return {std::move(key),      std::move(env),  ValueType::choice,
          std::move(fallback), std::move(help), std::move(choices)};
}

// Adds the settings that all model servers have in common.
void add_role(std::vector<Setting>& out, const Role& role) {
  using enum ValueType;
  const auto add = [&](const std::string& name, ValueType type, std::string fallback,
                       std::string help, double min = -1e300, double max = 1e300) {
    out.push_back(ranged(type, role.name + "." + name, variable(role.env + "_", name),
                         std::move(fallback), min, max, std::move(help)));
    out.back().is_secret = name == "api_key" || name == "api_key_command";
  };
  add("api_key", text, "",
      "API key of the server; a file or a command keeps it out of the environment");
  add("api_key_file", text, "", "file whose first line is the API key");
  add("api_key_command", text, "", "command whose first line of output is the API key");
  add("concurrency", integer, role.concurrency, "maximum of concurrent requests; others wait", 1,
      1000);
  add("timeout", number, role.timeout, "seconds for a whole request", 0.05, 86400);
  if (role.name == "embedder")
    add("query_timeout", number, "10", "seconds for the embedding of a question, with retries",
        0.05, 86400);
  if (role.name != "generator") return;
  add("headers_timeout", number, "60", "seconds until the response headers", 0.05, 86400);
  add("first_token_timeout", number, "120", "seconds until the first token", 0.05, 86400);
  add("idle_timeout", number, "60", "seconds between two tokens of an answer", 0.05, 86400);
}

std::vector<Setting> make() {
  using enum ValueType;
  std::vector<Setting> out = {
      {"store", "STOKA_DB_URL", text, "",
       "store of the index and the sessions: sqlite:PATH or postgres://USER@HOST/DATABASE"},
      ranged(integer, "database.connections", "STOKA_DB_CONNECTIONS", "5", 1, 1000,
             "maximum of connections to PostgreSQL; transactions wait for a free one"),
      {"site.url", "", text, "", "address of the site, which makes document paths into URLs"},
      {"golden.dir", "", text, "", "directory whose files override the built-in golden data"},

      ranged(integer, "chunk.max_tokens", "", "512", 64, 8192,
             "maximum of tokens in a chunk, e.g. 256, 512 or 1024; a change needs a new index"),
      ranged(integer, "chunk.overlap_tokens", "", "64", 0, 1024,
             "tokens that neighbouring chunks of a section share, e.g. 0, 64 or 128"),
      chosen("chunk.prefix", "", "full", {"none", "title", "full"},
             "metadata that an embedding model reads before a chunk; a change needs a new index"),

      chosen("embedder.kind", "STOKA_EMBEDDER", "builtin", {"builtin", "tei", "openai"},
             "kind of the embedder; if only STOKA_EMBED_URL is set, it is tei"),
      {"embedder.url", "STOKA_EMBED_URL", text, "http://localhost:8072",
       "address of the embedding server"},
      {"embedder.model", "STOKA_EMBED_MODEL", text, "",
       "model of an openai embedder; if empty, the only model of the server"},
      ranged(integer, "embedder.dimensions", "STOKA_EMBED_DIMENSIONS", "0", 0, 16000,
             "dimensions to request from an openai embedder; 0 for the model's default"),
      // The default is empty: documents are embedded with a metadata prefix, queries without one.
      // Some models need a query instruction. The prefix is recorded in the index, so a change
      // needs a new index.
      {"embedder.query_prefix", "STOKA_EMBED_QUERY_PREFIX", text, "",
       "text before a query when it is embedded; a change needs a new index"},
      {"embedder.document_template", "STOKA_EMBED_DOCUMENT_TEMPLATE", text, "{text}",
       "template of a document for models that need one, e.g. 'passage: {text}'"},

      chosen("reranker.kind", "STOKA_RERANKER", "builtin", {"builtin", "tei", "jina", "none"},
             "kind of the reranker; if only STOKA_RERANK_URL is set, it is tei"),
      {"reranker.url", "STOKA_RERANK_URL", text, "http://localhost:8073",
       "address of the reranking server"},
      {"reranker.model", "STOKA_RERANK_MODEL", text, "",
       "model of a jina reranker, if the server needs one"},

      chosen("generator.kind", "STOKA_GENERATOR", "extractive", {"extractive", "openai", "replay"},
             "kind of the generator; if only STOKA_GEN_URL is set, it is openai"),
      {"generator.url", "STOKA_GEN_URL", text, "http://localhost:8050",
       "address of the generation server"},
      {"generator.model", "STOKA_GEN_MODEL", text, "qwen3-vl-8b-instruct",
       "model of the generator; if it is not set, the only model of the server is used"},
      ranged(integer, "generator.max_tokens", "STOKA_GEN_MAX_TOKENS", "280", 1, 100000,
             "maximum of tokens in an answer"),
      ranged(number, "generator.temperature", "STOKA_GEN_TEMPERATURE", "0.5", 0, 2,
             "sampling temperature"),
      ranged(number, "generator.top_p", "STOKA_GEN_TOP_P", "0.9", 0, 1,
             "nucleus sampling probability"),
      {"generator.stop", "STOKA_GEN_STOP", list, "\nvisitor:,</cite", "texts that end an answer"},
      {"generator.extra", "STOKA_GEN_EXTRA", text, "",
       "JSON object that is merged into every request, e.g. "
       "{\"chat_template_kwargs\":{\"enable_thinking\":false}}"},

      chosen("retrieval.mode", "", "hybrid", {"hybrid", "dense", "lexical"},
             "searches to run; hybrid runs both"),
      chosen("retrieval.fusion", "", "auto", {"auto", "weighted", "rrf"},
             "fusion of the two searches; auto is weighted with built-in vectors and rrf with a "
             "model"),
      ranged(integer, "retrieval.dense", "", "100", 1, 10000, "number of dense candidates"),
      ranged(integer, "retrieval.lexical", "", "100", 1, 10000, "number of lexical candidates"),
      ranged(integer, "retrieval.candidates", "", "20", 1, 1000, "number of candidates to rerank"),

      ranged(number, "policy.shown", "", "0.1", 0, 10, "factor for documents already shown"),
      ranged(number, "policy.deep_reader", "", "1.3", 0, 10,
             "factor for philosophy documents from the fifth turn on"),
      ranged(number, "policy.recent", "", "1.15", 0, 10,
             "factor for documents published in the last 30 days"),
      ranged(number, "policy.navigational", "", "1.2", 0, 10,
             "factor for products when a question asks what something is"),
      ranged(number, "policy.same_source", "", "0.6", 0, 10,
             "factor for a second chunk of the same document"),
      ranged(number, "threshold.direct", "", "0.82", 0, 1, "lowest score of a direct answer"),
      ranged(number, "threshold.adjacent", "", "0.65", 0, 1,
             "lowest score of an adjacent answer with normal confidence"),
      ranged(number, "threshold.nothing", "", "0.5", 0, 1, "lowest score of any answer"),

      ranged(number, "net.connect_timeout", "", "5", 0.05, 3600, "seconds to connect to a server"),
      ranged(number, "net.queue_timeout", "", "10", 0.05, 3600,
             "seconds that a request waits when the concurrency of a server is reached"),
      {"net.record", "STOKA_RECORD", text, "", "file in which server responses are recorded"},
      {"net.replay", "STOKA_REPLAY", text, "", "recording that is replayed instead of servers"},

      {"serve.host", "", text, "127.0.0.1", "address to listen on; 0.0.0.0 or :: for all"},
      ranged(integer, "serve.port", "", "8787", 0, 65535, "port to listen on; 0 for a free port"),
      {"serve.enabled", "STOKA_BOT_ENABLED", boolean, "true",
       "false removes the /api/stoka routes"},
      {"serve.cors_origins", "STOKA_CORS_ORIGINS", list, "",
       "origins whose pages may send requests, e.g. https://example.com; * for all"},
      {"serve.trusted_proxies", "STOKA_TRUSTED_PROXIES", list, "",
       "networks whose X-Forwarded-For is trusted, e.g. 127.0.0.1,10.0.0.0/8"},
      {"serve.chat_limit", "STOKA_CHAT_LIMIT", text, "30/300",
       "rate limit of chat, as requests/seconds from one address; 0 for no limit"},
      {"serve.discover_limit", "STOKA_DISCOVER_LIMIT", text, "60/300",
       "rate limit of discover and profile, as requests/seconds from one address; 0 for no limit"},
      {"serve.context_limit", "STOKA_CONTEXT_LIMIT", text, "120/60",
       "rate limit of context and open, as requests/seconds from one address; 0 for no limit"},
      ranged(integer, "serve.connections", "", "4096", 1, 1000000, "maximum of connections"),
      ranged(integer, "serve.workers", "", "16", 1, 1000, "worker threads, which wait for models"),
      ranged(number, "serve.grace", "", "25", 0, 3600,
             "seconds that running answers get to finish when the server stops"),
      {"serve.log_queries", "", boolean, "false", "write questions to the log"},
      {"auth.key_files", "STOKA_AUTH_KEY_FILES", list, "",
       "files with one key each for bearer tokens: a PEM public key (RSA for RS256, P-256 for "
       "ES256) or a shared secret (HS256)"},
      {"auth.audience", "", text, "", "required aud of a bearer token; must be set with a key"},
      {"auth.issuer", "", text, "", "required iss of a bearer token; if empty, any is accepted"},

      ranged(integer, "prompt.budget", "", "2500", 500, 1000000,
             "maximum of tokens in the system prompt; content beyond it is cut"),
  };
  for (const Role& role : roles()) add_role(out, role);
  for (Setting& setting : out)
    if (setting.env.empty()) setting.env = variable("STOKA_", setting.key);
  return out;
}

}  // namespace

std::span<const Role> roles() {
  static const std::vector<Role> all = {{"embedder", "STOKA_EMBED", "4", "60"},
                                        {"reranker", "STOKA_RERANK", "2", "8"},
                                        {"generator", "STOKA_GEN", "2", "300"}};
  return all;
}

std::span<const Setting> settings() {
  static const std::vector<Setting> all = make();
  return all;
}

}  // namespace stoka::app
