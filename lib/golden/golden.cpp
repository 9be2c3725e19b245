#include "golden/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <span>

#include "base/ascii.h"
#include "base/embedded.h"
#include "base/suggestion.h"

namespace stoka::golden {
namespace {

constexpr size_t kNeverItems = 15;

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::string_view line = trimmed(take_line(text));
    if (!line.empty() && !line.starts_with('#')) out.emplace_back(line);
  }
  return out;
}

// The text without the lines that begin with #, and without white space around it.
std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!trimmed(line).starts_with('#')) out += std::string(line) + "\n";
  }
  return std::string(trimmed(out));
}

Error broken(std::string_view file, std::string_view what) {
  return {ErrorKind::config, fmt::format("golden file {}: {}", file, what),
          "compare it with the one that ships in golden/"};
}

Error broken(std::string_view file, int line, std::string_view what) {
  return broken(fmt::format("{}:{}", file, line), what);
}

std::string_view trimmed_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
}

// The slugs of the <cite slug="…"/> tags in the answer of an example.
std::vector<std::string> cited_slugs(std::string_view answer) {
  std::vector<std::string> out;
  constexpr std::string_view kTag = "<cite", kName = "slug=";
  for (size_t at = answer.find(kTag); at != answer.npos; at = answer.find(kTag, at)) {
    at += kTag.size();
    const std::string_view tag = answer.substr(at, answer.find("/>", at) - at);
    const size_t name = tag.find(kName);
    if (name == tag.npos || name + kName.size() >= tag.size()) continue;
    const std::string_view value = tag.substr(name + kName.size() + 1);
    out.emplace_back(value.substr(0, value.find(tag[name + kName.size()])));
  }
  return out;
}

// Parses blocks of "visitor: …\nstoka: …" that are separated by blank lines. A line outside of a
// block is an error, because it would be missing from the voice. Lines that begin with # are
// comments.
Result<std::vector<GoldenExchange>> parse_exchanges(std::string_view text) {
  std::vector<GoldenExchange> out;
  constexpr std::string_view kVisitor = "visitor: ", kStoka = "stoka: ";
  constexpr std::string_view kFile = "exchanges.txt";
  const auto is_answered = [&] { return out.empty() || !out.back().stoka.empty(); };
  std::string* into = nullptr;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view whole = take_line(text);
    std::string_view line = trimmed(whole);
    if (line.starts_with('#')) continue;
    if (line.empty()) {
      into = nullptr;
    } else if (line.starts_with(kVisitor)) {
      if (!is_answered())
        return fail(broken(kFile, number, "the question before it has no stoka: line"));
      out.push_back({std::string(line.substr(kVisitor.size())), ""});
      into = nullptr;
    } else if (line.starts_with(kStoka) && !is_answered()) {
      into = &out.back().stoka;
      *into = line.substr(kStoka.size());
    } else if (into) {
      *into += "\n" + std::string(line);
    } else {
      return fail(
          broken(kFile, number, "the line belongs to no exchange of a visitor: and a stoka: line"));
    }
    if (line.empty()) continue;
    std::string& block = out.back().text;
    block += (block.empty() ? "" : "\n") + std::string(trimmed_end(whole));
  }
  if (!is_answered()) return fail(broken(kFile, "the last question has no stoka: line"));
  for (GoldenExchange& exchange : out) exchange.slugs = cited_slugs(exchange.stoka);
  return out;
}

// The schema of the golden TOML files: which keys a file may have, and of which type their values
// are. Every file is checked, so that a mistyped key is an error instead of a line that is never
// used.

enum class KeyType { text, list, count };  // a string, a list of strings, a whole number from 0

struct KeyRule {
  std::string name;  // "post.lines"; a * stands for any name: "meta.*.reply"
  KeyType type = KeyType::list;
};

struct FileKeys {
  std::string_view file;
  std::vector<KeyRule> keys;
};

// Returns `keys` and, for each condition, `conditional` in its table: "needs.changelog.closers".
std::vector<KeyRule> with_conditions(std::vector<KeyRule> keys,
                                     const std::vector<KeyRule>& conditional) {
  for (const std::string_view condition : kConditions)
    for (const KeyRule& rule : conditional)
      keys.push_back({fmt::format("needs.{}.{}", condition, rule.name), rule.type});
  return keys;
}

const std::vector<FileKeys>& all_keys() {
  static const std::vector<FileKeys> keys = {
      {"replies.toml",
       {{"what"},
        {"identity"},
        {"greeting"},
        {"praise"},
        {"broad"},
        {"offtopic"},
        {"deal"},
        {"nothing"},
        {"closest"},
        {"site.*"},
        {"talk.*"}}},
      {"hints.toml",
       with_conditions({{"pages.*", KeyType::text}, {"product.lines"}, {"post.lines"}},
                       {{"pages.*", KeyType::text}})},
      {"router.toml",
       {{"meta.*.reply", KeyType::text},
        {"meta.*.patterns"},
        {"deal.*.reply", KeyType::text},
        {"deal.*.patterns"},
        {"site.*.patterns"},
        {"site.*.pages"},
        {"talk.*.patterns"},
        {"offtopic.reply", KeyType::text},
        {"offtopic.signals"},
        {"offtopic.not_content"},
        {"followup.max_words", KeyType::count},
        {"followup.openers"}}},
      {"guard.toml", {{"openers.*"}, {"sentences.*"}, {"words.common_name"}, {"words.filler"}}},
      {"framing.toml", {{"task", KeyType::text}, {"pieces"}, {"lines"}}},
      {"voice_lines.toml",
       with_conditions(
           {{"direct.*"}, {"framing.*"}, {"adjacent"}, {"followup"}, {"lateral"}, {"closers"}},
           {{"direct.*"}, {"adjacent"}, {"followup"}, {"lateral"}, {"closers"}})},
  };
  return keys;
}

// A key name split at its *. Without a * the whole name is in `before`.
struct SplitName {
  std::string_view before, after;
  bool has_star = false;
};

SplitName split_name(std::string_view name) {
  const size_t star = name.find('*');
  if (star == std::string_view::npos) return {name, {}, false};
  return {name.substr(0, star), name.substr(star + 1), true};
}

bool matches(const KeyRule& known, std::string_view key) {
  const SplitName p = split_name(known.name);
  if (!p.has_star) return key == known.name;
  return key.size() > p.before.size() + p.after.size() && key.starts_with(p.before) &&
         key.ends_with(p.after);
}

// The known key that the author of `key` may have meant. A * in the known key is replaced by the
// part of `key` at the same position. Empty if `key` has no such part.
std::string intended_key(const KeyRule& known, std::string_view key) {
  const SplitName p = split_name(known.name);
  if (!p.has_star) return known.name;
  const size_t first = key.find('.');
  const size_t last = p.after.empty() ? key.size() : key.rfind('.');
  if (first == std::string_view::npos || last == std::string_view::npos || first + 1 >= last)
    return "";
  return fmt::format("{}{}{}", p.before, key.substr(first + 1, last - first - 1), p.after);
}

std::string_view describe(KeyType type) {
  switch (type) {
    case KeyType::text:
      return "a string";
    case KeyType::list:
      return "a list of strings";
    case KeyType::count:
      break;
  }
  return "a whole number from 0";
}

bool has_type(const TomlEntry& entry, KeyType type) {
  if (type == KeyType::list) return entry.is_list && entry.type == TomlType::text;
  if (type == KeyType::text) return !entry.is_list && entry.type == TomlType::text;
  if (entry.is_list || entry.type != TomlType::integer) return false;
  return parse_number<int>(entry.values[0]).value_or(-1) >= 0;
}

// A key of a table [needs.CONDITION], for example "needs.changelog.closers", split at its
// condition. The condition of another key is empty.
struct Conditional {
  std::string_view condition, name;
};

constexpr std::string_view kNeeds = "needs.";

Conditional split_condition(std::string_view key) {
  const size_t dot = key.starts_with(kNeeds) ? key.find('.', kNeeds.size()) : key.npos;
  if (dot == key.npos) return {{}, key};
  return {key.substr(kNeeds.size(), dot - kNeeds.size()), key.substr(dot + 1)};
}

// The keys of a golden file, for example of "router.toml". For replies.toml these are the built-in
// replies; the caller adds the replies that router.toml names.
std::vector<KeyRule> known_keys(std::string_view file) {
  for (const FileKeys& known : all_keys())
    if (known.file == file) return known.keys;
  return {};
}

Result<> check_condition(std::string_view file, const TomlEntry& entry) {
  const std::string_view condition = split_condition(entry.key).condition;
  const std::vector<std::string> known(kConditions.begin(), kConditions.end());
  if (condition.empty() || SiteFacts{true, true, true}.meets(condition)) return {};
  return fail(ErrorKind::config,
              fmt::format("golden file {}:{}: unknown condition '{}'{}", file, entry.line,
                          condition, did_you_mean(condition, known)),
              fmt::format("the conditions are {}", fmt::join(known, ", ")));
}

// Fails with an error of kind config that names the file, the line, the key and, for an unknown
// key, the closest known one.
Result<> check_keys(std::string_view file, std::span<const TomlEntry> entries,
                    std::span<const KeyRule> known) {
  const bool allows_conditions = std::any_of(
      known.begin(), known.end(), [](const KeyRule& k) { return k.name.starts_with(kNeeds); });
  for (const TomlEntry& entry : entries) {
    if (allows_conditions) STOKA_TRY(check_condition(file, entry));
    const auto key = std::find_if(known.begin(), known.end(),
                                  [&](const KeyRule& k) { return matches(k, entry.key); });
    if (key == known.end()) {
      std::vector<std::string> names, likely;
      for (const KeyRule& k : known) {
        if (std::find(names.begin(), names.end(), k.name) == names.end()) names.push_back(k.name);
        if (std::string name = intended_key(k, entry.key); !name.empty()) likely.push_back(name);
      }
      return fail(ErrorKind::config,
                  fmt::format("golden file {}:{}: unknown key '{}'{}", file, entry.line, entry.key,
                              did_you_mean(entry.key, likely)),
                  fmt::format("{} has {}", file, fmt::join(names, ", ")));
    }
    if (!has_type(entry, key->type))
      return fail(
          broken(file, entry.line, fmt::format("'{}' must be {}", entry.key, describe(key->type))));
  }
  return {};
}

// Reads golden files by name: the override if there is one, else the built-in file.
class Files {
 public:
  explicit Files(const FileOverride& override_file) : override_(override_file) {}

  Result<std::string> text(std::string_view file) const {
    if (override_) {
      STOKA_ASSIGN(std::optional<std::string> found, override_(file));
      if (found) return std::move(*found);
    }
    for (const EmbeddedFile& f : embedded::golden())
      if (f.name == file) return std::string(f.text);
    return fail(broken(file, "is missing"));
  }

  // Reads a TOML file and checks its keys. `more` are allowed keys besides those of known_keys().
  Result<std::vector<TomlEntry>> toml(std::string_view file, std::vector<KeyRule> more = {}) const {
    STOKA_ASSIGN(std::string source, text(file));
    auto entries = parse_toml(source, fmt::format("golden file {}", file));
    if (!entries) return fail(ErrorKind::config, entries.error().message, entries.error().hint);
    std::vector<KeyRule> known = known_keys(file);
    std::move(more.begin(), more.end(), std::back_inserter(known));
    STOKA_TRY(check_keys(file, *entries, known));
    return entries;
  }

 private:
  const FileOverride& override_;
};

// Reads the rules: "meta.greeting.patterns" is the field "patterns" of the rule "meta.greeting".
Result<RouterData> read_router(const std::vector<TomlEntry>& entries) {
  RouterData out;
  for (const TomlEntry& entry : entries) {
    if (entry.key == "offtopic.signals") {
      out.offtopic_signals = entry.values;
    } else if (entry.key == "offtopic.reply") {
      out.offtopic_reply = entry.values[0];
    } else if (entry.key == "offtopic.not_content") {
      out.not_content = entry.values;
    } else if (entry.key == "followup.openers") {
      out.followup_openers = entry.values;
    } else if (entry.key == "followup.max_words") {
      out.followup_max_words = parse_number<int>(entry.values[0]).value_or(0);
    } else {
      const size_t dot = entry.key.rfind('.');
      const std::string rule = entry.key.substr(0, dot);
      if (out.rules.empty() || out.rules.back().name != rule)
        out.rules.push_back({rule, "", {}, {}});
      if (entry.key.substr(dot + 1) == "reply")
        out.rules.back().reply = entry.values[0];
      else if (entry.key.ends_with(".pages"))
        out.rules.back().pages = entry.values;
      else
        out.rules.back().patterns = entry.values;
    }
  }
  return out;
}

// The canned replies that rules of the router name, as keys of replies.toml.
std::vector<KeyRule> reply_keys(const RouterData& router) {
  std::vector<KeyRule> out{{router.offtopic_reply}};
  for (const RouterRule& rule : router.rules)
    if (!rule.is_intent()) out.push_back({rule.reply});
  return out;
}

// Reads the hints for pages. A pattern that can never match a page is an error.
Result<> read_hints(std::vector<TomlEntry> entries, Golden& golden) {
  constexpr std::string_view kPages = "pages.";
  for (TomlEntry& entry : entries) {
    if (entry.key == "post.lines" || entry.key == "product.lines") {
      auto& lines = entry.key == "post.lines" ? golden.post_hints : golden.product_hints;
      lines = std::move(entry.values);
      continue;
    }
    const Conditional key = split_condition(entry.key);
    const std::string page(key.name.substr(kPages.size()));
    if (!page.starts_with('/') || page.find('*') < page.size() - 1 ||
        (page.size() > 1 && page.ends_with('/')))
      return fail(broken("hints.toml", entry.line,
                         fmt::format("page '{}' must begin with /, end without one, and have a * "
                                     "only at its end",
                                     page)));
    golden.page_hints.push_back({page, entry.values[0], std::string(key.condition)});
  }
  return {};
}

Result<> check(const Golden& golden) {
  if (golden.never.size() != kNeverItems)
    return fail(broken("never.txt", fmt::format("has {} items but must have {}",
                                                golden.never.size(), kNeverItems)));
  if (golden.identity.empty()) return fail(broken("identity.txt", "is empty"));
  if (golden.voice.empty()) return fail(broken("voice.txt", "is empty"));
  if (golden.exchange_list.empty())
    return fail(broken("exchanges.txt", "has no visitor:/stoka: exchange"));
  for (const char* name : {"what", "offtopic", "deal", "nothing", "closest"})
    if (!golden.replies.contains(name))
      return fail(broken("replies.toml", fmt::format("lacks '{}'", name)));
  for (const auto& [name, texts] : golden.replies)
    if (texts.empty() || std::find(texts.begin(), texts.end(), "") != texts.end())
      return fail(broken("replies.toml", fmt::format("'{}' is empty", name)));
  for (const RouterRule& rule : golden.router.rules) {
    if (!rule.is_intent() && !golden.replies.contains(rule.reply))
      return fail(broken("router.toml",
                         fmt::format("{}: no reply '{}' in replies.toml", rule.name, rule.reply)));
    if (rule.patterns.empty())
      return fail(broken("router.toml", fmt::format("{} has no patterns", rule.name)));
  }
  if (!golden.replies.contains(golden.router.offtopic_reply))
    return fail(broken("router.toml", "offtopic names a reply that is not in replies.toml"));
  if (golden.product_hints.empty()) return fail(broken("hints.toml", "product.lines is empty"));
  if (golden.post_hints.empty()) return fail(broken("hints.toml", "post.lines is empty"));
  return {};
}

}  // namespace

const std::string& Golden::reply(std::string_view name, int n) const {
  auto found = replies.find(name);
  assert(found != replies.end());
  return found->second[static_cast<size_t>(n) % found->second.size()];
}

std::string Golden::hint(std::string_view page, const SiteFacts& site) const {
  const PageHint* best = nullptr;
  for (const PageHint& hint : page_hints)
    if (hint.page == page && site.meets(hint.condition) && (!best || best->condition.empty()))
      best = &hint;
  return best ? best->line : "";
}

std::string Golden::hint_below(std::string_view page, const SiteFacts& site) const {
  const PageHint* best = nullptr;
  for (const PageHint& hint : page_hints) {
    std::string_view above = hint.page;
    if (!above.ends_with('*') || !site.meets(hint.condition)) continue;
    above.remove_suffix(1);
    const bool below = page.starts_with(above) && page.size() > above.size();
    const bool better = !best || hint.page.size() > best->page.size() ||
                        (hint.page == best->page && best->condition.empty());
    if (below && better) best = &hint;
  }
  return best ? best->line : "";
}

std::string Golden::exchanges_in(const HasSlug& has_slug) const {
  std::string out;
  for (const GoldenExchange& exchange : exchange_list)
    if (std::all_of(exchange.slugs.begin(), exchange.slugs.end(), has_slug))
      out += (out.empty() ? "" : "\n\n") + exchange.text;
  return out;
}

std::vector<std::string> Golden::missing_slugs(const HasSlug& has_slug) const {
  std::vector<std::string> out;
  for (const GoldenExchange& exchange : exchange_list)
    for (const std::string& slug : exchange.slugs)
      if (!has_slug(slug) && std::find(out.begin(), out.end(), slug) == out.end())
        out.push_back(slug);
  return out;
}

Result<Golden> load(const FileOverride& override_file) {
  Files files(override_file);
  Golden out;
  STOKA_ASSIGN(std::string identity, files.text("identity.txt"));
  out.identity = without_comments(identity);
  STOKA_ASSIGN(std::string never, files.text("never.txt"));
  out.never = lines(never);
  STOKA_ASSIGN(std::string voice, files.text("voice.txt"));
  out.voice = without_comments(voice);
  STOKA_ASSIGN(std::string exchanges, files.text("exchanges.txt"));
  STOKA_ASSIGN(out.exchange_list, parse_exchanges(exchanges));
  out.exchanges = out.exchanges_in([](std::string_view) { return true; });
  STOKA_ASSIGN(std::vector<TomlEntry> router, files.toml("router.toml"));
  STOKA_ASSIGN(out.router, read_router(router));
  STOKA_ASSIGN(std::vector<TomlEntry> replies, files.toml("replies.toml", reply_keys(out.router)));
  for (TomlEntry& entry : replies) out.replies[entry.key] = std::move(entry.values);
  // The lines of an intent that replies.toml lacks are taken from the built-in file.
  STOKA_ASSIGN(std::vector<TomlEntry> shipped, Files(FileOverride()).toml("replies.toml"));
  for (TomlEntry& entry : shipped)
    if (entry.key.find('.') != std::string::npos)
      out.replies.try_emplace(entry.key, std::move(entry.values));
  STOKA_ASSIGN(std::vector<TomlEntry> hints, files.toml("hints.toml"));
  STOKA_TRY(read_hints(std::move(hints), out));
  STOKA_ASSIGN(out.guard, files.toml("guard.toml"));
  STOKA_ASSIGN(out.voice_lines, files.toml("voice_lines.toml"));
  STOKA_ASSIGN(out.framing, files.toml("framing.toml"));
  STOKA_TRY(check(out));
  return out;
}

}  // namespace stoka::golden
