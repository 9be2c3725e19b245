// The settings of a server as the program names them in hints.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/ascii.h"
#include "net/upstream.h"

namespace stoka::testing {

inline std::map<std::string, net::SettingName, std::less<>> setting_names(const std::string& role) {
  const std::string prefix = role == "embedder"   ? "STOKA_EMBED_"
                             : role == "reranker" ? "STOKA_RERANK_"
                                                  : "STOKA_GEN_";
  std::map<std::string, net::SettingName, std::less<>> out;
  for (const std::string name :
       {"url", "model", "timeout", "query_timeout", "headers_timeout", "first_token_timeout",
        "idle_timeout", "api_key", "api_key_file", "api_key_command", "max_tokens", "extra"}) {
    std::string variable = prefix;
    for (const char c : name) variable += to_upper(c);
    out[name] = {role + "." + name, variable};
  }
  out["kind"] = {role + ".kind", "STOKA_"};
  for (const char c : role) out["kind"].variable += to_upper(c);
  out["connect_timeout"] = {"net.connect_timeout", ""};
  out["prompt_budget"] = {"prompt.budget", ""};
  return out;
}

}  // namespace stoka::testing
