#include "pipeline/index_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "embed/builtin.h"
#include "ingest/loader.h"
#include "ingest/page.h"
#include "ingest/secrets.h"

namespace stoka::pipeline {
namespace {

using Known = std::map<std::string, Document>;  // by slug

bool is_under(const std::string& path, const std::filesystem::path& root) {
  std::string base = root.string();
  return path == base ||
         (path.starts_with(base) && (base.ends_with('/') || path[base.size()] == '/'));
}

bool is_under_any(const std::string& path, std::span<const std::filesystem::path> roots) {
  return std::any_of(roots.begin(), roots.end(),
                     [&](const std::filesystem::path& root) { return is_under(path, root); });
}

// A slug that another run gave to a document outside these paths stays with that document.
void avoid_slugs_of_others(std::vector<ingest::Page>& pages, const Known& known,
                           std::span<const std::filesystem::path> roots) {
  std::set<std::string> taken;
  for (const auto& [slug, document] : known)
    if (!is_under_any(document.path, roots)) taken.insert(slug);
  if (taken.empty()) return;
  std::set<std::string> used = taken;
  for (const ingest::Page& page : pages)
    if (!taken.contains(page.document.slug)) used.insert(page.document.slug);
  for (ingest::Page& page : pages) {
    if (!taken.contains(page.document.slug)) continue;
    std::string wish = page.document.slug;
    if (!page.folders.empty()) wish = page.folders.back() + "-" + wish;
    std::string slug = wish;
    for (int n = 2; used.contains(slug); ++n) slug = fmt::format("{}-{}", wish, n);
    used.insert(slug);
    page.document.slug = slug;
  }
}

// Chunks whose vectors are asked of a model together; it makes its own batches of them.
constexpr size_t kEmbedTogether = 256;

store::ChunkRecord record(Chunk chunk) {
  store::ChunkRecord out;
  out.terms = embed::count_terms(chunk.title + "\n" + chunk.section + "\n" + chunk.content);
  out.chunk = std::move(chunk);
  return out;
}

class IndexRun {
 public:
  IndexRun(store::Store* store, const IndexRequest& request, const Clock& clock, Log& log,
           const IndexProgress& progress, std::stop_token stop)
      : store_(store),
        request_(request),
        clock_(clock),
        log_(log),
        progress_(progress),
        stop_(stop) {}

  Result<IndexReport> run() {
    STOKA_ASSIGN(std::vector<ingest::Page> pages, read());
    withhold(pages);
    if (pages.empty() && silent_.empty())
      return fail(ErrorKind::data,
                  "nothing to index was found" +
                      (report_.skipped.empty() ? "" : ": " + report_.skipped.front().reason),
                  "give folders with .md files, a products.json or a corpus.jsonl");
    STOKA_TRY(meet_model());
    if (!request_.dry_run) {
      STOKA_ASSIGN(writer_, store_->begin_index());
    }
    STOKA_TRY(load_known());
    ingest::settle_slugs(pages);
    avoid_slugs_of_others(pages, known_, request_.paths);
    STOKA_TRY(write(pages));
    STOKA_TRY(forget(pages));
    STOKA_TRY(finish());
    return std::move(report_);
  }

 private:
  Result<> stopped() const {
    if (stop_.stop_requested()) return fail(broken_off({ErrorKind::cancelled, "interrupted"}));
    return {};
  }

  Error broken_off(Error error) const {
    error.hint += (error.hint.empty() ? "" : "; ") +
                  std::string(wrote_ ? "what was written stays, run it again to go on"
                                     : "the index is as it was");
    return error;
  }

  // Before the first document is put.
  Result<> begin_writing() {
    if (!writer_ || wrote_) return {};
    wrote_ = true;
    if (remake_) STOKA_TRY(writer_->clear());
    return writer_->set_identity(identity_);
  }

  void tell(std::string_view what, size_t done, size_t total) const {
    if (progress_) progress_(what, done, total);
  }

  Result<std::vector<ingest::Page>> read() {
    STOKA_ASSIGN(ingest::Walk walked, ingest::walk(request_.paths));
    for (const ingest::Skipped& item : walked.skipped) unreadable_.insert(item.path);
    report_.skipped = std::move(walked.skipped);
    std::vector<ingest::Page> pages;
    std::string shape = request_.chunks.describe();
    for (size_t i = 0; i < walked.files.size(); ++i) {
      STOKA_TRY(stopped());
      tell("reading", i, walked.files.size());
      ingest::Pages loaded = ingest::load(walked.files[i], shape);
      std::move(loaded.pages.begin(), loaded.pages.end(), std::back_inserter(pages));
      const bool draft = std::any_of(
          loaded.skipped.begin(), loaded.skipped.end(),
          [](const ingest::Skipped& item) { return item.reason.ends_with(ingest::kDraft); });
      const std::string path = walked.files[i].path.string();
      if (loaded.torn) torn_.insert(path);
      if (loaded.pages.empty()) (draft && !loaded.torn ? silent_ : unreadable_).insert(path);
      std::move(loaded.skipped.begin(), loaded.skipped.end(), std::back_inserter(report_.skipped));
      std::move(loaded.warnings.begin(), loaded.warnings.end(),
                std::back_inserter(report_.warnings));
    }
    return pages;
  }

  // The model is met before anything is written. A dry run goes on without one.
  Result<> meet_model() {
    identity_ = request_.identity;
    if (!request_.model) return {};
    auto known = request_.model->identity(embed::Use::document, stop_);
    if (!known && !request_.dry_run) return fail(known.error());
    if (!known) {
      log_.warning(known.error().message + "; taking the index as made with it");
      return {};
    }
    identity_.embedder = known->name;
    identity_.dim = known->dim;
    return {};
  }

  // What is indexed now. An index made in another way cannot be added to: it is made again.
  Result<> load_known() {
    if (!store_) return {};
    STOKA_ASSIGN(std::optional<store::IndexIdentity> identity, store_->identity());
    if (identity && identity_.embedder.empty()) identity_.embedder = identity->embedder;
    auto differs = identity ? store::difference(*identity, identity_) : std::nullopt;
    if (differs && identity->embedder != embed::kBuiltinName && !request_.rebuild &&
        !request_.dry_run)
      return fail(ErrorKind::config,
                  fmt::format("the index was made with {} '{}', configured is '{}'", differs->what,
                              differs->made_with, differs->wanted),
                  "configure what it was made with, or make it again: stoka index --rebuild PATH");
    if (differs)
      log_.warning(fmt::format("the index was made with {} '{}'; making it again with '{}'",
                               differs->what, differs->made_with, differs->wanted));
    if (differs || (identity && request_.rebuild)) return start_again();
    STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, store_->documents());
    for (store::DocumentInfo& info : documents) {
      std::string slug = info.document.slug;
      total_chunks_[slug] = static_cast<size_t>(info.chunks);
      known_.emplace(std::move(slug), std::move(info.document));
    }
    return {};
  }

  Result<> start_again() {
    STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, store_->documents());
    size_t outside = 0;
    for (const store::DocumentInfo& info : documents)
      outside += !is_under_any(info.document.path, request_.paths);
    if (outside > 0 && !request_.prune)
      return fail(
          ErrorKind::config,
          fmt::format(
              "the index must be made again, and {} of its documents are not under these paths",
              outside),
          "name all paths, or --prune to forget those documents");
    report_.removed += outside;
    remake_ = true;
    return {};
  }

  // Takes out what is dated in the future and what holds a secret where every reader would see it.
  void withhold(std::vector<ingest::Page>& pages) {
    std::erase_if(pages, [&](const ingest::Page& page) {
      const Document& document = page.document;
      std::string reason;
      std::string fields =
          fmt::format("{}\n{}\n{}\n{}\n{}\n{}", document.title, document.description,
                      document.author, document.slug, document.url, fmt::join(document.tags, "\n"));
      if (auto kind = ingest::find_secret(fields)) reason = "its frontmatter holds " + *kind;
      if (document.date && *document.date > clock_.today())
        reason = fmt::format("dated in the future, {}", iso_date(*document.date));
      if (reason.empty()) return false;
      report_.skipped.push_back({document.path, reason});
      silent_.insert(document.path);
      return true;
    });
  }

  Result<> write(std::vector<ingest::Page>& pages) {
    for (size_t i = 0; i < pages.size(); ++i) {
      STOKA_TRY(stopped());
      if (!request_.model) tell("writing", i, pages.size());
      const Document& document = pages[i].document;
      auto found = known_.find(document.slug);
      if (found != known_.end() && found->second.content_hash == document.content_hash &&
          found->second.path == document.path) {
        ++report_.unchanged;
        continue;
      }
      bool added = found == known_.end();
      ++(added ? report_.added : report_.changed);
      report_.changes.push_back((added ? "added " : "changed ") + document.slug);
      std::vector<Chunk> chunks = ingest::chunk(document, pages[i].blocks, request_.chunks);
      for (const ingest::Withheld& withheld : ingest::withhold_secrets(chunks, pages[i].blocks))
        report_.skipped.push_back(
            {document.path,
             fmt::format("a chunk{} was left out: it holds {}",
                         withheld.section.empty() ? "" : " of '" + withheld.section + "'",
                         withheld.kind)});
      total_chunks_[document.slug] = chunks.size();
      if (!writer_) continue;
      if (!request_.model) {
        STOKA_TRY(put_folded(document, std::move(chunks)));
        continue;
      }
      waiting_chunks_ += chunks.size();
      waiting_.push_back({&document, std::move(chunks), i});
      if (waiting_chunks_ >= kEmbedTogether && !remake_) STOKA_TRY(put_embedded(pages.size()));
    }
    STOKA_TRY(put_embedded(pages.size()));
    return begin_writing();
  }

  Result<> put_folded(const Document& document, std::vector<Chunk> chunks) {
    STOKA_TRY(begin_writing());
    if (!folder_) folder_.emplace(*store_);
    std::vector<store::ChunkRecord> records;
    for (Chunk& chunk : chunks) {
      records.push_back(record(std::move(chunk)));
      STOKA_ASSIGN(records.back().embedding, folder_->fold(records.back().terms));
    }
    return writer_->put_document(document, records);
  }

  // What waits, embedded in one go and written, a document at a time.
  Result<> put_embedded(size_t pages) {
    if (waiting_.empty()) return {};
    std::vector<std::string> texts;
    std::vector<std::pair<const Waiting*, const Chunk*>> origins;
    for (const Waiting& item : waiting_)
      for (const Chunk& chunk : item.chunks) {
        texts.push_back(ingest::fill_document_template(request_.identity.document_template, chunk,
                                                       request_.chunks.prefix));
        origins.emplace_back(&item, &chunk);
      }
    auto embedded = request_.model->embed_documents(
        texts, [&](size_t done) { tell("embedding", origins[done - 1].first->page, pages); },
        stop_);
    std::set<const Document*> incomplete;
    if (!embedded) return fail(broken_off(embedded.error()));
    for (const embed::Embedded::Note& note : embedded->notes) {
      const auto& [item, chunk] = origins[note.text];
      std::string what =
          fmt::format("chunk {}{}: {}", chunk->index,
                      chunk->section.empty() ? "" : " of '" + chunk->section + "'", note.what);
      if (embedded->vectors[note.text].empty()) {
        incomplete.insert(item->document);
        report_.skipped.push_back(
            {item->document->path, what + "; it is found by its words alone"});
      } else {
        report_.warnings.push_back(item->document->path + ": " + what);
      }
    }
    STOKA_TRY(begin_writing());
    size_t next = 0;
    for (Waiting& item : waiting_) {
      std::vector<store::ChunkRecord> records;
      for (Chunk& chunk : item.chunks) {
        records.push_back(record(std::move(chunk)));
        records.back().embedding = std::move(embedded->vectors[next++]);
      }
      Document document = *item.document;
      // Differs from what the next run reads, which then tries once more.
      if (incomplete.contains(item.document)) document.content_hash += " incomplete";
      STOKA_TRY(writer_->put_document(document, records));
    }
    waiting_.clear();
    waiting_chunks_ = 0;
    return {};
  }

  Result<> forget(const std::vector<ingest::Page>& pages) {
    std::set<std::string> slugs, paths;
    for (const ingest::Page& page : pages) {
      slugs.insert(page.document.slug);
      paths.insert(page.document.path);
    }
    for (const auto& [slug, document] : known_) {
      if (slugs.contains(slug)) continue;
      bool renamed = paths.contains(document.path);
      bool silent = silent_.contains(document.path);
      if (!renamed && !silent && was_unreadable(document.path)) continue;
      // A part that could not be read may be that document.
      if (((!renamed && !silent) || torn_.contains(document.path)) && !request_.prune) {
        report_.gone += is_under_any(document.path, request_.paths);
        continue;
      }
      ++report_.removed;
      report_.changes.push_back("removed " + slug);
      total_chunks_.erase(slug);
      if (writer_) STOKA_TRY(writer_->remove_document(slug));
    }
    return {};
  }

  // The file itself, or a folder above it.
  bool was_unreadable(const std::string& path) const {
    return std::any_of(unreadable_.begin(), unreadable_.end(),
                       [&](const std::string& place) { return is_under(path, place); });
  }

  Result<> finish() {
    for (const auto& [slug, chunks] : total_chunks_) report_.chunks += chunks;
    if (!writer_) return {};
    if (request_.model) return writer_->finish(clock_.now());
    embed::Progress fitting = [this](double share) {
      tell("fitting", static_cast<size_t>(share * 100), 100);
    };
    STOKA_ASSIGN(report_.refitted, embed::refit_if_needed(*store_, *writer_, {}, fitting, stop_));
    return writer_->finish(clock_.now());
  }

  // A document whose chunks have no vectors yet.
  struct Waiting {
    const Document* document;
    std::vector<Chunk> chunks;
    size_t page = 0;  // its place among all
  };

  store::Store* store_;
  const IndexRequest& request_;
  const Clock& clock_;
  Log& log_;
  const IndexProgress& progress_;
  std::stop_token stop_;
  std::unique_ptr<store::IndexWriter> writer_;
  store::IndexIdentity identity_;
  std::optional<embed::Folder> folder_;
  std::vector<Waiting> waiting_;
  size_t waiting_chunks_ = 0;
  bool remake_ = false;  // nothing of the old index stays
  bool wrote_ = false;
  Known known_;
  std::map<std::string, size_t> total_chunks_;  // by slug, as after the run
  std::set<std::string> unreadable_;            // paths that could not be read now
  std::set<std::string> torn_;                  // paths of which a part could not be read
  std::set<std::string> silent_;                // paths that are there and are not to be published
  IndexReport report_;
};

}  // namespace

Result<IndexReport> run_index(store::Store* store, const IndexRequest& request, const Clock& clock,
                              Log& log, const IndexProgress& progress, std::stop_token stop) {
  return IndexRun(store, request, clock, log, progress, stop).run();
}

std::string to_json(const IndexReport& report) {
  using Json = nlohmann::ordered_json;
  Json skipped = Json::array();
  for (const ingest::Skipped& item : report.skipped)
    skipped.push_back({{"path", item.path}, {"reason", item.reason}});
  return Json{
      {"added", report.added},     {"changed", report.changed},   {"unchanged", report.unchanged},
      {"removed", report.removed}, {"chunks", report.chunks},     {"skipped", std::move(skipped)},
      {"gone", report.gone},       {"refitted", report.refitted}, {"warnings", report.warnings}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stoka::pipeline
