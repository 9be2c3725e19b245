#include "settings.h"

#include <algorithm>
#include <cctype>

namespace stoka::app {
namespace {

std::vector<Setting> make() {
  using enum ValueType;
  std::vector<Setting> out = {
      {"store", "STOKA_DB_URL", text, "", "where the index and the sessions live: sqlite:PATH"},
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
      // Documents were indexed with a metadata prefix and queries are embedded without one. Models
      // that want a query instruction get it here; it is recorded, and changing it means
      // re-indexing.
      {"embedder.query_prefix", "STOKA_EMBED_QUERY_PREFIX", text, "",
       "put before a query when it is embedded"},

      {"retrieval.mode",
       "",
       choice,
       "hybrid",
       "which searches run",
       {"hybrid", "dense", "lexical"}},
      {"retrieval.fusion",
       "",
       choice,
       "weighted",
       "how the two searches are merged",
       {"weighted", "rrf"}},
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

      {"prompt.budget",
       "",
       integer,
       "2500",
       "tokens of the system prompt; content is cut above it",
       {},
       500,
       1000000},
  };
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

std::span<const Setting> settings() {
  static const std::vector<Setting> all = make();
  return all;
}

}  // namespace stoka::app
