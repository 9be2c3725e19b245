#include "serve/server_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/scripted_generator.h"

namespace stoka::testing {

std::string get(std::string_view target, std::string_view headers) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n";
}

std::string post(std::string_view target, std::string_view body, std::string_view headers) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

std::string chat(const Json& body, std::string_view headers) {
  return post("/api/stoka/chat", body.dump(), headers);
}

const fs::path& small_index() {
  static TempFolder folder;
  static const fs::path made = [] {
    const fs::path posts = fs::path(STOKA_SOURCE_DIR) / "evals/site/blog";
    fs::create_directories(folder.path / "site/blog");
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(posts)) all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    all.resize(8);
    all.push_back(posts / "philosophy-bounded-execution.md");
    for (const fs::path& post : all)
      fs::copy_file(post, folder.path / "site/blog" / post.filename(),
                    fs::copy_options::overwrite_existing);
    fs::path path = folder.path / "small.db";
    auto store = store::open("sqlite:" + path.string(), store::OpenMode::read_write).value();
    NullLog log;
    embed::BuiltinEmbedder embedder(*store);
    pipeline::run_index(store.get(), embedder, index_request({folder.path / "site"}),
                        FixedClock(kNow), log)
        .value();
    return path;
  }();
  return made;
}

ServerFixture::ServerFixture(const fs::path& index) : parts(index) {
  options.port = 0;
  options.workers = 2;
}

serve::Server& ServerFixture::server() {
  if (server_) return *server_;
  engine_ = std::make_unique<pipeline::Engine>(
      pipeline::Engine::Parts{*parts.store, *parts.store, *parts.embedder, *parts.reranker,
                              *parts.generator, parts.golden, parts.router, parts.guard,
                              parts.clock, ids, log},
      parts.settings);
  auto listening = serve::Server::listen(*engine_, log, metrics, options);
  REQUIRE_MESSAGE(listening.has_value(), (listening ? "" : listening.error().message));
  server_ = std::move(*listening);
  thread_ = std::thread([this] {
    server_->run();
    ended_ = true;
  });
  return *server_;
}

HttpConnection ServerFixture::client(int receive_buffer) {
  HttpConnection out(port(), receive_buffer);
  REQUIRE(out.connected());
  return out;
}

ScriptedGenerator& ServerFixture::use_scripted_generator() {
  auto made = std::make_unique<ScriptedGenerator>();
  ScriptedGenerator& out = *made;
  parts.generator = std::move(made);
  return out;
}

void ServerFixture::join() {
  if (thread_.joinable()) thread_.join();
}

void ServerFixture::stop_now() {
  if (!server_) return;
  server_->stop();
  server_->stop();
  join();
  server_.reset();
}

std::string ServerFixture::log_text() const {
  const std::lock_guard lock(mutex);
  return lines;
}

}  // namespace stoka::testing
