// Classes of Unicode code points. Pure, thread safe.
#pragma once

namespace stoka::text {

// Whether `c` is white space of any script, including line breaks.
bool is_space(char32_t c);

// Whether `c` is one of the control characters C0, DEL and C1.
bool is_control(char32_t c);

// Whether `c` is a letter, a digit, another numeral or a combining mark.
bool is_word_character(char32_t c);

// Whether `c` is a combining mark.
bool is_mark(char32_t c);

bool is_upper(char32_t c);
bool is_lower(char32_t c);

// Whether `c` is a Han ideograph. A single ideograph can be a word.
bool is_han(char32_t c);

bool is_hiragana(char32_t c);

// Whether `c` is a letter of a script that is indexed in pairs, because spaces do not separate its
// words: Han, Kana, Hangul, Thai, Lao, Khmer, Burmese.
bool is_unspaced(char32_t c);

// Whether `c` is a CJK character or punctuation mark. Models use about one token for each of them.
bool is_cjk(char32_t c);

// Whether `c` is invisible and ignored by matching: a zero-width character (also a joiner), bidi
// control, soft hyphen, variation selector or tag character.
bool is_ignorable(char32_t c);

// Whether `c` is a pictograph that is drawn as an image, or a modifier of one.
bool is_emoji(char32_t c);

}  // namespace stoka::text
