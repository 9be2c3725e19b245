// What a code point is, as far as the analysis of text cares. Pure, thread safe.
#pragma once

namespace stoka::text {

// White space of any script, line breaks included.
bool is_space(char32_t c);

// C0, DEL and C1.
bool is_control(char32_t c);

// Letters, digits and other numerals, marks.
bool is_word_character(char32_t c);

// Combining marks.
bool is_mark(char32_t c);

bool is_upper(char32_t c);
bool is_lower(char32_t c);

// Ideographs that mean something by themselves.
bool is_han(char32_t c);

bool is_hiragana(char32_t c);

// Letters of scripts that put no space between words: Han, Kana, Hangul, Thai, Lao, Khmer, Burmese.
bool is_unspaced(char32_t c);

// Ideographs, syllables and their punctuation, which models count about one token each.
bool is_cjk(char32_t c);

// Takes no room and means nothing for matching: zero-width characters, bidi controls, soft hyphen,
// variation selectors, tag characters. Joiners are among them.
bool is_ignorable(char32_t c);

// Pictographs that are drawn as an image, with their modifiers.
bool is_emoji(char32_t c);

}  // namespace stoka::text
