#include "store/deferred_store.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

namespace stoka::store {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kRetryDelay{1};  // time between two attempts to open the store

class DeferredStore final : public Store {
 public:
  DeferredStore(std::string description, size_t commits, Error error,
                std::function<Result<std::unique_ptr<Store>>()> open)
      : description_(std::move(description)),
        max_commits_(commits),
        open_(std::move(open)),
        last_error_(std::move(error)) {}

  std::string describe() const override { return description_; }

  Result<std::optional<IndexIdentity>> identity() override { return call(&Store::identity); }
  Result<IndexStats> stats() override { return call(&Store::stats); }
  Result<search::CorpusStats> corpus_stats() override { return call(&Store::corpus_stats); }
  Result<std::vector<DocumentInfo>> documents() override { return call(&Store::documents); }
  Result<std::vector<ScoredChunk>> search_lexical(std::span<const QueryTerm> query, size_t k,
                                                  const SearchFilter& filter) override {
    return call(&Store::search_lexical, query, k, filter);
  }
  Result<std::vector<ScoredChunk>> search_dense(std::span<const float> query, size_t k,
                                                const SearchFilter& filter) override {
    return call(&Store::search_dense, query, k, filter);
  }
  Result<std::vector<StoredChunk>> chunks(std::span<const ChunkId> ids,
                                          bool with_embeddings) override {
    return call(&Store::chunks, ids, with_embeddings);
  }
  Result<std::vector<StoredChunk>> document_chunks(std::string_view slug) override {
    return call(&Store::document_chunks, slug);
  }
  Result<std::vector<uint64_t>> document_frequencies(std::span<const std::string> terms) override {
    return call(&Store::document_frequencies, terms);
  }
  Result<std::vector<BasisRow>> basis_rows(std::span<const std::string> terms) override {
    return call(&Store::basis_rows, terms);
  }
  Result<std::vector<BasisRow>> basis() override { return call(&Store::basis); }
  Result<std::vector<std::vector<TermCount>>> chunk_terms(std::span<const ChunkId> ids) override {
    return call(&Store::chunk_terms, ids);
  }
  Result<std::unique_ptr<IndexWriter>> begin_index() override { return call(&Store::begin_index); }
  Result<std::optional<Session>> session(std::string_view id) override {
    return call(&Store::session, id);
  }
  Result<std::optional<Visitor>> visitor(std::string_view id) override {
    return call(&Store::visitor, id);
  }
  Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) override {
    return call(&Store::visitor_by_subject, subject);
  }
  Result<Session> commit_turn(const TurnRecord& turn) override {
    return call(&Store::commit_turn, turn);
  }
  std::vector<Result<Session>> commit_turns(std::span<const TurnRecord> turns) override {
    const Result<Store*> store = get_or_open();
    if (!store) return std::vector<Result<Session>>(turns.size(), fail(store.error()));
    return (*store)->commit_turns(turns);
  }
  size_t max_concurrent_commits() const override { return max_commits_; }
  Result<Visitor> update_visitor(std::string_view id,
                                 const std::optional<std::vector<std::string>>& interests,
                                 std::span<const HistoryEntry> read, Instant now) override {
    return call(&Store::update_visitor, id, interests, read, now);
  }
  Result<std::vector<std::string>> all_shown_slugs() override {
    return call(&Store::all_shown_slugs);
  }
  Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t limit) override {
    return call(&Store::visitors_after, id, limit);
  }
  Result<std::vector<Session>> sessions_after(std::string_view id, size_t limit) override {
    return call(&Store::sessions_after, id, limit);
  }
  Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) override {
    return call(&Store::put_visitors, visitors);
  }
  Result<> put_sessions(std::span<const Session> sessions) override {
    return call(&Store::put_sessions, sessions);
  }

 private:
  template <class Member, class... Args>
  auto call(Member member, const Args&... args)
      -> std::invoke_result_t<Member, Store&, const Args&...> {
    STOKA_ASSIGN(Store* const store, get_or_open());
    return std::invoke(member, *store, args...);
  }

  Result<Store*> get_or_open() {
    std::unique_lock lock(mutex_);
    if (store_) return store_.get();
    if (is_opening_ || steady_clock::now() < next_attempt_) return fail(last_error_);
    is_opening_ = true;
    lock.unlock();
    auto store = open_();
    lock.lock();
    is_opening_ = false;
    if (store) {
      store_ = std::move(*store);
      return store_.get();
    }
    last_error_ = store.error();
    next_attempt_ = steady_clock::now() + kRetryDelay;
    return fail(last_error_);
  }

  const std::string description_;
  const size_t max_commits_;
  const std::function<Result<std::unique_ptr<Store>>()> open_;
  std::mutex mutex_;  // guards the members declared below
  std::unique_ptr<Store> store_;
  bool is_opening_ = false;
  Error last_error_;
  steady_clock::time_point next_attempt_ = steady_clock::now() + kRetryDelay;
};

}  // namespace

std::unique_ptr<Store> open_deferred(std::string description, size_t commits, Error error,
                                     std::function<Result<std::unique_ptr<Store>>()> open) {
  return std::make_unique<DeferredStore>(std::move(description), commits, std::move(error),
                                         std::move(open));
}

}  // namespace stoka::store
