// A fixture with a folder of pages that a test changes between index runs.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "support/site_fixture.h"
#include "text/words.h"

namespace stoka::testing {

struct IndexFixture {
  SiteFixture fixture{false};
  fs::path root = fixture.folder.path / "site";
  IndexFixture() { fs::create_directory(root); }

  void write(const std::string& file, const std::string& text) {
    fixture.folder.write("site/" + file, text);
  }
  void page(const std::string& file, const std::string& body) {
    write(file, "# Page " + file + "\n\n" + body + "\n");
  }

  Result<pipeline::IndexReport> run(bool prune = false, bool dry_run = false,
                                    std::vector<fs::path> paths = {}) {
    auto request = index_request(paths.empty() ? std::vector{root} : std::move(paths));
    request.prune = prune;
    request.dry_run = dry_run;
    return pipeline::run_index(fixture.store.get(), *fixture.embedder, request, fixture.clock,
                               fixture.log);
  }
  std::set<std::string> slugs() {
    std::set<std::string> out;
    auto documents = fixture.store->documents().value();
    for (const auto& info : documents) out.insert(info.document.slug);
    return out;
  }
  // The number of chunks that a lexical search for the word finds.
  size_t found(const std::string& word) {
    std::vector<store::QueryTerm> query = {{text::stem(word), 1.0}};
    return fixture.store->search_lexical(query, 10, {}).value().size();
  }
};

// "+ADDED ~CHANGED =UNCHANGED -REMOVED", or the error message.
inline std::string counts(const Result<pipeline::IndexReport>& report) {
  if (!report) return report.error().message;
  return fmt::format("+{} ~{} ={} -{}", report->added, report->changed, report->unchanged,
                     report->removed);
}

}  // namespace stoka::testing
