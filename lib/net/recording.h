// Exchanges written to a file, and answered from one. A line of JSON an exchange:
//   {"role","name","subject","request":{…},"status","content_type","retry_after",
//    "body"|"body_base64","pieces":[lengths of the body as it came],
//    "failure":{"kind","message","hint","connected","answered","cause"}}
// No key is in it: request headers and addresses are not kept, and a key that a server repeats is
// *** (its body is then one piece).
#pragma once

#include <filesystem>
#include <memory>

#include "net/transport.h"

namespace stoka::net {

// Carries through another transport and writes what was said, each exchange at once. Exchanges that
// were stopped are left out. One that cannot be written is a data error. Threads: any.
class Recorder final : public Transport {
 public:
  // The file is written from the first exchange on, then anew and readable by its owner only; until
  // then nothing is. A data error if it cannot be written, or holds anything but a recording: such
  // a file is left alone.
  static Result<std::unique_ptr<Recorder>> create(const std::filesystem::path& file,
                                                  Transport& carrier);
  ~Recorder() override;
  std::unique_ptr<Transfer> start(Loop& loop, const Request& request, Listener& listener,
                                  Done done) override;

 private:
  struct File;
  class Taking;
  Recorder(std::unique_ptr<File> file, Transport& carrier);
  std::unique_ptr<File> file_;
  Transport& carrier_;
};

// Answers from a recording, piece by piece as it came, failures included. An exchange is found by
// role, endpoint and request body; a generator's also by role, endpoint and subject, so that a
// prompt may change and its answer stay. Of several that fit the next one is taken, the last one
// again and again. Threads: any.
class Replay final : public Immediate {
 public:
  // A data error names the file and the line that is no exchange.
  static Result<std::unique_ptr<Replay>> open(const std::filesystem::path& file);
  ~Replay() override;
  // What was not recorded is a data error (Failure::error) that says so.
  std::optional<Failure> perform(const Request& request, Listener& listener,
                                 std::stop_token stop) override;

 private:
  struct Tape;
  explicit Replay(std::unique_ptr<Tape> tape);
  std::unique_ptr<Tape> tape_;
};

}  // namespace stoka::net
