#include "serve/rate_limiter.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>

namespace rate_limiter_test {

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using stoka::serve::RateLimiter;

// The seconds to wait; 0 if the request is admitted.
long wait(RateLimiter& limit, std::string_view client, nanoseconds now) {
  const auto refused = limit.admit(client, now);
  return refused ? static_cast<long>(refused->count()) : 0;
}

// The limit as a plain log of all requests.
struct Naive {
  size_t requests;
  nanoseconds window;
  std::map<std::string, std::deque<nanoseconds>> admitted;

  long wait(const std::string& client, nanoseconds now) {
    std::deque<nanoseconds>& log = admitted[client];
    std::erase_if(log, [&](nanoseconds at) { return at + window <= now; });
    if (log.size() < requests) {
      log.push_back(now);
      return 0;
    }
    const int64_t left = (log.front() + window - now).count();
    return static_cast<long>((left + 999'999'999) / 1'000'000'000);
  }
};

}  // namespace

TEST_CASE("each client is admitted as often as the limit says") {
  RateLimiter limit(3, 10s);
  for (int i = 0; i < 3; ++i) CHECK(wait(limit, "a", 1s * i) == 0);
  CHECK(wait(limit, "a", 3s) == 7);
  CHECK(wait(limit, "b", 3s) == 0);
  CHECK(wait(limit, "", 3s) == 0);
  CHECK(limit.clients() == 3);
}

TEST_CASE("a request leaves the window exactly when the window has passed") {
  RateLimiter limit(2, 10s);
  CHECK(wait(limit, "a", 5s) == 0);
  CHECK(wait(limit, "a", 8s) == 0);
  CHECK(wait(limit, "a", 15s - 1ns) == 1);
  CHECK(wait(limit, "a", 15s) == 0);
  CHECK(wait(limit, "a", 15s) == 3);
  CHECK(wait(limit, "a", 18s - 1ns) == 1);
  CHECK(wait(limit, "a", 18s) == 0);
  CHECK(wait(limit, "a", 18s) == 7);
}

TEST_CASE("the time to wait is rounded up to whole seconds and is sufficient") {
  struct Case {
    nanoseconds now;
    long seconds;
  };
  const Case cases[] = {{0ns, 10},    {1ns, 10}, {1s - 1ns, 10}, {1s, 9},
                        {8'500ms, 2}, {9s, 1},   {9s + 1ns, 1},  {10s - 1ns, 1}};
  for (const Case& c : cases) {
    CAPTURE(c.now.count());
    RateLimiter limit(1, 10s);
    CHECK(wait(limit, "a", 0ns) == 0);
    CHECK(wait(limit, "a", c.now) == c.seconds);
    CHECK(wait(limit, "a", c.now + std::chrono::seconds(c.seconds)) == 0);
  }
}

TEST_CASE("a refused request does not count") {
  RateLimiter limit(1, 10s);
  CHECK(wait(limit, "a", 0s) == 0);
  for (int i = 1; i < 10; ++i) CHECK(wait(limit, "a", 1s * i) == 10 - i);
  CHECK(wait(limit, "a", 10s) == 0);
}

TEST_CASE("the limit holds while the clock stands still") {
  RateLimiter limit(5, 60s);
  for (int i = 0; i < 5; ++i) CHECK(wait(limit, "a", 7s) == 0);
  for (int i = 0; i < 100; ++i) CHECK(wait(limit, "a", 7s) == 60);
}

TEST_CASE("remaining counts the requests within the window for each client") {
  RateLimiter limit(3, 10s);
  CHECK(limit.remaining("a", 0s) == 3);
  CHECK(wait(limit, "a", 0s) == 0);
  CHECK(wait(limit, "a", 4s) == 0);
  CHECK(limit.remaining("a", 4s) == 1);
  CHECK(limit.remaining("b", 4s) == 3);
  CHECK(wait(limit, "a", 5s) == 0);
  CHECK(wait(limit, "a", 6s) == 4);
  CHECK(limit.remaining("a", 6s) == 0);
  CHECK(limit.remaining("a", 10s) == 1);
  CHECK(wait(limit, "a", 10s) == 0);
  CHECK(limit.remaining("a", 10s) == 0);
  CHECK(limit.remaining("a", 14s) == 1);
}

TEST_CASE("without a limit no client is remembered") {
  RateLimiter off(0, 60s);
  for (int i = 0; i < 1000; ++i) CHECK(wait(off, "a", 0s) == 0);
  CHECK(off.clients() == 0);
  RateLimiter no_window(1, 0s);
  for (int i = 0; i < 10; ++i) CHECK(wait(no_window, "a", 1s) == 0);
}

TEST_CASE("when there are too many clients, the one with the oldest request is forgotten") {
  RateLimiter limit(1, 60s, 3);
  for (const char* client : {"a", "b", "c"}) CHECK(wait(limit, client, 0s) == 0);
  CHECK(wait(limit, "a", 1s) == 59);  // refused, but it asked
  CHECK(wait(limit, "d", 2s) == 0);   // instead of b
  CHECK(limit.clients() == 3);
  CHECK(wait(limit, "a", 3s) == 57);
  CHECK(wait(limit, "c", 3s) == 57);
  CHECK(wait(limit, "d", 3s) == 59);
  CHECK(wait(limit, "b", 4s) == 0);
  CHECK(limit.clients() == 3);
}

TEST_CASE("memory is bounded for any number of clients") {
  RateLimiter limit(2, 3600s, 100);
  for (int i = 0; i < 10000; ++i) {
    CHECK(wait(limit, "client " + std::to_string(i), 1ms * i) == 0);
    REQUIRE(limit.clients() == static_cast<size_t>(std::min(i + 1, 100)));
  }
  RateLimiter one(1, 60s, 0);  // who asks is always remembered
  CHECK(wait(one, "a", 0s) == 0);
  CHECK(wait(one, "a", 0s) == 60);
  CHECK(one.clients() == 1);
}

TEST_CASE("a client without a request for a whole window is forgotten") {
  RateLimiter limit(2, 10s);
  CHECK(wait(limit, "a", 0s) == 0);
  CHECK(wait(limit, "b", 5s) == 0);
  CHECK(wait(limit, "c", 10s) == 0);
  CHECK(limit.clients() == 2);
  CHECK(wait(limit, "c", 30s) == 0);
  CHECK(limit.clients() == 1);
}

TEST_CASE("the string with a client's name may be destroyed after the call") {
  RateLimiter limit(1, 60s);
  {
    std::string name = "a name that is too long to be kept in place";
    CHECK(wait(limit, name, 0s) == 0);
    name.assign(name.size(), 'x');
  }
  CHECK(wait(limit, "a name that is too long to be kept in place", 0s) == 60);
}

TEST_CASE("the limiter gives the same results as a plain log of all requests") {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return random() % n; };
    const size_t requests = 1 + below(6);
    const auto window = std::chrono::seconds(1 + below(5));
    RateLimiter limit(requests, window);
    Naive naive{requests, window, {}};
    nanoseconds now = 1h;
    for (int i = 0; i < 1000; ++i) {
      // Often the same instant, and often a whole number of seconds later.
      if (below(3) == 0) now += below(2) == 0 ? nanoseconds(1s) * below(3) : 1us * below(900'000);
      const std::string client(1, static_cast<char>('a' + below(4)));
      CAPTURE(i);
      REQUIRE(wait(limit, client, now) == naive.wait(client, now));
      REQUIRE(limit.remaining(client, now) == requests - naive.admitted[client].size());
    }
  }
}

}  // namespace rate_limiter_test
