#include "support/temp_store.h"

#include <doctest/doctest.h>

#include <utility>

#include "embed/builtin.h"
#include "store/open.h"

namespace stoka::testing {

TempStore::TempStore() {
  auto opened = store::open((folder_.path / "index.db").string(), store::OpenMode::read_write);
  REQUIRE_MESSAGE(opened.has_value(), opened.error().message);
  store_ = std::move(*opened);
  writer_ = store_->begin_index().value();
  REQUIRE(writer_->set_identity({std::string(embed::kBuiltinName), 0, "test", ""}).has_value());
}

void TempStore::put(const std::string& slug, const std::vector<std::string>& texts,
                    const std::vector<std::string>& tags, std::string title) {
  Document document;
  document.slug = slug;
  document.title = title.empty() ? slug : std::move(title);
  document.tags = tags;
  std::vector<store::ChunkRecord> records;
  embed::FoldInEmbedder folder(*store_);
  for (const std::string& text : texts) {
    store::ChunkRecord record;
    record.chunk.slug = slug;
    record.chunk.index = static_cast<int>(records.size());
    record.chunk.title = document.title;
    record.chunk.tags = tags;
    record.chunk.content = text;
    record.terms = embed::count_terms(document.title + "\n" + text);
    record.embedding = folder.fold_in(record.terms).value();
    records.push_back(std::move(record));
  }
  REQUIRE(writer_->put_document(document, records).has_value());
}

bool TempStore::refit() { return embed::refit_if_needed(*store_, *writer_, {}).value(); }

}  // namespace stoka::testing
