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

constexpr size_t kTogether = 500;  // visitors or sessions in one transaction

using Documents = std::map<std::string, DocumentInfo>;  // by slug

Result<Documents> by_slug(Store& store) {
  STOKA_ASSIGN(std::vector<DocumentInfo> infos, store.documents());
  Documents out;
  for (DocumentInfo& info : infos) out.emplace(info.document.slug, std::move(info));
  return out;
}

Result<std::vector<StoredChunk>> chunks_with_vectors(Store& store, const std::string& slug) {
  STOKA_ASSIGN(const std::vector<StoredChunk> chunks, store.chunks_of(slug));
  std::vector<ChunkId> ids;
  for (const StoredChunk& chunk : chunks) ids.push_back(chunk.id);
  return store.chunks(ids, true);
}

bool same(std::span<const StoredChunk> a, std::span<const StoredChunk> b, bool with_vectors) {
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
  // Whether `to` may become what `from` is.
  Result<> meet(const IndexIdentity& identity, bool prune);
  Result<> copy_documents();
  // A hash of the source says nothing about the vectors that a model has made of it.
  Result<bool> is_there(const DocumentInfo& info, std::span<const StoredChunk> chunks);
  Result<> copy_document(const DocumentInfo& info, std::vector<StoredChunk> chunks);
  Result<> copy_basis(const std::vector<BasisRow>& basis, const IndexStats& stats);
  Result<std::map<ChunkId, std::vector<float>>> vectors_by_target();
  Result<> copy_visitors();
  Result<> put(std::span<const Visitor> visitors);
  // Of sessions that began after the visitors were copied.
  Result<> copy_new_visitors(std::span<const Session> sessions);
  Result<> copy_sessions();

  Result<> tell(std::string_view what, size_t done, size_t total) const {
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
  Documents wanted_;
  Documents there_;
  std::vector<std::string> others_;  // there, and not wanted
  bool fitted_ = false;              // the source has a basis, from which all its vectors are
  std::map<std::string, std::string> visitors_;  // who each one is there
  CopyReport report_;
};

Result<> Copy::copy_index(bool prune, const Clock& clock) {
  STOKA_ASSIGN(const std::optional<IndexIdentity> identity, from_.identity());
  if (!identity) return {};  // nothing was ever indexed; there may be sessions
  STOKA_ASSIGN(const IndexStats before, from_.stats());
  if (before.unfinished)
    return fail(ErrorKind::data,
                fmt::format("the index of {} is unfinished, or being written", from_.describe()),
                "bring it to its end first: stoka index PATH");
  STOKA_ASSIGN(const std::vector<BasisRow> basis, from_.basis());
  fitted_ = !basis.empty();
  STOKA_ASSIGN(wanted_, by_slug(from_));
  STOKA_ASSIGN(writer_, to_.begin_index());
  STOKA_TRY(meet(*identity, prune));
  STOKA_TRY(writer_->set_identity(*identity));
  STOKA_TRY(copy_documents());
  // Last, so that there is something to find all the time.
  for (const std::string& slug : others_) STOKA_TRY(writer_->remove_document(slug));
  if (fitted_) STOKA_TRY(copy_basis(basis, before));
  STOKA_ASSIGN(const IndexStats after, from_.stats());
  if (after.generation != before.generation)
    return fail(ErrorKind::data, "the index of " + from_.describe() + " changed meanwhile",
                "run it again; what was copied stays");
  STOKA_TRY(writer_->finish(before.indexed_at.value_or(clock.now())));
  writer_.reset();
  return {};
}

Result<> Copy::meet(const IndexIdentity& identity, bool prune) {
  STOKA_ASSIGN(there_, by_slug(to_));
  STOKA_ASSIGN(const std::optional<IndexIdentity> made_with, to_.identity());
  const auto differs = made_with ? difference(*made_with, identity) : std::nullopt;
  std::vector<std::string> others;
  for (const auto& [slug, info] : there_)
    if (!wanted_.contains(slug)) others.push_back(slug);
  if (!prune && differs && !there_.empty())
    return fail(ErrorKind::config,
                fmt::format("the index of {} was made with {} '{}', the other one with '{}'",
                            to_.describe(), differs->what, differs->made_with, differs->wanted),
                "name an empty store, or --prune to give up what is indexed there");
  if (!prune && !others.empty())
    return fail(ErrorKind::config,
                fmt::format("{} holds {} document{} that {} not in {}, such as {}", to_.describe(),
                            others.size(), others.size() == 1 ? "" : "s",
                            others.size() == 1 ? "is" : "are", from_.describe(), others.front()),
                "name an empty store, or --prune to forget what is not in the source");
  report_.removed = others.size();
  if (differs) {
    report_.removed = there_.size();
    there_.clear();
    return writer_->clear();
  }
  others_ = std::move(others);
  return {};
}

Result<> Copy::copy_documents() {
  size_t done = 0;
  for (const auto& [slug, info] : wanted_) {
    STOKA_TRY(tell("documents", done++, wanted_.size()));
    STOKA_ASSIGN(std::vector<StoredChunk> chunks, chunks_with_vectors(from_, slug));
    STOKA_ASSIGN(const bool there, is_there(info, chunks));
    if (!there) STOKA_TRY(copy_document(info, std::move(chunks)));
    ++(there ? report_.unchanged : report_.documents);
  }
  return {};
}

Result<bool> Copy::is_there(const DocumentInfo& info, std::span<const StoredChunk> chunks) {
  const auto known = there_.find(info.document.slug);
  if (known == there_.end() || known->second.document != info.document) return false;
  STOKA_ASSIGN(const std::vector<StoredChunk> target, chunks_with_vectors(to_, info.document.slug));
  return same(chunks, target, !fitted_);
}

Result<> Copy::copy_document(const DocumentInfo& info, std::vector<StoredChunk> chunks) {
  std::vector<ChunkId> ids;
  for (const StoredChunk& chunk : chunks) ids.push_back(chunk.id);
  STOKA_ASSIGN(std::vector<std::vector<TermCount>> terms, from_.terms_of(ids));
  if (static_cast<int>(chunks.size()) != info.chunks)
    return fail(ErrorKind::data, "the index of " + from_.describe() + " changed meanwhile",
                "run it again; what was copied stays");
  std::vector<ChunkRecord> records(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    records[i].chunk = std::move(chunks[i].chunk);
    records[i].terms = std::move(terms[i]);
    // Those of a basis come with it: until then the basis there may have another dimension.
    if (!fitted_) records[i].embedding = std::move(chunks[i].embedding);
  }
  return writer_->put_document(info.document, records);
}

Result<std::map<ChunkId, std::vector<float>>> Copy::vectors_by_target() {
  std::map<ChunkId, std::vector<float>> out;
  size_t done = 0;
  for (const auto& [slug, info] : wanted_) {
    STOKA_TRY(tell("vectors", done++, wanted_.size()));
    STOKA_ASSIGN(std::vector<StoredChunk> source, chunks_with_vectors(from_, slug));
    STOKA_ASSIGN(const std::vector<StoredChunk> target, to_.chunks_of(slug));
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
    STOKA_TRY(tell("visitors", report_.visitors, 0));
    STOKA_ASSIGN(std::vector<Visitor> visitors, from_.visitors_after(last, kTogether));
    if (visitors.empty()) return {};
    last = visitors.back().id;
    report_.skipped += std::erase_if(visitors, [](const Visitor& v) { return !is_uuid(v.id); });
    STOKA_TRY(put(visitors));
  }
}

Result<> Copy::put(std::span<const Visitor> visitors) {
  STOKA_ASSIGN(const std::vector<std::string> ids, to_.put_visitors(visitors));
  for (size_t i = 0; i < visitors.size(); ++i) visitors_[visitors[i].id] = ids[i];
  report_.visitors += visitors.size();
  return {};
}

Result<> Copy::copy_new_visitors(std::span<const Session> sessions) {
  std::map<std::string, Visitor> missing;
  for (const Session& session : sessions) {
    if (visitors_.contains(session.visitor_id) || missing.contains(session.visitor_id)) continue;
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
    STOKA_TRY(tell("sessions", report_.sessions, 0));
    STOKA_ASSIGN(std::vector<Session> sessions, from_.sessions_after(last, kTogether));
    if (sessions.empty()) return {};
    last = sessions.back().id;
    report_.skipped += std::erase_if(
        sessions, [](const Session& s) { return !is_uuid(s.id) || !is_uuid(s.visitor_id); });
    STOKA_TRY(copy_new_visitors(sessions));
    for (Session& session : sessions)
      if (const auto there = visitors_.find(session.visitor_id); there != visitors_.end())
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
