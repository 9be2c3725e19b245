// Prepared transfers, and what the tests of recordings read from a file.
#pragma once

#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "net/recording.h"
#include "support/temp_folder.h"

namespace stoka::testing::recording {

using namespace stoka::net;

struct LineLog final : Log {
  std::vector<std::string> lines;
  void write(LogLevel, std::string_view message) override { lines.emplace_back(message); }
};

struct ScriptedResponse {
  std::optional<ResponseHead> head;
  std::vector<std::string> pieces;
  std::optional<TransferFailure> failure;
};

// A transport with a list of prepared responses.
class ScriptedTransport final : public SynchronousTransport {
 public:
  std::deque<ScriptedResponse> responses;

  std::optional<TransferFailure> perform(const HttpRequest&, BodySink& sink,
                                         std::stop_token) override {
    const ScriptedResponse now = responses.front();
    responses.pop_front();
    if (now.head) {
      if (auto accepted = sink.head(*now.head); !accepted)
        return TransferFailure{accepted.error(), true, true};
      for (const std::string& piece : now.pieces) {
        const Result<BodyProgress> accepted = sink.body(piece);
        if (!accepted) return TransferFailure{accepted.error(), true, true};
        if (*accepted == BodyProgress::stop_reading) return std::nullopt;
      }
    }
    return now.failure;
  }
};

class RecordingSink final : public BodySink {
 public:
  std::optional<ResponseHead> response_head;
  std::vector<std::string> pieces;
  size_t enough_after = SIZE_MAX, error_after = SIZE_MAX;
  std::stop_source* stop_after_first = nullptr;

  Result<> head(const ResponseHead& head) override {
    response_head = head;
    if (error_after == 0) return fail(ErrorKind::protocol, "this is not it");
    return {};
  }
  Result<BodyProgress> body(std::string_view bytes) override {
    pieces.emplace_back(bytes);
    if (stop_after_first != nullptr) stop_after_first->request_stop();
    if (pieces.size() >= error_after) return fail(ErrorKind::protocol, "this is not it");
    return pieces.size() >= enough_after ? BodyProgress::stop_reading : BodyProgress::content;
  }
  std::string body_text() const {
    std::string out;
    for (const std::string& piece : pieces) out += piece;
    return out;
  }
};

inline ResponseHead head(int status, std::string type = "application/json") {
  ResponseHead out;
  out.status = status;
  out.content_type = std::move(type);
  return out;
}

inline ScriptedResponse answer(std::vector<std::string> pieces) {
  return {head(200), std::move(pieces), {}};
}

inline HttpRequest request(std::string role, std::string name, std::string body,
                           std::string subject = "") {
  HttpRequest out;
  out.role = std::move(role);
  out.endpoint = std::move(name);
  out.body = std::move(body);
  out.subject = std::move(subject);
  out.url = "http://secret-host:8000/v1/" + out.endpoint;
  return out;
}

struct RecordingFixture {
  TempFolder folder;
  std::filesystem::path file = folder / "tape.jsonl";

  // Records the prepared response to each request.
  void record(const std::vector<std::pair<HttpRequest, ScriptedResponse>>& exchanges) const {
    ScriptedTransport transport;
    auto recorder = RecordingTransport::create(file, transport);
    REQUIRE(recorder.has_value());
    for (const auto& [request, response] : exchanges) {
      transport.responses.push_back(response);
      RecordingSink sink;
      const auto failure = (*recorder)->perform(request, sink, {});
      CHECK(failure.has_value() == response.failure.has_value());
      CHECK(sink.pieces == response.pieces);
    }
  }
  std::unique_ptr<ReplayTransport> replay() const {
    NullLog log;
    auto opened = ReplayTransport::open(file, log);
    REQUIRE(opened.has_value());
    return *std::move(opened);
  }
  std::string text() const {
    std::stringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return out.str();
  }
};

inline std::string replayed(ReplayTransport& replay, const HttpRequest& sent) {
  RecordingSink sink;
  const auto failure = replay.perform(sent, sink, {});
  return failure ? "failure: " + failure->error.message : sink.body_text();
}

inline const std::string kLine =
    R"({"role":"embedder","name":"embed","subject":"","request":{},"status":200,)"
    R"("content_type":"application/json","body":"ab","pieces":[1,1]})";

}  // namespace stoka::testing::recording
