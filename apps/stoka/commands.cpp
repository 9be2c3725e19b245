#include <fmt/format.h>

#include "base/suggestion.h"
#include "command.h"

namespace stoka::app {
namespace {

constexpr Command kCommands[] = {
    {"index", "read a site's content into the index",
     "  stoka index content/            index markdown files and products.json that have changed\n"
     "  stoka index corpus.jsonl        index one document per line: id or _id, title, text\n"
     "  stoka index --prune content/    also remove documents whose files are gone\n"
     "  stoka index --dry-run content/  show what would change",
     declare_index},
    {"chat", "answer one question, or one per line of standard input",
     "  stoka chat \"tell me about bounded execution\"\n"
     "  stoka chat --json \"what is this?\"\n"
     "  printf 'tell me about debono\\nwhat about its errors\\n' | stoka chat -\n"
     "  stoka chat --dry-run \"why do agents need limits\"       show the prompt for a model\n"
     "  stoka chat --url https://example.com \"what is this?\"   ask a site that runs stoka serve",
     declare_chat},
    {"discover", "recommend what to read next",
     "  stoka discover --page /blog/philosophy-bounded-execution\n"
     "  stoka discover --seen debono-boss-fight --limit 5 --json",
     declare_discover},
    {"context", "print a one-line hint about a page",
     "  stoka context --page /\n"
     "  stoka context --page /blog/philosophy-bounded-execution",
     declare_context},
    {"route", "show how a question is routed, and which rule decides",
     "  stoka route hi\n"
     "  stoka route --json \"best javascript framework?\"",
     declare_route},
    {"rerank", "show the ranked candidates for a question",
     "  stoka rerank \"how do you handle failures\"\n"
     "  stoka rerank --explain \"how do you handle failures\"   show every factor of every score\n"
     "  stoka rerank --texts lines.txt \"which line fits\"      rank the lines of a file",
     declare_rerank},
    {"profile", "show or set a visitor's interests and reading history",
     "  stoka profile --visitor 5b0c… --interests infrastructure,agents\n"
     "  stoka profile --visitor 5b0c… --read debono-boss-fight",
     declare_profile},
    {"status", "show what is indexed, and whether every part works",
     "  stoka status\n"
     "  stoka status --json",
     declare_status},
    {"serve", "serve answers over HTTP: a page with a terminal, and an API with event streams",
     "  stoka serve                              http://127.0.0.1:8787/\n"
     "  stoka serve --host 0.0.0.0 --port 80\n"
     "  curl -N http://127.0.0.1:8787/api/stoka/chat -H 'Content-Type: application/json' \\\n"
     "    -d '{\"query\":\"tell me about bounded execution\"}'",
     declare_serve},
    {"smoke", "run the eleven acceptance checks over HTTP",
     "  stoka smoke                              start servers over the sample site and check "
     "them\n"
     "  stoka smoke --url http://127.0.0.1:8787  check a running server, with questions about its "
     "newest pages\n"
     "  stoka smoke --url https://example.com --ask 'how do i install it' --cites install\n"
     "  stoka smoke --json",
     declare_smoke},
    {"eval", "evaluate answers and retrieval, and compare them with an earlier report",
     "  stoka eval                                       run all suites over the sample site\n"
     "  stoka eval --report now.json --baseline evals/baseline.json\n"
     "  stoka eval --cases my.jsonl                      run your cases over your index\n"
     "  stoka eval --cases my.jsonl --site content/      run your cases over these pages\n"
     "  stoka eval --queries q.jsonl --qrels qrels.tsv --run-out run.txt\n"
     "  stoka eval --sweep                               compare retrieval settings\n"
     "  stoka eval --repeat 5 --html report.html --history reports/",
     declare_eval},
    {"golden", "write the voice as files, to be edited",
     "  stoka golden init golden/                        write the files, with examples from your "
     "index\n"
     "  STOKA_GOLDEN_DIR=golden/ stoka chat \"what is this?\"",
     declare_golden},
    {"store", "copy an index and its sessions to another store",
     "  stoka store copy sqlite:stoka.db postgres://stoka@localhost/site\n"
     "  stoka store copy --prune \"$STOKA_DB_URL\" sqlite:backup.db   also remove other documents",
     declare_store},
    {"completion", "print shell completions",
     "  source <(stoka completion bash)\n"
     "  stoka completion fish > ~/.config/fish/completions/stoka.fish",
     declare_completion, false},
    {"help", "print the help of a command, or its manual page",
     "  stoka help chat\n"
     "  stoka help --man chat | man -l -",
     declare_help, false},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::vector<std::string> command_names() {
  std::vector<std::string> out;
  for (const Command& command : kCommands) out.emplace_back(command.name);
  return out;
}

Error unknown_command(std::string_view name) {
  return {ErrorKind::usage,
          fmt::format("unknown command '{}'{}", name, did_you_mean(name, command_names())),
          "see 'stoka --help'"};
}

}  // namespace stoka::app
