#include "net/client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

#include "net/exchange.h"

namespace stoka::net {
namespace {

constexpr size_t kMostIdle = 16;      // multi handles, each with its connections
constexpr long kMostConnections = 4;  // of each
constexpr int kNoDeadline = 60 * 60 * 1000;

struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using Multi = std::unique_ptr<CURLM, MultiCleanup>;

// An exchange in the hands of a multi handle. Taken out before it is complete, its connection is
// closed at once.
class Carried {
 public:
  Carried(CURLM* multi, CURL* handle) : multi_(multi), handle_(handle) {
    added_ = curl_multi_add_handle(multi, handle) == CURLM_OK;
  }
  ~Carried() {
    if (added_) curl_multi_remove_handle(multi_, handle_);
  }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;
  bool added() const { return added_; }

 private:
  CURLM* multi_;
  CURL* handle_;
  bool added_ = false;
};

Error internal(CURLMcode code) {
  return Error(ErrorKind::internal, fmt::format("libcurl: {}", curl_multi_strerror(code)));
}

int until(std::optional<Exchange::Time> deadline) {
  if (!deadline) return kNoDeadline;
  const auto left =
      std::chrono::ceil<Milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, kNoDeadline));
}

std::optional<CURLcode> result_of(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left))
    if (message->msg == CURLMSG_DONE) return message->data.result;
  return std::nullopt;
}

std::optional<Failure> drive(CURLM* multi, Exchange& exchange, const std::stop_token& stop) {
  const Carried carried(multi, exchange.handle());
  if (!carried.added())
    return exchange.failure(Error(ErrorKind::internal, "libcurl does not take the request"));
  const std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
  for (;;) {
    int running = 0;
    if (const CURLMcode code = curl_multi_perform(multi, &running); code != CURLM_OK)
      return exchange.failure(internal(code));
    if (const auto result = result_of(multi)) return exchange.finish(*result);
    if (exchange.enough(std::chrono::steady_clock::now())) return std::nullopt;
    if (stop.stop_requested()) return exchange.failure(Error(ErrorKind::cancelled, "stopped"));
    if (auto failure = exchange.expired(std::chrono::steady_clock::now())) return failure;
    const CURLMcode code =
        curl_multi_poll(multi, nullptr, 0, until(exchange.next_deadline()), nullptr);
    if (code != CURLM_OK) return exchange.failure(internal(code));
  }
}

}  // namespace

// Multi handles with the connections they keep, for one exchange at a time each.
struct Client::Pool {
  std::mutex mutex;
  std::vector<Multi> idle;

  Multi take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        Multi multi = std::move(idle.back());
        idle.pop_back();
        return multi;
      }
    }
    Multi multi(curl_multi_init());
    if (multi) curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, kMostConnections);
    return multi;
  }

  void give_back(Multi multi) {
    const std::lock_guard lock(mutex);
    if (idle.size() < kMostIdle) idle.push_back(std::move(multi));
  }
};

Client::Client() : pool_(std::make_unique<Pool>()) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

Client::~Client() = default;

std::optional<Failure> Client::perform(const Request& request, Listener& listener,
                                       std::stop_token stop) {
  if (stop.stop_requested()) return Failure{.error = Error(ErrorKind::cancelled, "stopped")};
  Multi multi = pool_->take();
  if (!multi) return Failure{.error = Error(ErrorKind::internal, "no memory for a connection")};
  std::optional<Failure> failure;
  {
    const auto exchange = Exchange::begin(request, listener);
    failure = exchange ? drive(multi.get(), **exchange, stop) : Failure{.error = exchange.error()};
  }
  pool_->give_back(std::move(multi));
  return failure;
}

}  // namespace stoka::net
