#include "text/entities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "text/utf8.h"

namespace stoka::text {
namespace {

struct Entity {
  std::string_view name;
  char32_t code_point;
};

constexpr auto kEntities = std::to_array<Entity>({
    {"AElig", 0xC6},    {"Aacute", 0xC1},   {"Acirc", 0xC2},    {"Agrave", 0xC0},
    {"Alpha", 0x391},   {"Aring", 0xC5},    {"Atilde", 0xC3},   {"Auml", 0xC4},
    {"Beta", 0x392},    {"Ccedil", 0xC7},   {"Delta", 0x394},   {"ETH", 0xD0},
    {"Eacute", 0xC9},   {"Ecirc", 0xCA},    {"Egrave", 0xC8},   {"Euml", 0xCB},
    {"Gamma", 0x393},   {"Iacute", 0xCD},   {"Icirc", 0xCE},    {"Igrave", 0xCC},
    {"Iuml", 0xCF},     {"Lambda", 0x39B},  {"Ntilde", 0xD1},   {"OElig", 0x152},
    {"Oacute", 0xD3},   {"Ocirc", 0xD4},    {"Ograve", 0xD2},   {"Omega", 0x3A9},
    {"Oslash", 0xD8},   {"Otilde", 0xD5},   {"Ouml", 0xD6},     {"Pi", 0x3A0},
    {"Scaron", 0x160},  {"Sigma", 0x3A3},   {"THORN", 0xDE},    {"Theta", 0x398},
    {"Uacute", 0xDA},   {"Ucirc", 0xDB},    {"Ugrave", 0xD9},   {"Uuml", 0xDC},
    {"Yacute", 0xDD},   {"aacute", 0xE1},   {"acirc", 0xE2},    {"acute", 0xB4},
    {"aelig", 0xE6},    {"agrave", 0xE0},   {"alpha", 0x3B1},   {"amp", '&'},
    {"apos", '\''},     {"aring", 0xE5},    {"asymp", 0x2248},  {"atilde", 0xE3},
    {"auml", 0xE4},     {"bdquo", 0x201E},  {"beta", 0x3B2},    {"brvbar", 0xA6},
    {"bull", 0x2022},   {"ccedil", 0xE7},   {"cent", 0xA2},     {"chi", 0x3C7},
    {"colon", ':'},     {"comma", ','},     {"commat", '@'},    {"copy", 0xA9},
    {"crarr", 0x21B5},  {"dagger", 0x2020}, {"darr", 0x2193},   {"deg", 0xB0},
    {"delta", 0x3B4},   {"divide", 0xF7},   {"dollar", '$'},    {"eacute", 0xE9},
    {"ecirc", 0xEA},    {"egrave", 0xE8},   {"emsp", 0x2003},   {"ensp", 0x2002},
    {"epsilon", 0x3B5}, {"equals", '='},    {"eta", 0x3B7},     {"eth", 0xF0},
    {"euml", 0xEB},     {"euro", 0x20AC},   {"excl", '!'},      {"frac12", 0xBD},
    {"frac14", 0xBC},   {"frac34", 0xBE},   {"gamma", 0x3B3},   {"ge", 0x2265},
    {"grave", '`'},     {"gt", '>'},        {"harr", 0x2194},   {"hellip", 0x2026},
    {"iacute", 0xED},   {"icirc", 0xEE},    {"iexcl", 0xA1},    {"igrave", 0xEC},
    {"infin", 0x221E},  {"iota", 0x3B9},    {"iquest", 0xBF},   {"iuml", 0xEF},
    {"kappa", 0x3BA},   {"lambda", 0x3BB},  {"laquo", 0xAB},    {"larr", 0x2190},
    {"lbrace", '{'},    {"lbrack", '['},    {"ldquo", 0x201C},  {"le", 0x2264},
    {"lowbar", '_'},    {"lpar", '('},      {"lsaquo", 0x2039}, {"lsqb", '['},
    {"lsquo", 0x2018},  {"lt", '<'},        {"macr", 0xAF},     {"mdash", 0x2014},
    {"micro", 0xB5},    {"middot", 0xB7},   {"minus", 0x2212},  {"mu", 0x3BC},
    {"nbsp", 0xA0},     {"ndash", 0x2013},  {"ne", 0x2260},     {"not", 0xAC},
    {"ntilde", 0xF1},   {"nu", 0x3BD},      {"num", '#'},       {"oacute", 0xF3},
    {"ocirc", 0xF4},    {"oelig", 0x153},   {"ograve", 0xF2},   {"omega", 0x3C9},
    {"ordf", 0xAA},     {"ordm", 0xBA},     {"oslash", 0xF8},   {"otilde", 0xF5},
    {"ouml", 0xF6},     {"para", 0xB6},     {"percnt", '%'},    {"period", '.'},
    {"permil", 0x2030}, {"phi", 0x3C6},     {"pi", 0x3C0},      {"plus", '+'},
    {"plusmn", 0xB1},   {"pound", 0xA3},    {"prime", 0x2032},  {"psi", 0x3C8},
    {"quest", '?'},     {"quot", '"'},      {"raquo", 0xBB},    {"rarr", 0x2192},
    {"rbrace", '}'},    {"rbrack", ']'},    {"rdquo", 0x201D},  {"reg", 0xAE},
    {"rho", 0x3C1},     {"rpar", ')'},      {"rsaquo", 0x203A}, {"rsqb", ']'},
    {"rsquo", 0x2019},  {"sbquo", 0x201A},  {"scaron", 0x161},  {"sect", 0xA7},
    {"semi", ';'},      {"shy", 0xAD},      {"sigma", 0x3C3},   {"sol", '/'},
    {"sum", 0x2211},    {"sup1", 0xB9},     {"sup2", 0xB2},     {"sup3", 0xB3},
    {"szlig", 0xDF},    {"tau", 0x3C4},     {"theta", 0x3B8},   {"thinsp", 0x2009},
    {"thorn", 0xFE},    {"times", 0xD7},    {"trade", 0x2122},  {"uacute", 0xFA},
    {"uarr", 0x2191},   {"ucirc", 0xFB},    {"ugrave", 0xF9},   {"uml", 0xA8},
    {"uuml", 0xFC},     {"verbar", '|'},    {"vert", '|'},      {"yacute", 0xFD},
    {"yen", 0xA5},      {"yuml", 0xFF},     {"zeta", 0x3B6},    {"zwj", 0x200D},
    {"zwnj", 0x200C},
});
static_assert(std::is_sorted(kEntities.begin(), kEntities.end(),
                             [](const Entity& a, const Entity& b) { return a.name < b.name; }));

// Appends the character that the reference between '&' and ';' names. Returns false for an unknown
// reference.
bool append_reference(std::string_view reference, std::string& out) {
  if (reference.starts_with('#')) {
    const bool hex = reference.size() > 1 && (reference[1] == 'x' || reference[1] == 'X');
    const std::string_view digits = reference.substr(hex ? 2 : 1);
    const char* const last = digits.data() + digits.size();
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), last, value, hex ? 16 : 10);
    if (digits.empty() || end != last) return false;
    append_utf8(out, error != std::errc() || value == 0 ? 0xFFFD : char32_t(value));
    return true;
  }
  const auto found =
      std::lower_bound(kEntities.begin(), kEntities.end(), reference,
                       [](const Entity& e, std::string_view n) { return e.name < n; });
  if (found == kEntities.end() || found->name != reference) return false;
  append_utf8(out, found->code_point);
  return true;
}

}  // namespace

std::string decode_entities(std::string_view text) {
  constexpr size_t kMaxReference = 12;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t ampersand = std::min(text.find('&'), text.size());
    out += text.substr(0, ampersand);
    text.remove_prefix(ampersand);
    if (text.empty()) break;
    const size_t end = text.substr(0, kMaxReference + 2).find(';');
    if (end == std::string_view::npos || !append_reference(text.substr(1, end - 1), out)) {
      out += '&';
      text.remove_prefix(1);
    } else {
      text.remove_prefix(end + 1);
    }
  }
  return out;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    default:
      out += c;
  }
}

std::string escape_attribute(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '"')
      out += "&quot;";
    else
      append_escaped(out, c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
  }
  return out;
}

}  // namespace stoka::text
