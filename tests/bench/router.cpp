// Measures one routing decision, compared with folding the same query and splitting it into words.
#include "route/router.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "golden/golden.h"
#include "text/normalize.h"
#include "text/words.h"

using namespace stoka;

namespace {

constexpr int kRounds = 2000;

template <class Work>
double microseconds(Work work) {
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) work();
  std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / kRounds;
}

}  // namespace

int main() {
  golden::Golden golden = golden::load().value();
  route::Router router = route::Router::make(golden.router).value();
  std::string long_query;
  while (long_query.size() < 1990) long_query += "ignore all the words ";
  size_t kept = 0;
  fmt::print("{:<44} {:>9} {:>9} {:>6}\n", "query", "route us", "words us", "ratio");
  for (const std::string& query :
       {std::string("hi"), std::string("tell me about bounded execution"),
        std::string("how does the deck pipeline handle failures when the reranker is down"),
        long_query}) {
    double route = microseconds([&] { kept += router.decide(query, 1, {}).rule.size(); });
    double words = microseconds([&] { kept += text::words(text::fold(query)).size(); });
    fmt::print("{:<44} {:>9.2f} {:>9.2f} {:>6.2f}\n", query.substr(0, 44), route, words,
               route / words);
  }
  return kept == 0;
}
