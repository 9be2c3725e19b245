#include "support/upstream/behaviour.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace stoka::testing {

const std::vector<NamedDescription> kDialects = {
    {"vllm", "reasoning, finish_reason with the last text, [DONE] after errors too"},
    {"llamacpp", "content null first, reasoning_content, comment pings, no [DONE] after errors"},
    {"ollama", "reasoning, errors are an empty chunk and the end"},
    {"lmstudio", "CRLF, reasoning_content, errors as event: error"},
    {"openai", "usage null and obfuscation in every chunk, hidden reasoning"},
    {"openrouter", "comments, reasoning_details, usage always, finish_reason error"},
};

const std::vector<NamedDescription> kBehaviours = {
    {"path", "only for requests whose path ends with this: \"/embed\""},
    {"times", "to how many requests it applies; default 1, 0: all"},
    {"dialect", "the dialect of this response"},
    {"model", "the model's name in the response; no name in a request is refused"},
    {"answer", "text of a chat answer or completion; a list has one for each choice"},
    {"reasoning", "the reasoning text before the answer"},
    {"think_tags", "true: the reasoning is in the text, between <think> and </think>"},
    {"finish", "the finish_reason, instead of stop"},
    {"prompt_tokens", "number in the usage"},
    {"status", "HTTP status; unless it is 2xx, with an error body of the dialect"},
    {"message", "the message of that error body, or of an error event"},
    {"retry_after", "header Retry-After: a number of seconds or any text"},
    {"headers", "additional headers, an object"},
    {"content_type", "instead of the correct one"},
    {"body", "the literal body"},
    {"delay_ms", "pause before the head"},
    {"first_token_ms", "pause between the head and the body"},
    {"token_delay_ms", "pause between two parts of a stream"},
    {"piece", "bytes in one write, so that everything arrives split"},
    {"pause_ms", "pause between two such writes; default 0, for the fault drip 1000"},
    {"fault", "one of the faults below"},
    {"after", "place of a fault: texts of a stream (default 3), bytes of a body (default half)"},
    {"field", "for refuse_fields: a name or a list of names"},
};

const std::vector<Fault> kFaults = {
    {"close", "", "reads the request and closes"},
    {"reset", "", "reads the request and resets the connection; with \"after\", within the body"},
    {"hang", "", "reads the request and never answers"},
    {"half_head", "", "sends half of the head, then nothing"},
    {"cut_head", "", "sends half of the head and closes"},
    {"no_http", "", "answers with something other than HTTP"},
    {"hang_mid", "", "stops within the body and keeps the connection open"},
    {"cut", "", "closes within the body"},
    {"cut_in_tag", "stream", "closes within a <cite tag"},
    {"close_after", "", "answers correctly, then closes the connection without notice"},
    {"drip", "", "one byte of the body each pause_ms, default 1000"},
    {"empty", "", "200 without a body"},
    {"html", "", "an HTML page, with \"status\" or 200"},
    {"truncated_json", "", "half of the JSON in a proper response; in a stream, half of one event"},
    {"wrong_length", "", "a Content-Length larger than the body, then closes"},
    {"long_body", "", "64 MB of JSON that does not end"},
    {"gzip_bomb", "", "Content-Encoding gzip, 64 MB in 420 KB"},
    {"redirect", "", "302 to http://127.0.0.2:9/"},
    {"refuse_fields", "chat stream completion embed rerank",
     "400 with the name of \"field\", if the request has it"},
    {"reject_key", "", "401 in the form of the dialect; openai's repeats the key"},
    {"poison", "embed rerank", "fails if a text has the word poison; status 424 or 500"},
    {"wrong_count", "embed rerank completion", "one result too few"},
    {"nan", "embed rerank", "a bare NaN in the first result"},
    {"nulls", "embed rerank", "null for the numbers of the first result"},
    {"zeros", "embed rerank", "zero for the numbers of the first result"},
    {"sentinel", "rerank", "a score of -1e6, as llama.cpp has it after a failure"},
    {"reversed", "rerank", "every score is one minus the correct one"},
    {"wrong_dim", "embed", "the last vector is one number short"},
    {"duplicate_index", "embed rerank completion", "two results with the same index"},
    {"bad_index", "embed rerank completion", "an index that no input has"},
    {"no_stream", "stream", "a single JSON response to a request for a stream"},
    {"no_done", "stream", "a stream without [DONE]"},
    {"no_blank", "stream", "a stream that ends on data: [DONE] without a blank line"},
    {"no_finish", "stream", "a stream without finish_reason"},
    {"error_event", "stream",
     "an error event of the dialect within the stream; \"after\" 0: first"},
    {"long_line", "stream", "a line of 10 MB"},
    {"endless", "stream", "text without end"},
    {"endless_thinking", "stream", "reasoning without end"},
    {"endless_pings", "stream", "comments without end, and no text"},
    {"invalid_utf8", "chat stream completion", "bytes in the text that are not UTF-8"},
    {"lone_surrogate", "stream",
     "a surrogate pair split over two events, and half a pair without the other"},
};

namespace {

using nlohmann::json;

template <class List>
std::string names(const List& list) {
  std::string out;
  for (const auto& entry : list) out += (out.empty() ? "" : " ") + std::string(entry.name);
  return out;
}

template <class List>
bool has_name(const List& list, const std::string& wanted) {
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& entry) { return entry.name == wanted; });
}

std::vector<std::string> one_or_more(const json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

size_t count(const json& value) {
  if (!value.is_number_unsigned()) throw json::type_error::create(302, "not a count", &value);
  return value.get<size_t>();
}

Behaviour::Milliseconds milliseconds(const json& value) {
  return Behaviour::Milliseconds(count(value));
}

void set(Behaviour& out, const std::string& name, const json& value) {
  auto text = [&] { return value.get<std::string>(); };
  if (name == "path") out.path = text();
  if (name == "times") out.times = count(value);
  if (name == "dialect") out.dialect = text();
  if (name == "model") out.model = text();
  if (name == "answer") out.answers = one_or_more(value);
  if (name == "reasoning") out.reasoning = text();
  if (name == "think_tags") out.think_tags = value.get<bool>();
  if (name == "finish") out.finish = text();
  if (name == "prompt_tokens") out.prompt_tokens = value.get<int64_t>();
  if (name == "status") out.status = value.get<int>();
  if (name == "message") out.message = text();
  if (name == "retry_after") out.retry_after = value.is_string() ? text() : value.dump();
  if (name == "headers")
    for (const auto& [header, content] : value.items())
      out.headers.emplace_back(header, content.get<std::string>());
  if (name == "content_type") out.content_type = text();
  if (name == "body") out.body = value.is_string() ? text() : value.dump();
  if (name == "delay_ms") out.delay = milliseconds(value);
  if (name == "first_token_ms") out.first_token = milliseconds(value);
  if (name == "token_delay_ms") out.token_delay = milliseconds(value);
  if (name == "piece") out.piece = count(value);
  if (name == "pause_ms") out.pause = milliseconds(value);
  if (name == "fault") out.fault = text();
  if (name == "after") out.after = count(value);
  if (name == "field") out.fields = one_or_more(value);
}

}  // namespace

Behaviour Behaviour::parse(const std::string& text) {
  json object = json::parse(text, nullptr, false);
  if (!object.is_object())
    throw std::invalid_argument("a behaviour must be a JSON object: " + text);
  Behaviour out;
  for (const auto& [name, value] : object.items()) {
    if (!has_name(kBehaviours, name))
      throw std::invalid_argument("no behaviour is called " + name +
                                  "; there are: " + names(kBehaviours));
    try {
      set(out, name, value);
    } catch (const json::exception&) {
      throw std::invalid_argument("behaviour " + name + " cannot be " + value.dump());
    }
  }
  if (!out.fault.empty() && !has_name(kFaults, out.fault))
    throw std::invalid_argument("no fault is called " + out.fault +
                                "; there are: " + names(kFaults));
  if (!out.dialect.empty() && !has_name(kDialects, out.dialect))
    throw std::invalid_argument("no dialect is called " + out.dialect +
                                "; there are: " + names(kDialects));
  if (out.fault == "refuse_fields" && out.fields.empty())
    throw std::invalid_argument("refuse_fields needs a \"field\"");
  return out;
}

bool Behaviour::matches(const FakeRequest& request) const {
  if (!request.path().ends_with(path)) return false;
  auto found = std::find_if(kFaults.begin(), kFaults.end(),
                            [&](const Fault& known) { return known.name == fault; });
  if (found == kFaults.end() || *found->request_kinds == '\0') return true;
  return (" " + std::string(found->request_kinds) + " ").find(" " + request_kind(request) + " ") !=
         std::string::npos;
}

std::string request_kind(const FakeRequest& request) {
  const std::string path = request.path();
  const size_t version = path.find("/v");
  const bool versioned = version != std::string::npos && version + 2 < path.size() &&
                         path[version + 2] >= '0' && path[version + 2] <= '9';
  if (request.method == "GET") {
    if (path.ends_with("/info")) return "info";
    if (path.ends_with("/health")) return "health";
    return versioned && path.ends_with("/models") ? "models" : "other";
  }
  if (request.method != "POST") return "other";
  if (path.ends_with("/embed") || (versioned && path.ends_with("/embeddings"))) return "embed";
  if (path.ends_with("/rerank")) return "rerank";
  if (!versioned) return "other";
  if (path.ends_with("/chat/completions")) {
    const bool stream = request.json.is_object() && request.json.contains("stream") &&
                        request.json["stream"] == json(true);
    return stream ? "stream" : "chat";
  }
  return path.ends_with("/completions") ? "completion" : "other";
}

}  // namespace stoka::testing
