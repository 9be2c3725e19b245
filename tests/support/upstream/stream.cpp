#include <fmt/format.h>

#include <algorithm>

#include "support/upstream/chat_answer.h"

namespace stoka::testing {
namespace {

using nlohmann::json;

// How the streams of the servers differ.
struct DialectTraits {
  const char* name;
  const char* thinking;     // the delta's field for reasoning; "": hidden
  bool role_chunk = true;   // whether the role has a chunk of its own before any text
  json first_content = "";  // the content of that chunk
  bool finish_with_text = false;
  bool usage_always = false;
  bool done_after_error = true;
  const char* line_end = "\n";
  const char* comment = "";  // sent as a ping
};

const DialectTraits& traits(const std::string& dialect) {
  static const std::vector<DialectTraits> all = {
      {"vllm", "reasoning", true, "", true, false, true, "\n", ""},
      {"llamacpp", "reasoning_content", true, nullptr, false, false, false, "\n", ":"},
      {"ollama", "reasoning", false, "", false, false, false, "\n", ""},
      {"lmstudio", "reasoning_content", false, "", false, false, true, "\r\n", ""},
      {"openai", "", true, "", false, false, true, "\n", ""},
      {"openrouter", "reasoning", true, nullptr, false, true, true, "\n",
       ": OPENROUTER PROCESSING"},
  };
  return *std::find_if(all.begin(), all.end(),
                       [&](const DialectTraits& known) { return known.name == dialect; });
}

class Stream {
 public:
  Stream(const Context& context, const ChatAnswer& answer)
      : context_(context),
        traits_(traits(context.dialect())),
        answer_(answer),
        dialect_(context.dialect()) {
    const json& options = context.request.json.value("stream_options", json());
    wants_usage_ = traits_.usage_always ||
                   (options.is_object() && options.value("include_usage", json()) == json(true));
    out_.stream = true;
    out_.content_type = dialect_ == "lmstudio" || dialect_ == "ollama"
                            ? "text/event-stream"
                            : "text/event-stream; charset=utf-8";
  }

  FakeResponse write() {
    ping();
    if (context_.fault("error_event") && context_.after() == 0) return failed();
    roles();
    ping();
    if (context_.fault("endless_pings")) return forever({": still here" + blank()});
    if (context_.fault("endless_thinking")) return forever({think(0, "hm, "), "hm, "});
    for (size_t i = 0; i < answer_.choices.size(); ++i)
      if (*traits_.thinking != '\0')
        for (const std::string& token : answer_.choices[i].thinking)
          out_.parts.push_back({think(i, token)});
    if (!texts()) return failed();
    if (context_.fault("endless")) return out_;
    if (!traits_.finish_with_text && !context_.fault("no_finish"))
      for (size_t i = 0; i < answer_.choices.size(); ++i)
        send(chunk(i, json::object(), answer_.choices[i].finish));
    if (wants_usage_) send(with_usage());
    if (!context_.fault("no_done")) done();
    return std::move(out_);
  }

 private:
  std::string blank() const { return std::string(traits_.line_end) + traits_.line_end; }

  std::string event(const json& data) const {
    return "data: " + insert_malformed(data.dump(-1, ' ', false, json::error_handler_t::replace)) +
           blank();
  }

  void send(const json& data) { out_.parts.push_back({event(data)}); }

  void ping() {
    if (*traits_.comment != '\0') out_.parts.push_back({traits_.comment + blank()});
  }

  void done() {
    const bool cut_short = context_.fault("no_blank");
    out_.parts.push_back({"data: [DONE]" + (cut_short ? "" : blank())});
  }

  json frame() const {
    json out = {{"id", "chatcmpl-1"},
                {"object", "chat.completion.chunk"},
                {"created", 1700000000},
                {"model", context_.model()}};
    if (dialect_ == "llamacpp") out["system_fingerprint"] = "b6000-0a1b2c3d";
    if (dialect_ == "ollama") out["system_fingerprint"] = "fp_ollama";
    if (dialect_ == "openrouter") out["provider"] = "Nobody";
    if (dialect_ == "openai") {
      out["service_tier"] = "default";
      out["obfuscation"] = "x7Qd";
      if (wants_usage_) out["usage"] = nullptr;
    }
    return out;
  }

  json chunk(size_t choice, json delta, const json& finish = nullptr) const {
    json entry = {{"index", choice}, {"delta", std::move(delta)}, {"finish_reason", finish}};
    if (dialect_ == "vllm" || dialect_ == "openai" || dialect_ == "lmstudio")
      entry["logprobs"] = nullptr;
    if (dialect_ == "vllm" && !finish.is_null()) entry["stop_reason"] = nullptr;
    if (dialect_ == "openrouter") entry["native_finish_reason"] = finish;
    json out = frame();
    out["choices"] = json::array({entry});
    if (dialect_ == "llamacpp" && !finish.is_null())
      out["timings"] = {{"prompt_n", 12}, {"predicted_n", 40}, {"predicted_per_second", 51.3}};
    return out;
  }

  void roles() {
    if (!traits_.role_chunk) return;
    for (size_t i = 0; i < answer_.choices.size(); ++i) {
      json delta = {{"role", "assistant"}, {"content", traits_.first_content}};
      if (dialect_ == "openai") delta["refusal"] = nullptr;
      send(chunk(i, delta));
    }
  }

  // Adds the role to the first delta of a choice if the dialect has no chunk for it.
  json with_role(size_t choice, json delta) {
    if (traits_.role_chunk) return delta;
    if (std::find(introduced_.begin(), introduced_.end(), choice) == introduced_.end()) {
      delta["role"] = "assistant";
      introduced_.push_back(choice);
    }
    return delta;
  }

  std::string think(size_t choice, const std::string& token) {
    if (*traits_.thinking == '\0') return event(chunk(choice, {{"content", token}}));
    json delta = {{traits_.thinking, token}};
    if (dialect_ == "ollama" || dialect_ == "openrouter") delta["content"] = "";
    if (dialect_ == "openrouter")
      delta["reasoning_details"] = json::array(
          {{{"type", "reasoning.text"}, {"text", token}, {"index", 0}, {"format", "unknown"}}});
    return event(chunk(choice, with_role(choice, delta)));
  }

  void text(size_t choice, const std::string& token, const json& finish = nullptr) {
    out_.parts.push_back(
        {event(chunk(choice, with_role(choice, {{"content", token}}), finish)), token});
  }

  // Writes the tokens of all choices in turns. False: the stream ends with an error.
  bool texts() {
    size_t longest = 0, sent = 0;
    for (const auto& choice : answer_.choices) longest = std::max(longest, choice.tokens.size());
    for (size_t t = 0; t < longest; ++t)
      for (size_t i = 0; i < answer_.choices.size(); ++i) {
        if (sent == context_.after() && inject_fault()) return !context_.fault("error_event");
        const auto& choice = answer_.choices[i];
        if (t >= choice.tokens.size()) continue;
        const bool last = t + 1 == choice.tokens.size() && traits_.finish_with_text &&
                          !context_.fault("no_finish");
        text(i, choice.tokens[t], last ? json(choice.finish) : json());
        ++sent;
      }
    if (sent <= context_.after() && inject_fault()) return !context_.fault("error_event");
    // There was no text, so the finish_reason gets a chunk of its own.
    if (longest == 0 && traits_.finish_with_text && !context_.fault("no_finish"))
      text(0, "", answer_.choices[0].finish);
    return true;
  }

  // Writes a fault within the text. True: the stream ends there.
  bool inject_fault() {
    if (injected_) return false;
    injected_ = true;
    if (context_.fault("invalid_utf8")) text(0, "caf" + std::string(kBytes) + " ");
    if (context_.fault("lone_surrogate"))
      for (const std::string_view half : {kHigh, kLow, kLone}) text(0, std::string(half));
    if (context_.fault("truncated_json")) {
      const std::string whole = event(chunk(0, {{"content", "lost"}}));
      out_.parts.push_back({whole.substr(0, whole.size() / 2) + blank()});
    }
    if (context_.fault("long_line")) {
      out_.parts.push_back({"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\""});
      out_.parts.push_back({std::string(65536, 'x'), {}, 160});
      out_.parts.push_back({"\"},\"finish_reason\":null}]}" + blank()});
    }
    if (context_.fault("endless")) {
      text(0, "and so on ");
      out_.parts.back().times = kEndless;
      return true;
    }
    return context_.fault("error_event");
  }

  FakeResponse forever(Part part) {
    part.times = kEndless;
    out_.parts.push_back(std::move(part));
    return std::move(out_);
  }

  json with_usage() const {
    json out = frame();
    out["choices"] = json::array();
    out["usage"] = answer_.usage;
    return out;
  }

  FakeResponse failed() {
    const std::string message =
        context_.behaviour.message.empty() ? "the model has failed" : context_.behaviour.message;
    const int status = context_.behaviour.status == 0 ? 500 : context_.behaviour.status;
    json body = error_object(dialect_, status, message);
    if (dialect_ == "ollama") {
      // Ollama loses the error in its OpenAI layer.
      send(chunk(0, {{"content", ""}}));
      return std::move(out_);
    }
    if (dialect_ == "openrouter") {
      body.update(frame());
      body["choices"] =
          json::array({{{"index", 0}, {"delta", {{"content", ""}}}, {"finish_reason", "error"}}});
    }
    std::string bytes = event(body);
    if (dialect_ == "lmstudio") bytes = std::string("event: error") + traits_.line_end + bytes;
    out_.parts.push_back({bytes});
    if (traits_.done_after_error) done();
    return std::move(out_);
  }

  const Context& context_;
  const DialectTraits& traits_;
  const ChatAnswer& answer_;
  const std::string dialect_;
  bool wants_usage_ = false;
  bool injected_ = false;
  std::vector<size_t> introduced_;  // choices whose role was sent
  FakeResponse out_;
};

}  // namespace

FakeResponse stream_answer(const Context& context, const ChatAnswer& answer) {
  return Stream(context, answer).write();
}

}  // namespace stoka::testing
