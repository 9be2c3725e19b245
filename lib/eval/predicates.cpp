#include "eval/predicates.h"

#include <algorithm>

#include "text/characters.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::eval {
namespace {

const std::vector<Predicate>& all_predicates() {
  static const std::vector<Predicate> list = {
      {"greeting", {1}, "greets the visitor", predicate::greeting},
      {"flattery", {2}, "praises the question or who asked it", predicate::flattery},
      {"sycophancy", {3}, "offers its services", predicate::sycophancy},
      {"apology", {4}, "apologizes", predicate::apology},
      {"summary", {5}, "retells a page in place of citing it", predicate::summary},
      {"exclamation", {6}, "has an exclamation mark outside of code", predicate::exclamation},
      {"emoji", {7}, "has an emoji or emoticon", predicate::emoji},
      {"list", {8}, "is a list", predicate::list},
      {"repeat", {9}, "cites what was cited before", predicate::repeat},
      {"long", {10}, "has more than three sentences before a citation", predicate::too_long},
      {"energy", {11}, "is enthusiastic", predicate::energy},
      {"alternatives", {12}, "sends the visitor elsewhere", predicate::alternatives},
      {"echo", {13}, "repeats the question", predicate::echo},
      {"ungrounded", {14}, "states what is not in the retrieved content", predicate::ungrounded},
      {"invented", {15}, "cites what was not retrieved, or shows a tag", predicate::invented},
  };
  return list;
}

bool is_part_of_word(char32_t c) { return text::is_word_character(c) || c == '_'; }

// Whether the word before `at` continues at `at`. A possessive s does not count.
bool continues_at(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  char32_t c = text::next_code_point(text, at);
  if (c != '\'') return is_part_of_word(c);
  if (at >= text.size()) return false;
  c = text::next_code_point(text, at);
  if (!text::is_word_character(c)) return false;
  return c != 's' || (at < text.size() && is_part_of_word(text::next_code_point(text, at)));
}

// The character that ends at `at`; 0 at the beginning of the text.
char32_t character_before(std::string_view text, size_t at) {
  if (at == 0) return 0;
  size_t from = text::floor_char_boundary(text, at - 1);
  return text::next_code_point(text, from);
}

// Whether the word at `at` begins before `at`.
bool begins_before(std::string_view text, size_t at) {
  const char32_t c = character_before(text, at);
  if (c != '\'') return is_part_of_word(c);
  return text::is_word_character(character_before(text, at - 1));
}

}  // namespace

std::span<const Predicate> predicates() { return all_predicates(); }

const Predicate* find_predicate(std::string_view name) {
  for (const Predicate& predicate : all_predicates()) {
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
  const char32_t last = character_before(wanted, wanted.size());
  // Scripts without spaces have no word boundaries.
  const bool needs_left_boundary = is_part_of_word(first) && !text::is_unspaced(first);
  const bool needs_right_boundary = is_part_of_word(last) && !text::is_unspaced(last);
  for (size_t at = in.find(wanted); at != std::string::npos; at = in.find(wanted, at + 1)) {
    const bool left = !needs_left_boundary || !begins_before(in, at);
    if (left && (!needs_right_boundary || !continues_at(in, at + wanted.size()))) return true;
  }
  return false;
}

std::string clipped(std::string_view text) {
  return std::string(text.substr(0, text::floor_char_boundary(text, 80)));
}

}  // namespace stoka::eval
