#include "eval/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/lines.h"
#include "base/nearest.h"
#include "eval/predicates.h"
#include "pipeline/turn.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::eval {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostLineBytes = 1 << 20;
constexpr size_t kMostIdBytes = 200;
constexpr int kMostDepth = 4;
constexpr double kMostGain = 1000;

// What a value must be, where it is not: "must be a text".
using Wrong = std::optional<std::string>;

Wrong must_be_one_of(const std::vector<std::string>& known, const Json& value) {
  return fmt::format("must be one of {}{}", fmt::join(known, ", "),
                     value.is_string() ? did_you_mean(value.get<std::string>(), known) : "");
}

template <auto kMember, class T>
Wrong any_text(const Json& value, T& out) {
  if (!value.is_string()) return "must be a text";
  out.*kMember = value.get<std::string>();
  return {};
}

template <auto kMember, class T>
Wrong some_text(const Json& value, T& out) {
  if (!value.is_string() || trimmed(value.get<std::string>()).empty())
    return "must be a text that is not empty";
  out.*kMember = value.get<std::string>();
  return {};
}

// Names end up in tables, XML and the names of metrics.
template <auto kMember, class T>
Wrong word(const Json& value, T& out) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text.empty() || text.size() > kMostIdBytes || text != text::one_line(text) ||
      text.find_first_of(kWhiteSpace) != text.npos)
    return "must be a text without spaces, of at most 200 bytes";
  out.*kMember = text;
  return {};
}

template <auto kMember, class T>
Wrong flag(const Json& value, T& out) {
  if (!value.is_boolean()) return "must be true or false";
  out.*kMember = value.get<bool>();
  return {};
}

Wrong read_texts(const Json& value, std::vector<std::string>& out) {
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!item.is_string() || trimmed(item.get<std::string>()).empty())
      return "must be a text or a list of texts, none of them empty";
    out.push_back(item.get<std::string>());
  }
  return {};
}

template <auto kMember>
Wrong texts(const Json& value, Case& out) {
  return read_texts(value, out.*kMember);
}

Wrong seen(const Json& value, Case& out) { return read_texts(value, out.page.seen_slugs); }

Wrong check_question(const std::string& question) {
  const auto cleaned = pipeline::clean_query(question);
  if (cleaned) return {};
  return fmt::format("must be what a visitor may ask: {}", cleaned.error().message);
}

template <auto kMember, class T>
Wrong question(const Json& value, T& out) {
  if (!value.is_string()) return "must be a text";
  out.*kMember = value.get<std::string>();
  return check_question(out.*kMember);
}

Wrong before(const Json& value, Case& out) {
  if (auto wrong = read_texts(value, out.before)) return wrong;
  for (const std::string& turn : out.before)
    if (auto wrong = check_question(turn)) return wrong;
  return {};
}

Wrong confidence(const Json& value, Case& out) {
  const std::vector<std::string> known = {"direct", "adjacent", "low", "nothing"};
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (std::find(known.begin(), known.end(), text) == known.end())
    return must_be_one_of(known, value);
  out.confidence = text;
  return {};
}

Wrong context(const Json& value, Case& out) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text == "landing_page")
    out.page.page = "/";
  else if (text == "blog_index")
    out.page.page = "/blog";
  else if (text.starts_with('/'))
    out.page.page = text;
  else if (text != "any")
    return "must be landing_page, blog_index, any or a path that begins with /" +
           did_you_mean(text, std::vector<std::string>{"landing_page", "blog_index", "any"});
  return {};
}

Wrong route(const Json& value, Case& out) {
  std::vector<std::string> known;
  for (Route one : {Route::meta, Route::offtopic, Route::followup, Route::fresh, Route::nothing}) {
    known.emplace_back(name(one));
    if (value == known.back()) out.route = one;
  }
  return out.route ? Wrong() : must_be_one_of(known, value);
}

Wrong tone(const Json& value, Case& out) {
  const std::vector<std::string> known = {"provocative", "flat", "terse"};
  if (std::find(known.begin(), known.end(), value) == known.end())
    return must_be_one_of(known, value);
  out.tone = value.get<std::string>();
  return {};
}

Wrong fail_if(const Json& value, Case& out) {
  if (auto wrong = read_texts(value, out.fail_if)) return wrong;
  std::vector<std::string> known;
  for (const Predicate& predicate : predicates()) known.emplace_back(predicate.name);
  for (const std::string& one : out.fail_if)
    if (!find_predicate(one)) return must_be_one_of(known, one);
  return {};
}

Wrong max_sentences(const Json& value, Case& out) {
  if (!value.is_number_unsigned()) return "must be a whole number, 0 or more";
  out.max_sentences = value.get<size_t>();
  return {};
}

Wrong never(const Json& value, Case& out) {
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!item.is_number_unsigned() || item < 1 || item > kNeverItems)
      return fmt::format("must be numbers of the NEVER list, 1 to {}", kNeverItems);
    out.never.push_back(item.get<int>());
  }
  return {};
}

Wrong relevant(const Json& value, Query& out) {
  const char* wrong =
      "must be an object of slugs with their gains, numbers above 0 and at most 1000";
  if (!value.is_object()) return wrong;
  for (const auto& [slug, gain] : value.items()) {
    if (slug.empty() || !gain.is_number() || !(gain.get<double>() > 0) ||
        gain.get<double>() > kMostGain)
      return wrong;
    out.relevant[slug] = gain.get<double>();
  }
  return {};
}

template <class T>
struct Field {
  std::string_view name;
  Wrong (*read)(const Json& value, T& out);
};

// The fields of a line, each once, in the order of docs/eval.md.
constexpr Field<Case> kCaseFields[] = {
    {"id", word<&Case::id>},
    {"category", word<&Case::category>},
    {"query", question<&Case::query>},
    {"before", before},
    {"context", context},
    {"seen", seen},
    {"interests", texts<&Case::interests>},
    {"route", route},
    {"confidence", confidence},
    {"ideal_cite", texts<&Case::ideal_cite>},
    {"must_cite", flag<&Case::must_cite>},
    {"must_not_cite", texts<&Case::must_not_cite>},
    {"max_sentences", max_sentences},
    {"must_end_with", some_text<&Case::must_end_with>},
    {"reply", some_text<&Case::reply>},
    {"fail_if_summary", flag<&Case::fail_if_summary>},
    {"tone", tone},
    {"fail_if", fail_if},
    {"must_not_say", texts<&Case::must_not_say>},
    {"never", never},
    {"model", any_text<&Case::model>},
    {"ideal", any_text<&Case::ideal>},
    {"note", any_text<&Case::note>},
};

constexpr Field<Query> kQueryFields[] = {
    {"id", word<&Query::id>},
    {"query", question<&Query::text>},
    {"relevant", relevant},
    {"note", any_text<&Query::note>},
};

template <class T, size_t kN>
std::vector<std::string> names(const Field<T> (&fields)[kN]) {
  std::vector<std::string> out;
  for (const Field<T>& field : fields) out.emplace_back(field.name);
  return out;
}

// A line and what messages about it begin with: "evals/my.jsonl:12".
struct Line {
  std::string_view text;
  std::string where;

  tl::unexpected<Error> wrong(std::string_view what, std::string hint) const {
    return fail(ErrorKind::data, fmt::format("{}: {}", where, what), std::move(hint));
  }
};

std::string shown(const std::string& name) {
  const std::string line = text::one_line(name);
  return line.substr(0, text::floor_border(line, 60));
}

Result<Json> parse(const Line& line) {
  const char* hint = "give one JSON object a line; there are no comments";
  if (line.text.size() > kMostLineBytes) return line.wrong("a line of more than 1 MB", hint);
  // The parser takes a NUL for the end.
  if (line.text.find('\0') != line.text.npos) return line.wrong("no JSON: has a NUL byte", hint);
  std::set<std::string> keys[2];
  std::string repeated;
  bool too_deep = false;
  const auto note_keys = [&](int depth, Json::parse_event_t event, Json& parsed) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth > kMostDepth) return !(too_deep = true);
    if (event == Json::parse_event_t::object_start && depth < 2) keys[depth].clear();
    if (event == Json::parse_event_t::key && depth <= 2 &&
        !keys[depth - 1].insert(parsed.get<std::string>()).second)
      repeated = shown(parsed.get<std::string>());
    return true;
  };
  try {
    Json json = Json::parse(line.text, note_keys);
    if (too_deep)
      return line.wrong(fmt::format("nested more than {} levels", kMostDepth), "no field is");
    if (!json.is_object()) return line.wrong("no JSON object", hint);
    if (!repeated.empty())
      return line.wrong(fmt::format("'{}' is there twice", repeated), "keep one of the two");
    return json;
  } catch (const Json::parse_error& error) {
    return line.wrong(fmt::format("no JSON: wrong at byte {}", error.byte), hint);
  } catch (const Json::out_of_range&) {
    return line.wrong("no JSON: a number is too large", hint);
  }
}

template <class T, size_t kN>
Result<> read_fields(const Line& line, const Json& json, const Field<T> (&fields)[kN],
                     std::string_view kind, T& out) {
  const std::string hint =
      fmt::format("the fields of {} are {}", kind, fmt::join(names(fields), ", "));
  for (const auto& [key, value] : json.items()) {
    const auto field = std::find_if(std::begin(fields), std::end(fields),
                                    [&](const Field<T>& one) { return one.name == key; });
    if (field == std::end(fields))
      return line.wrong(
          fmt::format("unknown field '{}'{}", shown(key), did_you_mean(key, names(fields))), hint);
    if (const Wrong wrong = field->read(value, out))
      return line.wrong(fmt::format("'{}' {}", key, *wrong), "mend the value or leave it out");
  }
  if (!json.contains("query")) return line.wrong("has no 'query'", hint);
  return {};
}

// Why no answer can pass.
std::optional<std::string> contradiction(const Case& due) {
  const bool canned = due.route && (*due.route == Route::meta || *due.route == Route::offtopic ||
                                    *due.route == Route::nothing);
  const bool must_cite = due.must_cite.value_or(false);
  const bool must_not_cite = !due.must_cite.value_or(true);
  const bool ends_in_cite = due.must_end_with == "cite";
  if (canned && (!due.ideal_cite.empty() || must_cite || ends_in_cite))
    return fmt::format("route '{}' has a fixed reply without citations, and one is due",
                       name(*due.route));
  if (must_not_cite && !due.ideal_cite.empty()) return "must_cite is false, and ideal_cite is due";
  if (must_not_cite && ends_in_cite) return "must_cite is false, and the end must be a citation";
  for (const std::string& slug : due.ideal_cite)
    if (std::find(due.must_not_cite.begin(), due.must_not_cite.end(), slug) !=
        due.must_not_cite.end())
      return fmt::format("'{}' is in ideal_cite and in must_not_cite", shown(slug));
  if (due.route == Route::followup && due.before.empty())
    return "route 'followup' is due, and there is no turn before";
  return {};
}

Result<> take_id(const Line& line, const std::string& name, Cases& out) {
  const auto [first, is_new] = out.places.emplace(name, line.where);
  if (is_new) return {};
  return line.wrong(fmt::format("the id '{}' is taken by {}", name, first->second),
                    "give each case an id of its own");
}

// Of what is asked and what is due.
std::string hash_of(Json json) {
  for (const char* field : {"id", "category", "ideal", "note"}) json.erase(field);
  constexpr size_t kEnough = 12;  // digits
  return content_hash(json.dump()).substr(0, kEnough);
}

Result<> read_line(const Line& line, const std::string& default_id, std::string_view suite,
                   Cases& out) {
  STOKA_ASSIGN(const Json json, parse(line));
  if (json.contains("relevant")) {
    Query query;
    query.id = default_id;
    STOKA_TRY(read_fields(line, json, kQueryFields, "a retrieval query", query));
    query.hash = hash_of(json);
    STOKA_TRY(take_id(line, "retrieval/" + query.id, out));
    out.queries.push_back(std::move(query));
    return {};
  }
  Case due;
  due.id = default_id;
  STOKA_TRY(read_fields(line, json, kCaseFields, "a case", due));
  due.suite = suite;
  due.hash = hash_of(json);
  if (const auto why = contradiction(due))
    return line.wrong(*why, "change one of the two: such a case can never pass");
  STOKA_TRY(take_id(line, due.suite + "/" + due.id, out));
  out.cases.push_back(std::move(due));
  return {};
}

}  // namespace

std::vector<std::string> case_fields() { return names(kCaseFields); }
std::vector<std::string> query_fields() { return names(kQueryFields); }

Result<> read_cases(std::string_view text, const std::string& file, std::string_view suite,
                    Cases& out) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string stem = std::filesystem::path(file).stem().string();
  if (suite.empty()) suite = stem == "constraints" ? "constraints" : "dataset";
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (line.empty()) continue;
    STOKA_TRY(read_line({line, fmt::format("{}:{}", file, number)},
                        fmt::format("{}-{}", stem, number), suite, out));
  }
  return {};
}

}  // namespace stoka::eval
