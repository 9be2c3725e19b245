#include <fmt/format.h>

#include "base/ascii.h"
#include "command.h"
#include "pipeline/profile.h"
#include "pipeline/turn.h"
#include "store/open.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

struct ProfileFlags {
  std::string visitor;
  std::optional<std::vector<std::string>> interests;
  std::vector<std::string> read;
};

std::string profile_text(const Visitor& visitor) {
  std::string out = fmt::format("visitor    {}\ninterests  {}\n", visitor.id,
                                visitor.interests.empty()
                                    ? "none declared"
                                    : fmt::format("{}", fmt::join(visitor.interests, ", ")));
  for (const HistoryEntry& reading : visitor.history)
    out += fmt::format("read       {}  {}\n", rfc3339(reading.at).substr(0, 10),
                       text::one_line(reading.slug));
  return out;
}

int run_profile(App& app, const ProfileFlags& flags) {
  const std::string& id = flags.visitor;
  const bool sets = flags.interests || !flags.read.empty();
  if (id.empty() && !sets)
    return app.report({ErrorKind::usage, "there is no visitor",
                       "add --visitor UUID, or --interests to create a visitor"});
  if (!id.empty())
    if (auto valid =
            pipeline::parse_uuid("visitor", id, "'stoka chat --json QUERY' prints the visitor id");
        !valid)
      return app.report(valid.error());
  auto store = app.open_store(store::OpenMode::read);
  if (!store) return app.report(store.error());
  const Caller caller{id.empty() ? app.ids.uuid() : to_lower(id), {}, false};
  const Result<Visitor> visitor =
      sets ? pipeline::update_profile(**store, **store, caller, flags.interests, flags.read,
                                      app.clock.now())
           : pipeline::profile(**store, caller);
  if (!visitor) return app.report(visitor.error());
  print(app.common.json ? pipeline::to_json(*visitor) + "\n" : profile_text(*visitor));
  return 0;
}

}  // namespace

Run declare_profile(FlagList& flags) {
  auto values = std::make_shared<ProfileFlags>();
  add(flags, {{.names = "--visitor",
               .target = &values->visitor,
               .help = "the id of the visitor; without it, a new visitor is created",
               .value = "UUID"},
              {.names = "--interests",
               .target = &values->interests,
               .help = "replace the declared interests by these, separated by commas",
               .value = "A,B",
               .comma_separated = true},
              {.names = "--read",
               .target = &values->read,
               .help = "add these slugs to the reading history, separated by commas",
               .value = "A,B",
               .comma_separated = true}});
  return [values](App& app) { return run_profile(app, *values); };
}

}  // namespace stoka::app
