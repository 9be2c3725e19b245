#include <algorithm>
#include <array>

#include "text/words.h"

namespace stoka::text {
namespace {

// English stop words, folded and without apostrophes, as words() returns them.
constexpr auto kStopWords = std::to_array<std::string_view>({
    "a",         "about",    "above",      "actually", "after",   "again",    "all",     "also",
    "am",        "an",       "and",        "any",      "anyone",  "anything", "are",     "arent",
    "as",        "ask",      "at",         "be",       "because", "been",     "before",  "being",
    "below",     "between",  "both",       "but",      "by",      "can",      "cannot",  "cant",
    "could",     "couldnt",  "did",        "didnt",    "do",      "does",     "doesnt",  "doing",
    "done",      "dont",     "down",       "during",   "each",    "either",   "else",    "ever",
    "every",     "few",      "for",        "from",     "further", "get",      "give",    "go",
    "got",       "had",      "hadnt",      "has",      "hasnt",   "have",     "havent",  "having",
    "he",        "hed",      "hell",       "her",      "here",    "hers",     "herself", "him",
    "himself",   "his",      "how",        "i",        "id",      "if",       "ill",     "im",
    "in",        "into",     "is",         "isnt",     "it",      "itd",      "itll",    "its",
    "itself",    "ive",      "just",       "know",     "let",     "lets",     "like",    "make",
    "may",       "me",       "might",      "mine",     "more",    "most",     "much",    "must",
    "my",        "myself",   "neither",    "no",       "nor",     "not",      "now",     "of",
    "off",       "on",       "once",       "one",      "only",    "or",       "other",   "our",
    "ours",      "out",      "over",       "own",      "please",  "really",   "same",    "say",
    "shall",     "she",      "should",     "shouldnt", "show",    "so",       "some",    "someone",
    "something", "such",     "tell",       "than",     "that",    "thats",    "the",     "their",
    "theirs",    "them",     "themselves", "then",     "there",   "theres",   "these",   "they",
    "theyd",     "theyll",   "theyre",     "theyve",   "thing",   "things",   "this",    "those",
    "through",   "to",       "too",        "under",    "until",   "up",       "upon",    "us",
    "very",      "was",      "wasnt",      "we",       "wed",     "were",     "werent",  "weve",
    "what",      "whatever", "whats",      "when",     "where",   "whether",  "which",   "while",
    "who",       "whom",     "whose",      "why",      "will",    "with",     "within",  "without",
    "wont",      "would",    "wouldnt",    "yes",      "yet",     "you",      "youd",    "youll",
    "your",      "youre",    "yours",      "yourself", "youve",
});
static_assert(std::is_sorted(kStopWords.begin(), kStopWords.end()));

// Stop words of German, French, Spanish, Italian, Portuguese, Dutch and Swedish.
constexpr auto kForeignStopWords = std::to_array<std::string_view>({
    "aan",    "aber",   "al",       "algo",    "alles",  "allt",   "als",     "ao",       "aos",
    "att",    "au",     "auch",     "auf",     "aus",    "aussi",  "av",      "avec",     "avez",
    "bara",   "bei",    "bij",      "bitte",   "blir",   "ca",     "ce",      "cela",     "ces",
    "cest",   "cette",  "che",      "chi",     "ci",     "com",    "comment", "como",     "con",
    "cual",   "cuando", "cuál",     "cuándo",  "cómo",   "da",     "dal",     "dan",      "dans",
    "das",    "dass",   "dat",      "de",      "dei",    "del",    "della",   "delle",    "dem",
    "denn",   "der",    "des",      "det",     "detta",  "deze",   "di",      "die",      "dies",
    "diese",  "dit",    "donde",    "dos",     "dove",   "du",     "där",     "dónde",    "e",
    "een",    "ein",    "eine",     "einem",   "einen",  "einer",  "el",      "ela",      "ele",
    "ella",   "elle",   "eller",    "elles",   "ellos",  "em",     "en",      "eres",     "ert",
    "es",     "est",    "esta",     "este",    "esto",   "está",   "et",      "etes",     "etre",
    "ett",    "etwas",  "eu",       "euch",    "eure",   "eux",    "faire",   "faut",     "fick",
    "foi",    "från",   "fuer",     "för",     "für",    "geen",   "gibt",    "gli",      "habe",
    "haben",  "hai",    "han",      "har",     "heb",    "hebben", "heeft",   "het",      "hij",
    "hon",    "hun",    "hur",      "här",     "ich",    "ihr",    "ihre",    "ik",       "il",
    "ils",    "inte",   "io",       "isso",    "ist",    "isto",   "ja",      "je",       "jij",
    "jullie", "kan",    "kann",     "koennen", "können", "la",     "las",     "le",       "les",
    "leur",   "lo",     "los",      "lui",     "ma",     "maar",   "mais",    "mas",      "med",
    "meer",   "mehr",   "met",      "mi",      "mich",   "mig",    "mijn",    "min",      "mir",
    "mit",    "moi",    "mon",      "muy",     "mycket", "más",    "na",      "naar",     "nach",
    "nao",    "nas",    "ne",       "nel",     "nella",  "ni",     "nicht",   "niet",     "noch",
    "nog",    "non",    "nos",      "nous",    "nu",     "nur",    "não",     "när",      "o",
    "ob",     "och",    "också",    "oder",    "om",     "ons",    "onze",    "ook",      "op",
    "os",     "oss",    "ou",       "où",      "par",    "para",   "pas",     "pela",     "pelo",
    "perche", "perché", "pero",     "peut",    "piu",    "più",    "plus",    "por",      "porque",
    "porquê", "pour",   "pourquoi", "puede",   "på",     "qual",   "quale",   "quand",    "quando",
    "que",    "quel",   "quelle",   "quelles", "quels",  "quem",   "questo",  "qui",      "quien",
    "quién",  "quoi",   "qué",      "sa",      "samma",  "schon",  "se",      "sehr",     "sei",
    "sein",   "sem",    "ser",      "ses",     "seu",    "si",     "sich",    "sie",      "sig",
    "sind",   "ska",    "sobre",    "som",     "sono",   "sont",   "su",      "sua",      "sui",
    "suis",   "sul",    "sur",      "sus",     "são",    "så",     "ta",      "também",   "te",
    "tem",    "tes",    "ti",       "tiene",   "till",   "toi",    "tot",     "tra",      "tu",
    "uber",   "ueber",  "uit",      "um",      "uma",    "un",     "una",     "und",      "une",
    "uno",    "uns",    "unser",    "upp",     "usted",  "ut",     "utan",    "vad",      "var",
    "varför", "veel",   "vem",      "vi",      "vilka",  "vilken", "voce",    "você",     "vocês",
    "voi",    "von",    "voor",     "vor",     "vos",    "votre",  "vous",    "vraiment", "waar",
    "waarom", "waere",  "wann",     "wanneer", "warum",  "wat",    "weil",    "wel",      "wenn",
    "wer",    "werden", "wie",      "wieso",   "wir",    "wird",   "wo",      "worden",   "wordt",
    "wozu",   "y",      "ya",       "yo",      "zijn",   "zo",     "zou",     "zu",       "zum",
    "zur",    "à",      "às",       "är",      "ça",     "è",      "é",       "êtes",     "être",
    "über",
});
static_assert(std::is_sorted(kForeignStopWords.begin(), kForeignStopWords.end()));

}  // namespace

bool is_stop_word(std::string_view word) {
  return std::binary_search(kStopWords.begin(), kStopWords.end(), word);
}

bool is_foreign_stop_word(std::string_view word) {
  return std::binary_search(kForeignStopWords.begin(), kForeignStopWords.end(), word);
}

}  // namespace stoka::text
