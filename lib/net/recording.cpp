#include "net/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/files.h"
#include "base/json.h"
#include "net/json_text.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::net {

// One transfer in the form in which it is stored.
struct RecordedTransfer {
  std::string role;
  std::string name;
  std::string subject;
  std::string request;               // the request body as canonical JSON
  std::optional<ResponseHead> head;  // the response headers; nothing if none arrived
  std::string body;                  // the bytes of the response body
  std::vector<size_t> pieces;        // the lengths of the pieces in which the body arrived
  std::optional<TransferFailure> failure;

  // The transfer as one line of JSON, without a line break.
  std::string to_line() const;
  // Reads a line. The error says what is wrong with it.
  static Result<RecordedTransfer> from_line(std::string_view line);
};

namespace {

using nlohmann::json;

constexpr uint64_t kMaxFileBytes = 1u << 30;
constexpr size_t kMaxLineBytes = 1u << 28;
constexpr size_t kMaxSubjectBytes = 60;  // bytes of a request's subject that an error message shows

std::optional<ErrorKind> parse_error_kind(std::string_view wanted) {
  for (const ErrorKind kind :
       {ErrorKind::usage, ErrorKind::config, ErrorKind::data, ErrorKind::not_found, ErrorKind::busy,
        ErrorKind::unavailable, ErrorKind::timeout, ErrorKind::protocol, ErrorKind::cancelled,
        ErrorKind::internal})
    if (to_string(kind) == wanted) return kind;
  return std::nullopt;
}

constexpr std::pair<FailureCause, std::string_view> kCauses[] = {
    {FailureCause::no_host, "no_host"}, {FailureCause::connect, "connect"},
    {FailureCause::headers, "headers"}, {FailureCause::first_token, "first_token"},
    {FailureCause::idle, "idle"},       {FailureCause::total, "total"}};

// Reads typed members and remembers the name of the first one that is missing or invalid.
class MemberReader {
 public:
  explicit MemberReader(const json& object) : object_(object) {}

  std::string text(const char* name) {
    const json* value = find(name, &json::is_string);
    return value == nullptr ? "" : value->get<std::string>();
  }
  bool flag(const char* name) {
    const json* value = find(name, &json::is_boolean);
    return value != nullptr && value->get<bool>();
  }
  int number(const char* name, int min, int max) {
    const json* value = find(name, &json::is_number_unsigned);
    if (value == nullptr) return min;
    const auto number = value->get<uint64_t>();
    if (number >= static_cast<uint64_t>(min) && number <= static_cast<uint64_t>(max))
      return static_cast<int>(number);
    if (first_error_.empty()) first_error_ = name;
    return min;
  }
  const json* find(const char* name, bool (json::*has_type)() const noexcept) {
    const auto found = object_.find(name);
    if (found != object_.end() && (*found.*has_type)()) return &*found;
    if (first_error_.empty()) first_error_ = name;
    return nullptr;
  }
  const std::string& first_error() const { return first_error_; }

 private:
  const json& object_;
  std::string first_error_;
};

Result<> invalid_member(const std::string& member) {
  return fail(ErrorKind::data, "\"" + member + "\" is missing or invalid");
}

Result<> read_answer(const json& line, RecordedTransfer& out) {
  MemberReader reader(line);
  out.head = ResponseHead{};
  out.head->status = reader.number("status", 100, 599);
  out.head->content_type = reader.text("content_type");
  if (line.contains("retry_after"))
    out.head->retry_after = std::chrono::seconds(reader.number("retry_after", 0, 24 * 60 * 60));
  if (line.contains("location")) out.head->location = reader.text("location");
  if (line.contains("rate_limit_remaining"))
    out.head->rate_limit_remaining = reader.number("rate_limit_remaining", 0, 999'999'999);
  if (line.contains("body_base64")) {
    const std::optional<std::string> bytes = from_base64(reader.text("body_base64"));
    if (!bytes) return invalid_member("body_base64");
    out.body = *bytes;
  } else {
    out.body = reader.text("body");
  }
  const json* pieces = reader.find("pieces", &json::is_array);
  if (pieces == nullptr) return invalid_member(reader.first_error());
  size_t rest = out.body.size();
  for (const json& piece : *pieces) {
    if (!piece.is_number_unsigned() || piece.get<uint64_t>() > rest)
      return invalid_member("pieces");
    out.pieces.push_back(piece.get<size_t>());
    rest -= out.pieces.back();
  }
  if (rest != 0) return invalid_member("pieces");
  return reader.first_error().empty() ? Result<>() : invalid_member(reader.first_error());
}

Result<> read_failure(const json& object, RecordedTransfer& out) {
  if (!object.is_object()) return invalid_member("failure");
  MemberReader reader(object);
  const std::optional<ErrorKind> kind = parse_error_kind(reader.text("kind"));
  if (!kind) return invalid_member("kind");
  out.failure = TransferFailure{{*kind, reader.text("message"), reader.text("hint")},
                                reader.flag("connected"),
                                reader.flag("answered")};
  if (object.contains("cause")) {
    const std::string cause = reader.text("cause");
    const auto known = std::find_if(std::begin(kCauses), std::end(kCauses),
                                    [&](const auto& entry) { return entry.second == cause; });
    if (known == std::end(kCauses)) return invalid_member("cause");
    out.failure->cause = known->first;
  }
  return reader.first_error().empty() ? Result<>() : invalid_member(reader.first_error());
}

// Canonical JSON: equal for bodies that differ only in white space or in the order of their keys.
std::string canonical(std::string_view request_body) {
  if (request_body.empty()) return "null";
  const json parsed = json::parse(request_body, nullptr, false);
  return to_json_text(parsed.is_discarded() ? json(request_body) : parsed);
}

// A sink that stores a response and passes it on.
class RecordingSink final : public BodySink {
 public:
  RecordingSink(BodySink& sink, RecordedTransfer& recorded) : sink_(sink), recorded_(recorded) {}

  Result<> head(const ResponseHead& head) override {
    recorded_.head = head;
    return sink_.head(head);
  }
  Result<BodyProgress> body(std::string_view bytes) override {
    recorded_.body += bytes;
    recorded_.pieces.push_back(bytes.size());
    return sink_.body(bytes);
  }

 private:
  BodySink& sink_;
  RecordedTransfer& recorded_;
};

void redact(RecordedTransfer& recorded, const Secret& key) {
  std::string body = key.redact(recorded.body);
  if (body != recorded.body) {
    // The key may have been divided between pieces, so their lengths are no longer right.
    recorded.pieces = {body.size()};
    recorded.body = std::move(body);
  }
  recorded.subject = key.redact(recorded.subject);
  if (recorded.head) {
    recorded.head->content_type = key.redact(recorded.head->content_type);
    recorded.head->location = key.redact(recorded.head->location);
  }
  if (!recorded.failure) return;
  recorded.failure->error.message = key.redact(recorded.failure->error.message);
  recorded.failure->error.hint = key.redact(recorded.failure->error.hint);
}

Error cannot_write(const std::filesystem::path& path, int code) {
  return {ErrorKind::data,
          fmt::format("cannot write the recording {}: {}", path.string(), std::strerror(code)),
          "check the path, its permissions and the space left"};
}

}  // namespace

std::string RecordedTransfer::to_line() const {
  nlohmann::ordered_json out = {{"role", role}, {"name", name}, {"subject", subject}};
  out["request"] = json::parse(request, nullptr, false);
  if (head) {
    out["status"] = head->status;
    out["content_type"] = head->content_type;
    if (head->retry_after) out["retry_after"] = head->retry_after->count();
    if (!head->location.empty()) out["location"] = head->location;
    if (head->rate_limit_remaining) out["rate_limit_remaining"] = *head->rate_limit_remaining;
    const bool is_text = text::is_valid_utf8(body);
    out[is_text ? "body" : "body_base64"] = is_text ? body : to_base64(body);
    out["pieces"] = pieces;
  }
  if (failure)
    out["failure"] = {{"kind", stoka::to_string(failure->error.kind)},
                      {"message", failure->error.message},
                      {"hint", failure->error.hint},
                      {"connected", failure->connected},
                      {"answered", failure->answered}};
  for (const auto& [cause, named] : kCauses)
    if (failure && failure->cause == cause) out["failure"]["cause"] = named;
  return to_json_text(out);
}

Result<RecordedTransfer> RecordedTransfer::from_line(std::string_view text) {
  STOKA_ASSIGN(const std::string mended, repair_json(text));
  const json line = json::parse(mended, nullptr, false);
  if (!line.is_object()) return fail(ErrorKind::data, "it is not a JSON object");
  RecordedTransfer out;
  MemberReader reader(line);
  out.role = reader.text("role");
  out.name = reader.text("name");
  out.subject = reader.text("subject");
  if (!reader.first_error().empty()) return fail(invalid_member(reader.first_error()).error());
  if (!line.contains("request")) return fail(invalid_member("request").error());
  out.request = to_json_text(line["request"]);
  if (line.contains("status")) STOKA_TRY(read_answer(line, out));
  if (line.contains("failure")) STOKA_TRY(read_failure(line["failure"], out));
  if (!out.head && !out.failure) return fail(invalid_member("status").error());
  return out;
}

struct RecordingTransport::File {
  explicit File(std::filesystem::path given) : path(std::move(given)) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Checks whether the file may be created or replaced, and does not change it.
  Result<> check() const {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) {
      if (errno != ENOENT) return fail(cannot_write(path, errno));
      const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
      if (::access(folder.c_str(), W_OK | X_OK) != 0) return fail(cannot_write(path, errno));
      return {};
    }
    if (S_ISDIR(info.st_mode)) return fail(cannot_write(path, EISDIR));
    if (::access(path.c_str(), W_OK) != 0) return fail(cannot_write(path, errno));
    if (!S_ISREG(info.st_mode) || info.st_size == 0 || starts_as_recording()) return {};
    return fail(ErrorKind::data, path.string() + " exists and is not a recording",
                "name another file");
  }

  // Writes the line immediately, so that a crash loses no finished transfer.
  Result<> append(const std::string& line) {
    std::lock_guard lock(mutex);
    if (fd < 0) STOKA_TRY(open());
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(cannot_write(path, errno));
      rest.remove_prefix(static_cast<size_t>(written));
    }
    return {};
  }

  const std::filesystem::path path;

 private:
  bool starts_as_recording() const {
    std::ifstream file(path, std::ios::binary);
    std::string line;
    for (char c; line.size() < kMaxLineBytes && file.get(c) && c != '\n';) line += c;
    return RecordedTransfer::from_line(line).has_value();
  }

  Result<> open() {
    STOKA_TRY(check());  // checks once more, because the file may have been created meanwhile
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct stat info;
    if (fd < 0 || ::fstat(fd, &info) != 0) return fail(cannot_write(path, errno));
    if (S_ISREG(info.st_mode) && ::fchmod(fd, 0600) != 0) return fail(cannot_write(path, errno));
    return {};
  }

  int fd = -1;
  std::mutex mutex;
};

RecordingTransport::RecordingTransport(std::unique_ptr<File> file, Transport& carrier)
    : file_(std::move(file)), carrier_(carrier) {}

RecordingTransport::~RecordingTransport() = default;

Result<std::unique_ptr<RecordingTransport>> RecordingTransport::create(
    const std::filesystem::path& file, Transport& carrier) {
  auto checked = std::make_unique<File>(file);
  STOKA_TRY(checked->check());
  return std::unique_ptr<RecordingTransport>(new RecordingTransport(std::move(checked), carrier));
}

// Runs a transfer and records it when it is over.
class RecordingTransport::RecordingTransfer final : public Transfer {
 public:
  RecordingTransfer(File& file, const HttpRequest& request, BodySink& sink, CompletionCallback done)
      : file_(file), key_(request.key), sink_(sink, recorded_), done_(std::move(done)) {
    recorded_.role = request.role;
    recorded_.name = request.endpoint;
    recorded_.subject = request.subject;
    recorded_.request = canonical(key_.redact(request.body));
  }
  void begin(Transport& carrier, EventLoop& loop, const HttpRequest& request) {
    transfer_ = carrier.start(loop, request, sink_, [this](std::optional<TransferFailure> failure) {
      on_end(std::move(failure));
    });
  }
  void pause() override { transfer_->pause(); }
  void resume() override { transfer_->resume(); }

 private:
  void on_end(std::optional<TransferFailure> failure) {
    recorded_.failure = failure;
    if (!failure || failure->error.kind != ErrorKind::cancelled) {
      redact(recorded_, key_);
      const Result<> written = file_.append(recorded_.to_line() + "\n");
      if (!failure && !written) failure = TransferFailure{written.error(), true, true};
    }
    const CompletionCallback done = std::move(done_);
    done(std::move(failure));  // the call may destroy this object
  }

  File& file_;
  const Secret key_;
  RecordedTransfer recorded_;
  RecordingSink sink_;
  CompletionCallback done_;
  std::unique_ptr<Transfer> transfer_;
};

std::unique_ptr<Transfer> RecordingTransport::start(EventLoop& loop, const HttpRequest& request,
                                                    BodySink& sink, CompletionCallback done) {
  auto transfer = std::make_unique<RecordingTransfer>(*file_, request, sink, std::move(done));
  transfer->begin(carrier_, loop, request);
  return transfer;
}

struct ReplayTransport::Index {
  struct Entry {
    RecordedTransfer recorded;
    bool used = false;
  };
  using Key = std::vector<std::string>;

  void add(RecordedTransfer recorded) {
    const size_t index = entries.size();
    by_request[{recorded.role, recorded.name, recorded.request}].push_back(index);
    if (recorded.role == "generator" && !recorded.subject.empty())
      by_subject[{recorded.role, recorded.name, recorded.subject}].push_back(index);
    entries.push_back({std::move(recorded), false});
  }

  // The next unused transfer under a key, or the last one again; null if there is none.
  const RecordedTransfer* next(const std::map<Key, std::vector<size_t>>& index, const Key& key) {
    const auto found = index.find(key);
    if (found == index.end()) return nullptr;
    const std::vector<size_t>& list = found->second;
    auto unused =
        std::find_if(list.begin(), list.end(), [&](size_t i) { return !entries[i].used; });
    Entry& entry = entries[unused == list.end() ? list.back() : *unused];
    entry.used = true;
    return &entry.recorded;
  }

  const RecordedTransfer* find(const HttpRequest& request) {
    std::lock_guard lock(mutex);
    const std::string body = canonical(request.key.redact(request.body));
    if (const RecordedTransfer* exact = next(by_request, {request.role, request.endpoint, body}))
      return exact;
    return next(by_subject, {request.role, request.endpoint, request.key.redact(request.subject)});
  }

  std::filesystem::path path;
  std::mutex mutex;  // protects Entry::used
  std::vector<Entry> entries;
  std::map<Key, std::vector<size_t>> by_request;
  std::map<Key, std::vector<size_t>> by_subject;
};

ReplayTransport::ReplayTransport(std::unique_ptr<Index> index) : index_(std::move(index)) {}

ReplayTransport::~ReplayTransport() = default;

Result<std::unique_ptr<ReplayTransport>> ReplayTransport::open(const std::filesystem::path& file,
                                                               Log& log) {
  STOKA_ASSIGN(const std::string text, read_file(file, kMaxFileBytes));
  auto index = std::make_unique<Index>();
  index->path = file;
  std::string_view rest = text;
  for (size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const bool has_end = line.size() < rest.size();
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    Result<RecordedTransfer> recorded = RecordedTransfer::from_line(line);
    if (!recorded && !has_end && !index->entries.empty()) {
      log.warning(fmt::format("{}:{} was cut off; this response is missing from the replay",
                              file.string(), number));
      break;
    }
    if (!recorded)
      return fail(ErrorKind::data,
                  fmt::format("{}:{} is not a recorded transfer: {}", file.string(), number,
                              recorded.error().message),
                  "record it again");
    index->add(*std::move(recorded));
  }
  return std::unique_ptr<ReplayTransport>(new ReplayTransport(std::move(index)));
}

std::optional<TransferFailure> ReplayTransport::perform(const HttpRequest& request, BodySink& sink,
                                                        std::stop_token stop) {
  const Error stopped{ErrorKind::cancelled, "stopped"};
  if (stop.stop_requested()) return TransferFailure{stopped, false, false};
  const RecordedTransfer* recorded = index_->find(request);
  if (recorded == nullptr) {
    std::string subject = text::one_line(request.subject);
    if (subject.size() > kMaxSubjectBytes)
      subject = subject.substr(0, text::floor_char_boundary(subject, kMaxSubjectBytes)) + "…";
    return TransferFailure{
        {ErrorKind::data,
         fmt::format("{} contains no response of the {} to this {} request{}",
                     index_->path.string(), request.role, request.endpoint,
                     subject.empty() ? "" : fmt::format(" (\"{}\")", subject)),
         "the recording contains other questions, or the content or the settings have changed "
         "since: record it again"},
        false,
        false};
  }
  if (recorded->head) {
    if (auto accepted = sink.head(*recorded->head); !accepted)
      return TransferFailure{accepted.error(), true, true};
    std::string_view rest = recorded->body;
    for (const size_t piece : recorded->pieces) {
      if (stop.stop_requested()) return TransferFailure{stopped, true, true};
      const Result<BodyProgress> accepted = sink.body(rest.substr(0, piece));
      if (!accepted) return TransferFailure{accepted.error(), true, true};
      if (*accepted == BodyProgress::stop_reading) return std::nullopt;
      rest.remove_prefix(piece);
    }
  }
  return recorded->failure;
}

}  // namespace stoka::net
