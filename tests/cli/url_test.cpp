// --url: stoka as a client of another stoka.
#include <doctest/doctest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>

#include <algorithm>

#include "server_process.h"
#include "support/canned_server.h"
#include "support/json.h"

namespace url_test {

using namespace stoka::testing;
using Json = nlohmann::json;

namespace {

Machine& site() {
  static Machine made;
  static bool indexed = (made.index_sample(), true);
  (void)indexed;
  return made;
}

const std::string& url() {
  static ServerProcess served(site());
  return served.url();
}

// A machine without an index.
Machine& visitor() {
  static Machine made;
  return made;
}

std::vector<Json> events(const std::string& out) {
  std::vector<Json> all;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
  return all;
}

// The events without the members that differ between runs.
std::string without_ids(std::string out) {
  std::string kept;
  for (Json& event : events(out)) {
    for (const char* own : {"session_id", "visitor_id", "latency_ms"}) event["data"].erase(own);
    kept += event.dump() + "\n";
  }
  return kept;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string http(const std::string& status, const std::string& type, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nConnection: close\r\n\r\n" +
         body;
}

// Replaces absolute addresses of citations by paths, as a local answer has them.
std::string with_paths(std::string out) {
  for (size_t at = 0; (at = out.find(url() + "/", at)) != std::string::npos;)
    out.erase(at, url().size());
  return out;
}

// Runs a conversation on a pseudo-terminal and returns its output.
std::string on_terminal(const Machine& machine, std::vector<std::string> arguments,
                        const std::vector<std::string>& typed) {
  arguments.insert(arguments.begin(), STOKA_BINARY);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string home = "HOME=" + machine.home().string();
  const winsize size{24, 100, 0, 0};
  int screen = -1;
  const pid_t child = ::forkpty(&screen, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    const char* environment[] = {home.c_str(), "TERM=dumb", "LC_ALL=C.UTF-8", nullptr};
    ::execve(argv[0], argv.data(), const_cast<char**>(environment));
    ::_exit(127);
  }
  std::string all;
  size_t next = 0;
  char bytes[4096];
  // Types one line at each prompt.
  for (size_t seen = 0;;) {
    pollfd polled{screen, POLLIN, 0};
    if (::poll(&polled, 1, 30'000) <= 0) FAIL("nothing more is drawn: " << all);
    const ssize_t n = ::read(screen, bytes, sizeof bytes);
    if (n <= 0) break;
    all.append(bytes, static_cast<size_t>(n));
    if (next < typed.size() && all.find("\n> ", seen) != std::string::npos) {
      seen = all.size();
      const std::string line = typed[next++] + "\n";
      CHECK(::write(screen, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(screen);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  return all;
}

}  // namespace

TEST_CASE("chat --url gives the same answer as chat and needs no local index") {
  for (const char* query : {"what is this?", "tell me about bounded execution",
                            "best javascript framework?", "quantum gravity research"}) {
    CAPTURE(std::string(query));
    const ProcessResult there = visitor().stoka({"chat", "--json", "--url", url(), query});
    const ProcessResult here = site().stoka({"chat", "--json", query});
    CHECK(there.code == 0);
    CHECK(there.err == "");
    CHECK(without_ids(with_paths(there.out)) == without_ids(here.out));
  }
  CHECK(!std::filesystem::exists(visitor().database()));
}

TEST_CASE("chat --url prints the same text, with addresses of the remote site") {
  const ProcessResult there =
      visitor().stoka({"chat", "--url", url(), "tell me about bounded execution"});
  const std::string here = site().stoka({"chat", "tell me about bounded execution"}).out;
  // Only an absolute address keeps its text fragment.
  std::string pages = with_paths(there.out);
  for (size_t at = 0; (at = pages.find("#:~:text=", at)) != std::string::npos;)
    pages.erase(at, pages.find('\n', at) - at);
  CHECK(pages == here);
  CHECK(has(there.out, "> " + url() + "/blog/philosophy-bounded-execution#:~:text=A%20bound"));
}

TEST_CASE("with --url the lines of standard input are turns of one session") {
  const ProcessResult ran =
      visitor().stoka({"chat", "--url", url(), "--json", "-"},
                      "tell me about bounded execution\nwhat about its limits\n");
  CHECK(ran.code == 0);
  std::vector<Json> ready, done;
  for (const Json& event : events(ran.out)) {
    if (event["event"] == "ready") ready.push_back(event["data"]);
    if (event["event"] == "done") done.push_back(event["data"]);
  }
  REQUIRE(ready.size() == 2);
  CHECK(ready[0]["session_id"] == ready[1]["session_id"]);
  CHECK(ready[0]["visitor_id"] == ready[1]["visitor_id"]);
  CHECK(ready[1]["route"] == "followup");
  CHECK(done.back()["turns"] == 2);
}

TEST_CASE("discover --url and context --url print the same as without --url") {
  const char* page = "/blog/philosophy-bounded-execution";
  for (std::vector<std::string> command :
       {std::vector<std::string>{"discover", "--json", "--limit", "4", "--page", page},
        {"discover", "--json", "--seen", "debono-boss-fight"},
        {"context", "--json", "--page", "/"},
        {"context", "--json", "--page", page},
        {"context", "--page", "/"}}) {
    const std::string here = site().stoka(command).out;
    command.push_back("--url");
    command.push_back(url());
    const ProcessResult there = visitor().stoka(command);
    CHECK(there.code == 0);
    CHECK(there.err == "");
    CHECK(with_paths(there.out) == here);
  }
}

TEST_CASE("flags that need a local index are refused with --url") {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"chat", "--trace"},
                                                {"chat", "--dry-run"},
                                                {"discover", "--explain"},
                                                {"chat", "--store", "sqlite:x.db"},
                                                {"chat", "--record", "x"},
                                                {"context", "--page", "/", "--replay", "x"}}) {
    std::vector<std::string> command = flags;
    command.insert(command.end(), {"--url", "http://127.0.0.1:9"});
    if (command.front() == "chat") command.push_back("hi");
    const ProcessResult ran = visitor().stoka(command);
    CHECK(ran.code == 2);
    CHECK(ran.out == "");
    CHECK_MESSAGE(has(ran.err, "works only with the local index"), ran.err);
  }
  const ProcessResult before = visitor().stoka({"--url", "http://127.0.0.1:9", "chat", "hi"});
  CHECK(before.code == 2);
  CHECK(has(before.err, "stoka chat --url URL"));
  const ProcessResult other = visitor().stoka({"status", "--url", "http://127.0.0.1:9"});
  CHECK(other.code == 2);
  CHECK_MESSAGE(has(other.err, "unknown flag '--url'"), other.err);
  CHECK(!has(other.err, "did you mean"));
  CHECK(visitor().stoka({"chat", "--url", "ftp://x", "hi"}).code == 2);
  CHECK(visitor().stoka({"chat", "--url", "http://127.0.0.1:9", " "}).code == 2);
}

TEST_CASE("a question that the site refuses gives the error of the site") {
  const ProcessResult ran =
      visitor().stoka({"chat", "--url", url(), "--session", "nonsense", "hi"});
  CHECK(ran.code == 2);
  CHECK(ran.out == "");
  CHECK_MESSAGE(has(ran.err, "session_id"), ran.err);
}

TEST_CASE("an address without a stoka server gives a one-line error and exit code 4") {
  const CannedServer page(http("200 OK", "text/html", "<h1>hello</h1>"));
  const CannedServer gone(http("502 Bad Gateway", "text/html", "<h1>bad gateway</h1>"));
  const CannedServer noise("SSH-2.0-OpenSSH_9.2\r\n");
  for (const std::string& where :
       {std::string("http://127.0.0.1:9"), page.url(), gone.url(), noise.url()}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"chat", "hi"}, {"discover"}, {"context", "--page", "/"}}) {
      std::vector<std::string> asked = command;
      asked.insert(asked.end(), {"--url", where});
      const ProcessResult ran = visitor().stoka(asked);
      CHECK(ran.code == 4);
      CHECK(ran.out == "");
      CHECK_MESSAGE(has(ran.err, where), ran.err);
      CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    }
  }
  const ProcessResult json = visitor().stoka({"chat", "--json", "--url", page.url(), "hi"});
  CHECK(json.code == 4);
  CHECK(Json::parse(json.err)["error"]["kind"] == "protocol");
}

TEST_CASE("an answer that breaks off is printed as far as it came, and the exit code is 4") {
  const std::string begun =
      "event: ready\ndata: {\"session_id\":\"s\",\"visitor_id\":\"v\",\"route\":\"new\"}\n\n"
      "event: token\ndata: {\"text\":\"so far \\u001b[2J so good\"}\n\n";
  const CannedServer site(http("200 OK", "text/event-stream", begun));
  const ProcessResult text = visitor().stoka({"chat", "--url", site.url(), "hi"});
  CHECK(text.code == 4);
  CHECK(has(text.out, "so far"));
  CHECK(!has(text.out, "\x1b"));
  CHECK(has(text.err, "without a done or error event"));
  const ProcessResult json = visitor().stoka({"chat", "--json", "--url", site.url(), "hi"});
  CHECK(json.code == 4);
  CHECK(events(json.out).back()["event"] == "error");
  CHECK(events(json.out).back()["data"]["retryable"] == true);
}

TEST_CASE("a remote conversation keeps its session and its citations") {
  const std::string screen =
      on_terminal(visitor(), {"--url", url()},
                  {"tell me about bounded execution", "/seen", "/open 1", "/why", "/session",
                   "/new", "/seen", "/page /blog", "what is this?", "/quit"});
  CHECK_MESSAGE(has(screen, "The Philosophy of Bounded Execution"), screen);
  // A path is resolved against the address of the server.
  CHECK(has(screen, url() + "/blog/philosophy-bounded-execution#:~:text="));
  CHECK(has(screen, "the answers come from " + url()));
  CHECK(has(screen, "turns    1"));
  CHECK(has(screen, "nothing yet."));
  CHECK(has(screen, "a terminal. i know everything published here."));
  CHECK(!std::filesystem::exists(visitor().database()));
}

TEST_CASE("a conversation over the local index has its ids at once and explains its answers") {
  const std::string screen = on_terminal(
      site(), {}, {"/session", "tell me about bounded execution", "/seen", "/why", "/quit"});
  CHECK_MESSAGE(has(screen, "The Philosophy of Bounded Execution"), screen);
  const size_t answer = screen.find("The Philosophy");
  CHECK(screen.find("session  ") < answer);
  CHECK(screen.find("visitor  ") < answer);
  CHECK(screen.find("turns    0") < answer);
  CHECK(has(screen.substr(answer), "philosophy-bounded-execution"));
  CHECK(has(screen.substr(answer), "confidence"));
}

}  // namespace url_test
