#include "eval/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "eval/compare.h"

namespace stoka::eval {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Functions that write a report.

void put(OrderedJson& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}
void put(OrderedJson& object, const char* name, const std::vector<std::string>& texts) {
  if (!texts.empty()) object[name] = texts;
}

OrderedJson numbers(const std::map<std::string, double>& values) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [name, value] : values) out[name] = rounded(value);
  return out;
}

OrderedJson json_of(const Citation& citation) {
  OrderedJson out = {{"slug", citation.slug}, {"title", citation.title}, {"quote", citation.quote}};
  put(out, "type", citation.type);
  put(out, "reading_time", citation.reading_time);
  put(out, "date", citation.date);
  put(out, "url", citation.url);
  if (citation.published) out["published"] = iso_date(*citation.published);
  out["score"] = rounded(citation.score);
  return out;
}

OrderedJson json_of(const CaseResult& result) {
  OrderedJson out = {{"id", result.id}, {"suite", result.suite}};
  put(out, "category", result.category);
  out["passed"] = result.passed();
  out["trials"] = result.trials;
  out["passes"] = result.passes;
  out["errors"] = result.errors;
  out["scores"] = numbers(result.scores);
  put(out, "why", result.why);
  put(out, "error", result.error);
  put(out, "before", result.before);
  out["query"] = result.query;
  put(out, "route", result.route);
  put(out, "confidence", result.confidence);
  out["best_score"] = rounded(result.best_score);
  put(out, "answer", result.answer);
  if (!result.citations.empty()) {
    OrderedJson& citations = out["citations"] = OrderedJson::array();
    for (const Citation& citation : result.citations) citations.push_back(json_of(citation));
  }
  put(out, "ideal", result.ideal);
  put(out, "note", result.note);
  put(out, "hash", result.hash);
  return out;
}

// The value of a member of the report, with one item on each line.
std::string lines(const OrderedJson& value) {
  if (!value.is_structured() || value.empty()) return to_json_text(value);
  std::string out;
  for (const auto& item : value.items()) {
    out += out.empty() ? "\n    " : ",\n    ";
    if (value.is_object()) out += to_json_text(OrderedJson(item.key())) + ": ";
    out += to_json_text(item.value());
  }
  return value.is_object() ? "{" + out + "\n  }" : "[" + out + "\n  ]";
}

// Functions that read a report.

bool fits(const OrderedJson& value, const std::string&) { return value.is_string(); }
bool fits(const OrderedJson& value, double) { return value.is_number(); }
bool fits(const OrderedJson& value, size_t) { return value.is_number_unsigned(); }
std::string_view kind(const std::string&) { return "text"; }
std::string_view kind(double) { return "number"; }
std::string_view kind(size_t) { return "count"; }

// Reads known members of JSON objects and keeps the first problem. An absent member leaves its
// variable unchanged.
class JsonReader {
 public:
  const std::string& problem() const { return problem_; }
  void complain(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void require(const OrderedJson& object, std::initializer_list<const char*> names,
               const std::string& place) {
    for (const char* name : names)
      if (!object.contains(name)) complain(fmt::format("{} has no \"{}\"", place, name));
  }

  template <class T>
  void take(const OrderedJson& object, const char* name, T& out) {
    if (const auto found = object.find(name); found != object.end()) get(*found, name, out);
  }

 private:
  template <class T>
  requires std::same_as<T, std::string> || std::same_as<T, double> || std::same_as<T, size_t>
  void get(const OrderedJson& value, const char* name, T& out) {
    if (!fits(value, out)) return complain(fmt::format("\"{}\" is not a {}", name, kind(out)));
    out = value.get<T>();
  }

  template <class T>
  void get(const OrderedJson& value, const char* name, std::vector<T>& out) {
    if (!value.is_array()) return complain(fmt::format("\"{}\" is not a list", name));
    for (const OrderedJson& item : value) get(item, name, out.emplace_back());
  }

  template <class T>
  void get(const OrderedJson& value, const char* name, std::map<std::string, T>& out) {
    if (!is_object(value, name)) return;
    for (const auto& item : value.items()) get(item.value(), item.key().c_str(), out[item.key()]);
  }

  void get(const OrderedJson& value, const char* name, LatencyPercentiles& out) {
    if (!is_object(value, name)) return;
    take(value, "p50", out.p50);
    take(value, "p95", out.p95);
  }

  void get(const OrderedJson& value, const char* name, ConfidenceClass& out) {
    if (!is_object(value, name)) return;
    take(value, "name", out.name);
    take(value, "n", out.n);
    take(value, "right", out.correct);
  }

  void get(const OrderedJson& value, const char* name, Citation& out) {
    if (!is_object(value, name)) return;
    take(value, "slug", out.slug);
    take(value, "title", out.title);
    take(value, "quote", out.quote);
    take(value, "type", out.type);
    take(value, "reading_time", out.reading_time);
    take(value, "date", out.date);
    take(value, "url", out.url);
    std::string published;
    take(value, "published", published);
    out.published = parse_date(published);
    take(value, "score", out.score);
  }

  void get(const OrderedJson& value, const char* name, CaseResult& out) {
    if (!is_object(value, name)) return;
    require(value, {"id", "suite", "trials", "passes"}, "a case");
    take(value, "id", out.id);
    take(value, "suite", out.suite);
    take(value, "category", out.category);
    take(value, "trials", out.trials);
    take(value, "passes", out.passes);
    take(value, "errors", out.errors);
    take(value, "scores", out.scores);
    take(value, "why", out.why);
    take(value, "error", out.error);
    take(value, "before", out.before);
    take(value, "query", out.query);
    take(value, "route", out.route);
    take(value, "confidence", out.confidence);
    take(value, "best_score", out.best_score);
    take(value, "answer", out.answer);
    take(value, "citations", out.citations);
    take(value, "ideal", out.ideal);
    take(value, "note", out.note);
    take(value, "hash", out.hash);
    if (out.passes > out.trials) complain("a case has more passes than trials");
  }

  bool is_object(const OrderedJson& value, const char* name) {
    if (!value.is_object()) complain(fmt::format("\"{}\" has a value that is not an object", name));
    return value.is_object();
  }

  std::string problem_;
};

}  // namespace

double rounded(double value) {
  constexpr double kMaxScaled = 9e15;  // larger whole numbers are not exact in a double
  const double scaled = value * 1e4;
  if (!std::isfinite(scaled)) return 0;
  return std::abs(scaled) > kMaxScaled ? value : std::round(scaled) / 1e4 + 0.0;
}

double CaseResult::pass_rate() const {
  return trials == 0 ? 0 : static_cast<double>(passes) / static_cast<double>(trials);
}

size_t Report::passed() const {
  return static_cast<size_t>(std::ranges::count_if(cases, &CaseResult::passed));
}

size_t Report::failed() const { return cases.size() - passed() - errors(); }

size_t Report::errors() const {
  return static_cast<size_t>(
      std::ranges::count_if(cases, [](const CaseResult& c) { return c.errors > 0; }));
}

std::string to_json(const Report& report, const Comparison* comparison) {
  OrderedJson calibration = OrderedJson::array();
  for (const ConfidenceClass& c : report.calibration)
    calibration.push_back({{"name", c.name}, {"n", c.n}, {"right", c.correct}});
  OrderedJson cases = OrderedJson::array();
  for (const CaseResult& result : report.cases) cases.push_back(json_of(result));
  OrderedJson latency = OrderedJson::object();
  for (const auto& [name, ms] : report.latency)
    latency[name] = {{"p50", rounded(ms.p50)}, {"p95", rounded(ms.p95)}};

  const OrderedJson whole = {
      {"suite", report.suite},
      {"passed", report.passed()},
      {"failed", report.failed()},
      {"errors", report.errors()},
      {"repeat", report.repeat},
      {"parts", report.parts},
      {"metrics", numbers(report.metrics)},
      {"calibration", std::move(calibration)},
      {"cases", std::move(cases)},
      {"run",
       {{"at", report.at}, {"seconds", rounded(report.seconds)}, {"latency", std::move(latency)}}}};
  std::string out;
  for (const auto& item : whole.items()) {
    if (item.key() == "run" && comparison != nullptr)
      out += fmt::format(",\n  \"comparison\": {}", to_json(*comparison));
    out += fmt::format("{}  \"{}\": {}", out.empty() ? "" : ",\n", item.key(), lines(item.value()));
  }
  return "{\n" + out + "\n}\n";
}

Result<Report> read_report(std::string_view json, const std::string& file) {
  const auto refuse = [&file](std::string_view why) {
    return fail(ErrorKind::data, fmt::format("{} is not a report: {}", file, why),
                "make one with: stoka eval --report FILE.json");
  };
  const OrderedJson whole = OrderedJson::parse(json, nullptr, false);
  if (whole.is_discarded()) return refuse("not JSON");
  if (!whole.is_object()) return refuse("not a JSON object");

  Report out;
  JsonReader reader;
  reader.require(whole, {"suite", "metrics", "cases"}, "it");
  reader.take(whole, "suite", out.suite);
  reader.take(whole, "repeat", out.repeat);
  reader.take(whole, "parts", out.parts);
  reader.take(whole, "metrics", out.metrics);
  reader.take(whole, "calibration", out.calibration);
  reader.take(whole, "cases", out.cases);
  if (const auto run = whole.find("run"); run != whole.end()) {
    if (!run->is_object()) return refuse("\"run\" is not an object");
    reader.take(*run, "at", out.at);
    reader.take(*run, "seconds", out.seconds);
    reader.take(*run, "latency", out.latency);
  }
  if (!reader.problem().empty()) return refuse(reader.problem());
  return out;
}

}  // namespace stoka::eval
