#include "support/postgres.h"

#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/postgres_programs.h"
#include "support/process.h"

namespace fs = std::filesystem;

namespace stoka::testing {
namespace {

using namespace std::chrono_literals;

// A shell script that stops the server and removes the folder when the test program has ended for
// any reason. It reads the server's process id as a line; an empty line means that no server runs,
// "end" that the program is done (a fork of the test may keep the input open).
constexpr const char* kGuard = R"(
trap '' INT TERM HUP
while read -r line && [ "$line" != end ]; do pid=$line; done
if [ -n "$pid" ]; then
  kill -QUIT "$pid"
  n=0
  while kill -0 "$pid" && [ $n -lt 500 ]; do sleep 0.02; n=$((n + 1)); done
  kill -0 "$pid" && kill -KILL "$pid"
fi 2>/dev/null
rm -rf "$1"
)";

// Below the ephemeral ports, so that no outgoing connection takes the port of a stopped server. The
// server itself finds out whether the port is free.
int random_port() {
  std::random_device random;
  return std::uniform_int_distribution<int>(20000, 32000)(random);
}

// The processes whose parent is `parent`.
std::vector<pid_t> children(pid_t parent) {
  std::vector<pid_t> out;
  std::error_code ended;
  for (const auto& entry : fs::directory_iterator("/proc", ended)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "stat");
    std::string stat;
    std::getline(in, stat);
    const size_t after_name = stat.rfind(')');
    if (after_name == std::string::npos) continue;
    std::istringstream rest(stat.substr(after_name + 1));
    char state = 0;
    pid_t ppid = 0;
    if (rest >> state >> ppid && ppid == parent && state != 'Z') out.push_back(std::stoi(name));
  }
  return out;
}

bool has_exited(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(in, stat);
  const size_t after_name = stat.rfind(')');
  return after_name == std::string::npos || stat.substr(after_name + 1).starts_with(" Z");
}

fs::path make_folder() {
  std::string pattern = (fs::temp_directory_path() / "stoka-postgres-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot create a temporary folder");
  return pattern;
}

std::string last_lines(const fs::path& log) {
  std::ifstream in(log);
  std::string text(std::istreambuf_iterator<char>(in), {});
  return text.size() > 1000 ? text.substr(text.size() - 1000) : text;
}

}  // namespace

struct PostgresServer::Impl {
  const fs::path folder = make_folder();
  Process guard{{"sh", "-c", kGuard, "guard", folder.string()}, "/dev/null"};
  std::vector<std::string> as_user;  // prefix of commands that run as that user
  PostgresPrograms programs;
  const std::string password = random_name();
  const pid_t owner = ::getpid();
  int port = 0;
  bool has_vector = false;
  std::unique_ptr<Process> server;

  std::vector<std::string> command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), as_user.begin(), as_user.end());
    return arguments;
  }

  // PostgreSQL refuses to run as root.
  void choose_user() {
    std::ofstream(folder / "password") << password << "\n";
    if (::geteuid() != 0) return;
    const passwd* user = ::getpwnam("postgres");
    if (!user) user = ::getpwnam("nobody");
    if (!user)
      throw std::runtime_error("PostgreSQL does not run as root: run the tests as another user");
    as_user = {"setpriv", "--reuid=" + std::to_string(user->pw_uid),
               "--regid=" + std::to_string(user->pw_gid), "--clear-groups", "--"};
    // That user may have no access to the folder of the tests.
    if (run_process(command({"test", "-x", programs.path("postgres")})).code != 0)
      programs.copy_to(folder / "programs");
    const std::string owner_and_group =
        std::to_string(user->pw_uid) + ":" + std::to_string(user->pw_gid);
    if (run_process({"chown", "-hR", owner_and_group, folder}).code != 0)
      throw std::runtime_error("cannot change the owner of a folder");
  }

  void make_cluster(const std::vector<std::string>& settings) {
    const fs::path data = folder / "data";
    // A linguistic collation, like most servers, so that tests notice queries without byte order.
    const ProcessResult made = run_process(command(
        {programs.path("initdb"), "--no-sync", "--pgdata", data, "--username=stoka", "--pwfile",
         folder / "password", "--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8",
         "--locale=C", "--locale-provider=icu", "--icu-locale=en-US", "--wal-segsize=1"}));
    if (made.code != 0) throw std::runtime_error("initdb: " + made.err);
    std::ofstream conf(data / "postgresql.conf", std::ios::app);
    conf << "listen_addresses = '127.0.0.1'\nunix_socket_directories = '" << folder.string()
         << "'\nfsync = off\nshared_buffers = 16MB\nmax_connections = 100\n";
    for (const std::string& line : settings) conf << line << "\n";
  }

  bool is_ready() const {
    std::ifstream in(folder / "data/postmaster.pid");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines.size() >= 8 && lines[0] == std::to_string(server->pid()) &&
           lines[7].starts_with("ready");
  }

  // False if the server exits at once.
  bool try_start() {
    server = std::make_unique<Process>(
        command({programs.path("postgres"), "-D", folder / "data", "-p", std::to_string(port)}),
        folder / "log");
    guard.write(std::to_string(server->pid()));
    for (auto until = std::chrono::steady_clock::now() + 60s; !is_ready();) {
      if (!server->running()) return forget_server(), false;
      if (std::chrono::steady_clock::now() > until)
        throw std::runtime_error("PostgreSQL does not start: " + last_lines(folder / "log"));
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }

  void forget_server() {
    server.reset();
    guard.write("");
  }

  void stop_with(int signal) {
    if (!server) return;
    server->signal(signal);
    if (!server->wait(30s)) throw std::runtime_error("PostgreSQL does not stop");
    forget_server();
  }
};

PostgresServer::PostgresServer(const std::vector<std::string>& settings)
    : impl_(std::make_unique<Impl>()) {
  impl_->choose_user();
  impl_->make_cluster(settings);
  for (int attempt = 0; attempt < 5 && !impl_->server; ++attempt) {
    impl_->port = random_port();
    impl_->try_start();
  }
  if (!impl_->server)
    throw std::runtime_error("PostgreSQL does not start: " + last_lines(impl_->folder / "log"));
  sql("CREATE DATABASE stoka", "postgres");
  impl_->has_vector =
      !sql("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'", "postgres").empty();
}

PostgresServer::~PostgresServer() {
  if (::getpid() != impl_->owner) return;  // this is a fork of the test
  try {
    impl_->stop_with(SIGQUIT);
    impl_->guard.write("end");
  } catch (const std::exception&) {
    // The guard stops it.
  }
}

bool PostgresServer::has_vector() const { return impl_->has_vector; }
int PostgresServer::port() const { return impl_->port; }
std::string PostgresServer::password() const { return impl_->password; }

std::string PostgresServer::url(const std::string& database) const {
  return "postgres://stoka:" + impl_->password + "@127.0.0.1:" + std::to_string(impl_->port) + "/" +
         database;
}

void PostgresServer::stop() { impl_->stop_with(SIGINT); }

void PostgresServer::kill() {
  if (!impl_->server) return;
  const pid_t postmaster = impl_->server->pid();
  impl_->server->signal(SIGSTOP);  // so that it does not stop its children itself
  const std::vector<pid_t> backends = children(postmaster);
  for (pid_t backend : backends) ::kill(backend, SIGKILL);
  impl_->stop_with(SIGKILL);
  while (!std::all_of(backends.begin(), backends.end(), has_exited))
    std::this_thread::sleep_for(1ms);
}

void PostgresServer::start() {
  if (!impl_->server && !impl_->try_start())
    throw std::runtime_error("PostgreSQL does not restart: " + last_lines(impl_->folder / "log"));
}

std::string PostgresServer::sql(const std::string& statements, const std::string& database) const {
  return run_psql(impl_->programs, url(database), statements);
}

}  // namespace stoka::testing
