// Makes pages that no search found what a turn cites: pages chosen from the catalogue, and further
// passages of pages that the session has shown. Also fixed lines with names and numbers in them.
#pragma once

#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/engine.h"
#include "pipeline/turn.h"

namespace stoka::pipeline {

// Adds a hit to what the turn cites, with its whole document. Does nothing if the index no longer
// has the document.
Result<> add_source(Engine& engine, Turn& turn, Hit hit);

// Cites the pages in this order, at most `limit` of them, each with its passage that has most words
// of `query`. Returns false if none of them has text.
Result<bool> cite_pages(Engine& engine, Turn& turn, std::span<const Document* const> pages,
                        std::string_view query, size_t limit);

// The order in which passages of a page are looked for.
enum class Passages {
  onwards,  // the one after the passage that was shown last, then the others
  nearest,  // those with most words of the question first
};

// Cites a passage of the page that the session has not shown, inline. Returns false if no sentence
// is left that can be quoted, or if several passages of the page were shown already.
Result<bool> cite_further(Engine& engine, Turn& turn, const Document& page, Passages order);

// How many of the content words of `query` the page has, by their stems, and how many there are.
struct WordsFound {
  size_t found = 0;
  size_t wanted = 0;
};
Result<WordsFound> words_found(Engine& engine, const Document& page, std::string_view query);

// Makes a line of the golden data the whole reply. Each {name} in it is replaced by its value.
using Values = std::initializer_list<std::pair<std::string_view, std::string>>;
std::string filled(std::string_view line, Values values);
void reply_with(const Engine& engine, Turn& turn, std::string_view name, Values values = {});

// Says that the page was shown: its title and its address.
void point_at(const Engine& engine, Turn& turn, const Document& page);

// The line in front of the first citation.
void open_with(const Engine& engine, Turn& turn, std::string_view name, Values values = {});

// The slugs of the pages that this visitor was shown or has read, and of the open page.
std::set<std::string, std::less<>> seen_pages(const Turn& turn, const Catalog& catalog);
// The other pages, if they have text.
std::vector<const Document*> unseen_pages(const Turn& turn, const Catalog& catalog);

}  // namespace stoka::pipeline
