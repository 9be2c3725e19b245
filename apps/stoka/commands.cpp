#include "command.h"

namespace stoka::app {
namespace {

constexpr Command kCommands[] = {
    {"index", "read a site's content into the index",
     "  stoka index content/            markdown trees and products.json, only what changed\n"
     "  stoka index corpus.jsonl        one document a line: id or _id, title, text\n"
     "  stoka index --prune content/    also forget what is gone\n"
     "  stoka index --dry-run content/  say what would change",
     declare_index},
    {"chat", "ask one question, or several on standard input",
     "  stoka chat \"tell me about bounded execution\"\n"
     "  stoka chat --json \"what is this?\"\n"
     "  printf 'tell me about debono\\nwhat about its errors\\n' | stoka chat -\n"
     "  stoka chat --dry-run \"why do agents need limits\"   the prompt a model would get\n"
     "  stoka chat --url https://example.com \"what is this?\"   a site that runs stoka serve",
     declare_chat},
    {"discover", "recommend what to read next",
     "  stoka discover --page /blog/philosophy-bounded-execution\n"
     "  stoka discover --seen debono-boss-fight --limit 5 --json",
     declare_discover},
    {"context", "one ambient line about a page",
     "  stoka context --page /\n"
     "  stoka context --page /blog/philosophy-bounded-execution",
     declare_context},
    {"route", "say how a question would be routed, and by which rule",
     "  stoka route hi\n"
     "  stoka route --json \"best javascript framework?\"",
     declare_route},
    {"rerank", "show the ranked candidates of a question",
     "  stoka rerank \"how do you handle failures\"\n"
     "  stoka rerank --explain \"how do you handle failures\"   every factor of every score\n"
     "  stoka rerank --texts lines.txt \"which line fits\"      rank given texts, one a line",
     declare_rerank},
    {"profile", "show or set a visitor's interests and reading history",
     "  stoka profile --visitor 5b0c… --interests infrastructure,agents\n"
     "  stoka profile --visitor 5b0c… --read debono-boss-fight",
     declare_profile},
    {"status", "what is indexed, and whether every part answers",
     "  stoka status\n"
     "  stoka status --json",
     declare_status},
    {"serve", "answer over HTTP: a page with a terminal, an API with event streams",
     "  stoka serve                              http://127.0.0.1:8787/\n"
     "  stoka serve --host 0.0.0.0 --port 80\n"
     "  curl -N http://127.0.0.1:8787/api/stoka/chat -H 'Content-Type: application/json' \\\n"
     "    -d '{\"query\":\"tell me about bounded execution\"}'",
     declare_serve},
    {"smoke", "the eleven acceptance checks, over HTTP",
     "  stoka smoke                              servers of its own, over the sample site\n"
     "  stoka smoke --url http://127.0.0.1:8787  one that runs; it asks about that site's newest "
     "pages\n"
     "  stoka smoke --url https://example.com --ask 'how do i install it' --cites install\n"
     "  stoka smoke --json",
     declare_smoke},
    {"eval", "judge answers and retrieval, and compare with an earlier report",
     "  stoka eval                                       all suites, over the sample site\n"
     "  stoka eval --report now.json --baseline evals/baseline.json\n"
     "  stoka eval --cases my.jsonl                      your cases, over your index\n"
     "  stoka eval --cases my.jsonl --site content/      and over these pages\n"
     "  stoka eval --queries q.jsonl --qrels qrels.tsv --run-out run.txt\n"
     "  stoka eval --sweep                               which settings find best\n"
     "  stoka eval --repeat 5 --html report.html --history reports/",
     declare_eval},
    {"store", "carry an index and its sessions to another store",
     "  stoka store copy sqlite:stoka.db postgres://stoka@localhost/site\n"
     "  stoka store copy --prune \"$STOKA_DB_URL\" sqlite:backup.db   and forget other documents",
     declare_store},
    {"completion", "shell completions",
     "  source <(stoka completion bash)\n"
     "  stoka completion fish > ~/.config/fish/completions/stoka.fish",
     declare_completion, false},
    {"help", "the help of a command, or its manual page",
     "  stoka help chat\n"
     "  stoka help --man chat | man -l -",
     declare_help, false},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace stoka::app
