#include "pipeline/index_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "embed/builtin.h"
#include "ingest/loader.h"
#include "ingest/page.h"
#include "ingest/product_merge.h"
#include "ingest/secrets.h"
#include "ingest/source_format.h"
#include "pipeline/product_counterparts.h"

namespace stoka::pipeline {
namespace {

bool is_under(const std::string& path, const std::filesystem::path& root) {
  std::string base = root.string();
  return path == base ||
         (path.starts_with(base) && (base.ends_with('/') || path[base.size()] == '/'));
}

bool is_under_any(const std::string& path, std::span<const std::filesystem::path> roots) {
  return std::any_of(roots.begin(), roots.end(),
                     [&](const std::filesystem::path& root) { return is_under(path, root); });
}

// The embedder gets about this many chunks in one call and divides them into batches.
constexpr size_t kChunksPerEmbedCall = 256;

// Counts the terms of the chunk, unless they have been counted before.
std::span<const store::TermCount> terms_of(store::ChunkRecord& record) {
  const Chunk& chunk = record.chunk;
  if (record.terms.empty())
    record.terms = embed::count_terms(chunk.title + "\n" + chunk.section + "\n" + chunk.content);
  return record.terms;
}

class IndexRun {
 public:
  IndexRun(store::Store* store, embed::Embedder& embedder, const IndexRequest& request,
           const Clock& clock, Log& log, const IndexProgress& progress, std::stop_token stop)
      : store_(store),
        embedder_(embedder),
        request_(request),
        clock_(clock),
        log_(log),
        progress_(progress),
        stop_(stop) {}

  Result<IndexReport> run() {
    STOKA_ASSIGN(std::vector<ingest::Page> pages, read_sources());
    skip_unpublishable(pages);
    if (pages.empty() && unpublished_paths_.empty())
      return fail(ErrorKind::data,
                  "found nothing to index" +
                      (report_.skipped.empty() ? "" : ": " + report_.skipped.front().reason),
                  "give files or folders of these formats: " + ingest::format_names());
    STOKA_TRY(identify_embedder());
    if (!request_.dry_run) {
      STOKA_ASSIGN(writer_, store_->begin_index());
      index_embedder_ = embedder_.index_embedder();
    }
    STOKA_TRY(load_indexed());
    unite_and_assign_slugs(pages);
    STOKA_TRY(write_changed(pages));
    STOKA_TRY(remove_stale(pages));
    STOKA_TRY(finish());
    std::stable_sort(report_.skipped.begin(), report_.skipped.end(),
                     [](const ingest::SkippedSource& a, const ingest::SkippedSource& b) {
                       return a.path < b.path;
                     });
    return std::move(report_);
  }

 private:
  Result<> check_stop() const {
    if (stop_.stop_requested())
      return fail(with_index_state({ErrorKind::cancelled, "interrupted"}));
    return {};
  }

  // Adds to the hint what the interrupted run has done to the index.
  Error with_index_state(Error error) const {
    error.hint +=
        (error.hint.empty() ? "" : "; ") +
        std::string(has_written_ ? "what was written stays: run the command again to continue"
                                 : "the index is as it was");
    return error;
  }

  // Clears the index if needed. Must be called before the first document is written.
  Result<> begin_writing() {
    if (!writer_ || has_written_) return {};
    has_written_ = true;
    if (rebuilds_) STOKA_TRY(writer_->clear());
    return writer_->set_identity(identity_);
  }

  void report_progress(std::string_view what, size_t done, size_t total) const {
    if (progress_) progress_(what, done, total);
  }

  Result<std::vector<ingest::Page>> read_sources() {
    STOKA_ASSIGN(ingest::WalkResult walked, ingest::walk(request_.paths));
    for (const ingest::SkippedSource& item : walked.skipped)
      if (item.kind == ingest::SkipKind::unreadable) unreadable_paths_.insert(item.path);
    report_.skipped = std::move(walked.skipped);
    std::vector<ingest::Page> pages;
    std::string shape = request_.chunks.describe();
    for (size_t i = 0; i < walked.files.size(); ++i) {
      STOKA_TRY(check_stop());
      report_progress("reading", i, walked.files.size());
      ingest::LoadedFile loaded = ingest::load(walked.files[i], shape);
      const bool is_unpublished = std::any_of(loaded.skipped.begin(), loaded.skipped.end(),
                                              [](const ingest::SkippedSource& item) {
                                                return item.kind == ingest::SkipKind::unpublished;
                                              });
      const std::string path = walked.files[i].path.string();
      if (loaded.is_incomplete) torn_paths_.insert(path);
      if (!loaded.pages.empty())
        paths_with_documents_.insert(path);
      else
        (is_unpublished && !loaded.is_incomplete ? unpublished_paths_ : unreadable_paths_)
            .insert(path);
      for (const Document& document : loaded.unpublished) {
        unpublished_things_[document.path].add(document);
        unpublished_slugs_.emplace(document.path, document.slug);
      }
      std::move(loaded.pages.begin(), loaded.pages.end(), std::back_inserter(pages));
      std::move(loaded.left_out.begin(), loaded.left_out.end(),
                std::back_inserter(report_.left_out));
      std::move(loaded.skipped.begin(), loaded.skipped.end(), std::back_inserter(report_.skipped));
      std::move(loaded.warnings.begin(), loaded.warnings.end(),
                std::back_inserter(report_.warnings));
    }
    return pages;
  }

  // Asks the embedder for its identity before anything is written. A dry run works without a model.
  Result<> identify_embedder() {
    identity_ = request_.identity;
    auto model = embedder_.identity(embed::InputType::document, stop_);
    if (!model && !request_.dry_run) return fail(model.error());
    if (!model) {
      log_.warning(model.error().message + "; assuming that the index was made with this model");
      return {};
    }
    identity_.embedder = model->name;
    identity_.dim = model->dim;
    return {};
  }

  // Loads the list of indexed documents. If the index was made with another embedder or
  // other options, nothing can be added to it, and this run rebuilds it.
  Result<> load_indexed() {
    if (!store_) return {};
    STOKA_ASSIGN(std::optional<store::IndexIdentity> identity, store_->identity());
    if (identity && identity_.embedder.empty()) identity_.embedder = identity->embedder;
    auto differs = identity ? store::find_mismatch(*identity, identity_) : std::nullopt;
    if (differs && identity->embedder != embed::kBuiltinName && !request_.rebuild &&
        !request_.dry_run)
      return fail(ErrorKind::config,
                  fmt::format("the index was made with {} '{}', but '{}' is configured",
                              differs->what, differs->made_with, differs->wanted),
                  "configure what it was made with, or rebuild it: stoka index --rebuild PATH");
    if (differs)
      log_.warning(fmt::format("the index was made with {} '{}'; rebuilding it with '{}'",
                               differs->what, differs->made_with, differs->wanted));
    if (differs || (identity && request_.rebuild)) return prepare_rebuild();
    STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, store_->documents());
    for (store::DocumentInfo& info : documents) {
      std::string slug = info.document.slug;
      slug_owners_.emplace(slug, info.document.path);
      total_chunks_[slug] = static_cast<size_t>(info.chunks);
      indexed_.emplace(std::move(slug), std::move(info.document));
    }
    return {};
  }

  Result<> prepare_rebuild() {
    STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, store_->documents());
    size_t outside = 0;
    for (const store::DocumentInfo& info : documents) {
      if (is_under_any(info.document.path, request_.paths))
        slug_owners_.emplace(info.document.slug, info.document.path);
      else
        ++outside;
    }
    if (outside > 0 && !request_.prune)
      return fail(
          ErrorKind::config,
          fmt::format(
              "the index must be rebuilt, but {} of its documents are not under these paths",
              outside),
          "give all paths, or use --prune to remove those documents");
    report_.removed += outside;
    rebuilds_ = true;
    return {};
  }

  // Removes pages that are dated in the future or have a secret in a field that citations show.
  void skip_unpublishable(std::vector<ingest::Page>& pages) {
    std::erase_if(pages, [&](const ingest::Page& page) {
      const std::string reason = reason_to_skip(page.document);
      if (reason.empty()) return false;
      report_.skipped.push_back({page.document.path, reason});
      unpublished_paths_.insert(page.document.path);
      return true;
    });
  }

  std::string reason_to_skip(const Document& document) const {
    if (document.date && *document.date > clock_.today())
      return fmt::format("dated in the future, {}", iso_date(*document.date));
    std::string fields =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", document.title, document.description, document.author,
                    document.slug, document.url, fmt::join(document.tags, "\n"));
    auto kind = ingest::find_secret(fields);
    return kind ? "its frontmatter holds " + *kind : std::string();
  }

  // Unites the page and the entry of each product into one document and assigns the slugs.
  void unite_and_assign_slugs(std::vector<ingest::Page>& pages) {
    const auto in_run = [this](const std::string& path) {
      return is_under_any(path, request_.paths);
    };
    if (!request_.prune) {  // a pruned index has nothing from outside the paths
      Counterparts counterparts =
          read_counterparts(pages, indexed_, in_run, request_.chunks.describe());
      torn_paths_.merge(counterparts.torn);
      for (const Document& document : counterparts.unpublished)
        unpublished_things_[document.path].add(document);
      for (ingest::Page& page : counterparts.pages)
        if (reason_to_skip(page.document).empty()) pages.push_back(std::move(page));
      std::stable_sort(pages.begin(), pages.end(),
                       [](const ingest::Page& a, const ingest::Page& b) {
                         return a.document.path < b.document.path;
                       });
    }
    ingest::merge_products(pages);
    replaced_ = ReplacedProducts(pages, in_run);
    // The remaining entries of a products.json outside the run are not documents of this run.
    std::erase_if(pages, [&](const ingest::Page& page) {
      return page.is_product_entry && !in_run(page.document.path);
    });
    assign_slugs(pages, slug_owners_, [&](const std::string& slug, const std::string& path) {
      if (!in_run(path)) return true;
      if (unpublished_slugs_.contains({path, slug})) return false;
      return is_unreadable(path) || (torn_paths_.contains(path) && !request_.prune);
    });
    // A published document may have the slug of an unpublished one in the same file.
    for (const ingest::Page& page : pages)
      unpublished_slugs_.erase({page.document.path, page.document.slug});
  }

  // Removes the chunks that contain secrets and reports them. Returns false if no chunk is left.
  bool remove_secrets(const ingest::Page& page, std::vector<Chunk>& chunks) {
    std::map<std::pair<std::string, std::string>, size_t> found;  // counts by section and kind
    for (ingest::WithheldChunk& withheld : ingest::withhold_secrets(chunks, page.blocks))
      ++found[{std::move(withheld.section), std::move(withheld.kind)}];
    for (const auto& [where, count] : found) {
      const auto& [section, kind] = where;
      if (chunks.empty()) {
        report_.skipped.push_back({page.document.path, "it holds " + kind});
        break;
      }
      report_.left_out.push_back(
          {page.document.path,
           fmt::format("{}{} {} left out: {}",
                       count == 1 ? "a passage" : fmt::format("{} passages", count),
                       section.empty() ? "" : " of '" + section + "'", count == 1 ? "was" : "were",
                       (count == 1 ? "it holds " : "they hold ") + kind)});
    }
    return !chunks.empty();
  }

  // Whether the file has an unpublished entry about the same product as the document.
  bool is_unpublished_in(const std::string& path, const Document& document) const {
    const auto found = unpublished_things_.find(path);
    return found != unpublished_things_.end() && found->second.contains(document);
  }

  // If the page was indexed with an entry of a list that cannot be read now, returns the path of
  // the list. Returns an empty string if there is no such list, or if what can be read of the list
  // shows that the entry has become private.
  std::string unreadable_entry_list(const Document& old, const Document& document) const {
    std::string list(ingest::entry_path(old.content_hash));
    const bool cannot_read = old.path == document.path &&
                             ingest::entry_path(document.content_hash).empty() &&
                             (torn_paths_.contains(list) || is_unreadable(list));
    return cannot_read && !is_unpublished_in(list, old) ? list : std::string();
  }

  // A product whose entry cannot be read now keeps what the entry said, so it counts as unchanged.
  bool is_unchanged(const Document& old, const Document& document) const {
    if (old.path != document.path) return false;
    return old.content_hash == document.content_hash ||
           (ingest::page_hash(old.content_hash) == document.content_hash &&
            !unreadable_entry_list(old, document).empty());
  }

  Result<> write_changed(std::vector<ingest::Page>& pages) {
    for (size_t i = 0; i < pages.size(); ++i) {
      STOKA_TRY(check_stop());
      if (writes_at_once()) report_progress("writing", i, pages.size());
      Document& document = pages[i].document;
      auto found = indexed_.find(document.slug);
      if (found != indexed_.end() && is_unchanged(found->second, document)) {
        ++report_.unchanged;
        continue;
      }
      if (found != indexed_.end())  // the hash of a changed page still names the file of its entry
        if (std::string list = unreadable_entry_list(found->second, document); !list.empty())
          document.content_hash = ingest::hash_without_entry(document.content_hash, list);
      std::vector<Chunk> chunks = ingest::chunk(document, pages[i].blocks, request_.chunks);
      if (!remove_secrets(pages[i], chunks)) {
        unpublished_paths_.insert(document.path);
        unpublished_slugs_.emplace(document.path, document.slug);
        continue;
      }
      bool added = found == indexed_.end();
      ++(added ? report_.added : report_.changed);
      report_.changes.push_back((added ? "added " : "changed ") + document.slug);
      total_chunks_[document.slug] = chunks.size();
      if (!writer_) continue;
      pending_chunks_ += chunks.size();
      PendingDocument& pending = pending_.emplace_back(PendingDocument{&document, {}, i});
      for (Chunk& chunk : chunks) pending.records.push_back({std::move(chunk), {}, {}});
      if (writes_at_once() || (pending_chunks_ >= kChunksPerEmbedCall && !rebuilds_))
        STOKA_TRY(write_pending(pages.size()));
    }
    STOKA_TRY(write_pending(pages.size()));
    return begin_writing();
  }

  // If true, each document is embedded and written alone, and a rebuild first removes the old ones.
  // If false, one call embeds many chunks, and a rebuild embeds all before it removes any.
  bool writes_at_once() const { return embedder_.is_fitted_to_index(); }

  // Embeds the chunks of all pending documents in one call, then writes the documents. `pages` is
  // the number of all pages, for the progress.
  Result<> write_pending(size_t pages) {
    if (pending_.empty()) return {};
    if (writes_at_once()) STOKA_TRY(begin_writing());
    std::vector<std::string> texts;
    std::vector<std::pair<const PendingDocument*, store::ChunkRecord*>> origins;
    for (PendingDocument& item : pending_)
      for (store::ChunkRecord& record : item.records) {
        texts.push_back(ingest::fill_document_template(request_.identity.document_template,
                                                       record.chunk, request_.chunks.prefix));
        origins.emplace_back(&item, &record);
      }
    auto embedded = index_embedder_->embed(
        texts, [&](size_t text) { return terms_of(*origins[text].second); },
        [&](size_t done) {
          if (!writes_at_once()) report_progress("embedding", origins[done - 1].first->page, pages);
        },
        stop_);
    std::set<const Document*> incomplete;
    if (!embedded) return fail(with_index_state(embedded.error()));
    for (const embed::Embeddings::Warning& warning : embedded->warnings) {
      const auto& [item, record] = origins[warning.text];
      const Chunk& chunk = record->chunk;
      std::string what =
          fmt::format("chunk {}{}: {}", chunk.index,
                      chunk.section.empty() ? "" : " of '" + chunk.section + "'", warning.message);
      if (embedded->vectors[warning.text].empty()) {
        incomplete.insert(item->document);
        report_.left_out.push_back(
            {item->document->path, what + "; only lexical search can find it"});
      } else {
        report_.warnings.push_back(item->document->path + ": " + what);
      }
    }
    STOKA_TRY(begin_writing());
    size_t next = 0;
    for (PendingDocument& item : pending_) {
      // The records are freed, with their terms, when the document is written.
      std::vector<store::ChunkRecord> records = std::move(item.records);
      for (store::ChunkRecord& record : records) {
        terms_of(record);
        record.embedding = std::move(embedded->vectors[next++]);
      }
      Document document = *item.document;
      // Changes the stored hash, so that the next run embeds the document again.
      if (incomplete.contains(item.document))
        document.content_hash = "incomplete " + document.content_hash;
      STOKA_TRY(writer_->put_document(document, records));
    }
    pending_.clear();
    pending_chunks_ = 0;
    return {};
  }

  // Removes indexed documents that this run did not find. A document stays if its file is missing
  // or could not be read, wholly or in part; with --prune only documents of unreadable files stay.
  Result<> remove_stale(const std::vector<ingest::Page>& pages) {
    std::set<std::string> slugs;
    for (const ingest::Page& page : pages)
      if (!unpublished_slugs_.contains({page.document.path, page.document.slug}))
        slugs.insert(page.document.slug);
    for (const auto& [slug, document] : indexed_) {
      if (slugs.contains(slug)) continue;
      const bool has_other_documents = paths_with_documents_.contains(document.path);
      const bool is_unpublished = unpublished_paths_.contains(document.path);
      const bool is_certain = unpublished_slugs_.contains({document.path, slug}) ||
                              replaced_.contains(document) ||
                              (is_under_any(document.path, request_.paths) &&
                               is_unpublished_in(document.path, document));
      if (!has_other_documents && !is_unpublished && !is_certain && is_unreadable(document.path))
        continue;
      // The document may be in the part of the file that could not be read.
      if (((!has_other_documents && !is_unpublished) || torn_paths_.contains(document.path)) &&
          !is_certain && !request_.prune) {
        report_.missing += is_under_any(document.path, request_.paths);
        continue;
      }
      ++report_.removed;
      report_.changes.push_back("removed " + slug);
      total_chunks_.erase(slug);
      if (writer_) STOKA_TRY(writer_->remove_document(slug));
    }
    return {};
  }

  // Whether the file or a folder above it could not be read.
  bool is_unreadable(const std::string& path) const {
    return std::any_of(unreadable_paths_.begin(), unreadable_paths_.end(),
                       [&](const std::string& place) { return is_under(path, place); });
  }

  Result<> finish() {
    for (const auto& [slug, chunks] : total_chunks_) report_.chunks += chunks;
    if (!writer_) return {};
    embed::Progress fit_progress = [this](double share) {
      report_progress("fitting", static_cast<size_t>(share * 100), 100);
    };
    STOKA_ASSIGN(report_.refitted, index_embedder_->finish(*writer_, fit_progress, stop_));
    return writer_->finish(clock_.now());
  }

  // A changed document whose chunks have no vectors yet.
  struct PendingDocument {
    const Document* document;
    std::vector<store::ChunkRecord> records;
    size_t page = 0;  // the position of the page among all pages
  };

  store::Store* store_;
  embed::Embedder& embedder_;
  const IndexRequest& request_;
  const Clock& clock_;
  Log& log_;
  const IndexProgress& progress_;
  std::stop_token stop_;
  std::unique_ptr<store::IndexWriter> writer_;
  store::IndexIdentity identity_;
  std::unique_ptr<embed::IndexEmbedder> index_embedder_;
  std::vector<PendingDocument> pending_;
  size_t pending_chunks_ = 0;
  bool rebuilds_ = false;  // the index is cleared before the first document is written
  bool has_written_ = false;
  std::map<std::string, Document> indexed_;         // documents before the run, by slug
  std::map<std::string, std::string> slug_owners_;  // paths by slug; kept if the index is rebuilt
  ReplacedProducts replaced_;
  std::map<std::string, size_t> total_chunks_;  // counted after the run, by slug
  std::set<std::string> unreadable_paths_;      // files and folders that could not be read
  std::set<std::string> torn_paths_;            // files of which a part could not be read
  std::set<std::string> paths_with_documents_;  // files that have documents of this run
  std::set<std::string> unpublished_paths_;     // files with a document that must not be indexed
  // Documents that are not published, in files that may have published ones: by path and slug.
  std::map<std::string, ingest::DocumentMatcher> unpublished_things_;
  std::set<std::pair<std::string, std::string>> unpublished_slugs_;
  IndexReport report_;
};

}  // namespace

Result<IndexReport> run_index(store::Store* store, embed::Embedder& embedder,
                              const IndexRequest& request, const Clock& clock, Log& log,
                              const IndexProgress& progress, std::stop_token stop) {
  return IndexRun(store, embedder, request, clock, log, progress, stop).run();
}

}  // namespace stoka::pipeline
