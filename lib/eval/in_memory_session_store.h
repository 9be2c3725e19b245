// A store that keeps sessions in memory, so that an evaluation changes nothing on disk.
#pragma once

#include <map>
#include <mutex>

#include "store/store.h"

namespace stoka::eval {

// Reads the index of another store, which must outlive it. Turns of verified subjects, index writes
// and the copying of sessions fail with a usage error, because an evaluation needs none of them.
// Threads: any.
class InMemorySessionStore final : public store::Store {
 public:
  explicit InMemorySessionStore(store::Store& index) : index_(index) {}

  std::string describe() const override { return index_.describe(); }
  Result<std::optional<store::IndexIdentity>> identity() override { return index_.identity(); }
  Result<store::IndexStats> stats() override { return index_.stats(); }
  Result<search::CorpusStats> corpus_stats() override { return index_.corpus_stats(); }
  Result<std::vector<store::DocumentInfo>> documents() override { return index_.documents(); }
  Result<std::vector<store::ScoredChunk>> search_lexical(
      std::span<const store::QueryTerm> query, size_t k,
      const store::SearchFilter& filter) override {
    return index_.search_lexical(query, k, filter);
  }
  Result<std::vector<store::ScoredChunk>> search_dense(std::span<const float> query, size_t k,
                                                       const store::SearchFilter& filter) override {
    return index_.search_dense(query, k, filter);
  }
  Result<std::vector<store::StoredChunk>> chunks(std::span<const ChunkId> ids,
                                                 bool with_embeddings) override {
    return index_.chunks(ids, with_embeddings);
  }
  Result<std::vector<store::StoredChunk>> document_chunks(std::string_view slug) override {
    return index_.document_chunks(slug);
  }
  Result<std::vector<uint64_t>> document_frequencies(std::span<const std::string> terms) override {
    return index_.document_frequencies(terms);
  }
  Result<std::vector<store::BasisRow>> basis_rows(std::span<const std::string> terms) override {
    return index_.basis_rows(terms);
  }
  Result<std::vector<store::BasisRow>> basis() override { return index_.basis(); }
  Result<std::vector<std::vector<store::TermCount>>> chunk_terms(
      std::span<const ChunkId> ids) override {
    return index_.chunk_terms(ids);
  }
  Result<std::unique_ptr<store::IndexWriter>> begin_index() override;

  Result<std::optional<Session>> session(std::string_view id) override;
  Result<std::optional<Visitor>> visitor(std::string_view id) override;
  Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) override;
  Result<Session> commit_turn(const TurnRecord& turn) override;
  Result<Visitor> update_visitor(std::string_view id,
                                 const std::optional<std::vector<std::string>>& interests,
                                 std::span<const HistoryEntry> read, Instant now) override;
  Result<std::vector<std::string>> all_shown_slugs() override;
  Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t most) override;
  Result<std::vector<Session>> sessions_after(std::string_view id, size_t most) override;
  Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) override;
  Result<> put_sessions(std::span<const Session> sessions) override;

 private:
  template <class T>
  using Rows = std::map<std::string, T, std::less<>>;  // by id

  store::Store& index_;
  std::mutex mutex_;
  Rows<Session> sessions_;
  Rows<Visitor> visitors_;
};

}  // namespace stoka::eval
