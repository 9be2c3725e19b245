// Sockets on 127.0.0.1 for the servers and clients of tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stoka::testing {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// Listens on a port of 127.0.0.1. Clients can connect before a connection is accepted.
class Listener {
 public:
  // Port 0 means any free port. Throws if it cannot listen.
  explicit Listener(uint16_t port = 0);

  uint16_t port() const { return port_; }
  std::string url() const;  // "http://127.0.0.1:PORT"
  int fd() const { return socket_.get(); }

  // Waits for the next connection; an empty descriptor after shut_down().
  Descriptor accept() const;
  // Ends every accept(), now and later. May be called on any thread.
  void shut_down() const;

 private:
  Descriptor socket_;
  uint16_t port_ = 0;
};

// An empty descriptor if nothing listens on that port. `receive_buffer` is the size of the socket's
// receive buffer; 0 means the system's default.
Descriptor connect_to(int port, int receive_buffer = 0);

// How long a read or write on the socket waits at most.
void set_timeout(const Descriptor& socket, std::chrono::milliseconds timeout);

// Returns false if the other side has closed the connection or does not read in time.
bool send_all(int socket, std::string_view bytes);

enum class Received { bytes, end, timeout };

// Waits for more bytes and appends them.
Received receive(int socket, std::string& bytes);

// Whether the socket becomes readable within that time.
bool wait_until_readable(int socket, std::chrono::milliseconds time);

}  // namespace stoka::testing
