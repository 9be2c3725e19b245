#include "serve/client_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "text/normalize.h"

namespace stoka::serve {
namespace {

constexpr unsigned kMappedBits = 96;
constexpr size_t kMaxHops = 64;
constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// Parses a decimal number without leading zeros that is at most `max`.
std::optional<unsigned> small_number(std::string_view text, unsigned max) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value > max) return std::nullopt;
  return value;
}

bool is_port(std::string_view text) { return small_number(text, 65535).has_value(); }

// inet_pton takes a C string and would ignore what follows a NUL.
std::optional<std::string> c_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

std::optional<IpAddress> parse_v4(std::string_view text) {
  std::array<uint8_t, 4> bytes{};
  const auto plain = c_text(text);
  if (!plain || inet_pton(AF_INET, plain->c_str(), bytes.data()) != 1) return std::nullopt;
  return IpAddress(bytes);
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  if (const size_t zone = text.find('%'); zone != std::string_view::npos) {
    if (zone + 1 == text.size()) return std::nullopt;
    text = text.substr(0, zone);
  }
  std::array<uint8_t, 16> bytes{};
  const auto plain = c_text(text);
  if (!plain || inet_pton(AF_INET6, plain->c_str(), bytes.data()) != 1) return std::nullopt;
  return IpAddress(bytes);
}

std::optional<IpAddress> parse_bracketed(std::string_view text) {
  const size_t end = text.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view after = text.substr(end + 1);
  if (!after.empty() && (after.front() != ':' || !is_port(after.substr(1)))) return std::nullopt;
  return parse_v6(text.substr(1, end - 1));
}

bool has_same_prefix(const IpAddress& a, const IpAddress& b, unsigned bits) {
  const unsigned whole = bits / 8, rest = bits % 8;
  if (!std::equal(a.bytes().begin(), a.bytes().begin() + whole, b.bytes().begin())) return false;
  return rest == 0 || ((a.bytes()[whole] ^ b.bytes()[whole]) >> (8 - rest)) == 0;
}

}  // namespace

IpAddress::IpAddress(const std::array<uint8_t, 4>& v4) {
  std::copy(v4.begin(), v4.end(), std::copy(kMapped.begin(), kMapped.end(), bytes_.begin()));
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  if (text.starts_with('[')) return parse_bracketed(text);
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return parse_v4(text);
  if (text.find(':', colon + 1) != std::string_view::npos) return parse_v6(text);
  return is_port(text.substr(colon + 1)) ? parse_v4(text.substr(0, colon)) : std::nullopt;
}

bool IpAddress::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin()); }

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (is_v4())
    inet_ntop(AF_INET, bytes_.data() + kMapped.size(), out.data(), out.size());
  else
    inet_ntop(AF_INET6, bytes_.data(), out.data(), out.size());
  return out.data();
}

Result<NetworkSet> NetworkSet::parse(std::span<const std::string> cidrs) {
  NetworkSet out;
  for (const std::string& cidr : cidrs) {
    const auto error = [&](std::string_view what) {
      return fail(ErrorKind::config,
                  fmt::format("\"{}\" is not a network: {}", text::one_line(cidr), what),
                  "write it as 10.0.0.0/8, fd00::/8 or 192.0.2.7");
    };
    const std::string_view network = trimmed(cidr);
    const size_t slash = network.find('/');
    const std::string_view start = network.substr(0, slash);
    const bool looks_v6 = start.find(':') != std::string_view::npos;
    const auto address = start.find('%') != std::string_view::npos ? std::nullopt
                         : looks_v6                                ? parse_v6(start)
                                                                   : parse_v4(start);
    if (!address) return error("it does not begin with an IP address");
    const unsigned max_bits = looks_v6 ? 128 : 32;
    unsigned bits = max_bits;
    if (slash != std::string_view::npos) {
      const auto given = small_number(network.substr(slash + 1), max_bits);
      if (!given) return error(fmt::format("the prefix must be a number from 0 to {}", max_bits));
      bits = *given;
    }
    if (!looks_v6) bits += kMappedBits;
    // A shorter prefix would match no address, because IPv4-mapped addresses count as IPv4.
    if (address->is_v4() && bits < kMappedBits)
      return error("the prefix of a mapped IPv4 address must be 96 or more");
    out.networks_.push_back({*address, bits});
  }
  return out;
}

bool NetworkSet::contains(const IpAddress& address) const {
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
    return address.is_v4() == network.address.is_v4() &&
           has_same_prefix(address, network.address, network.bits);
  });
}

IpAddress client_address(const IpAddress& peer, std::span<const std::string_view> x_forwarded_for,
                         const NetworkSet& trusted) {
  IpAddress last = peer;
  size_t hops = 0;
  for (size_t header = x_forwarded_for.size(); header-- > 0;) {
    std::string_view left = x_forwarded_for[header];
    for (bool more = true; more; ++hops) {
      if (hops == kMaxHops || !trusted.contains(last)) return last;
      const size_t comma = left.rfind(',');
      more = comma != std::string_view::npos;
      const auto hop = IpAddress::parse(more ? left.substr(comma + 1) : left);
      if (!hop) return last;
      last = *hop;
      if (more) left = left.substr(0, comma);
    }
  }
  return last;
}

std::string rate_key(const IpAddress& address) {
  if (address.is_v4()) return address.text();
  std::array<uint8_t, 16> bytes = address.bytes();
  std::fill(bytes.begin() + 8, bytes.end(), uint8_t{0});
  return IpAddress(bytes).text() + "/64";
}

}  // namespace stoka::serve
