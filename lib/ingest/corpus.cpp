#include "ingest/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/ascii.h"
#include "base/hash.h"
#include "ingest/frontmatter.h"
#include "ingest/plain_text.h"
#include "ingest/slug.h"
#include "text/normalize.h"
#include "text/sentences.h"
#include "text/utf8.h"

namespace stoka::ingest {
namespace {

std::string one_value(const std::vector<Field>& fields, std::string_view key) {
  const std::vector<std::string>& all = values_of(fields, key);
  return all.empty() ? std::string() : text::collapse_whitespace(text::one_line(all.front()));
}

// The title of a document that has none: its first sentence, cut to 80 bytes.
std::string first_sentence(std::string_view text) {
  constexpr size_t kMaxTitleBytes = 80;
  const std::string_view head = text.substr(0, text::floor_char_boundary(text, 4 * kMaxTitleBytes));
  const std::vector<text::Span> sentences = text::sentences(head);
  if (sentences.empty()) return {};
  const std::string_view first = sentences.front().in(head);
  if (first.size() <= kMaxTitleBytes) return std::string(first);
  const size_t space = first.rfind(' ', kMaxTitleBytes);
  const size_t end =
      space == std::string_view::npos ? text::floor_char_boundary(first, kMaxTitleBytes) : space;
  return std::string(first.substr(0, end)) + "…";
}

// Collects messages about lines. Only the first ones are kept, because there may be thousands; the
// others are counted.
class LineMessages {
 public:
  void add(size_t line, std::string_view what) {
    if (++count_ <= kMaxListedLines) listed_.push_back(fmt::format("line {}: {}", line, what));
  }

  std::vector<std::string> take() {
    if (const size_t more = count_ - listed_.size(); more > 0)
      listed_.push_back(fmt::format("and {} more line{}", more, more == 1 ? "" : "s"));
    return std::move(listed_);
  }

 private:
  size_t count_ = 0;
  std::vector<std::string> listed_;
};

class CorpusReader {
 public:
  CorpusReader(const SourceBytes& source, RepairReport& repairs)
      : source_(source), path_(display_path(source.file.path)), repairs_(repairs) {
    // Several corpora may all be called corpus.jsonl; in that case their folders distinguish them.
    const std::string stem = display_path(source.file.path.stem());
    folder_ = stem == "corpus" ? source.file.root : stem;
  }

  LoadedFile run() {
    const std::optional<std::string> decoded = convert_to_utf8(source_.bytes, repairs_);
    std::string_view rest = decoded ? *decoded : source_.bytes;
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
    while (!rest.empty()) {
      ++number_;
      read_line(take_line(rest));
    }
    if (non_blank_ == 0) {
      out_.skipped.push_back({path_, "empty"});
    } else if (binary_ == non_blank_) {
      out_.skipped.push_back({path_, "binary, not text"});
    } else {
      for (std::string& reason : skipped_.take())
        out_.skipped.push_back({path_, std::move(reason), SkipKind::unreadable, true});
    }
    for (std::string& reason : unpublished_.take())
      out_.skipped.push_back({path_, std::move(reason), SkipKind::unpublished, true});
    for (std::string& reason : left_out_.take())
      out_.left_out.push_back({path_, std::move(reason)});
    for (const std::string& what : warnings_.take())
      out_.warnings.push_back(fmt::format("{}: {}", path_, what));
    return std::move(out_);
  }

 private:
  void skip(std::string_view reason) { skipped_.add(number_, reason); }
  void skip_unparsed(std::string_view reason) {
    out_.is_incomplete = true;
    skip(reason);
  }

  void read_line(std::string_view line) {
    if (trimmed(line).empty()) return;
    ++non_blank_;
    if (line.size() > kMaxLineBytes)
      return skip_unparsed(fmt::format("larger than {} MB", kMaxLineBytes >> 20));
    const std::optional<std::string> text = repair_text(line, " ", repairs_);
    if (!text) {
      ++binary_;
      return skip_unparsed("binary, not text");
    }
    const std::string_view json = trimmed(*text);
    const auto fields = parse_json_fields(json);
    if (!fields) return skip_unparsed(fields.error().message);
    add_document(*fields, content_hash(fmt::format("{}\n{}", json, source_.chunk_options)));
  }

  void add_document(const std::vector<Field>& fields, std::string hash) {
    const Frontmatter meta = interpret_fields(fields);
    std::string id = one_value(fields, "id");
    if (id.empty()) id = one_value(fields, "_id");
    Page page;
    Document& document = page.document;
    document.slug = slugify(meta.slug, "._~");
    if (document.slug.empty()) document.slug = slugify(id, "._~");
    page.has_explicit_slug = !document.slug.empty();
    if (document.slug.empty()) document.slug = slugify(meta.title);
    if (!meta.unpublished.empty()) {
      document.path = path_;
      out_.unpublished.push_back(std::move(document));
      unpublished_.add(number_, meta.unpublished);
      return;
    }
    if (document.slug.empty()) return skip("has neither an id nor a title with letters or digits");
    for (const std::string& text : values_of(fields, "text")) {
      PlainText part = parse_plain_text(text);
      std::move(part.blocks.begin(), part.blocks.end(), std::back_inserter(page.blocks));
      if (part.secret_code > 0) left_out_.add(number_, secret_code_reason(part.secret_code));
    }
    if (page.blocks.empty() && meta.title.empty() && meta.description.empty())
      return skip("has neither title nor text");
    for (const std::string& warning : meta.warnings) warnings_.add(number_, warning);
    if (!slugs_.insert(document.slug).second)
      warnings_.add(number_, fmt::format("another line has the id '{}'", document.slug));

    document.title = meta.title;
    if (document.title.empty() && !page.blocks.empty())
      document.title = first_sentence(page.blocks.front().text);
    if (document.title.empty()) document.title = id.empty() ? document.slug : id;
    document.type = slugify(meta.type);
    if (document.type.empty()) document.type = "page";
    document.path = path_;
    document.url = one_value(fields, "url");
    set_metadata(document, meta);
    document.reading_minutes = meta.reading_minutes.value_or(reading_minutes(page.blocks));
    document.content_hash = std::move(hash);
    page.folders = {folder_};
    out_.pages.push_back(std::move(page));
  }

  const SourceBytes& source_;
  std::string path_, folder_;
  RepairReport& repairs_;
  LoadedFile out_;
  LineMessages skipped_, unpublished_, left_out_, warnings_;
  std::unordered_set<std::string> slugs_;
  size_t number_ = 0;     // number of the current line
  size_t non_blank_ = 0;  // number of lines that are not blank
  size_t binary_ = 0;     // number of lines that are binary data
};

}  // namespace

LoadedFile read_corpus(const SourceBytes& source, RepairReport& repairs) {
  return CorpusReader(source, repairs).run();
}

}  // namespace stoka::ingest
