#include "pipeline/index_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "embed/builtin.h"
#include "ingest/loader.h"
#include "ingest/page.h"
#include "ingest/product_pages.h"
#include "ingest/secrets.h"
#include "pipeline/held_slugs.h"
#include "pipeline/product_halves.h"

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
    settle(pages);
    STOKA_TRY(write(pages));
    STOKA_TRY(forget(pages));
    STOKA_TRY(finish());
    std::stable_sort(
        report_.skipped.begin(), report_.skipped.end(),
        [](const ingest::Skipped& a, const ingest::Skipped& b) { return a.path < b.path; });
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
    for (const ingest::Skipped& item : walked.skipped)
      if (item.kind == ingest::SkipKind::unreadable) unreadable_.insert(item.path);
    report_.skipped = std::move(walked.skipped);
    std::vector<ingest::Page> pages;
    std::string shape = request_.chunks.describe();
    for (size_t i = 0; i < walked.files.size(); ++i) {
      STOKA_TRY(stopped());
      tell("reading", i, walked.files.size());
      ingest::Pages loaded = ingest::load(walked.files[i], shape);
      const bool unpublished = std::any_of(
          loaded.skipped.begin(), loaded.skipped.end(),
          [](const ingest::Skipped& item) { return item.kind == ingest::SkipKind::unpublished; });
      const std::string path = walked.files[i].path.string();
      if (loaded.torn) torn_.insert(path);
      if (!loaded.pages.empty())
        read_.insert(path);
      else
        (unpublished && !loaded.torn ? silent_ : unreadable_).insert(path);
      for (const Document& hidden : loaded.unpublished) {
        hidden_[hidden.path].add(hidden);
        unpublished_.emplace(hidden.path, hidden.slug);
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
      holders_.emplace(slug, info.document.path);
      total_chunks_[slug] = static_cast<size_t>(info.chunks);
      known_.emplace(std::move(slug), std::move(info.document));
    }
    return {};
  }

  Result<> start_again() {
    STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, store_->documents());
    size_t outside = 0;
    for (const store::DocumentInfo& info : documents) {
      if (is_under_any(info.document.path, request_.paths))
        holders_.emplace(info.document.slug, info.document.path);
      else
        ++outside;
    }
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
      const std::string reason = why_withheld(page.document);
      if (reason.empty()) return false;
      report_.skipped.push_back({page.document.path, reason});
      silent_.insert(page.document.path);
      return true;
    });
  }

  std::string why_withheld(const Document& document) const {
    if (document.date && *document.date > clock_.today())
      return fmt::format("dated in the future, {}", iso_date(*document.date));
    std::string fields =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", document.title, document.description, document.author,
                    document.slug, document.url, fmt::join(document.tags, "\n"));
    auto kind = ingest::find_secret(fields);
    return kind ? "its frontmatter holds " + *kind : std::string();
  }

  // Makes one document of each thing and gives it its slug.
  void settle(std::vector<ingest::Page>& pages) {
    const auto in_run = [this](const std::string& path) {
      return is_under_any(path, request_.paths);
    };
    if (!request_.prune) {  // which forgets what the run is not given
      OtherHalves others = read_other_halves(pages, known_, in_run, request_.chunks.describe());
      torn_.merge(others.torn);
      for (const Document& hidden : others.unpublished) hidden_[hidden.path].add(hidden);
      for (ingest::Page& page : others.pages)
        if (why_withheld(page.document).empty()) pages.push_back(std::move(page));
      std::stable_sort(pages.begin(), pages.end(),
                       [](const ingest::Page& a, const ingest::Page& b) {
                         return a.document.path < b.document.path;
                       });
    }
    ingest::unite_products(pages);
    replaced_ = ReplacedProducts(pages, in_run);
    // The other entries of a products.json outside the run are none of its business.
    std::erase_if(pages, [&](const ingest::Page& page) {
      return page.is_entry && !in_run(page.document.path);
    });
    settle_held_slugs(pages, holders_, [&](const std::string& slug, const std::string& path) {
      if (!in_run(path)) return true;
      if (unpublished_.contains({path, slug})) return false;
      return was_unreadable(path) || (torn_.contains(path) && !request_.prune);
    });
    // Another document of the file may have the slug of one that is not to be published.
    for (const ingest::Page& page : pages)
      unpublished_.erase({page.document.path, page.document.slug});
  }

  // Takes the chunks that hold secrets out. False if nothing is left.
  bool keep_secrets_out(const ingest::Page& page, std::vector<Chunk>& chunks) {
    std::map<std::pair<std::string, std::string>, size_t> found;  // by section and kind
    for (ingest::Withheld& withheld : ingest::withhold_secrets(chunks, page.blocks))
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

  // Whether its author keeps an entry of this file from readers that is about the same product.
  bool is_hidden_in(const std::string& path, const Document& document) const {
    const auto hidden = hidden_.find(path);
    return hidden != hidden_.end() && hidden->second.contains(document);
  }

  // The path of the list that has the entry of this page and cannot be read today; empty if it can
  // be, if there is none, or if the list keeps the entry from readers.
  std::string unread_entry(const Document& old, const Document& document) const {
    std::string list(ingest::entry_path(old.content_hash));
    const bool is_unread = old.path == document.path &&
                           ingest::entry_path(document.content_hash).empty() &&
                           (torn_.contains(list) || was_unreadable(list));
    return is_unread && !is_hidden_in(list, old) ? list : std::string();
  }

  // A product whose entry cannot be read today keeps what it said.
  bool is_unchanged(const Document& old, const Document& document) const {
    if (old.path != document.path) return false;
    return old.content_hash == document.content_hash ||
           (ingest::page_hash(old.content_hash) == document.content_hash &&
            !unread_entry(old, document).empty());
  }

  Result<> write(std::vector<ingest::Page>& pages) {
    for (size_t i = 0; i < pages.size(); ++i) {
      STOKA_TRY(stopped());
      if (!request_.model) tell("writing", i, pages.size());
      Document& document = pages[i].document;
      auto found = known_.find(document.slug);
      if (found != known_.end() && is_unchanged(found->second, document)) {
        ++report_.unchanged;
        continue;
      }
      if (found != known_.end())  // a page that changed keeps the way to its entry
        if (std::string list = unread_entry(found->second, document); !list.empty())
          document.content_hash = ingest::hash_without_entry(document.content_hash, list);
      std::vector<Chunk> chunks = ingest::chunk(document, pages[i].blocks, request_.chunks);
      if (!keep_secrets_out(pages[i], chunks)) {
        silent_.insert(document.path);
        unpublished_.emplace(document.path, document.slug);
        continue;
      }
      bool added = found == known_.end();
      ++(added ? report_.added : report_.changed);
      report_.changes.push_back((added ? "added " : "changed ") + document.slug);
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
        report_.left_out.push_back(
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
      if (incomplete.contains(item.document))
        document.content_hash = "incomplete " + document.content_hash;
      STOKA_TRY(writer_->put_document(document, records));
    }
    waiting_.clear();
    waiting_chunks_ = 0;
    return {};
  }

  Result<> forget(const std::vector<ingest::Page>& pages) {
    std::set<std::string> slugs;
    for (const ingest::Page& page : pages)
      if (!unpublished_.contains({page.document.path, page.document.slug}))
        slugs.insert(page.document.slug);
    for (const auto& [slug, document] : known_) {
      if (slugs.contains(slug)) continue;
      bool renamed = read_.contains(document.path);
      bool silent = silent_.contains(document.path);
      bool sure =
          unpublished_.contains({document.path, slug}) || replaced_.contains(document) ||
          (is_under_any(document.path, request_.paths) && is_hidden_in(document.path, document));
      if (!renamed && !silent && !sure && was_unreadable(document.path)) continue;
      // A part that could not be read may be that document.
      if (((!renamed && !silent) || torn_.contains(document.path)) && !sure && !request_.prune) {
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
  std::map<std::string, std::string> holders_;    // paths by slug, also of an index made again
  std::map<std::string, ingest::Things> hidden_;  // what is not to be published, by path
  ReplacedProducts replaced_;
  std::map<std::string, size_t> total_chunks_;  // by slug, as after the run
  std::set<std::string> unreadable_;            // paths that could not be read now
  std::set<std::string> torn_;                  // paths of which a part could not be read
  std::set<std::string> silent_;                // paths that are there and are not to be published
  std::set<std::string> read_;                  // paths that gave documents
  std::set<std::pair<std::string, std::string>>
      unpublished_;  // path and slug, in files with others
  IndexReport report_;
};

}  // namespace

Result<IndexReport> run_index(store::Store* store, const IndexRequest& request, const Clock& clock,
                              Log& log, const IndexProgress& progress, std::stop_token stop) {
  return IndexRun(store, request, clock, log, progress, stop).run();
}

}  // namespace stoka::pipeline
