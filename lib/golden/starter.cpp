#include "golden/starter.h"

#include <fmt/format.h>

#include <system_error>

#include "base/ascii.h"
#include "base/embedded.h"
#include "base/files.h"

namespace stoka::golden {
namespace {

// The comment for a file whose built-in form has no comment, because a model reads that form.
std::string_view comment_for(std::string_view file) {
  if (file == "identity.txt")
    return "# Who answers: the first lines of the prompt of a model. Name your site here, if you "
           "like.\n"
           "# Lines that begin with # are not read.\n";
  if (file == "never.txt")
    return "# What an answer must never do, one rule a line; there must be fifteen. A model reads "
           "them,\n"
           "# numbered. Lines that begin with # are not read.\n";
  if (file == "voice.txt")
    return "# How an answer sounds. A model reads this after the rules of never.txt. Keep the last "
           "line:\n"
           "# it says how to cite. Lines that begin with # are not read.\n";
  if (file == "exchanges.txt")
    return "# Examples that show a model the voice: visitor: and stoka:, with an empty line "
           "between two.\n"
           "# Five to ten are enough. An example that cites a page which is not in the index is "
           "left out\n"
           "# of the prompt; 'stoka status' names it. Lines that begin with # are not read.\n";
  return {};
}

std::string drafted_exchanges(const Golden& built_in, std::span<const GoldenExchange> drafts) {
  std::string out =
      "# These were drafted from your index. The quotes are verbatim; the rest is yours to edit.\n";
  for (const GoldenExchange& draft : drafts) {
    out += fmt::format("visitor: {}\nstoka: ", draft.visitor);
    for (std::string_view rest = draft.stoka; !rest.empty();) {
      out += fmt::format("{}\n", take_line(rest));
      if (!rest.empty()) out += "       ";
    }
    out += "\n";
  }
  return out + "# These fit any site.\n" +
         built_in.exchanges_in([](std::string_view) { return false; }) + "\n";
}

}  // namespace

Result<std::vector<std::string>> write_starter(const std::filesystem::path& directory,
                                               std::span<const GoldenExchange> drafts) {
  STOKA_ASSIGN(const Golden built_in, load());
  std::error_code error;
  for (const EmbeddedFile& file : embedded::golden()) {
    const std::filesystem::path path = directory / file.name;
    if (std::filesystem::exists(std::filesystem::symlink_status(path, error)))
      return fail(ErrorKind::usage, fmt::format("{} exists already", path.string()),
                  "name another directory, or remove the file");
  }
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory, error))
    return fail(ErrorKind::data,
                fmt::format("cannot make the directory {}{}", directory.string(),
                            error ? ": " + error.message() : ""),
                "check the path and its permissions");
  std::vector<std::string> out;
  for (const EmbeddedFile& file : embedded::golden()) {
    std::string text(comment_for(file.name));
    if (!text.empty()) text += "\n";
    text += file.name == "exchanges.txt" && !drafts.empty() ? drafted_exchanges(built_in, drafts)
                                                            : std::string(file.text);
    STOKA_TRY(write_file(directory / file.name, text));
    out.emplace_back(file.name);
  }
  return out;
}

}  // namespace stoka::golden
