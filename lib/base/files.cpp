#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stoka {
namespace {

Error file_error(const std::filesystem::path& path, std::string_view what, int code) {
  return {ErrorKind::data, fmt::format("{} {}: {}", what, path.string(), std::strerror(code)),
          "check the path and its permissions"};
}

// Owns a file descriptor and closes it at the end of the scope.
struct Fd {
  int fd;
  ~Fd() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  // Without O_NONBLOCK, opening a FIFO that has no writer would block for ever.
  Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return fail(file_error(path, "cannot read", errno));
  struct stat info;
  if (::fstat(file.fd, &info) != 0) return fail(file_error(path, "cannot read", errno));
  if (S_ISDIR(info.st_mode)) return fail(file_error(path, "cannot read", EISDIR));
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::data, fmt::format("cannot read {}: not a regular file", path.string()));
  auto size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes)
    return fail(ErrorKind::data, fmt::format("{} is {} MB, the limit is {} MB", path.string(),
                                             size >> 20, max_bytes >> 20));
  std::string text;
  text.resize(size);
  size_t got = 0;
  while (got < text.size()) {
    ssize_t n = ::read(file.fd, text.data() + got, text.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(file_error(path, "cannot read", errno));
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  text.resize(got);
  return text;
}

Result<> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  {
    Fd file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)};
    if (file.fd < 0) return fail(file_error(path, "cannot write", errno));
    while (!text.empty()) {
      ssize_t n = ::write(file.fd, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        int code = errno;
        ::unlink(temporary.c_str());
        return fail(file_error(path, "cannot write", code));
      }
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    int code = errno;
    ::unlink(temporary.c_str());
    return fail(file_error(path, "cannot write", code));
  }
  return {};
}

}  // namespace stoka
