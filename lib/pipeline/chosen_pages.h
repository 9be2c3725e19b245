// Lets a turn cite pages that no search found: pages chosen from the catalogue, and further
// passages of pages that the session has shown. Also fills names and numbers into fixed lines.
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

// Adds a hit, with its whole document, to the sources that the turn cites. Does nothing if the
// index no longer has the document.
Result<> add_source(Engine& engine, Turn& turn, Hit hit);

// Cites the pages in this order, at most `limit` of them, each with the passage that has the most
// words of `query`. Returns false if no page has text.
Result<bool> cite_pages(Engine& engine, Turn& turn, std::span<const Document* const> pages,
                        std::string_view query, size_t limit);

// The order in which the passages of a page are tried.
enum class Passages {
  onwards,  // the passage after the one that was shown last, then the others
  nearest,  // the passages with the most words of the question first
};

// Cites, as an inline citation, a passage of the page that the session has not shown. Returns false
// if no quotable sentence is left, or if several passages of the page were shown already.
Result<bool> cite_further(Engine& engine, Turn& turn, const Document& page, Passages order);

// The number of content words in a query, and of those whose stem occurs on the page.
struct WordsFound {
  size_t found = 0;
  size_t wanted = 0;
};
Result<WordsFound> words_found(Engine& engine, const Document& page, std::string_view query);

// Makes a line of the golden data the whole reply, with each {name} replaced by its value.
using Values = std::initializer_list<std::pair<std::string_view, std::string>>;
std::string filled(std::string_view line, Values values);
void reply_with(const Engine& engine, Turn& turn, std::string_view name, Values values = {});

// Makes the whole reply a line with the title and address of a page that was shown before.
void point_at(const Engine& engine, Turn& turn, const Document& page);

// Sets the line in front of the first citation.
void open_with(const Engine& engine, Turn& turn, std::string_view name, Values values = {});

// Returns the slugs of the pages that the visitor was shown or has read, and of the open page.
std::set<std::string, std::less<>> seen_pages(const Turn& turn, const Catalog& catalog);
// Returns the pages with text that are not in seen_pages().
std::vector<const Document*> unseen_pages(const Turn& turn, const Catalog& catalog);

}  // namespace stoka::pipeline
