#include "serve/chat_server_fixture.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "generate/openai_generator.h"
#include "net/recording.h"
#include "rerank/remote.h"
#include "support/setting_names.h"

namespace stoka::testing {
namespace {

// The path of an index of the sample site with vectors of the fake server, which is made once in a
// process.
const fs::path& model_index() {
  static TempFolder folder;
  static const fs::path made = [] {
    FakeUpstream fake;
    net::HttpClient client;
    NullLog null_log;
    const FixedClock clock(kNow);
    net::Upstream server(
        {"embedder", net::BaseUrl::parse(fake.url(), net::ApiRoot::plain).value(), {}, {}}, client,
        null_log);
    embed::TeiEmbedder model(server, clock);
    fs::path path = folder.path / "models.db";
    auto store = store::open("sqlite:" + path.string(), store::OpenMode::read_write).value();
    auto request = index_request({fs::path(STOKA_SOURCE_DIR) / "evals/site"});
    request.identity.embedder.clear();
    pipeline::run_index(store.get(), model, request, clock, null_log).value();
    return path;
  }();
  return made;
}

fs::path index_for(const ChatServerOptions& options) {
  if (!options.embedder.empty()) return model_index();
  return options.sample ? sample_index() : fs::path();
}

}  // namespace

std::string ChatReply::text() const {
  std::string out;
  for (const ReplyEvent& event : events)
    if (event.name == "token") out += event.json()["text"].get<std::string>();
  return out;
}

std::vector<std::string> ChatReply::cited() const {
  std::vector<std::string> out;
  for (const ReplyEvent& event : events)
    if (event.name == "cite") out.push_back(event.json()["slug"].get<std::string>());
  return out;
}

bool ChatReply::well_formed() const {
  size_t ready = 0, ends = 0;
  for (const ReplyEvent& event : events) {
    ready += event.name == "ready";
    ends += event.name == "done" || event.name == "error";
  }
  return ready == 1 && ends == 1 && events.front().name == "ready" &&
         (last().name == "done" || last().name == "error");
}

void send_chat(HttpConnection& client, const Json& body, std::string_view version) {
  const std::string text = body.dump();
  const bool sent = client.send(
      fmt::format("POST /api/stoka/chat HTTP/{}\r\nHost: x\r\nContent-Type: application/json\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  version, text.size(), text));
  if (!sent) throw std::runtime_error("the server has closed the connection");
}

ChatReply read_reply(HttpConnection& client) {
  ChatReply out{client.reply(), {}, {}};
  if (out.header("content-type") == "text/event-stream") out.events = parse_events(out.body);
  if (out.header("content-type") == "application/problem+json") out.problem = Json::parse(out.body);
  return out;
}

ChatServerFixture::ChatServerFixture(ChatServerOptions given)
    : ServerFixture(index_for(given)), given_(std::move(given)) {
  options = given_.server;
  options.port = 0;
  options.site.chat.requests = 0;
  if (!given_.record.empty())
    tape_ = net::RecordingTransport::create(given_.record, client_).value();
  if (!given_.replay.empty()) tape_ = net::ReplayTransport::open(given_.replay, log).value();
  if (!given_.embedder.empty()) {
    parts.embedder = std::make_unique<embed::TeiEmbedder>(
        upstream("embedder", given_.embedder, net::ApiRoot::plain), parts.clock,
        given_.query_timeout);
    parts.settings.identity.embedder.clear();
  }
  if (!given_.reranker.empty())
    parts.reranker = std::make_unique<rerank::TeiReranker>(
        upstream("reranker", given_.reranker, net::ApiRoot::plain),
        rerank::RemoteRerankerOptions());
  if (!given_.generator.empty()) {
    generate::OpenAiOptions named;
    named.model = "fake-model";  // a named model needs no list of models
    parts.generator = std::make_unique<generate::OpenAiGenerator>(
        upstream("generator", given_.generator, net::ApiRoot::versioned), named, log);
  }
}

ChatServerFixture::~ChatServerFixture() {
  stop_now();
  // They use the upstreams.
  parts.embedder.reset();
  parts.reranker.reset();
  parts.generator.reset();
}

ChatReply ChatServerFixture::ask(const Json& body) {
  HttpConnection client = start(body);
  return read_reply(client);
}

HttpConnection ChatServerFixture::start(const Json& body) {
  HttpConnection out = client();
  send_chat(out, body.is_string() ? Json{{"query", body}} : body);
  return out;
}

double ChatServerFixture::metric(const std::string& start) const {
  double out = 0;
  const std::string text = "\n" + metrics.text();
  for (size_t at = text.find("\n" + start); at != text.npos; at = text.find("\n" + start, at + 1))
    out += std::stod(text.substr(text.find(' ', text.find_first_of(" }", at + 1))));
  return out;
}

bool ChatServerFixture::quiet() const {
  return metrics.open_streams.value() == 0 && metric("stoka_gate_taken") == 0 &&
         metric("stoka_gate_waiting") == 0;
}

net::Upstream& ChatServerFixture::upstream(const std::string& role, const std::string& url,
                                           net::ApiRoot root) {
  net::UpstreamOptions out{role, net::BaseUrl::parse(url, root).value(), {}, given_.deadlines};
  out.settings = setting_names(role);
  out.semaphore = given_.gate;
  out.breaker = given_.breaker;
  out.retries = 0;
  upstreams_.push_back(std::make_unique<net::Upstream>(out, tape_ ? *tape_ : client_, log));
  const net::Upstream* const made = upstreams_.back().get();
  metrics.add_gauge("stoka_gate_taken", {{"gate", role}},
                    [made] { return static_cast<double>(made->semaphore().in_use()); });
  metrics.add_gauge("stoka_gate_waiting", {{"gate", role}},
                    [made] { return static_cast<double>(made->semaphore().waiting()); });
  return *upstreams_.back();
}

}  // namespace stoka::testing
