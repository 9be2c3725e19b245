#include "route/pattern.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoka::route {
namespace {

constexpr int kMaxGap = 9;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Error bad_pattern(std::string_view source, std::string_view what) {
  return {ErrorKind::config, fmt::format("golden file router.toml: pattern '{}': {}", source, what),
          "the top of that file explains the syntax"};
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view source) {
  Pattern out;
  std::vector<std::string_view> parts = split(source, ' ');
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (part == "^") {
      if (i != 0) return fail(bad_pattern(source, "^ must come first"));
      out.at_start_ = true;
    } else if (part == "$") {
      if (i + 1 != parts.size()) return fail(bad_pattern(source, "$ must come last"));
      out.at_end_ = true;
    } else if (part == ".") {
      out.atoms_.push_back({});
    } else if (part.starts_with("..")) {
      if (part.size() != 3 || part[2] < '1' || part[2] > '0' + kMaxGap)
        return fail(bad_pattern(source, "a gap is ..1 to ..9"));
      out.atoms_.push_back({{}, 0, part[2] - '0'});
    } else {
      Atom atom;
      if (part.ends_with('?')) {
        atom.min_words = 0;
        part.remove_suffix(1);
      }
      for (std::string_view word : split(part, '|')) atom.words.emplace_back(word);
      if (atom.words.empty()) return fail(bad_pattern(source, "an alternative has no word"));
      out.atoms_.push_back(std::move(atom));
    }
  }
  if (out.atoms_.empty()) return fail(bad_pattern(source, "is empty"));
  return out;
}

bool Pattern::matches(std::span<const std::string_view> words) const {
  return match_end(words).has_value();
}

std::optional<size_t> Pattern::match_end(std::span<const std::string_view> words) const {
  for (size_t start = 0; start < std::max<size_t>(words.size(), 1); ++start) {
    if (at_start_ ? start > 0 : start >= words.size()) break;
    if (auto left = match_from(0, words.subspan(start))) return words.size() - left->size();
  }
  return std::nullopt;
}

std::optional<std::span<const std::string_view>> Pattern::match_from(
    size_t at, std::span<const std::string_view> rest) const {
  if (at == atoms_.size()) {
    if (at_end_ && !rest.empty()) return std::nullopt;
    return rest;
  }
  const Atom& atom = atoms_[at];
  for (int taken = 0;; ++taken) {
    if (taken >= atom.min_words)
      if (auto left = match_from(at + 1, rest)) return left;
    if (taken == atom.max_words || rest.empty()) return std::nullopt;
    bool fits = atom.words.empty() ||
                std::find(atom.words.begin(), atom.words.end(), rest[0]) != atom.words.end();
    if (!fits) return std::nullopt;
    rest = rest.subspan(1);
  }
}

}  // namespace stoka::route
