#include "settings.h"

#include <algorithm>

#include "base/ascii.h"

namespace stoka::app {
namespace {

// Adds the settings that every server has.
void add_role(std::vector<Setting>& out, const Role& role) {
  using enum ValueType;
  auto add = [&](std::string name, ValueType type, std::string fallback, std::string help,
                 double min = -1e300, double max = 1e300) {
    std::string env = role.env + "_" + name;
    std::transform(env.begin(), env.end(), env.begin(), [](char c) { return to_upper(c); });
    out.push_back({role.name + "." + name,
                   env,
                   type,
                   std::move(fallback),
                   std::move(help),
                   {},
                   min,
                   max,
                   name == "api_key" || name == "api_key_command"});
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
      {"database.connections",
       "STOKA_DB_CONNECTIONS",
       integer,
       "5",
       "maximum of connections to PostgreSQL; transactions wait for a free one",
       {},
       1,
       1000},
      {"site.url", "", text, "", "address of the site, which makes document paths into URLs"},
      {"golden.dir", "", text, "", "directory whose files override the built-in golden data"},

      {"chunk.max_tokens",
       "",
       integer,
       "512",
       "maximum of tokens in a chunk, e.g. 256, 512 or 1024; a change needs a new index",
       {},
       64,
       8192},
      {"chunk.overlap_tokens",
       "",
       integer,
       "64",
       "tokens that neighbouring chunks of a section share, e.g. 0, 64 or 128",
       {},
       0,
       1024},
      {"chunk.prefix",
       "",
       choice,
       "full",
       "metadata that an embedding model reads before a chunk; a change needs a new index",
       {"none", "title", "full"}},

      {"embedder.kind",
       "STOKA_EMBEDDER",
       choice,
       "builtin",
       "kind of the embedder; if only STOKA_EMBED_URL is set, it is tei",
       {"builtin", "tei", "openai"}},
      {"embedder.url", "STOKA_EMBED_URL", text, "http://localhost:8072",
       "address of the embedding server"},
      {"embedder.model", "STOKA_EMBED_MODEL", text, "",
       "model of an openai embedder; if empty, the only model of the server"},
      {"embedder.dimensions",
       "STOKA_EMBED_DIMENSIONS",
       integer,
       "0",
       "dimensions to request from an openai embedder; 0 for the model's default",
       {},
       0,
       16000},
      // The default is empty: documents are embedded with a metadata prefix, queries without one.
      // Some models need a query instruction. The prefix is recorded in the index, so a change
      // needs a new index.
      {"embedder.query_prefix", "STOKA_EMBED_QUERY_PREFIX", text, "",
       "text before a query when it is embedded; a change needs a new index"},
      {"embedder.document_template", "STOKA_EMBED_DOCUMENT_TEMPLATE", text, "{text}",
       "template of a document for models that need one, e.g. 'passage: {text}'"},

      {"reranker.kind",
       "STOKA_RERANKER",
       choice,
       "builtin",
       "kind of the reranker; if only STOKA_RERANK_URL is set, it is tei",
       {"builtin", "tei", "jina", "none"}},
      {"reranker.url", "STOKA_RERANK_URL", text, "http://localhost:8073",
       "address of the reranking server"},
      {"reranker.model", "STOKA_RERANK_MODEL", text, "",
       "model of a jina reranker, if the server needs one"},

      {"generator.kind",
       "STOKA_GENERATOR",
       choice,
       "extractive",
       "kind of the generator; if only STOKA_GEN_URL is set, it is openai",
       {"extractive", "openai", "replay"}},
      {"generator.url", "STOKA_GEN_URL", text, "http://localhost:8050",
       "address of the generation server"},
      {"generator.model", "STOKA_GEN_MODEL", text, "qwen3-vl-8b-instruct",
       "model of the generator; if it is not set, the only model of the server is used"},
      {"generator.max_tokens",
       "STOKA_GEN_MAX_TOKENS",
       integer,
       "280",
       "maximum of tokens in an answer",
       {},
       1,
       100000},
      {"generator.temperature",
       "STOKA_GEN_TEMPERATURE",
       number,
       "0.5",
       "sampling temperature",
       {},
       0,
       2},
      {"generator.top_p",
       "STOKA_GEN_TOP_P",
       number,
       "0.9",
       "nucleus sampling probability",
       {},
       0,
       1},
      {"generator.stop", "STOKA_GEN_STOP", list, "\nvisitor:,</cite", "texts that end an answer"},
      {"generator.extra", "STOKA_GEN_EXTRA", text, "",
       "JSON object that is merged into every request, e.g. "
       "{\"chat_template_kwargs\":{\"enable_thinking\":false}}"},

      {"retrieval.mode",
       "",
       choice,
       "hybrid",
       "searches to run; hybrid runs both",
       {"hybrid", "dense", "lexical"}},
      {"retrieval.fusion",
       "",
       choice,
       "auto",
       "fusion of the two searches; auto is weighted with built-in vectors and rrf with a model",
       {"auto", "weighted", "rrf"}},
      {"retrieval.dense", "", integer, "100", "number of dense candidates", {}, 1, 10000},
      {"retrieval.lexical", "", integer, "100", "number of lexical candidates", {}, 1, 10000},
      {"retrieval.candidates", "", integer, "20", "number of candidates to rerank", {}, 1, 1000},

      {"policy.shown", "", number, "0.1", "factor for documents already shown", {}, 0, 10},
      {"policy.deep_reader",
       "",
       number,
       "1.3",
       "factor for philosophy documents from the fifth turn on",
       {},
       0,
       10},
      {"policy.recent",
       "",
       number,
       "1.15",
       "factor for documents published in the last 30 days",
       {},
       0,
       10},
      {"policy.navigational",
       "",
       number,
       "1.2",
       "factor for products when a question asks what something is",
       {},
       0,
       10},
      {"policy.same_source",
       "",
       number,
       "0.6",
       "factor for a second chunk of the same document",
       {},
       0,
       10},
      {"threshold.direct", "", number, "0.82", "lowest score of a direct answer", {}, 0, 1},
      {"threshold.adjacent",
       "",
       number,
       "0.65",
       "lowest score of an adjacent answer with normal confidence",
       {},
       0,
       1},
      {"threshold.nothing", "", number, "0.5", "lowest score of any answer", {}, 0, 1},

      {"net.connect_timeout", "", number, "5", "seconds to connect to a server", {}, 0.05, 3600},
      {"net.queue_timeout",
       "",
       number,
       "10",
       "seconds that a request waits when the concurrency of a server is reached",
       {},
       0.05,
       3600},
      {"net.record", "STOKA_RECORD", text, "", "file in which server responses are recorded"},
      {"net.replay", "STOKA_REPLAY", text, "", "recording that is replayed instead of servers"},

      {"serve.host", "", text, "127.0.0.1", "address to listen on; 0.0.0.0 or :: for all"},
      {"serve.port", "", integer, "8787", "port to listen on; 0 for a free port", {}, 0, 65535},
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
      {"serve.connections", "", integer, "4096", "maximum of connections", {}, 1, 1000000},
      {"serve.workers", "", integer, "16", "worker threads, which wait for models", {}, 1, 1000},
      {"serve.grace",
       "",
       number,
       "25",
       "seconds that running answers get to finish when the server stops",
       {},
       0,
       3600},
      {"serve.log_queries", "", boolean, "false", "write questions to the log"},
      {"auth.key_files", "STOKA_AUTH_KEY_FILES", list, "",
       "files with one key each for bearer tokens: a PEM public key (RSA for RS256, P-256 for "
       "ES256) or a shared secret (HS256)"},
      {"auth.audience", "", text, "", "required aud of a bearer token; must be set with a key"},
      {"auth.issuer", "", text, "", "required iss of a bearer token; if empty, any is accepted"},

      {"prompt.budget",
       "",
       integer,
       "2500",
       "maximum of tokens in the system prompt; content beyond it is cut",
       {},
       500,
       1000000},
  };
  for (const Role& role : roles()) add_role(out, role);
  for (Setting& setting : out) {
    if (!setting.env.empty()) continue;
    setting.env = "STOKA_" + setting.key;
    std::transform(setting.env.begin(), setting.env.end(), setting.env.begin(),
                   [](char c) { return c == '.' ? '_' : to_upper(c); });
  }
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
