#include "ingest/slug.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::ingest {
namespace {

constexpr size_t kMaxSlug = 128;

// The slug with the innermost `depth` folders as prefix.
std::string prefixed_slug(const SlugRequest& request, size_t depth) {
  std::string out;
  for (size_t i = request.folders.size() - std::min(depth, request.folders.size());
       i < request.folders.size(); ++i) {
    std::string folder = slugify(request.folders[i]);
    if (!folder.empty()) out += folder + "-";
  }
  return out + request.slug;
}

}  // namespace

std::string slugify(std::string_view input, std::string_view keep) {
  std::string folded = text::fold(input), out;
  bool gap = false;
  for (size_t at = 0; at < folded.size();) {
    char32_t c = text::next_code_point(folded, at);
    bool kept =
        text::is_word_character(c) || (c < 0x80 && keep.find(static_cast<char>(c)) != keep.npos);
    if (!kept) {
      gap = !out.empty();
      continue;
    }
    if (gap) out += '-';
    gap = false;
    text::append_utf8(out, c);
  }
  if (out.size() > kMaxSlug) out.resize(text::floor_char_boundary(out, kMaxSlug));
  while (out.ends_with('-')) out.pop_back();
  return out;
}

std::vector<std::string> unique_slugs(std::span<const SlugRequest> requests) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].path < requests[b].path; });
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i : order) groups[requests[i].slug].push_back(i);

  std::vector<std::string> out(requests.size());
  std::set<std::string> taken;
  auto grant = [&](size_t i, std::string slug) { out[i] = *taken.insert(std::move(slug)).first; };

  // Grant the requested slugs first, so that no prefixed slug takes one of them.
  for (auto& [slug, members] : groups) {
    auto winner = members.begin();
    for (bool SlugRequest::*claim : {&SlugRequest::is_indexed, &SlugRequest::is_explicit}) {
      if (members.size() == 1) break;
      winner = std::find_if(members.begin(), members.end(),
                            [&](size_t i) { return requests[i].*claim; });
      if (winner != members.end()) break;
    }
    if (winner == members.end()) continue;
    grant(*winner, slug);
    members.erase(winner);
  }
  for (auto& [slug, members] : groups) {
    size_t deepest = 0;
    for (size_t i : members) deepest = std::max(deepest, requests[i].folders.size());
    // A request that is unique with `depth` folders is settled; the others get one more folder.
    for (size_t depth = 1; depth <= deepest && !members.empty(); ++depth) {
      std::map<std::string, int> count;
      for (size_t i : members) ++count[prefixed_slug(requests[i], depth)];
      std::erase_if(members, [&](size_t i) {
        std::string name = prefixed_slug(requests[i], depth);
        bool free = count[name] == 1 && !taken.contains(name);
        if (free) grant(i, std::move(name));
        return free;
      });
    }
    int number = 1;
    for (size_t i : members) {
      std::string name = slug;
      while (taken.contains(name)) name = slug + "-" + std::to_string(++number);
      grant(i, std::move(name));
    }
  }
  return out;
}

}  // namespace stoka::ingest
