#include "remote_site.h"

#include <fmt/format.h>

namespace stoka::app {

Result<> refuse_local_flags(const CommonFlags& common,
                            std::initializer_list<RemoteSite::LocalFlag> more) {
  const auto refuse = [](const char* name) {
    return fail(ErrorKind::usage,
                fmt::format("{} works only with the local index, which is not used here", name),
                fmt::format("leave out {}", name));
  };
  if (!common.store.empty()) return refuse("--store");
  if (!common.record.empty()) return refuse("--record");
  if (!common.replay.empty()) return refuse("--replay");
  for (const RemoteSite::LocalFlag& flag : more)
    if (flag.given) return refuse(flag.name);
  return {};
}

Result<std::unique_ptr<RemoteSite>> RemoteSite::make(const App& app, const std::string& url,
                                                     std::initializer_list<LocalFlag> local) {
  STOKA_TRY(refuse_local_flags(app.common, local));
  std::unique_ptr<RemoteSite> out(new RemoteSite);
  STOKA_ASSIGN(out->remote_, serve::SiteClient::make(out->client_, url));
  return out;
}

}  // namespace stoka::app
