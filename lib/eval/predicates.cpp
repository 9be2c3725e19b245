#include "eval/predicates.h"

#include <algorithm>

#include "eval/holds.h"
#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::eval {
namespace {

const std::vector<Predicate>& all() {
  static const std::vector<Predicate> list = {
      {"greeting", {1}, "greets the visitor", holds::greeting},
      {"flattery", {2}, "praises the question or who asked it", holds::flattery},
      {"sycophancy", {3}, "offers its services", holds::sycophancy},
      {"apology", {4}, "apologizes", holds::apology},
      {"summary", {5}, "retells a page in place of citing it", holds::summary},
      {"exclamation", {6}, "has an exclamation mark outside of code", holds::exclamation},
      {"emoji", {7}, "has an emoji or emoticon", holds::emoji},
      {"list", {8}, "is a list", holds::list},
      {"repeat", {9}, "cites what was cited before", holds::repeat},
      {"long", {10}, "has more than three sentences before a citation", holds::too_long},
      {"energy", {11}, "is enthusiastic", holds::energy},
      {"alternatives", {12}, "sends the visitor elsewhere", holds::alternatives},
      {"echo", {13}, "repeats the question", holds::echo},
      {"ungrounded", {14}, "states what is not in the retrieved content", holds::ungrounded},
      {"invented", {15}, "cites what was not retrieved, or shows a tag", holds::invented},
  };
  return list;
}

bool is_part_of_word(char32_t c) { return text::is_word_character(c) || c == '_'; }

// Whether the word that ends before `at` goes on there. A possessive s does not count.
bool goes_on(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  char32_t c = text::next_code_point(text, at);
  if (c != '\'') return is_part_of_word(c);
  if (at >= text.size()) return false;
  c = text::next_code_point(text, at);
  if (!text::is_word_character(c)) return false;
  return c != 's' || (at < text.size() && is_part_of_word(text::next_code_point(text, at)));
}

char32_t last_before(std::string_view text, size_t at) {
  if (at == 0) return 0;
  size_t from = text::floor_border(text, at - 1);
  return text::next_code_point(text, from);
}

// Whether the word that begins at `at` began before.
bool went_on(std::string_view text, size_t at) {
  const char32_t c = last_before(text, at);
  if (c != '\'') return is_part_of_word(c);
  return text::is_word_character(last_before(text, at - 1));
}

}  // namespace

std::span<const Predicate> predicates() { return all(); }

const Predicate* find_predicate(std::string_view name) {
  for (const Predicate& predicate : all()) {
    if (predicate.name == name) return &predicate;
  }
  return nullptr;
}

bool says(std::string_view text, std::string_view phrase) {
  const std::string in = text::fold(text);
  const std::string wanted = text::fold(phrase);
  if (wanted.empty()) return false;
  size_t begin = 0;
  const char32_t first = text::next_code_point(wanted, begin);
  const char32_t last = last_before(wanted, wanted.size());
  // Scripts without spaces have no borders to look for.
  const bool bound_left = is_part_of_word(first) && !text::is_unspaced(first);
  const bool bound_right = is_part_of_word(last) && !text::is_unspaced(last);
  for (size_t at = in.find(wanted); at != std::string::npos; at = in.find(wanted, at + 1)) {
    const bool left = !bound_left || !went_on(in, at);
    if (left && (!bound_right || !goes_on(in, at + wanted.size()))) return true;
  }
  return false;
}

}  // namespace stoka::eval
