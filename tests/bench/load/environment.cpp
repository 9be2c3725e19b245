#include "bench/load/environment.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "bench/load/upstream.h"

namespace stoka::load {
namespace {

constexpr int kPages = 250;
constexpr int kSections = 4;  // of each page; 1,000 chunks in all

// Synthetic words that follow Zipf's law.
class Words {
 public:
  Words() {
    std::vector<double> weights;
    for (int i = 1; i <= 5000; ++i) weights.push_back(1.0 / i);
    pick_ = std::discrete_distribution<int>(weights.begin(), weights.end());
  }
  std::string operator()(int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += fmt::format("w{}{}", pick_(random_), i % 12 == 11 ? ". " : " ");
    return out + "end.";
  }
  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }

 private:
  std::mt19937 random_{7};
  std::discrete_distribution<int> pick_;
};

void make_site(const testing::TempFolder& folder) {
  Words words;
  for (int page = 0; page < kPages; ++page) {
    std::string text = fmt::format(
        "---\ntitle: Page {}\nslug: page-{}\ndate: 2024-0{}-1{}\ntags: [w{}, w{}]\n---\n\n",
        words(3), page, 1 + page % 9, page % 10, page % 40, page % 7);
    for (int section = 0; section < kSections; ++section)
      text += fmt::format("{}{}\n\n", section == 0 ? "" : fmt::format("## Part {}\n\n", section),
                          words(120 + words.below(160)));
    folder.write(fmt::format("site/blog/page-{}.md", page), text);
  }
}

bool listens(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool out = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return out;
}

}  // namespace

BenchEnvironment::BenchEnvironment(std::string stoka)
    : stoka_(std::move(stoka)), board_(make_board()) {
  const int listener = listen_on_loopback(upstream_port_);
  upstream_ = std::make_unique<Process>([&] { serve_models(listener, board_); });
  ::close(listener);
}

BenchEnvironment::~BenchEnvironment() { upstream_->end(2); }

Variables BenchEnvironment::variables(bool models) const {
  const std::string db = "sqlite:" + (folder_ / (models ? "models.db" : "builtin.db")).string();
  // A limit of 0 means no limit.
  Variables out = {{"STOKA_DB_URL", db},
                   {"XDG_CONFIG_HOME", folder_.path.string()},
                   {"XDG_DATA_HOME", folder_.path.string()},
                   {"STOKA_CHAT_LIMIT", "0"},
                   {"STOKA_DISCOVER_LIMIT", "0"},
                   {"STOKA_CONTEXT_LIMIT", "0"},
                   {"STOKA_EMBED_CONCURRENCY", "1000"},
                   {"STOKA_RERANK_CONCURRENCY", "1000"},
                   {"STOKA_GEN_CONCURRENCY", "1000"}};
  if (models) {
    const std::string url = fmt::format("http://127.0.0.1:{}", upstream_port_);
    for (const char* name : {"STOKA_EMBED_URL", "STOKA_RERANK_URL", "STOKA_GEN_URL"})
      out.emplace_back(name, url);
  }
  return out;
}

void BenchEnvironment::index(bool models) {
  if (!site_) make_site(folder_);
  site_ = true;
  Process process({stoka_, "index", "--quiet", (folder_ / "site").string()}, variables(models),
                  folder_ / "index.log");
  const int code = process.wait();
  if (interrupted()) throw std::runtime_error("interrupted");
  if (code != 0)
    throw std::runtime_error(fmt::format("stoka index ended with {}: {}", code, log("index")));
}

std::unique_ptr<Process> BenchEnvironment::serve(bool models, uint16_t port,
                                                 const Variables& more) {
  Variables all = variables(models);
  all.insert(all.end(), more.begin(), more.end());
  Variables last;  // the last value of each name
  for (size_t i = 0; i < all.size(); ++i) {
    bool again = false;
    for (size_t j = i + 1; j < all.size(); ++j) again = again || all[j].first == all[i].first;
    if (!again) last.push_back(all[i]);
  }
  auto out = std::make_unique<Process>(
      std::vector<std::string>{stoka_, "serve", "--port", std::to_string(port)}, last,
      folder_ / "serve.log");
  wait_for(*out, port, "serve");
  return out;
}

std::unique_ptr<Process> BenchEnvironment::nginx(uint16_t port) {
  const std::string at = folder_.path.string();
  // A single process, so that no worker can outlive it.
  folder_.write("nginx.conf", fmt::format(R"(daemon off;
master_process off;
worker_processes 1;
pid {0}/nginx.pid;
error_log {0}/nginx.log warn;
worker_rlimit_nofile 16384;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path {0}/nginx-body;
  proxy_temp_path {0}/nginx-proxy;
  fastcgi_temp_path {0}/nginx-fastcgi;
  uwsgi_temp_path {0}/nginx-uwsgi;
  scgi_temp_path {0}/nginx-scgi;
  client_body_buffer_size 256k;
  keepalive_requests 100000000;
  keepalive_timeout 300s;
  tcp_nodelay on;
  upstream models {{
    server 127.0.0.1:{1};
    keepalive 2048;
    keepalive_requests 100000000;
  }}
  server {{
    listen 127.0.0.1:{2} backlog=4096;
    location / {{
      proxy_pass http://models;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }}
  }}
}}
)",
                                          at, upstream_port_, port));
  auto out =
      std::make_unique<Process>(std::vector<std::string>{"nginx", "-p", at, "-e", at + "/nginx.log",
                                                         "-c", at + "/nginx.conf"},
                                Variables{}, folder_ / "nginx.log");
  wait_for(*out, port, "nginx");
  return out;
}

void BenchEnvironment::wait_for(Process& process, uint16_t port, const std::string& name) {
  const int64_t until = now_us() + 20000000;
  while (!listens(port)) {
    if (interrupted()) throw std::runtime_error("interrupted");
    if (!process.running() || now_us() > until)
      throw std::runtime_error(fmt::format("{} does not answer: {}", name, log(name)));
    ::usleep(5000);
  }
}

std::string BenchEnvironment::log(const std::string& name) const {
  std::ifstream file(folder_ / (name + ".log"));
  std::ostringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const size_t report = std::min(all.find("ERROR: "), all.find("runtime error: "));
  if (report != all.npos) return all.substr(report, 24000);
  return all.size() > 2000 ? all.substr(all.size() - 2000) : all;
}

std::string question(std::mt19937& random) {
  return fmt::format("tell me about w{} and w{} in w{}", random() % 300, random() % 300,
                     random() % 300);
}

std::string chat_body(const std::string& query, const std::string& session) {
  return session.empty() ? fmt::format(R"({{"query":"{}","page":"/blog/page-1"}})", query)
                         : fmt::format(R"({{"query":"{}","session_id":"{}"}})", query, session);
}

std::string stoka_beside(const char* self) {
  std::error_code ignored;
  const auto at = std::filesystem::weakly_canonical(self, ignored);
  const auto tree =
      at.parent_path().parent_path().parent_path();  // BUILD in BUILD/tests/bench/bench_X
  return (tree / "apps" / "stoka" / "stoka").string();
}

}  // namespace stoka::load
