#include "eval_inputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/embedded.h"
#include "base/files.h"
#include "eval/trec.h"
#include "text/utf8.h"

namespace stoka::app {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxCaseFile = 256ULL << 20;

std::string_view built_in(std::string_view name) {
  const EmbeddedFile* const file = embedded::find(embedded::evals(), name);
  return file == nullptr ? std::string_view() : file->text;
}

Result<> read_built_in(eval::Cases& out) {
  for (const std::string suite : {"constraints", "dataset", "conversations", "retrieval"})
    STOKA_TRY(eval::read_cases(built_in(suite + ".jsonl"), suite + ".jsonl", suite, out));
  return {};
}

Result<> read_collection(const EvalFiles& files, EvalInputs& out) {
  if (files.queries.empty() || files.qrels.empty())
    return fail(ErrorKind::usage, "--queries and --qrels must be given together",
                "name both files, e.g. --queries queries.jsonl --qrels qrels.tsv");
  STOKA_ASSIGN(const std::string queries, read_file(files.queries, kMaxCaseFile));
  STOKA_ASSIGN(out.qrels, read_file(files.qrels, kMaxCaseFile));
  STOKA_ASSIGN(std::vector<eval::Query> read,
               eval::read_collection(queries, files.queries, out.qrels, files.qrels));
  std::move(read.begin(), read.end(), std::back_inserter(out.cases.queries));
  return {};
}

}  // namespace

Result<EvalInputs> read_inputs(const EvalFiles& files, const std::string& suite,
                               const std::string& only) {
  EvalInputs out;
  const bool collection = !files.queries.empty() || !files.qrels.empty();
  if (collection) STOKA_TRY(read_collection(files, out));
  for (const std::string& file : files.cases) {
    STOKA_ASSIGN(const std::string text, read_file(file, kMaxCaseFile));
    if (!text::is_valid_utf8(text))
      return fail(ErrorKind::data, fmt::format("{} is not UTF-8", file), "save it as UTF-8");
    const size_t before = out.cases.cases.size() + out.cases.queries.size();
    const bool of_cases = suite == "constraints" || suite == "dataset";
    STOKA_TRY(eval::read_cases(text, file, of_cases ? suite : "", out.cases));
    if (out.cases.cases.size() + out.cases.queries.size() == before)
      return fail(ErrorKind::data, fmt::format("{} has no cases", file),
                  "write one JSON object per line; docs/eval.md describes the fields");
  }
  out.built_in = !collection && files.cases.empty();
  out.collection = collection;
  if (out.built_in) STOKA_TRY(read_built_in(out.cases));
  const auto chosen = [&](std::string_view of, const std::string& id) {
    return (suite == "all" || suite == of) && id.find(only) != std::string::npos;
  };
  // A turn of a conversation needs the turns before it, so a conversation is chosen as a whole.
  std::set<std::string> conversations;
  for (const eval::Case& one : out.cases.cases)
    if (chosen(one.suite, one.id)) conversations.insert(one.conversation);
  std::erase_if(out.cases.cases, [&](const eval::Case& one) {
    return one.conversation.empty() ? !chosen(one.suite, one.id)
                                    : !conversations.contains(one.conversation);
  });
  std::erase_if(out.cases.queries,
                [&](const eval::Query& one) { return !chosen("retrieval", one.id); });
  if (out.cases.cases.empty() && out.cases.queries.empty())
    return fail(
        ErrorKind::usage,
        only.empty() ? fmt::format("there are no cases for '{}'", suite)
                     : fmt::format("no id of '{}' contains '{}'", suite, only),
        only.empty() ? "leave out the suite to run all cases" : "stoka eval -v lists every case");
  return out;
}

Result<eval::Phrases> built_in_phrases() { return eval::read_phrases(built_in("phrases.toml")); }

Result<eval::Report> read_report_file(const std::string& file) {
  STOKA_ASSIGN(const std::string text, read_file(file, kMaxCaseFile));
  return eval::read_report(text, file);
}

Result<std::vector<eval::Report>> read_history(const std::string& folder) {
  std::error_code error;
  std::vector<eval::Report> out;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".json") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    if (auto report = read_report_file(file.string())) out.push_back(std::move(*report));
  if (error)
    return fail(ErrorKind::data, fmt::format("{}: {}", folder, error.message()),
                "name a folder of reports with --history");
  std::stable_sort(out.begin(), out.end(),
                   [](const eval::Report& a, const eval::Report& b) { return a.at < b.at; });
  return out;
}

Result<> check_writable(const std::string& file) {
  if (file.empty()) return {};
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  if (!error && !fs::is_directory(path, error) && fs::is_directory(path.parent_path(), error) &&
      ::access(path.parent_path().c_str(), W_OK) == 0)
    return {};
  return fail(ErrorKind::data, fmt::format("{} cannot be written", file),
              "name a file in a folder that exists");
}

}  // namespace stoka::app
