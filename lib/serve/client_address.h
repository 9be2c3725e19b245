// The IP address of a client, which may be behind proxies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::serve {

// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address counts as IPv4.
class IpAddress {
 public:
  IpAddress() = default;  // the address ::
  explicit IpAddress(const std::array<uint8_t, 4>& v4);
  explicit IpAddress(const std::array<uint8_t, 16>& v6) : bytes_(v6) {}
  // Parses the forms that occur in headers: 1.2.3.4, 1.2.3.4:567, ::1, [::1], [::1]:443, each
  // optionally in double quotes and between blanks. A zone ("%eth0") is dropped, because it has a
  // meaning only on the machine that wrote it.
  static std::optional<IpAddress> parse(std::string_view text);

  bool is_v4() const;
  std::string text() const;
  // Returns 16 bytes: those of an IPv6 address, or of the IPv4-mapped form of an IPv4 address.
  const std::array<uint8_t, 16>& bytes() const { return bytes_; }
  bool operator==(const IpAddress&) const = default;

 private:
  std::array<uint8_t, 16> bytes_{};
};

// A set of IP networks.
class NetworkSet {
 public:
  // Parses networks. Each element is "10.0.0.0/8", "fd00::/8", or one address. Bits after the
  // prefix are ignored. A config error names the element and what is wrong with it.
  static Result<NetworkSet> parse(std::span<const std::string> cidrs);
  // A network holds only addresses of its own IP version: 0.0.0.0/0 holds no IPv6 address, and ::/0
  // no IPv4 address.
  bool contains(const IpAddress& address) const;

 private:
  struct Network {
    IpAddress address;
    unsigned bits;  // length of the prefix, out of 128 bits
  };
  std::vector<Network> networks_;
};

// Returns the address of the client: the peer, unless the peer is a trusted proxy. Behind a trusted
// proxy the client is the right-most hop that is not trusted in all X-Forwarded-For headers, joined
// in their order, or the left-most hop if all are trusted. A hop that is not an address ends the
// search at the trusted hop to its right. At most 64 hops are read.
IpAddress client_address(const IpAddress& peer, std::span<const std::string_view> x_forwarded_for,
                         const NetworkSet& trusted);

// The key under which a rate limit counts a client: the IPv4 address, or the /64 of an IPv6
// address.
std::string rate_key(const IpAddress& address);

}  // namespace stoka::serve
