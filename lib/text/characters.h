// Classes of Unicode code points. Pure, thread safe.
#pragma once

namespace stoka::text {

// White space of any script, including line breaks.
bool is_space(char32_t c);

// The control characters C0, DEL and C1.
bool is_control(char32_t c);

// Letters, digits, other numerals and combining marks.
bool is_word_character(char32_t c);

// Combining marks.
bool is_mark(char32_t c);

bool is_upper(char32_t c);
bool is_lower(char32_t c);

// Han ideographs. A single one of them can be a word.
bool is_han(char32_t c);

bool is_hiragana(char32_t c);

// Letters that are indexed as pairs, since words cannot be told apart by spaces: Han, Kana, Hangul,
// Thai, Lao, Khmer, Burmese.
bool is_unspaced(char32_t c);

// Chinese, Japanese and Korean characters and punctuation. Models use about one token for each.
bool is_cjk(char32_t c);

// Characters that are invisible and that matching ignores: zero-width characters (joiners
// included), bidi controls, soft hyphen, variation selectors, tag characters.
bool is_ignorable(char32_t c);

// Pictographs that are drawn as images, and their modifiers.
bool is_emoji(char32_t c);

}  // namespace stoka::text
