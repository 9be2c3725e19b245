#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "command.h"
#include "store/open.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string visitor;
  std::vector<std::string> interests;
  std::vector<std::string> read;
  CLI::Option* interests_given = nullptr;
};

std::string profile_json(const Visitor& visitor) {
  Json history = Json::array();
  for (const Reading& reading : visitor.history)
    history.push_back(
        {{"slug", reading.slug}, {"at", rfc3339(reading.at)}, {"scroll_pct", reading.scroll_pct}});
  return Json{{"visitor_id", visitor.id},
              {"interests", visitor.interests},
              {"reading_history", std::move(history)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

// Tags as the index spells them.
std::vector<std::string> as_tags(const std::vector<std::string>& interests) {
  std::vector<std::string> out;
  for (const std::string& interest : interests) {
    std::string tag = text::fold(interest);
    std::replace(tag.begin(), tag.end(), ' ', '-');
    if (!tag.empty() && std::find(out.begin(), out.end(), tag) == out.end()) out.push_back(tag);
  }
  return out;
}

Result<> known_slugs(store::Store& store, const std::vector<std::string>& slugs) {
  for (const std::string& slug : slugs) {
    STOKA_ASSIGN(std::vector<store::StoredChunk> chunks, store.chunks_of(slug));
    if (chunks.empty())
      return fail(ErrorKind::not_found, fmt::format("no document '{}'", text::one_line(slug)),
                  "slugs are listed by: stoka status -v");
  }
  return {};
}

int run(App& app, const Flags& flags) {
  std::string id = lower(flags.visitor);
  bool sets = flags.interests_given->count() > 0 || !flags.read.empty();
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

  Result<Visitor> visitor = Visitor{};
  if (sets) {
    if (auto known = known_slugs(**store, flags.read); !known) return app.report(known.error());
    std::optional<std::vector<std::string>> interests;
    if (flags.interests_given->count() > 0) interests = as_tags(flags.interests);
    std::vector<Reading> read;
    for (const std::string& slug : flags.read) read.push_back({slug, app.clock.now(), 100});
    visitor = (*store)->update_visitor(id, interests, read, app.clock.now());
  } else {
    auto known = (*store)->visitor(id);
    if (!known) return app.report(known.error());
    if (!*known)
      return app.report(
          {ErrorKind::not_found, fmt::format("no visitor {}", id), "set --interests to make one"});
    visitor = std::move(**known);
  }
  if (!visitor) return app.report(visitor.error());
  print(app.common.json ? profile_json(*visitor) + "\n" : profile_text(*visitor));
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
