#include "generate/think_filter.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/ascii.h"

namespace stoka::generate {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kOpening[] = {"<think>", "<thinking>", "<thought>"};
constexpr std::string_view kClosing[] = {"</think>", "</thinking>", "</thought>"};

struct Tag {
  size_t at = std::string_view::npos;  // where the tag begins; npos if there is none
  size_t length = 0;                   // the length of the tag; zero if it is still incomplete
};

bool same(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char c, char d) { return to_lower(c) == d; });
}

// Whether the text begins with a tag or with a prefix of one.
Tag tag_here(std::string_view text, std::span<const std::string_view> tags) {
  for (const std::string_view tag : tags) {
    const size_t there = std::min(text.size(), tag.size());
    if (same(text.substr(0, there), tag.substr(0, there)))
      return {0, there == tag.size() ? there : 0};
  }
  return {};
}

Tag find_tag(std::string_view text, std::span<const std::string_view> tags) {
  for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    if (const Tag tag = tag_here(text.substr(at), tags); tag.at == 0) return {at, tag.length};
  }
  return {};
}

}  // namespace

size_t reasoning_end(std::string_view text) {
  for (size_t at = text.rfind('<'); at != text.npos;
       at = at > 0 ? text.rfind('<', at - 1) : text.npos)
    if (const Tag tag = tag_here(text.substr(at), kClosing); tag.length > 0) return at + tag.length;
  return 0;
}

std::string ThinkFilter::push(std::string_view text) {
  pending_ += text;
  std::string_view rest = pending_;
  std::string out;
  for (bool more = true; more;) {
    if (position_ == Position::before) {
      rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
      const Tag tag = tag_here(rest, kOpening);
      more = tag.at != 0 || tag.length > 0;
      if (more) position_ = tag.at == 0 ? Position::block : Position::answer;
      rest.remove_prefix(tag.length);
      continue;
    }
    const Tag tag = find_tag(rest, kClosing);
    const std::string_view passed = rest.substr(0, tag.at);
    more = tag.length > 0;
    rest.remove_prefix(passed.size() + tag.length);
    if (position_ == Position::block) {
      reasoning_bytes_ += passed.size();
      if (more) position_ = Position::before;
    } else {
      out += passed;
      stray_tag_ = stray_tag_ || more;
    }
  }
  pending_.erase(0, pending_.size() - rest.size());
  return out;
}

std::string ThinkFilter::finish() {
  if (position_ != Position::block) return std::exchange(pending_, {});
  reasoning_bytes_ += pending_.size();
  pending_.clear();
  return {};
}

}  // namespace stoka::generate
