#include "terminal/interrupt.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace stoka::terminal::interrupt_test {
namespace {

// Waits up to ten seconds for a stop request.
bool stopped(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, std::chrono::seconds(10), [] { return false; });
  return stop.stop_requested();
}

TEST_CASE("SIGINT stops the current work and does not end the process") {
  const auto interrupt = Interrupt::install().value();
  for (int round = 0; round < 3; ++round) {
    const std::stop_token stop = interrupt->begin();
    CHECK_FALSE(stop.stop_requested());
    REQUIRE(::raise(SIGINT) == 0);
    CHECK(stopped(stop));
    CHECK(interrupt->end());
  }
  const std::stop_token untouched = interrupt->begin();
  CHECK_FALSE(interrupt->end());
  CHECK_FALSE(untouched.stop_requested());
}

TEST_CASE("SIGTERM stops the current work if the options say so") {
  struct sigaction before {
  }, ctrl_c_only{}, after{};
  REQUIRE(::sigaction(SIGTERM, nullptr, &before) == 0);
  {
    const auto interrupt = Interrupt::install().value();
    REQUIRE(::sigaction(SIGTERM, nullptr, &ctrl_c_only) == 0);
    CHECK((ctrl_c_only.sa_handler == before.sa_handler));
  }
  {
    const auto interrupt = Interrupt::install({.sigterm = true}).value();
    for (const int signal : {SIGTERM, SIGINT}) {
      const std::stop_token stop = interrupt->begin();
      REQUIRE(::raise(signal) == 0);
      CHECK(stopped(stop));
      CHECK(interrupt->end());
    }
  }
  REQUIRE(::sigaction(SIGTERM, nullptr, &after) == 0);
  CHECK((after.sa_handler == before.sa_handler));
}

TEST_CASE("SIGINT is ignored if there is no current work") {
  const auto interrupt = Interrupt::install().value();
  for (int i = 0; i < 1000; ++i) REQUIRE(::raise(SIGINT) == 0);
  CHECK_FALSE(interrupt->end());
}

TEST_CASE("current and later work is stopped when the reader of the output is gone") {
  int output[2];
  REQUIRE(::pipe(output) == 0);
  const auto interrupt = Interrupt::install({.output = output[1]}).value();
  const std::stop_token under_way = interrupt->begin();
  CHECK_FALSE(under_way.stop_requested());
  CHECK_FALSE(interrupt->output_closed());
  ::close(output[0]);
  CHECK(stopped(under_way));
  CHECK(interrupt->output_closed());
  CHECK(interrupt->end());
  CHECK(interrupt->begin().stop_requested());
  ::close(output[1]);
}

TEST_CASE("for a regular file or an invalid descriptor no closed output is reported") {
  const int file = ::open("/dev/null", O_WRONLY);
  REQUIRE(file >= 0);
  for (const int output : {file, 1000}) {
    const auto interrupt = Interrupt::install({.output = output}).value();
    const std::stop_token work = interrupt->begin();
    REQUIRE(::raise(SIGINT) == 0);  // the watcher thread has polled both descriptors
    CHECK(stopped(work));
    CHECK_FALSE(interrupt->output_closed());
  }
  ::close(file);
}

TEST_CASE("the previous signal handlers are restored") {
  struct sigaction before {
  }, during{}, after{};
  REQUIRE(::sigaction(SIGINT, nullptr, &before) == 0);
  {
    const auto interrupt = Interrupt::install().value();
    REQUIRE(::sigaction(SIGINT, nullptr, &during) == 0);
    CHECK((during.sa_handler != before.sa_handler));
  }
  REQUIRE(::sigaction(SIGINT, nullptr, &after) == 0);
  CHECK((after.sa_handler == before.sa_handler));
}

}  // namespace
}  // namespace stoka::terminal::interrupt_test
