#include "store/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stoka::store {
namespace {

constexpr size_t kBatchSize = 500;  // visitors or sessions copied in one transaction

using DocumentsBySlug = std::map<std::string, DocumentInfo>;

Result<DocumentsBySlug> documents_by_slug(IndexReader& index) {
  STOKA_ASSIGN(std::vector<DocumentInfo> infos, index.documents());
  DocumentsBySlug out;
  for (DocumentInfo& info : infos) out.emplace(info.document.slug, std::move(info));
  return out;
}

Result<std::vector<StoredChunk>> chunks_with_vectors(IndexReader& index, const std::string& slug) {
  STOKA_ASSIGN(const std::vector<StoredChunk> chunks, index.document_chunks(slug));
  std::vector<ChunkId> ids;
  for (const StoredChunk& chunk : chunks) ids.push_back(chunk.id);
  return index.chunks(ids, true);
}

bool equal_chunks(std::span<const StoredChunk> a, std::span<const StoredChunk> b,
                  bool with_vectors) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const StoredChunk& x, const StoredChunk& y) {
                      return x.chunk == y.chunk && (!with_vectors || x.embedding == y.embedding);
                    });
}

class Copy {
 public:
  Copy(Store& from, Store& to, const CopyProgress& progress, std::stop_token stop)
      : from_(from), to_(to), progress_(progress), stop_(std::move(stop)) {}

  Result<CopyReport> run(bool prune, const Clock& clock) {
    STOKA_TRY(copy_index(prune, clock));
    STOKA_TRY(copy_visitors());
    STOKA_TRY(copy_sessions());
    return report_;
  }

 private:
  Result<> copy_index(bool prune, const Clock& clock);
  // Checks that the index of `to` may be replaced, and clears it if it was made with other options.
  Result<> prepare_target(const IndexIdentity& identity, bool prune);
  Result<> copy_documents();
  // Chunks and vectors are compared, too: documents of the same hash may have different vectors.
  Result<bool> is_unchanged(const DocumentInfo& info, std::span<const StoredChunk> chunks);
  Result<> copy_document(const DocumentInfo& info, std::vector<StoredChunk> chunks);
  Result<> copy_basis(const std::vector<BasisRow>& basis, const IndexStats& stats);
  Result<std::map<ChunkId, std::vector<float>>> vectors_by_target();
  Result<> copy_visitors();
  Result<> put(std::span<const Visitor> visitors);
  // Copies the visitors of sessions that began after the visitors were copied.
  Result<> copy_new_visitors(std::span<const Session> sessions);
  Result<> copy_sessions();

  Result<> report_progress(std::string_view what, size_t done, size_t total) const {
    if (progress_) progress_(what, done, total);
    if (stop_.stop_requested())
      return fail(ErrorKind::cancelled, "interrupted",
                  "what was copied stays, run it again to go on");
    return {};
  }

  Store& from_;
  Store& to_;
  const CopyProgress& progress_;
  const std::stop_token stop_;
  std::unique_ptr<IndexWriter> writer_;
  DocumentsBySlug source_documents_;
  DocumentsBySlug target_documents_;
  std::vector<std::string> extra_slugs_;  // slugs that only the target has
  bool has_basis_ = false;                // the vectors of the source were made with an LSA basis
  std::map<std::string, std::string> target_visitor_ids_;  // target ids by source id
  CopyReport report_;
};

Result<> Copy::copy_index(bool prune, const Clock& clock) {
  STOKA_ASSIGN(const std::optional<IndexIdentity> identity, from_.identity());
  if (!identity) return {};  // the source has no index, but may have sessions
  STOKA_ASSIGN(const IndexStats before, from_.stats());
  if (before.unfinished)
    return fail(ErrorKind::data,
                fmt::format("the index of {} is unfinished, or being written", from_.describe()),
                "finish it first: stoka index PATH");
  STOKA_ASSIGN(const std::vector<BasisRow> basis, from_.basis());
  has_basis_ = !basis.empty();
  STOKA_ASSIGN(source_documents_, documents_by_slug(from_));
  STOKA_ASSIGN(writer_, to_.begin_index());
  STOKA_TRY(prepare_target(*identity, prune));
  STOKA_TRY(writer_->set_identity(*identity));
  STOKA_TRY(copy_documents());
  // Documents that the source lacks are removed last, so that searches always find something.
  for (const std::string& slug : extra_slugs_) STOKA_TRY(writer_->remove_document(slug));
  if (has_basis_) STOKA_TRY(copy_basis(basis, before));
  STOKA_ASSIGN(const IndexStats after, from_.stats());
  if (after.generation != before.generation)
    return fail(ErrorKind::data, "the index of " + from_.describe() + " changed meanwhile",
                "run it again; what was copied stays");
  STOKA_TRY(writer_->finish(before.indexed_at.value_or(clock.now())));
  writer_.reset();
  return {};
}

Result<> Copy::prepare_target(const IndexIdentity& identity, bool prune) {
  STOKA_ASSIGN(target_documents_, documents_by_slug(to_));
  STOKA_ASSIGN(const std::optional<IndexIdentity> made_with, to_.identity());
  const auto differs = made_with ? find_mismatch(*made_with, identity) : std::nullopt;
  std::vector<std::string> extra_slugs;
  for (const auto& [slug, info] : target_documents_)
    if (!source_documents_.contains(slug)) extra_slugs.push_back(slug);
  if (!prune && differs && !target_documents_.empty())
    return fail(ErrorKind::config,
                fmt::format("the index of {} was made with {} '{}', the other one with '{}'",
                            to_.describe(), differs->what, differs->made_with, differs->wanted),
                "name an empty store, or give --prune to replace the index there");
  if (!prune && !extra_slugs.empty())
    return fail(
        ErrorKind::config,
        fmt::format("{} holds {} document{} that {} not in {}, such as {}", to_.describe(),
                    extra_slugs.size(), extra_slugs.size() == 1 ? "" : "s",
                    extra_slugs.size() == 1 ? "is" : "are", from_.describe(), extra_slugs.front()),
        "name an empty store, or give --prune to remove what is not in the source");
  report_.removed = extra_slugs.size();
  if (differs) {
    report_.removed = target_documents_.size();
    target_documents_.clear();
    return writer_->clear();
  }
  extra_slugs_ = std::move(extra_slugs);
  return {};
}

Result<> Copy::copy_documents() {
  size_t done = 0;
  for (const auto& [slug, info] : source_documents_) {
    STOKA_TRY(report_progress("documents", done++, source_documents_.size()));
    STOKA_ASSIGN(std::vector<StoredChunk> chunks, chunks_with_vectors(from_, slug));
    STOKA_ASSIGN(const bool there, is_unchanged(info, chunks));
    if (!there) STOKA_TRY(copy_document(info, std::move(chunks)));
    ++(there ? report_.unchanged : report_.documents);
  }
  return {};
}

Result<bool> Copy::is_unchanged(const DocumentInfo& info, std::span<const StoredChunk> chunks) {
  const auto known = target_documents_.find(info.document.slug);
  if (known == target_documents_.end() || known->second.document != info.document) return false;
  STOKA_ASSIGN(const std::vector<StoredChunk> target, chunks_with_vectors(to_, info.document.slug));
  return equal_chunks(chunks, target, !has_basis_);
}

Result<> Copy::copy_document(const DocumentInfo& info, std::vector<StoredChunk> chunks) {
  std::vector<ChunkId> ids;
  for (const StoredChunk& chunk : chunks) ids.push_back(chunk.id);
  STOKA_ASSIGN(std::vector<std::vector<TermCount>> terms, from_.chunk_terms(ids));
  if (static_cast<int>(chunks.size()) != info.chunks)
    return fail(ErrorKind::data, "the index of " + from_.describe() + " changed meanwhile",
                "run it again; what was copied stays");
  std::vector<ChunkRecord> records(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    records[i].chunk = std::move(chunks[i].chunk);
    records[i].terms = std::move(terms[i]);
    // Vectors that were made with an LSA basis are copied together with the basis: the present
    // basis of the target may have another dimension.
    if (!has_basis_) records[i].embedding = std::move(chunks[i].embedding);
  }
  return writer_->put_document(info.document, records);
}

Result<std::map<ChunkId, std::vector<float>>> Copy::vectors_by_target() {
  std::map<ChunkId, std::vector<float>> out;
  size_t done = 0;
  for (const auto& [slug, info] : source_documents_) {
    STOKA_TRY(report_progress("vectors", done++, source_documents_.size()));
    STOKA_ASSIGN(std::vector<StoredChunk> source, chunks_with_vectors(from_, slug));
    STOKA_ASSIGN(const std::vector<StoredChunk> target, to_.document_chunks(slug));
    for (size_t i = 0; i < std::min(source.size(), target.size()); ++i)
      out.emplace(target[i].id, std::move(source[i].embedding));
  }
  return out;
}

Result<> Copy::copy_basis(const std::vector<BasisRow>& basis, const IndexStats& stats) {
  STOKA_ASSIGN(const IndexStats now, to_.stats());
  if (report_.documents == 0 && now.vectors == stats.vectors && now.dim == stats.dim) {
    STOKA_ASSIGN(const std::vector<BasisRow> known, to_.basis());
    if (known == basis) return {};
  }
  STOKA_ASSIGN(auto vectors, vectors_by_target());
  return writer_->replace_basis(basis, stats.dim, stats.fitted_chunks, [&](ChunkId id) {
    const auto found = vectors.find(id);
    return found == vectors.end() ? std::vector<float>() : std::move(found->second);
  });
}

Result<> Copy::copy_visitors() {
  std::string last;
  for (;;) {
    STOKA_TRY(report_progress("visitors", report_.visitors, 0));
    STOKA_ASSIGN(std::vector<Visitor> visitors, from_.visitors_after(last, kBatchSize));
    if (visitors.empty()) return {};
    last = visitors.back().id;
    report_.skipped += std::erase_if(visitors, [](const Visitor& v) { return !is_uuid(v.id); });
    STOKA_TRY(put(visitors));
  }
}

Result<> Copy::put(std::span<const Visitor> visitors) {
  STOKA_ASSIGN(const std::vector<std::string> ids, to_.put_visitors(visitors));
  for (size_t i = 0; i < visitors.size(); ++i) target_visitor_ids_[visitors[i].id] = ids[i];
  report_.visitors += visitors.size();
  return {};
}

Result<> Copy::copy_new_visitors(std::span<const Session> sessions) {
  std::map<std::string, Visitor> missing;
  for (const Session& session : sessions) {
    if (target_visitor_ids_.contains(session.visitor_id) || missing.contains(session.visitor_id))
      continue;
    STOKA_ASSIGN(std::optional<Visitor> visitor, from_.visitor(session.visitor_id));
    if (visitor) missing.emplace(session.visitor_id, std::move(*visitor));
  }
  std::vector<Visitor> visitors;
  for (auto& [id, visitor] : missing) visitors.push_back(std::move(visitor));
  return visitors.empty() ? Result<>() : put(visitors);
}

Result<> Copy::copy_sessions() {
  std::string last;
  for (;;) {
    STOKA_TRY(report_progress("sessions", report_.sessions, 0));
    STOKA_ASSIGN(std::vector<Session> sessions, from_.sessions_after(last, kBatchSize));
    if (sessions.empty()) return {};
    last = sessions.back().id;
    report_.skipped += std::erase_if(
        sessions, [](const Session& s) { return !is_uuid(s.id) || !is_uuid(s.visitor_id); });
    STOKA_TRY(copy_new_visitors(sessions));
    for (Session& session : sessions)
      if (const auto there = target_visitor_ids_.find(session.visitor_id);
          there != target_visitor_ids_.end())
        session.visitor_id = there->second;
    STOKA_TRY(to_.put_sessions(sessions));
    report_.sessions += sessions.size();
  }
}

}  // namespace

Result<CopyReport> copy(Store& from, Store& to, bool prune, const Clock& clock,
                        const CopyProgress& progress, std::stop_token stop) {
  return Copy(from, to, progress, std::move(stop)).run(prune, clock);
}

}  // namespace stoka::store
