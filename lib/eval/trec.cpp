#include "eval/trec.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "ingest/slug.h"
#include "text/utf8.h"

namespace stoka::eval {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxQueryLineBytes = 1 << 20;

std::string slug_of(std::string_view id) { return ingest::slugify(id, "._~"); }

// Calls read(line, number) for each line that is not blank, up to the first error.
template <class Read>
Result<> each_line(std::string_view text, const Read& read) {
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++number;
    if (!trimmed(line).empty()) STOKA_TRY(read(line, number));
  }
  return {};
}

tl::unexpected<Error> line_error(const std::string& file, int line, std::string_view what,
                                 std::string hint) {
  return fail(ErrorKind::data, fmt::format("{}:{}: {}", file, line, what), std::move(hint));
}

struct QueryLine {
  int line = 0;
  std::string id;
  std::string text;
};

std::string text_or_number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? found->dump() : std::string();
}

// Parses a line; nullopt if it is neither a JSON object nor two columns.
std::optional<QueryLine> read_query(std::string_view line) {
  QueryLine asked;
  if (trimmed(line).starts_with('{')) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return {};
    asked.id = text_or_number(json, "id");
    if (asked.id.empty()) asked.id = text_or_number(json, "_id");
    const auto text = json.find("text");
    if (text == json.end() || !text->is_string()) return {};
    asked.text = text->get<std::string>();
  } else {
    const size_t tab = line.find('\t');
    if (tab == line.npos) return {};
    asked.id = line.substr(0, tab);
    asked.text = line.substr(tab + 1);
  }
  asked.id = trimmed(asked.id);
  asked.text = trimmed(asked.text);
  if (asked.id.empty()) return {};
  return asked;
}

Result<std::vector<QueryLine>> read_queries(std::string_view text, const std::string& file) {
  std::vector<QueryLine> out;
  std::map<std::string, int> lines;
  STOKA_TRY(each_line(text, [&](std::string_view line, int number) -> Result<> {
    if (line.size() > kMaxQueryLineBytes)
      return line_error(file, number, "the line has more than 1 MB", "give one query a line");
    auto asked = read_query(line);
    if (!asked)
      return line_error(file, number, "not a query",
                        "give {\"id\": …, \"text\": …} or an id, a tab and the text on each line");
    const auto [first, is_new] = lines.emplace(asked->id, number);
    if (!is_new)
      return line_error(
          file, number,
          fmt::format("the id of this query is already used in line {}", first->second),
          "give each query an id of its own");
    asked->line = number;
    out.push_back(std::move(*asked));
    return {};
  }));
  return out;
}

struct Judgement {
  std::string_view query;
  std::string_view document;
  double gain = 0;
};

// Calls take(judgement, number) for each judgement, up to the first error. A header is skipped.
template <class Take>
Result<> each_judgement(std::string_view text, const std::string& file, const Take& take) {
  bool first = true;
  return each_line(text, [&](std::string_view line, int number) -> Result<> {
    std::vector<std::string_view> fields;
    for (auto field = take_field(line); !field.empty(); field = take_field(line))
      fields.push_back(field);
    const bool may_be_header = std::exchange(first, false);
    const char* hint = "give a query, a document and a gain on each line, tabs or spaces between";
    if (fields.size() != 3 && fields.size() != 4)
      return line_error(file, number,
                        fmt::format("a judgement has 3 or 4 columns, not {}", fields.size()), hint);
    const auto gain = parse_number<double>(fields.back());
    if (gain && std::isfinite(*gain))
      return take(Judgement{fields[0], fields[fields.size() - 2], *gain}, number);
    if (may_be_header) return {};
    return line_error(file, number, "the gain is not a number", hint);
  });
}

}  // namespace

Result<std::vector<Query>> read_collection(std::string_view queries,
                                           const std::string& queries_file, std::string_view qrels,
                                           const std::string& qrels_file) {
  STOKA_ASSIGN(auto asked, read_queries(text::repair_utf8(queries), queries_file));
  std::map<std::string, decltype(Query::relevant)> relevant;
  std::map<std::pair<std::string_view, std::string_view>, int> lines;
  const std::string judgements = text::repair_utf8(qrels);
  STOKA_TRY(each_judgement(
      judgements, qrels_file, [&](const Judgement& judgement, int number) -> Result<> {
        const auto [first, is_new] =
            lines.emplace(std::pair(judgement.query, judgement.document), number);
        if (!is_new)
          return line_error(qrels_file, number,
                            fmt::format("line {} judges the same document", first->second),
                            "keep one of the two lines");
        const std::string slug = slug_of(judgement.document);
        if (slug.empty())
          return line_error(qrels_file, number, "the document id has no letter or digit",
                            "give the id under which the document is indexed");
        if (judgement.gain <= 0) return {};
        double& gain = relevant[std::string(judgement.query)][slug];
        gain = std::max(gain, judgement.gain);
        return {};
      }));

  std::vector<Query> out;
  for (QueryLine& query : asked) {
    const auto gains = relevant.find(query.id);
    if (gains == relevant.end()) continue;
    if (query.text.empty())
      return line_error(queries_file, query.line, "the query has no text",
                        "give it a text or leave it out");
    out.push_back({std::move(query.id), std::move(query.text), std::move(gains->second), {}, {}});
  }
  if (out.empty())
    return fail(
        ErrorKind::data,
        fmt::format("no query of {} has a relevant document in {}", queries_file, qrels_file),
        "check that both files are of one collection: the ids must be the same");
  return out;
}

std::map<std::string, std::string> document_ids(std::string_view qrels) {
  std::map<std::string, std::string> out;
  const std::string judgements = text::repair_utf8(qrels);
  (void)each_judgement(judgements, "", [&](const Judgement& judgement, int) -> Result<> {
    out.emplace(slug_of(judgement.document), judgement.document);
    return {};
  });
  return out;
}

std::string run_lines(std::string_view query, std::span<const RankedDocument> ranked,
                      std::string_view tag) {
  // White space separates columns, so white space within a column is replaced.
  const auto column = [](std::string_view text) {
    std::string out(text);
    std::replace_if(out.begin(), out.end(), is_ascii_space, '_');
    return out.empty() ? "-" : out;
  };
  // Scores are written so that they differ in single precision, in which older versions of
  // trec_eval read them: other scores would tie.
  constexpr float kMaxScore = 1e30F;
  float last = 0;
  std::string out;
  for (size_t i = 0; i < ranked.size(); ++i) {
    const double given = ranked[i].score;
    float score = static_cast<float>(
        std::isnan(given) ? 0 : std::clamp(given, -double{kMaxScore}, double{kMaxScore}));
    if (i > 0 && !(score < last)) score = std::nextafter(last, -INFINITY);
    last = score;
    out += fmt::format("{} Q0 {} {} {} {}\n", column(query), column(ranked[i].document), i + 1,
                       score, column(tag));
  }
  return out;
}

}  // namespace stoka::eval
