#include <fmt/format.h>

#include "command.h"
#include "pipeline/profile.h"
#include "store/open.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

struct Flags {
  std::string visitor;
  std::vector<std::string> interests;
  std::vector<std::string> read;
  CLI::Option* interests_given = nullptr;
};

std::string profile_text(const Visitor& visitor) {
  std::string out = fmt::format("visitor    {}\ninterests  {}\n", visitor.id,
                                visitor.interests.empty()
                                    ? "none declared"
                                    : fmt::format("{}", fmt::join(visitor.interests, ", ")));
  for (const Reading& reading : visitor.history)
    out += fmt::format("read       {}  {}\n", rfc3339(reading.at).substr(0, 10),
                       text::one_line(reading.slug));
  return out;
}

int run(App& app, const Flags& flags) {
  std::string id = flags.visitor;
  const bool sets = flags.interests_given->count() > 0 || !flags.read.empty();
  if (id.empty() && !sets)
    return app.report(
        {ErrorKind::usage, "which visitor?", "give --visitor UUID, or --interests to make one"});
  if (!id.empty() && !is_uuid(id))
    return app.report({ErrorKind::usage,
                       fmt::format("visitor is not a UUID: '{}'", text::one_line(id)),
                       "a chat prints it: stoka chat --json QUERY"});
  auto store = app.open_store(store::OpenMode::read);
  if (!store) return app.report(store.error());
  if (id.empty()) id = app.ids.uuid();
  std::optional<std::vector<std::string>> interests;
  if (flags.interests_given->count() > 0) interests = flags.interests;
  const Result<Visitor> visitor =
      sets ? pipeline::update_profile(**store, id, interests, flags.read, app.clock.now())
           : pipeline::profile(**store, id);
  if (!visitor) return app.report(visitor.error());
  print(app.common.json ? pipeline::to_json(*visitor) + "\n" : profile_text(*visitor));
  return 0;
}

}  // namespace

Run declare_profile(CLI::App& cli) {
  auto flags = std::make_shared<Flags>();
  cli.add_option("--visitor", flags->visitor, "visitor id; left out, a new one is made")
      ->type_name("UUID");
  flags->interests_given =
      cli.add_option("--interests", flags->interests,
                     "declared interests, comma separated; replaces the old ones")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->type_name("A,B");
  cli.add_option("--read", flags->read, "slugs that were read, comma separated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B");
  return [flags](App& app) { return run(app, *flags); };
}

}  // namespace stoka::app
