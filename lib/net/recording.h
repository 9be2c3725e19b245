// Transports that record transfers to a file and replay them from it. Each transfer is a line of
// JSON:
//   {"role","name","subject","request":{…},"status","content_type","retry_after","location",
//    "rate_limit_remaining","body"|"body_base64","pieces":[lengths of the pieces in which the body
//    arrived], "failure":{"kind","message","hint","connected","answered","cause"}}
// A recording contains no key: request headers and the address of the server are not stored, and a
// key that a server repeats becomes *** (the body is then stored as one piece).
#pragma once

#include <filesystem>
#include <memory>

#include "base/log.h"
#include "net/transport.h"

namespace stoka::net {

// Sends requests through another transport and appends each transfer to the file as soon as it is
// over. Cancelled transfers are not recorded. A transfer that cannot be written fails with a data
// error. Any thread may use it.
class RecordingTransport final : public Transport {
 public:
  // Creates or replaces the file when the first transfer is over, readable by its owner only. Fails
  // with a data error if the file cannot be written or contains anything but a recording.
  static Result<std::unique_ptr<RecordingTransport>> create(const std::filesystem::path& file,
                                                            Transport& carrier);
  ~RecordingTransport() override;
  std::unique_ptr<Transfer> start(EventLoop& loop, const HttpRequest& request, BodySink& sink,
                                  CompletionCallback done) override;

 private:
  struct File;
  class RecordingTransfer;
  RecordingTransport(std::unique_ptr<File> file, Transport& carrier);
  std::unique_ptr<File> file_;
  Transport& carrier_;
};

// Replays a recording, failures included, with the body in its original pieces. A transfer is found
// by role, endpoint and request body. A transfer of the generator is also found by role, endpoint
// and subject, so that the prompt may change. If several match, they are replayed in order, and the
// last one is then repeated. Any thread may use it.
class ReplayTransport final : public SynchronousTransport {
 public:
  // Reads the file. A data error names the file and the line that is invalid. A last line that is
  // invalid and has no line end was cut off when the recording ended; it is ignored with a warning.
  static Result<std::unique_ptr<ReplayTransport>> open(const std::filesystem::path& file, Log& log);
  ~ReplayTransport() override;
  // A request that was not recorded fails with a data error.
  std::optional<TransferFailure> perform(const HttpRequest& request, BodySink& sink,
                                         std::stop_token stop) override;

 private:
  struct Index;
  explicit ReplayTransport(std::unique_ptr<Index> index);
  std::unique_ptr<Index> index_;
};

}  // namespace stoka::net
