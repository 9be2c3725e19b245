// Transports that record transfers to a file and replay them from it. Each transfer is a line of
// JSON:
//   {"role","name","subject","request":{…},"status","content_type","retry_after",
//    "body"|"body_base64","pieces":[lengths of the pieces in which the body arrived],
//    "failure":{"kind","message","hint","connected","answered","cause"}}
// A recording contains no key: request headers and addresses are not stored, and a key that a
// server repeats becomes *** (the body is then stored as one piece).
#pragma once

#include <filesystem>
#include <memory>

#include "net/transport.h"

namespace stoka::net {

// Sends requests through another transport and appends each transfer to the file as soon as it is
// over. Cancelled transfers are not recorded. A transfer that cannot be written fails with a data
// error. Any thread may use it.
class Recorder final : public Transport {
 public:
  // Creates or replaces the file when the first transfer is over, readable by its owner only. A
  // data error if the file cannot be written or already contains anything but a recording.
  static Result<std::unique_ptr<Recorder>> create(const std::filesystem::path& file,
                                                  Transport& carrier);
  ~Recorder() override;
  std::unique_ptr<Transfer> start(Loop& loop, const Request& request, Listener& sink,
                                  Done done) override;

 private:
  struct File;
  class RecordingTransfer;
  Recorder(std::unique_ptr<File> file, Transport& carrier);
  std::unique_ptr<File> file_;
  Transport& carrier_;
};

// Replays a recording, failures included, with the body in its original pieces. A transfer is found
// by role, endpoint and request body. One of the generator is also found by role, endpoint and
// subject, so that the prompt may change. If several match, they are replayed in order, and the
// last one is then repeated. Any thread may use it.
class Replay final : public Immediate {
 public:
  // A data error names the file and the line that is invalid.
  static Result<std::unique_ptr<Replay>> open(const std::filesystem::path& file);
  ~Replay() override;
  // A request that was not recorded fails with a data error.
  std::optional<Failure> perform(const Request& request, Listener& sink,
                                 std::stop_token stop) override;

 private:
  struct Index;
  explicit Replay(std::unique_ptr<Index> index);
  std::unique_ptr<Index> index_;
};

}  // namespace stoka::net
