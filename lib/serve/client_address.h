// Who a client is behind proxies: its IP address, by what peers may be believed.
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

// An IPv4 or IPv6 address. One that is IPv4 mapped into IPv6 is IPv4.
class Address {
 public:
  Address() = default;  // ::
  explicit Address(const std::array<uint8_t, 4>& v4);
  explicit Address(const std::array<uint8_t, 16>& v6) : bytes_(v6) {}
  // In the forms of a header: 1.2.3.4, 1.2.3.4:567, ::1, [::1], [::1]:443, each perhaps in double
  // quotes and between blanks. A zone ("%eth0") is dropped: it has a meaning on one machine only.
  static std::optional<Address> parse(std::string_view text);

  bool is_v4() const;
  std::string text() const;
  // All 16; of IPv4 the mapped form.
  const std::array<uint8_t, 16>& bytes() const { return bytes_; }
  bool operator==(const Address&) const = default;

 private:
  std::array<uint8_t, 16> bytes_{};
};

// Sets of addresses.
class Networks {
 public:
  // "10.0.0.0/8", "fd00::/8", or one address. Bits after the prefix do not matter. Config errors
  // name what is wrong.
  static Result<Networks> parse(std::span<const std::string> cidrs);
  // IPv4 and IPv6 are worlds of their own: 0.0.0.0/0 has no IPv6 address in it, nor ::/0 an IPv4.
  bool contains(const Address& address) const;

 private:
  struct Network {
    Address address;
    unsigned bits;  // of the 128
  };
  std::vector<Network> networks_;
};

// The peer, unless it is trusted: then the right-most hop of all X-Forwarded-For headers, joined in
// their order, that is not trusted itself, or else the left-most. A hop that is no address ends the
// walk at the trusted one to its right; no more than 64 hops are read.
Address client_address(const Address& peer, std::span<const std::string_view> x_forwarded_for,
                       const Networks& trusted);

// What counts as one client in a limit: an IPv4 address, the /64 of an IPv6 address.
std::string rate_key(const Address& address);

}  // namespace stoka::serve
