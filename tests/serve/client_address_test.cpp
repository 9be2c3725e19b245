#include "serve/client_address.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace client_address_test {

namespace {

using stoka::ErrorKind;
using stoka::serve::client_address;
using stoka::serve::IpAddress;
using stoka::serve::NetworkSet;
using stoka::serve::rate_key;

std::string parsed(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? address->text() : "none";
}

IpAddress address(std::string_view text) {
  const auto out = IpAddress::parse(text);
  REQUIRE_MESSAGE(out.has_value(), text);
  return *out;
}

NetworkSet networks(const std::vector<std::string>& cidrs) {
  auto out = NetworkSet::parse(cidrs);
  REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().message));
  return *out;
}

std::string network_error(const std::string& cidr) {
  const auto out = NetworkSet::parse(std::vector<std::string>{"127.0.0.1", cidr});
  if (out) return "";
  CHECK(out.error().kind == ErrorKind::config);
  CHECK_FALSE(out.error().hint.empty());
  return out.error().message;
}

const std::vector<std::string> kTrusted = {"127.0.0.0/8", "10.0.0.0/8", "::1", "fd00::/8"};

std::string client(std::string_view peer, const std::vector<std::string_view>& headers,
                   const std::vector<std::string>& trusted = kTrusted) {
  return client_address(address(peer), headers, networks(trusted)).text();
}

}  // namespace

TEST_CASE("IpAddress::parse accepts the forms that occur in headers") {
  struct Case {
    std::string_view text, address;
  };
  const Case cases[] = {
      {"1.2.3.4", "1.2.3.4"},
      {"1.2.3.4:567", "1.2.3.4"},
      {"1.2.3.4:0", "1.2.3.4"},
      {"255.255.255.255:65535", "255.255.255.255"},
      {" \t1.2.3.4 \t", "1.2.3.4"},
      {"\"1.2.3.4\"", "1.2.3.4"},
      {"\"1.2.3.4:567\"", "1.2.3.4"},
      {"::1", "::1"},
      {"::", "::"},
      {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"[::1]", "::1"},
      {"[::1]:443", "::1"},
      {"\"[2001:db8::1]:443\"", "2001:db8::1"},
      {"\"2001:db8::1\"", "2001:db8::1"},
      {"fe80::1%eth0", "fe80::1"},
      {"[fe80::1%25eth0]:80", "fe80::1"},
      {"::ffff:1.2.3.4", "1.2.3.4"},
      {"::FFFF:0102:0304", "1.2.3.4"},
      {"[::ffff:1.2.3.4]:80", "1.2.3.4"},
      {"::1.2.3.4", "::1.2.3.4"},
      {"64:ff9b::1.2.3.4", "64:ff9b::102:304"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(parsed(c.text) == c.address);
  }
}

TEST_CASE("IpAddress::parse rejects text that is not an address") {
  for (const std::string& text : {std::string(),
                                  std::string(" "),
                                  std::string("unknown"),
                                  std::string("_hidden"),
                                  std::string("localhost"),
                                  std::string("1.2.3"),
                                  std::string("1.2.3.4.5"),
                                  std::string("1.2.3.256"),
                                  std::string("01.2.3.4"),
                                  std::string("0x1.2.3.4"),
                                  std::string("16909060"),
                                  std::string("1.2.3.4:"),
                                  std::string("1.2.3.4:65536"),
                                  std::string("1.2.3.4:-1"),
                                  std::string("1.2.3.4:+1"),
                                  std::string("1.2.3.4:080"),
                                  std::string("1.2.3.4:8a"),
                                  std::string("1.2.3.4:99999999999999999999"),
                                  std::string("1.2.3.4%eth0"),
                                  std::string("1.2.3.4/8"),
                                  std::string("1.2.3.4 5"),
                                  std::string("1.2.3.4\n"),
                                  std::string("1.2.3.4\0", 8),
                                  std::string("::1\0", 4),
                                  std::string("[1.2.3.4]"),
                                  std::string("[1.2.3.4]:80"),
                                  std::string("[::1"),
                                  std::string("::1]"),
                                  std::string("[::1]80"),
                                  std::string("[::1]:"),
                                  std::string("[]"),
                                  std::string("["),
                                  std::string("[::1]:80:80"),
                                  std::string(":::"),
                                  std::string("1::2::3"),
                                  std::string("12345::"),
                                  std::string("fe80::1%"),
                                  std::string("%eth0"),
                                  std::string("\""),
                                  std::string("\"\""),
                                  std::string("\"1.2.3.4"),
                                  std::string("1.2.3.4\""),
                                  std::string("\"\"1.2.3.4\"\""),
                                  std::string("'1.2.3.4'"),
                                  std::string("::ffff:1.2.3.256"),
                                  std::string("http://1.2.3.4"),
                                  std::string("for=1.2.3.4"),
                                  std::string(9000, '1'),
                                  std::string("\xef\xbc\x91.2.3.4")}) {
    CAPTURE(text);
    CHECK(parsed(text) == "none");
  }
}

TEST_CASE("an address made from bytes equals the one parsed from text") {
  CHECK(IpAddress(std::array<uint8_t, 4>{1, 2, 3, 4}) == address("1.2.3.4"));
  CHECK(IpAddress(std::array<uint8_t, 4>{1, 2, 3, 4}).is_v4());
  std::array<uint8_t, 16> mapped{};
  mapped[10] = mapped[11] = 0xff;
  mapped[12] = 127;
  mapped[15] = 1;
  CHECK(IpAddress(mapped) == address("127.0.0.1"));
  CHECK(IpAddress(mapped).is_v4());
  CHECK_FALSE(address("::1").is_v4());
  CHECK_FALSE(IpAddress().is_v4());
}

TEST_CASE("a network contains the addresses with its prefix") {
  struct Case {
    std::string cidr;
    std::vector<std::string_view> in, out;
  };
  const Case cases[] = {
      {"10.0.0.0/8",
       {"10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"},
       {"9.255.255.255", "11.0.0.0"}},
      {"10.1.2.3/8", {"10.9.9.9"}, {"11.1.2.3"}},  // bits after the prefix
      {"192.168.4.0/22", {"192.168.4.0", "192.168.7.255"}, {"192.168.3.255", "192.168.8.0"}},
      {"128.0.0.0/1", {"128.0.0.0", "255.255.255.255"}, {"127.255.255.255", "0.0.0.0"}},
      {"0.0.0.0/0", {"0.0.0.0", "1.2.3.4", "255.255.255.255"}, {"::", "::1", "2001:db8::1"}},
      {"1.2.3.4/32", {"1.2.3.4"}, {"1.2.3.5", "1.2.3.3"}},
      {"1.2.3.4/31", {"1.2.3.4", "1.2.3.5"}, {"1.2.3.3", "1.2.3.6"}},
      {"1.2.3.4", {"1.2.3.4"}, {"1.2.3.5"}},
      {" 1.2.3.4 ", {"1.2.3.4"}, {"1.2.3.5"}},
      {"::1", {"::1"}, {"::", "::2", "0.0.0.1"}},
      {"::/0", {"::", "ffff::", "64:ff9b::102:304"}, {"1.2.3.4", "::ffff:1.2.3.4"}},
      {"2001:db8::/33", {"2001:db8::1", "2001:db8:7fff::"}, {"2001:db8:8000::", "2001:db9::"}},
      {"2001:db8::5/64", {"2001:db8::ffff:0:0:1"}, {"2001:db8:0:1::"}},
      {"fe80::1/128", {"fe80::1%eth0"}, {"fe80::2"}},
      {"::ffff:10.0.0.0/104", {"10.1.2.3"}, {"11.0.0.0", "::"}},
      {"::ffff:0:0/96", {"1.2.3.4"}, {"::1"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.cidr);
    const NetworkSet one = networks({c.cidr});
    for (const std::string_view in : c.in) CHECK_MESSAGE(one.contains(address(in)), in);
    for (const std::string_view out : c.out) CHECK_MESSAGE(!one.contains(address(out)), out);
  }
  CHECK_FALSE(networks({}).contains(address("127.0.0.1")));
  CHECK_FALSE(networks({}).contains(IpAddress()));
}

TEST_CASE("an invalid network gives a config error") {
  const auto number = [](const std::string& cidr, const std::string& most) {
    return "\"" + cidr + "\" is not a network: the prefix must be a number from 0 to " + most;
  };
  for (const char* prefix : {"33", "-1", "+8", "", "08", "8.0", "255.0.0.0", "a", "/8", "8/8", " 8",
                             "4294967304", "99999999999999999999"}) {
    const std::string cidr = std::string("10.0.0.0/") + prefix;
    CHECK(network_error(cidr) == number(cidr, "32"));
  }
  CHECK(network_error("::/129") == number("::/129", "128"));
  for (const char* cidr :
       {"", " ", "/8", "10/8", "10.0.0/8", "localhost", "*", "[::1]", "[::]/0", "1.2.3.4:80",
        "\"1.2.3.4\"", "fe80::1%eth0", "fe80::1%eth0/64", "1.2.3.4,5.6.7.8", "unix:"}) {
    CAPTURE(cidr);
    CHECK(network_error(cidr) ==
          "\"" + std::string(cidr) + "\" is not a network: it does not begin with an IP address");
  }
  CHECK(
      network_error("::ffff:0:0/95") ==
      "\"::ffff:0:0/95\" is not a network: the prefix of a mapped IPv4 address must be 96 or more");
}

TEST_CASE("X-Forwarded-For of an untrusted peer is ignored") {
  CHECK(client("8.8.8.8", {"1.2.3.4"}) == "8.8.8.8");
  CHECK(client("8.8.8.8", {"127.0.0.1"}) == "8.8.8.8");
  CHECK(client("8.8.8.8", {"10.0.0.1, 127.0.0.1", "::1"}) == "8.8.8.8");
  CHECK(client("2001:db8::1", {"1.2.3.4"}) == "2001:db8::1");
  CHECK(client("127.0.0.1", {"1.2.3.4"}, {}) == "127.0.0.1");
}

TEST_CASE("behind trusted proxies the client is the right-most untrusted hop") {
  struct Case {
    std::string_view peer;
    std::vector<std::string_view> headers;
    std::string client;
  };
  const Case cases[] = {
      {"127.0.0.1", {}, "127.0.0.1"},
      {"127.0.0.1", {"1.2.3.4"}, "1.2.3.4"},
      {"::ffff:127.0.0.1", {"1.2.3.4"}, "1.2.3.4"},
      {"::1", {"2001:db8::7"}, "2001:db8::7"},
      {"127.0.0.1", {"6.6.6.6, 1.2.3.4"}, "1.2.3.4"},  // 6.6.6.6 is what the client says
      {"127.0.0.1", {"6.6.6.6, 1.2.3.4, 10.0.0.7"}, "1.2.3.4"},
      {"127.0.0.1", {"6.6.6.6,1.2.3.4,10.0.0.7,10.0.0.8"}, "1.2.3.4"},
      {"127.0.0.1", {"6.6.6.6", "1.2.3.4", "10.0.0.7"}, "1.2.3.4"},  // headers in their order
      {"127.0.0.1", {"6.6.6.6, 5.5.5.5", "10.0.0.8, 10.0.0.7"}, "5.5.5.5"},
      {"127.0.0.1", {"1.2.3.4", "6.6.6.6"}, "6.6.6.6"},
      {"127.0.0.1", {"\"[2001:db8::7]:443\", fd00::1"}, "2001:db8::7"},
      {"127.0.0.1", {"1.2.3.4:5678"}, "1.2.3.4"},
      {"127.0.0.1", {"::ffff:1.2.3.4"}, "1.2.3.4"},
      {"127.0.0.1", {"1.2.3.4, ::ffff:10.0.0.7"}, "1.2.3.4"},
      // All hops are trusted: the client is the left-most.
      {"127.0.0.1", {"10.0.0.9, 10.0.0.8", "10.0.0.7"}, "10.0.0.9"},
      {"127.0.0.1", {"::1"}, "::1"},
      // An invalid hop ends the search: no trusted proxy vouches for what is to its left.
      {"127.0.0.1", {"unknown"}, "127.0.0.1"},
      {"127.0.0.1", {""}, "127.0.0.1"},
      {"127.0.0.1", {"6.6.6.6, unknown, 10.0.0.7"}, "10.0.0.7"},
      {"127.0.0.1", {"6.6.6.6, , 10.0.0.7"}, "10.0.0.7"},
      {"127.0.0.1", {"6.6.6.6,"}, "127.0.0.1"},
      {"127.0.0.1", {"6.6.6.6", ""}, "127.0.0.1"},
      {"127.0.0.1", {"6.6.6.6, 1.2.3.4; 10.0.0.7"}, "127.0.0.1"},
      {"127.0.0.1", {"garbage, 1.2.3.4"}, "1.2.3.4"},
      {"127.0.0.1", {",,,,"}, "127.0.0.1"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.client);
    CAPTURE(c.headers.size());
    if (!c.headers.empty()) CAPTURE(c.headers.front());
    CHECK(client(c.peer, c.headers) == c.client);
  }
}

TEST_CASE("at most 64 hops are read") {
  const auto hops = [](int count) {
    std::string out = "1.2.3.4";
    for (int i = count - 1; i > 0; --i) out += ", 10.0.0." + std::to_string(i);
    return out;
  };
  CHECK(client("127.0.0.1", {hops(64)}) == "1.2.3.4");
  CHECK(client("127.0.0.1", {hops(65)}) == "10.0.0.64");
  const std::vector<std::string_view> many(1000, "10.0.0.7");
  CHECK(client("127.0.0.1", many) == "10.0.0.7");
}

TEST_CASE("an untrusted peer cannot change its address with headers") {
  const std::vector<std::string> pieces = {"1.2.3.4", "127.0.0.1", "10.0.0.1", "::1", "unknown",
                                           "[::1]:8", ",",         " ",        "\"",  "",
                                           "\xff",    "%",         "fd00::1",  ":",   "0.0.0.0"};
  std::mt19937 random(3);
  const NetworkSet trusted = networks(kTrusted);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> headers(random() % 4);
    for (std::string& header : headers)
      for (size_t i = random() % 8; i > 0; --i)
        header += pieces[random() % pieces.size()] + (random() % 2 ? ", " : "");
    const std::vector<std::string_view> views(headers.begin(), headers.end());
    std::array<uint8_t, 16> bytes{};
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    bytes[0] = 0x20;
    const IpAddress v6(bytes);
    const IpAddress v4(std::array<uint8_t, 4>{8, bytes[1], bytes[2], bytes[3]});
    for (const IpAddress& peer : {v4, v6}) CHECK(client_address(peer, views, trusted) == peer);
    // The same holds for what a client sends to a trusted proxy.
    std::vector<std::string_view> behind = views;
    const std::string hop = v4.text();
    behind.push_back(hop);
    CHECK(client_address(address("127.0.0.1"), behind, trusted) == v4);
  }
}

TEST_CASE("the rate limit key is the IPv4 address or the /64 of the IPv6 address") {
  CHECK(rate_key(address("1.2.3.4")) == "1.2.3.4");
  CHECK(rate_key(address("::ffff:1.2.3.4")) == "1.2.3.4");
  CHECK(rate_key(address("1.2.3.5")) != rate_key(address("1.2.3.4")));
  CHECK(rate_key(address("2001:db8:1:2:3:4:5:6")) == "2001:db8:1:2::/64");
  CHECK(rate_key(address("2001:db8:1:2:ffff:ffff:ffff:ffff")) == "2001:db8:1:2::/64");
  CHECK(rate_key(address("2001:db8:1:3::")) == "2001:db8:1:3::/64");
  CHECK(rate_key(address("::1")) == "::/64");
}

}  // namespace client_address_test
