#include <algorithm>
#include <array>

#include "text/words.h"

namespace stoka::text {
namespace {

// Folded and without apostrophes, as words() yields them.
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

}  // namespace

bool is_stop_word(std::string_view word) {
  return std::binary_search(kStopWords.begin(), kStopWords.end(), word);
}

}  // namespace stoka::text
