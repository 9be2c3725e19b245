#include "golden/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "base/embedded.h"

namespace stoka::golden {
namespace {

constexpr size_t kNeverItems = 15;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r'))
    text.remove_suffix(1);
  while (!text.empty() && (text.front() == '\n' || text.front() == ' ')) text.remove_prefix(1);
  return text;
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    if (std::string_view line = trim(text.substr(0, end)); !line.empty()) out.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// "visitor: …\nstoka: …" blocks separated by blank lines.
std::vector<GoldenExchange> take_apart(std::string_view text) {
  std::vector<GoldenExchange> out;
  constexpr std::string_view kVisitor = "visitor: ", kStoka = "stoka: ";
  std::string* into = nullptr;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      into = nullptr;
    } else if (line.starts_with(kVisitor)) {
      out.push_back({std::string(line.substr(kVisitor.size())), ""});
      into = nullptr;
    } else if (line.starts_with(kStoka) && !out.empty()) {
      into = &out.back().stoka;
      *into = line.substr(kStoka.size());
    } else if (into) {
      *into += "\n" + std::string(line);
    }
  }
  return out;
}

Error broken(std::string_view file, std::string_view what) {
  return {ErrorKind::config, fmt::format("golden file {}: {}", file, what),
          "compare it with the one that ships in golden/"};
}

// The golden files by name, overrides first.
class Files {
 public:
  explicit Files(const Override& override_file) : override_(override_file) {}

  Result<std::string> text(std::string_view file) const {
    if (override_) {
      STOKA_ASSIGN(std::optional<std::string> found, override_(file));
      if (found) return std::move(*found);
    }
    for (const EmbeddedFile& f : embedded::golden())
      if (f.name == file) return std::string(f.text);
    return fail(broken(file, "is missing"));
  }

  Result<std::vector<TomlEntry>> toml(std::string_view file) const {
    STOKA_ASSIGN(std::string source, text(file));
    auto entries = parse_toml(source, fmt::format("golden file {}", file));
    if (!entries) return fail(ErrorKind::config, entries.error().message, entries.error().hint);
    return entries;
  }

 private:
  const Override& override_;
};

// "meta.greeting.patterns" -> rule "meta.greeting", field "patterns".
Result<RouterData> read_router(const std::vector<TomlEntry>& entries) {
  RouterData out;
  for (const TomlEntry& entry : entries) {
    size_t dot = entry.key.rfind('.');
    if (dot == std::string::npos || entry.values.empty())
      return fail(
          broken("router.toml", fmt::format("line {}: '{}' is not a rule", entry.line, entry.key)));
    std::string rule = entry.key.substr(0, dot), field = entry.key.substr(dot + 1);
    if (entry.key == "offtopic.signals") {
      out.offtopic_signals = entry.values;
    } else if (entry.key == "offtopic.reply") {
      out.offtopic_reply = entry.values[0];
    } else if (entry.key == "offtopic.not_content") {
      out.not_content = entry.values;
    } else if (entry.key == "followup.openers") {
      out.followup_openers = entry.values;
    } else if (entry.key == "followup.max_words") {
      const std::string& n = entry.values[0];
      if (std::from_chars(n.data(), n.data() + n.size(), out.followup_max_words).ec != std::errc())
        return fail(broken("router.toml", "followup.max_words is not a number"));
    } else if (field == "reply" || field == "patterns") {
      if (out.rules.empty() || out.rules.back().name != rule) out.rules.push_back({rule, "", {}});
      if (field == "reply")
        out.rules.back().reply = entry.values[0];
      else
        out.rules.back().patterns = entry.values;
    } else {
      return fail(
          broken("router.toml", fmt::format("line {}: unknown '{}'", entry.line, entry.key)));
    }
  }
  return out;
}

Result<> check(const Golden& golden) {
  if (golden.never.size() != kNeverItems)
    return fail(broken(
        "never.txt", fmt::format("has {} items, must have {}", golden.never.size(), kNeverItems)));
  if (golden.exchange_list.empty())
    return fail(broken("exchanges.txt", "has no visitor:/stoka: exchange"));
  for (const char* name : {"what", "offtopic", "deal", "nothing", "closest"})
    if (!golden.replies.contains(name))
      return fail(broken("replies.toml", fmt::format("lacks '{}'", name)));
  for (const auto& [name, texts] : golden.replies)
    if (texts.empty()) return fail(broken("replies.toml", fmt::format("'{}' is empty", name)));
  for (const RouterRule& rule : golden.router.rules)
    if (!golden.replies.contains(rule.reply))
      return fail(broken("router.toml",
                         fmt::format("{}: no reply '{}' in replies.toml", rule.name, rule.reply)));
  if (!golden.replies.contains(golden.router.offtopic_reply))
    return fail(broken("router.toml", "offtopic names a reply that is not in replies.toml"));
  if (golden.post_hints.empty()) return fail(broken("hints.toml", "post.lines is empty"));
  return {};
}

}  // namespace

const std::string& Golden::reply(std::string_view name, int n) const {
  auto found = replies.find(name);
  assert(found != replies.end());
  return found->second[static_cast<size_t>(n) % found->second.size()];
}

std::string Golden::hint(std::string_view page) const {
  const PageHint* best = nullptr;
  for (const PageHint& hint : page_hints) {
    std::string_view pattern = hint.page;
    bool below = pattern.ends_with('*');
    if (below) pattern.remove_suffix(1);
    bool matches =
        below ? page.starts_with(pattern) && page.size() > pattern.size() : page == pattern;
    if (matches && (!best || hint.page.size() > best->page.size())) best = &hint;
  }
  return best ? best->line : "";
}

Result<Golden> load(const Override& override_file) {
  Files files(override_file);
  Golden out;
  STOKA_ASSIGN(std::string identity, files.text("identity.txt"));
  out.identity = trim(identity);
  STOKA_ASSIGN(std::string never, files.text("never.txt"));
  out.never = lines(never);
  STOKA_ASSIGN(std::string voice, files.text("voice.txt"));
  out.voice = trim(voice);
  STOKA_ASSIGN(std::string exchanges, files.text("exchanges.txt"));
  out.exchanges = trim(exchanges);
  out.exchange_list = take_apart(out.exchanges);
  STOKA_ASSIGN(std::vector<TomlEntry> replies, files.toml("replies.toml"));
  for (TomlEntry& entry : replies) out.replies[entry.key] = std::move(entry.values);
  STOKA_ASSIGN(std::vector<TomlEntry> hints, files.toml("hints.toml"));
  for (TomlEntry& entry : hints) {
    if (entry.key == "post.lines")
      out.post_hints = std::move(entry.values);
    else if (entry.key.starts_with("pages.") && !entry.values.empty())
      out.page_hints.push_back({entry.key.substr(6), entry.values[0]});
    else
      return fail(broken("hints.toml", fmt::format("unknown '{}'", entry.key)));
  }
  STOKA_ASSIGN(std::vector<TomlEntry> router, files.toml("router.toml"));
  STOKA_ASSIGN(out.router, read_router(router));
  STOKA_ASSIGN(out.guard, files.toml("guard.toml"));
  STOKA_ASSIGN(out.voice_lines, files.toml("voice_lines.toml"));
  STOKA_ASSIGN(out.framing, files.toml("framing.toml"));
  STOKA_TRY(check(out));
  return out;
}

}  // namespace stoka::golden
