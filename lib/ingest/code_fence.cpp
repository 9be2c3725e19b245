#include "ingest/code_fence.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "ingest/frontmatter.h"

namespace stoka::ingest {
namespace {

// Iterates over the attributes of an info string: "name", "name=value", "name: 'a value'".
class InfoAttributes {
 public:
  explicit InfoAttributes(std::string_view info) : info_(info) {}

  // Moves to the next attribute. Returns false at the end. A quoted text alone has an empty `name`.
  bool next() {
    name = value = {};
    skip(kBetween);
    if (at_ == info_.size()) return false;
    if (is_quote()) {
      take_value();
      return true;
    }
    name = take(" \t,{}[]=:\"'");
    skip(" \t");
    has_value = at_ < info_.size() && (info_[at_] == '=' || info_[at_] == ':');
    if (has_value) {
      ++at_;
      skip(" \t");
      value = take_value();
    }
    return true;
  }

  std::string_view name, value;
  bool has_value = false;

 private:
  static constexpr std::string_view kBetween = " \t,{}[]";

  bool is_quote() const { return info_[at_] == '"' || info_[at_] == '\''; }
  void skip(std::string_view set) {
    at_ = std::min(info_.find_first_not_of(set, at_), info_.size());
  }
  std::string_view take(std::string_view up_to) {
    const size_t begin = at_;
    at_ = std::min(info_.find_first_of(up_to, at_), info_.size());
    return info_.substr(begin, at_ - begin);
  }
  std::string_view take_value() {
    if (at_ == info_.size() || !is_quote()) return take(kBetween);
    const std::string_view quote = info_.substr(at_++, 1);
    const std::string_view inside = take(quote);
    at_ = std::min(at_ + 1, info_.size());
    return inside;
  }

  std::string_view info_;
  size_t at_ = 0;
};

}  // namespace

CodeFence parse_code_fence(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t>"), line.size()));
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const size_t length = std::min(line.find_first_not_of(line[0]), line.size());
  const std::string_view info = line.substr(length);
  if (length < 3 || (line[0] == '`' && info.find('`') != std::string_view::npos)) return {};
  return {line[0], length, trimmed(info)};
}

bool is_marked_secret(std::string_view info) {
  for (InfoAttributes attributes(info); attributes.next();) {
    std::string name = to_lower(attributes.name);
    name.erase(0, name.rfind('.') + 1);  // "secret" of ".secret" or "metadata.secret"
    const bool is_mark = name == "secret" || name == "is_secret" || name == "is-secret";
    if (is_mark && !(attributes.has_value && is_negative(attributes.value))) return true;
  }
  return false;
}

}  // namespace stoka::ingest
