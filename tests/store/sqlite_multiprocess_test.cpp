// Several processes on one SQLite file, some of which are killed.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "store/child_process.h"
#include "store/open.h"
#include "store/temp_database.h"
#include "store/versions.h"

namespace sqlite_multiprocess_test {

using namespace stoka;
using namespace stoka::store;
using stoka::testing::ChildProcess;

namespace {

std::string integrity(const std::string& path) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
  std::string answer;
  sqlite3_exec(
      handle, "PRAGMA integrity_check; PRAGMA foreign_key_check",
      [](void* out, int, char** columns, char**) {
        *static_cast<std::string*>(out) += columns[0] ? columns[0] : "?";
        return 0;
      },
      &answer, nullptr);
  sqlite3_close(handle);
  return answer;
}

// A counter that this process and its children share.
class Shared {
 public:
  Shared()
      : value_(new (mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int>(0)) {}
  ~Shared() { munmap(value_, sizeof *value_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  std::atomic<int>& operator*() { return *value_; }

 private:
  std::atomic<int>* value_;
};

}  // namespace

TEST_CASE("an index writer killed at any point leaves every document in its old or new version") {
  const TempDatabase temp;

  for (int round = 0; round < 12; ++round) {
    Shared done;
    ChildProcess child([&] {
      write_versions(temp.db(), 1000 * round, [&](IndexWriter&, int) { return ++*done > 0; });
    });
    // Each round kills the child after more steps, at an arbitrary instruction.
    while (*done < round % 9) usleep(50);
    usleep(static_cast<useconds_t>(round * 137 % 1900));
    child.kill();

    CHECK(integrity(temp.db()) == "ok");
    const auto store = store::open(temp.db(), OpenMode::read_write);
    REQUIRE(store);
    check_consistency(**store);
  }
}

TEST_CASE("the IndexLock of a killed process is released at once") {
  const TempDatabase temp;
  Shared ready;
  ChildProcess child([&] {
    auto store = store::open(temp.db(), OpenMode::read_write);
    if (!store) return;
    auto writer = (*store)->begin_index();
    if (!writer) return;
    *ready = 1;
    for (;;) pause();
  });
  while (*ready == 0) usleep(100);
  const auto store = store::open(temp.db(), OpenMode::read_write);
  REQUIRE(store);
  const auto refused = (*store)->begin_index();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::busy);
  CHECK(refused.error().message ==
        "another index run (pid " + std::to_string(child.pid()) + ") is writing " + temp.db());
  child.kill();
  CHECK((*store)->begin_index());
}

TEST_CASE("processes that create the same store at the same time all succeed") {
  for (int round = 0; round < 4; ++round) {
    const TempDatabase temp;
    Shared failed;
    Shared opened;
    Shared go;
    std::vector<ChildProcess> children;
    for (int i = 0; i < 4; ++i) {
      children.emplace_back([&, i] {
        while (*go == 0) {
        }
        const auto store = store::open(temp.db(), OpenMode::read_write);
        TurnRecord turn;
        turn.session_id = uuid("s");
        turn.visitor_id = uuid("v" + std::to_string(i));
        ++(store && (*store)->commit_turn(turn) ? *opened : *failed);
        for (;;) pause();
      });
    }
    *go = 1;
    while (*opened + *failed < 4) usleep(100);
    for (ChildProcess& child : children) child.kill();
    CHECK(*failed == 0);
    const auto store = store::open(temp.db(), OpenMode::read);
    REQUIRE(store);
    CHECK((*store)->session(uuid("s"))->value().turns == 4);
    CHECK(integrity(temp.db()) == "ok");
  }
}

TEST_CASE("turns are stored while another process indexes") {
  const TempDatabase temp;
  Shared done;
  const auto store = store::open(temp.db(), OpenMode::read_write);
  REQUIRE(store);
  ChildProcess child([&] {
    auto mine = store::open(temp.db(), OpenMode::read_write);
    if (!mine) return;
    auto writer = (*mine)->begin_index();
    if (!writer) return;
    for (int n = 1;; ++n) {
      if (!(*writer)->put_document(versioned_document("post", n), versioned_chunks("post", n)))
        return;
      ++*done;
    }
  });
  while (*done < 3) usleep(100);
  for (int i = 0; i < 40; ++i) {
    TurnRecord turn;
    turn.session_id = uuid("s");
    turn.visitor_id = uuid("v");
    const auto session = (*store)->commit_turn(turn);
    REQUIRE_MESSAGE(session, (session ? "" : session.error().message));
    CHECK(session->turns == i + 1);
    const QueryTerm query[] = {{"t0", 1}};
    const auto found = (*store)->search_lexical(query, 10, {});
    REQUIRE(found);
    CHECK(!found->empty());
  }
  child.kill();
}

}  // namespace sqlite_multiprocess_test
