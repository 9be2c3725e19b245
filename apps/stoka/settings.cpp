#include "settings.h"

#include <algorithm>
#include <cctype>

namespace stoka::app {
namespace {

// What every server is asked with.
void add_role(std::vector<Setting>& out, const Role& role) {
  using enum ValueType;
  auto add = [&](std::string name, ValueType type, std::string fallback, std::string help,
                 double least = -1e300, double most = 1e300) {
    std::string env = role.env + "_" + name;
    std::transform(env.begin(), env.end(), env.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    out.push_back({role.name + "." + name,
                   env,
                   type,
                   std::move(fallback),
                   std::move(help),
                   {},
                   least,
                   most,
                   name == "api_key" || name == "api_key_command"});
  };
  add("api_key", text, "",
      "key of the server; a file or a command keeps it out of the environment");
  add("api_key_file", text, "", "file whose first line is the key");
  add("api_key_command", text, "", "command whose first line of output is the key");
  add("concurrency", integer, role.concurrency, "requests at a time; others wait their turn", 1,
      1000);
  add("timeout", number, role.timeout, "seconds for one request in all", 0.05, 86400);
  if (role.name == "embedder")
    add("query_timeout", number, "10", "seconds for the embedding of a question in all", 0.05,
        86400);
  if (role.name != "generator") return;
  add("headers_timeout", number, "60", "seconds until the server takes a request", 0.05, 86400);
  add("first_token_timeout", number, "120", "seconds until the first word", 0.05, 86400);
  add("idle_timeout", number, "60", "seconds of silence within an answer", 0.05, 86400);
}

std::vector<Setting> make() {
  using enum ValueType;
  std::vector<Setting> out = {
      {"store", "STOKA_DB_URL", text, "",
       "where the index and the sessions live: sqlite:PATH or postgres://USER@HOST/DATABASE"},
      {"database.connections",
       "STOKA_DB_CONNECTIONS",
       integer,
       "5",
       "most connections to PostgreSQL at a time; others wait their turn",
       {},
       1,
       1000},
      {"site.url", "", text, "", "address of the site, put before document paths in links"},
      {"golden.dir", "", text, "", "directory whose files override the built-in golden data"},

      {"chunk.max_tokens",
       "",
       integer,
       "512",
       "longest chunk (256, 512, 1024); changing it means re-indexing",
       {},
       64,
       8192},
      {"chunk.overlap_tokens",
       "",
       integer,
       "64",
       "overlap of neighbours in a section (0, 64, 128)",
       {},
       0,
       1024},
      {"chunk.prefix",
       "",
       choice,
       "full",
       "what a model embedder reads before a chunk's content; changing it means re-indexing",
       {"none", "title", "full"}},

      {"embedder.kind",
       "STOKA_EMBEDDER",
       choice,
       "builtin",
       "who makes vectors; a STOKA_EMBED_URL alone selects tei",
       {"builtin", "tei", "openai"}},
      {"embedder.url", "STOKA_EMBED_URL", text, "http://localhost:8072", "where it is"},
      {"embedder.model", "STOKA_EMBED_MODEL", text, "",
       "openai: empty takes the only one there is"},
      {"embedder.dimensions",
       "STOKA_EMBED_DIMENSIONS",
       integer,
       "0",
       "openai: shorter vectors, where the model can; 0: its own",
       {},
       0,
       16000},
      // Documents were indexed with a metadata prefix and queries are embedded without one. Models
      // that want a query instruction get it here; it is recorded, and changing it means
      // re-indexing.
      {"embedder.query_prefix", "STOKA_EMBED_QUERY_PREFIX", text, "",
       "put before a query when it is embedded; changing it means re-indexing"},
      {"embedder.document_template", "STOKA_EMBED_DOCUMENT_TEMPLATE", text, "{text}",
       "form of a document for a model that was trained on one, e.g. 'passage: {text}'"},

      {"reranker.kind",
       "STOKA_RERANKER",
       choice,
       "builtin",
       "who scores candidates; a STOKA_RERANK_URL alone selects tei",
       {"builtin", "tei", "jina", "none"}},
      {"reranker.url", "STOKA_RERANK_URL", text, "http://localhost:8073", "where it is"},
      {"reranker.model", "STOKA_RERANK_MODEL", text, "",
       "jina: the model, where the server wants it"},

      {"generator.kind",
       "STOKA_GENERATOR",
       choice,
       "extractive",
       "who writes; a STOKA_GEN_URL alone selects openai",
       {"extractive", "openai", "replay"}},
      {"generator.url", "STOKA_GEN_URL", text, "http://localhost:8050", "where it is"},
      {"generator.model", "STOKA_GEN_MODEL", text, "qwen3-vl-8b-instruct",
       "unless set, the only one that the server has"},
      {"generator.max_tokens",
       "STOKA_GEN_MAX_TOKENS",
       integer,
       "280",
       "of an answer",
       {},
       1,
       100000},
      {"generator.temperature", "STOKA_GEN_TEMPERATURE", number, "0.5", "of sampling", {}, 0, 2},
      {"generator.top_p", "STOKA_GEN_TOP_P", number, "0.9", "of sampling", {}, 0, 1},
      {"generator.stop", "STOKA_GEN_STOP", list, "\nvisitor:,</cite", "what ends an answer"},
      {"generator.extra", "STOKA_GEN_EXTRA", text, "",
       "JSON object merged into every request, e.g. "
       "{\"chat_template_kwargs\":{\"enable_thinking\":false}}"},

      {"retrieval.mode",
       "",
       choice,
       "hybrid",
       "which searches run",
       {"hybrid", "dense", "lexical"}},
      {"retrieval.fusion",
       "",
       choice,
       "auto",
       "how the two searches are merged; auto: weighted with built-in vectors, rrf with a model's",
       {"auto", "weighted", "rrf"}},
      {"retrieval.dense", "", integer, "100", "dense candidates", {}, 1, 10000},
      {"retrieval.lexical", "", integer, "100", "lexical candidates", {}, 1, 10000},
      {"retrieval.candidates", "", integer, "20", "candidates that are reranked", {}, 1, 1000},

      {"policy.shown", "", number, "0.1", "factor for what was already shown", {}, 0, 10},
      {"policy.deep_reader",
       "",
       number,
       "1.3",
       "factor for philosophy from the fifth turn on",
       {},
       0,
       10},
      {"policy.recent",
       "",
       number,
       "1.15",
       "factor for what was published in the last 30 days",
       {},
       0,
       10},
      {"policy.navigational",
       "",
       number,
       "1.2",
       "factor for a product that is asked for by name",
       {},
       0,
       10},
      {"policy.same_source",
       "",
       number,
       "0.6",
       "factor for a second chunk of one document",
       {},
       0,
       10},
      {"threshold.direct",
       "",
       number,
       "0.82",
       "score from which an answer speaks with authority",
       {},
       0,
       1},
      {"threshold.adjacent",
       "",
       number,
       "0.65",
       "score from which it is framed as a stretch",
       {},
       0,
       1},
      {"threshold.nothing", "", number, "0.5", "score below which there is no answer", {}, 0, 1},

      {"net.connect_timeout", "", number, "5", "seconds to reach a server", {}, 0.05, 3600},
      {"net.queue_timeout",
       "",
       number,
       "10",
       "seconds to wait for a free place at a server",
       {},
       0.05,
       3600},
      {"net.record", "STOKA_RECORD", text, "", "write what servers say to this file"},
      {"net.replay", "STOKA_REPLAY", text, "", "answer from this recording, ask no server"},

      {"serve.host", "", text, "127.0.0.1", "address to listen on; 0.0.0.0 or :: for all"},
      {"serve.port", "", integer, "8787", "port to listen on; 0: any that is free", {}, 0, 65535},
      {"serve.enabled", "STOKA_BOT_ENABLED", boolean, "true",
       "false: there are no /api/stoka routes"},
      {"serve.cors_origins", "STOKA_CORS_ORIGINS", list, "",
       "sites whose pages may ask, e.g. https://example.com; * for any"},
      {"serve.trusted_proxies", "STOKA_TRUSTED_PROXIES", list, "",
       "networks whose X-Forwarded-For is believed, e.g. 127.0.0.1,10.0.0.0/8"},
      {"serve.chat_limit", "STOKA_CHAT_LIMIT", text, "30/300",
       "chat requests/seconds of one address; 0: no limit"},
      {"serve.discover_limit", "STOKA_DISCOVER_LIMIT", text, "60/300",
       "the same for discover and profile"},
      {"serve.context_limit", "STOKA_CONTEXT_LIMIT", text, "120/60",
       "the same for context and open"},
      {"serve.connections", "", integer, "4096", "most clients at a time", {}, 1, 1000000},
      {"serve.workers", "", integer, "16", "threads that may wait for a model", {}, 1, 1000},
      {"serve.grace",
       "",
       number,
       "25",
       "seconds for answers under way when it is stopped",
       {},
       0,
       3600},
      {"serve.log_queries", "", boolean, "false", "write questions into the log"},
      {"auth.key_files", "STOKA_AUTH_KEY_FILES", list, "",
       "files with a key each for bearer tokens: PEM public key (RSA: RS256, P-256: ES256), else a "
       "shared secret (HS256)"},
      {"auth.audience", "", text, "", "what a token's aud must have; needed with a key"},
      {"auth.issuer", "", text, "", "what a token's iss must be; empty: anything"},

      {"prompt.budget",
       "",
       integer,
       "2500",
       "tokens of the system prompt; content is cut above it",
       {},
       500,
       1000000},
  };
  for (const Role& role : roles()) add_role(out, role);
  for (Setting& setting : out) {
    if (!setting.env.empty()) continue;
    setting.env = "STOKA_" + setting.key;
    std::transform(
        setting.env.begin(), setting.env.end(), setting.env.begin(),
        [](unsigned char c) { return c == '.' ? '_' : static_cast<char>(std::toupper(c)); });
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
