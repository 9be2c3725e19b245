#include "eval/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/suggestion.h"
#include "eval/predicates.h"
#include "pipeline/turn.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::eval {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxLineBytes = 1 << 20;
constexpr size_t kMaxIdBytes = 200;
constexpr int kMaxDepth = 4;
constexpr double kMaxGain = 1000;
constexpr size_t kMaxTurns = 100;

// The reason why the value of a field is wrong, e.g. "must be a text"; nullopt if it is right.
using FieldError = std::optional<std::string>;

FieldError must_be_one_of(const std::vector<std::string>& known, const Json& value) {
  return fmt::format("must be one of {}{}", fmt::join(known, ", "),
                     value.is_string() ? did_you_mean(value.get<std::string>(), known) : "");
}

template <auto kMember, class T>
FieldError read_any_text(const Json& value, T& out) {
  if (!value.is_string()) return "must be a text";
  out.*kMember = value.get<std::string>();
  return {};
}

template <auto kMember, class T>
FieldError read_nonempty_text(const Json& value, T& out) {
  if (!value.is_string() || trimmed(value.get<std::string>()).empty())
    return "must be a text that is not empty";
  out.*kMember = value.get<std::string>();
  return {};
}

// Checks names that appear in tables, XML and the names of metrics.
template <auto kMember, class T>
FieldError read_word(const Json& value, T& out) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text.empty() || text.size() > kMaxIdBytes || text != text::one_line(text) ||
      text.find_first_of(kAsciiWhitespace) != text.npos)
    return "must be a text without spaces, of at most 200 bytes";
  out.*kMember = text;
  return {};
}

template <auto kMember, class T>
FieldError read_flag(const Json& value, T& out) {
  if (!value.is_boolean()) return "must be true or false";
  out.*kMember = value.get<bool>();
  return {};
}

FieldError read_texts(const Json& value, std::vector<std::string>& out) {
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!item.is_string() || trimmed(item.get<std::string>()).empty())
      return "must be a text or a list of texts, none of them empty";
    out.push_back(item.get<std::string>());
  }
  return {};
}

template <auto kMember>
FieldError read_text_list(const Json& value, Case& out) {
  return read_texts(value, out.*kMember);
}

FieldError read_seen(const Json& value, Case& out) {
  return read_texts(value, out.page.seen_slugs);
}

FieldError check_question(const std::string& question) {
  const auto cleaned = pipeline::clean_query(question);
  if (cleaned) return {};
  return fmt::format("must be what a visitor may ask: {}", cleaned.error().message);
}

template <auto kMember, class T>
FieldError read_question(const Json& value, T& out) {
  if (!value.is_string()) return "must be a text";
  out.*kMember = value.get<std::string>();
  return check_question(out.*kMember);
}

FieldError read_before(const Json& value, Case& out) {
  if (auto wrong = read_texts(value, out.before)) return wrong;
  for (const std::string& turn : out.before)
    if (auto wrong = check_question(turn)) return wrong;
  return {};
}

FieldError read_confidence(const Json& value, Case& out) {
  const std::vector<std::string> known = {"direct", "adjacent", "low", "nothing"};
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (std::find(known.begin(), known.end(), text) == known.end())
    return must_be_one_of(known, value);
  out.confidence = text;
  return {};
}

FieldError read_context(const Json& value, Case& out) {
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

FieldError read_route(const Json& value, Case& out) {
  std::vector<std::string> known;
  for (Route one : {Route::meta, Route::offtopic, Route::followup, Route::fresh, Route::nothing}) {
    known.emplace_back(to_string(one));
    if (value == known.back()) out.route = one;
  }
  return out.route ? FieldError() : must_be_one_of(known, value);
}

FieldError read_tone(const Json& value, Case& out) {
  const std::vector<std::string> known = {"provocative", "flat", "terse"};
  if (std::none_of(known.begin(), known.end(), [&](const auto& name) { return value == name; }))
    return must_be_one_of(known, value);
  out.tone = value.get<std::string>();
  return {};
}

FieldError read_fail_if(const Json& value, Case& out) {
  if (auto wrong = read_texts(value, out.fail_if)) return wrong;
  std::vector<std::string> known;
  for (const Predicate& predicate : predicates()) known.emplace_back(predicate.name);
  for (const std::string& one : out.fail_if)
    if (!find_predicate(one)) return must_be_one_of(known, one);
  return {};
}

FieldError read_must_say(const Json& value, Case& out) {
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    std::vector<std::string>& any_of = out.must_say.emplace_back();
    if (read_texts(item, any_of) || any_of.empty())
      return "must be a text or a list of texts and lists of alternatives, none of them empty";
  }
  return {};
}

// Only checks that the turns are a list of objects; read_conversation() reads the objects.
FieldError check_turns(const Json& value, Case&) {
  if (!value.is_array() || value.empty() || value.size() > kMaxTurns ||
      !std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_object(); }))
    return fmt::format("must be a list of 1 to {} objects", kMaxTurns);
  return {};
}

FieldError read_max_sentences(const Json& value, Case& out) {
  if (!value.is_number_unsigned()) return "must be a whole number, 0 or more";
  out.max_sentences = value.get<size_t>();
  return {};
}

FieldError read_never(const Json& value, Case& out) {
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!item.is_number_unsigned() || item < 1 || item > kNeverItems)
      return fmt::format("must be numbers of the NEVER list, 1 to {}", kNeverItems);
    out.never.push_back(item.get<int>());
  }
  return {};
}

FieldError read_relevant(const Json& value, Query& out) {
  const char* wrong =
      "must be an object of slugs with their gains, numbers above 0 and at most 1000";
  if (!value.is_object()) return wrong;
  for (const auto& [slug, gain] : value.items()) {
    if (slug.empty() || !gain.is_number() || !(gain.get<double>() > 0) ||
        gain.get<double>() > kMaxGain)
      return wrong;
    out.relevant[slug] = gain.get<double>();
  }
  return {};
}

template <class T>
struct Field {
  std::string_view name;
  FieldError (*read)(const Json& value, T& out);
};

// The fields of a case in the order of docs/eval.md.
constexpr Field<Case> kCaseFields[] = {
    {"id", read_word<&Case::id>},
    {"category", read_word<&Case::category>},
    {"query", read_question<&Case::query>},
    {"before", read_before},
    {"context", read_context},
    {"seen", read_seen},
    {"interests", read_text_list<&Case::interests>},
    {"route", read_route},
    {"confidence", read_confidence},
    {"ideal_cite", read_text_list<&Case::ideal_cite>},
    {"must_cite", read_flag<&Case::must_cite>},
    {"must_not_cite", read_text_list<&Case::must_not_cite>},
    {"max_sentences", read_max_sentences},
    {"must_end_with", read_nonempty_text<&Case::must_end_with>},
    {"reply", read_nonempty_text<&Case::reply>},
    {"fail_if_summary", read_flag<&Case::fail_if_summary>},
    {"tone", read_tone},
    {"fail_if", read_fail_if},
    {"must_say", read_must_say},
    {"must_not_say", read_text_list<&Case::must_not_say>},
    {"never", read_never},
    {"model", read_any_text<&Case::model>},
    {"ideal", read_any_text<&Case::ideal>},
    {"note", read_any_text<&Case::note>},
};

// The fields of a conversation. What all its turns have in common is read into a case.
constexpr Field<Case> kConversationFields[] = {
    {"id", read_word<&Case::id>},
    {"kind", read_word<&Case::category>},
    {"context", read_context},
    {"seen", read_seen},
    {"interests", read_text_list<&Case::interests>},
    {"turns", check_turns},
    {"note", read_any_text<&Case::note>},
};

constexpr Field<Query> kQueryFields[] = {
    {"id", read_word<&Query::id>},
    {"query", read_question<&Query::text>},
    {"relevant", read_relevant},
    {"note", read_any_text<&Query::note>},
};

template <class T>
using Fields = std::type_identity_t<std::span<const Field<T>>>;

template <class T>
std::vector<std::string> names(Fields<T> fields) {
  std::vector<std::string> out;
  for (const Field<T>& field : fields) out.emplace_back(field.name);
  return out;
}

// The fields of a turn: those of a case, except the ones that belong to the whole conversation.
const std::vector<Field<Case>>& turn_fields() {
  static const std::vector<Field<Case>> fields = [] {
    std::vector<Field<Case>> out;
    for (const Field<Case>& field : kCaseFields) {
      constexpr std::string_view kOfConversation[] = {"id",      "category", "before",
                                                      "context", "seen",     "interests"};
      if (std::find(std::begin(kOfConversation), std::end(kOfConversation), field.name) ==
          std::end(kOfConversation))
        out.push_back(field);
    }
    return out;
  }();
  return fields;
}

// A line and its place for messages: "evals/my.jsonl:12".
struct Line {
  std::string_view text;
  std::string place;

  tl::unexpected<Error> error(std::string_view what, std::string hint) const {
    return fail(ErrorKind::data, fmt::format("{}: {}", place, what), std::move(hint));
  }
};

std::string shown(const std::string& name) {
  const std::string line = text::one_line(name);
  return line.substr(0, text::floor_char_boundary(line, 60));
}

Result<Json> parse(const Line& line) {
  const char* hint = "give one JSON object a line; there are no comments";
  if (line.text.size() > kMaxLineBytes) return line.error("the line has more than 1 MB", hint);
  // The check for NUL is needed because the JSON parser would take it for the end of the text.
  if (line.text.find('\0') != line.text.npos)
    return line.error("not JSON: it has a NUL byte", hint);
  std::set<std::string> keys[kMaxDepth + 1];  // keys of the open objects, by depth
  std::string repeated;
  bool too_deep = false;
  const auto note_keys = [&](int depth, Json::parse_event_t event, Json& parsed) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth > kMaxDepth) return !(too_deep = true);
    if (event == Json::parse_event_t::object_start) keys[depth].clear();
    if (event == Json::parse_event_t::key && depth <= kMaxDepth + 1 &&
        !keys[depth - 1].insert(parsed.get<std::string>()).second)
      repeated = shown(parsed.get<std::string>());
    return true;
  };
  try {
    Json json = Json::parse(line.text, note_keys);
    if (too_deep)
      return line.error(fmt::format("nested more than {} levels", kMaxDepth),
                        "no field needs that many");
    if (!json.is_object()) return line.error("not a JSON object", hint);
    if (!repeated.empty())
      return line.error(fmt::format("the field '{}' occurs twice", repeated),
                        "keep one of the two");
    return json;
  } catch (const Json::parse_error& error) {
    return line.error(fmt::format("not JSON: the error is at byte {}", error.byte), hint);
  } catch (const Json::out_of_range&) {
    return line.error("not JSON: a number is too large", hint);
  }
}

template <class T>
Result<> read_fields(const Line& line, const Json& json, Fields<T> fields, std::string_view kind,
                     const char* required, T& out) {
  const std::vector<std::string> known = names<T>(fields);
  const std::string hint = fmt::format("the fields of {} are {}", kind, fmt::join(known, ", "));
  for (const auto& [key, value] : json.items()) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field<T>& one) { return one.name == key; });
    if (field == fields.end())
      return line.error(fmt::format("unknown field '{}'{}", shown(key), did_you_mean(key, known)),
                        hint);
    if (const FieldError wrong = field->read(value, out))
      return line.error(fmt::format("'{}' {}", key, *wrong),
                        "correct the value or leave the field out");
  }
  if (!json.contains(required))
    return line.error(fmt::format("the field '{}' is missing", required), hint);
  return {};
}

// Says why no answer can meet all expectations of the case; nullopt if an answer can.
std::optional<std::string> contradiction(const Case& test_case) {
  const bool canned =
      test_case.route && (*test_case.route == Route::meta || *test_case.route == Route::offtopic ||
                          *test_case.route == Route::nothing);
  const bool must_cite = test_case.must_cite.value_or(false);
  const bool must_not_cite = !test_case.must_cite.value_or(true);
  const bool ends_in_cite = test_case.must_end_with == "cite";
  if (canned && (!test_case.ideal_cite.empty() || must_cite || ends_in_cite))
    return fmt::format("route '{}' has a fixed reply without citations, but a citation is expected",
                       to_string(*test_case.route));
  if (must_not_cite && !test_case.ideal_cite.empty())
    return "must_cite is false, but ideal_cite expects a citation";
  if (must_not_cite && ends_in_cite)
    return "must_cite is false, but must_end_with expects a citation";
  for (const std::string& slug : test_case.ideal_cite)
    if (std::find(test_case.must_not_cite.begin(), test_case.must_not_cite.end(), slug) !=
        test_case.must_not_cite.end())
      return fmt::format("'{}' is both in ideal_cite and in must_not_cite", shown(slug));
  if (test_case.route == Route::followup && test_case.before.empty())
    return "route 'followup' is expected, but there is no earlier turn";
  return {};
}

Result<> take_id(const Line& line, const std::string& name, Cases& out) {
  const auto [first, is_new] = out.places.emplace(name, line.place);
  if (is_new) return {};
  return line.error(fmt::format("the id '{}' is already used at {}", name, first->second),
                    "give each case an id of its own");
}

// The hash covers what the case asks and expects, but not texts that are only shown in the report.
std::string hash_of(Json json) {
  for (const char* field : {"id", "category", "ideal", "note"}) json.erase(field);
  constexpr size_t kHashDigits = 12;
  return content_hash(json.dump()).substr(0, kHashDigits);
}

constexpr const char* kContradictionHint =
    "change one of the two, because such a case can never pass";

// Appends every turn as a case.
Result<> read_conversation(const Line& line, const Json& json, const std::string& default_id,
                           Cases& out) {
  Case common;
  common.id = default_id;
  STOKA_TRY(read_fields(line, json, kConversationFields, "a conversation", "turns", common));
  common.suite = "conversations";
  common.conversation = common.id;
  for (Json turn : json.at("turns")) {
    const size_t number = common.before.size() + 1;
    const Line part{line.text, fmt::format("{} turn {}", line.place, number)};
    Case test_case = common;
    test_case.id = fmt::format("{}#{}", common.conversation, number);
    STOKA_TRY(read_fields(part, turn, turn_fields(), "a turn", "query", test_case));
    if (const auto why = contradiction(test_case)) return part.error(*why, kContradictionHint);
    for (const char* field : {"context", "seen", "interests"})
      if (json.contains(field)) turn[field] = json[field];
    test_case.hash = hash_of(std::move(turn));
    STOKA_TRY(take_id(part, test_case.suite + "/" + test_case.id, out));
    common.before.push_back(test_case.query);
    out.cases.push_back(std::move(test_case));
  }
  return {};
}

Result<> read_line(const Line& line, const std::string& default_id, std::string_view suite,
                   Cases& out) {
  STOKA_ASSIGN(const Json json, parse(line));
  if (json.contains("turns")) return read_conversation(line, json, default_id, out);
  if (json.contains("relevant")) {
    Query query;
    query.id = default_id;
    STOKA_TRY(read_fields(line, json, kQueryFields, "a retrieval query", "query", query));
    query.hash = hash_of(json);
    STOKA_TRY(take_id(line, "retrieval/" + query.id, out));
    out.queries.push_back(std::move(query));
    return {};
  }
  Case test_case;
  test_case.id = default_id;
  STOKA_TRY(read_fields(line, json, kCaseFields, "a case", "query", test_case));
  test_case.suite = suite;
  test_case.hash = hash_of(json);
  if (const auto why = contradiction(test_case)) return line.error(*why, kContradictionHint);
  STOKA_TRY(take_id(line, test_case.suite + "/" + test_case.id, out));
  out.cases.push_back(std::move(test_case));
  return {};
}

}  // namespace

std::vector<std::string> case_fields() { return names<Case>(kCaseFields); }
std::vector<std::string> conversation_fields() { return names<Case>(kConversationFields); }
std::vector<std::string> query_fields() { return names<Query>(kQueryFields); }

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
