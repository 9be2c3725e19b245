#include "generate/think_filter.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stoka::generate {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kOpening[] = {"<think>", "<thinking>", "<thought>"};
constexpr std::string_view kClosing[] = {"</think>", "</thinking>", "</thought>"};

struct Tag {
  size_t at = std::string_view::npos;  // npos: there is none
  size_t length = 0;                   // 0: not whole yet
};

bool same(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char c, char d) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == d;
  });
}

// Whether the text begins with a tag, or may yet.
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

size_t thoughts_end(std::string_view text) {
  for (size_t at = text.rfind('<'); at != text.npos;
       at = at > 0 ? text.rfind('<', at - 1) : text.npos)
    if (const Tag tag = tag_here(text.substr(at), kClosing); tag.length > 0) return at + tag.length;
  return 0;
}

std::string ThinkFilter::push(std::string_view text) {
  held_ += text;
  std::string_view rest = held_;
  std::string out;
  for (bool more = true; more;) {
    if (where_ == Where::before) {
      rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
      const Tag tag = tag_here(rest, kOpening);
      more = tag.at != 0 || tag.length > 0;
      if (more) where_ = tag.at == 0 ? Where::block : Where::answer;
      rest.remove_prefix(tag.length);
      continue;
    }
    const Tag tag = find_tag(rest, kClosing);
    const std::string_view passed = rest.substr(0, tag.at);
    more = tag.length > 0;
    rest.remove_prefix(passed.size() + tag.length);
    if (where_ == Where::block) {
      thought_ += passed.size();
      if (more) where_ = Where::before;
    } else {
      out += passed;
      stray_ = stray_ || more;
    }
  }
  held_.erase(0, held_.size() - rest.size());
  return out;
}

std::string ThinkFilter::finish() {
  if (where_ != Where::block) return std::exchange(held_, {});
  thought_ += held_.size();
  held_.clear();
  return {};
}

}  // namespace stoka::generate
