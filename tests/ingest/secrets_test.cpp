#include "ingest/secrets.h"

#include <doctest/doctest.h>

#include "ingest/chunker.h"
#include "ingest/markdown.h"

namespace secrets_test {

using namespace stoka;
using namespace stoka::ingest;

namespace {

// Secrets are joined at run time, so that secret scanners do not report this file.
std::string join(std::string_view a, std::string_view b) { return std::string(a) + std::string(b); }
const std::string kAlnum = "a1B2c3D4e5F6g7H8i9J0k1L2";
const std::string kUpper = "IOSFODNN7EXAMPLE";
const std::string kPem =
    join("-----BEGIN RSA PRIV", "ATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----");
const std::string kJwt = join("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0In0.abc-DEF_123");

}  // namespace

TEST_CASE("secrets of every kind are found") {
  struct {
    std::string text;
    std::string_view kind;
  } cases[] = {
      {join("sk-", kAlnum), "an API key (sk-)"},
      {join("key=sk-", "proj-" + kAlnum), "an API key (sk-)"},
      {join("\"sk-", std::string(20, 'a') + "\""), "an API key (sk-)"},
      {join("ghp_", kAlnum), "a GitHub token"},
      {join("(github_pat_", kAlnum + "_x)"), "a GitHub token"},
      {join("AKIA", kUpper), "an AWS access key"},
      {"token: " + kJwt + ".", "a JSON web token"},
      {join("xoxb-", "123456789012-abcdef"), "a Slack token"},
      {join("xoxp-", "123456789012-abcdef"), "a Slack token"},
      {"text\n" + kPem, "a private key"},
      {join("-----BEGIN PRIV", "ATE KEY-----"), "a private key"},
      {join("xoxb-", "short"), "a Slack token"},
      {join("AKIA", kUpper + "X"), "an AWS access key"},
      {join("my_ghp_", kAlnum), "a GitHub token"},
      {join("BEGIN RSA PRIV", "ATE KEY"), "a private key"},
      {join("the line -- BEGIN OPENSSH PRIV", "ATE KEY -- opens it"), "a private key"},
      {join("-----BEGIN EC PRIV", "ATE KEY-----\\nMIIabc\\n"), "a private key"},
      {"数据 " + join("ghp_", kAlnum), "a GitHub token"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(find_secret(c.text) == c.kind);
  }
}

TEST_CASE("text that only resembles a secret is not reported") {
  const std::string texts[] = {
      "",
      "sk-",
      "AKIA",
      "PRIVATE KEY",
      "ghp_short",
      "xoxq-123456789012",
      "task-force-with-many-more-words-in-it",
      "sk-learn-contrib-imbalanced-ensemble",
      "disk-" + kAlnum,
      "sk-" + std::string(19, 'a'),
      "BEGIN your day; a PRIVATE KEY is none of it",
      "BEGIN\nRSA PRIVATE KEY",
      join("AKIA", "iosfodnn7example"),
      "eyJhbGciOiJIUzI1NiJ9",
      "eyJhbGciOiJIUzI1NiJ9.abc.def",
      "-----BEGIN PUBLIC KEY-----",
      "-----BEGIN CERTIFICATE-----",
  };
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK_FALSE(find_secret(text).has_value());
  }
}

TEST_CASE("the offsets cover exactly the secret") {
  std::string text = "before " + kJwt + " between " + kPem + " after";
  auto found = find_secrets(text);
  REQUIRE(found.size() == 2);
  CHECK(text.substr(found[0].begin, found[0].end - found[0].begin) == kJwt);
  CHECK(text.substr(found[1].begin, found[1].end - found[1].begin) == kPem);
}

TEST_CASE("a private key without dashes ends with its last line") {
  const std::string line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA";
  const std::string head = join("BEGIN PRIV", "ATE KEY");
  struct {
    std::string key, after;
  } cases[] = {
      {head, "\nOpens the file."},
      {head, "\n\nThe next paragraph."},
      {head + "\n" + line + "\n" + line + "\nabc==", "\n\nThe next paragraph."},
      {head + "\n\n  " + line + "\nEND PRIVATE KEY", "\n" + line},
      {head + "\r\n" + line + "\r\nEND PRIVATE KEY", "\r\nwords"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.key);
    const std::string text = "before " + c.key + c.after;
    const auto found = find_secrets(text);
    REQUIRE(found.size() == 1);
    CHECK(text.substr(found[0].begin, found[0].end - found[0].begin) == c.key);
  }
}

TEST_CASE("chunks with a secret are withheld and the others renumbered") {
  auto blocks =
      parse_markdown("open\n\n## Keys\n\nmine is " + join("ghp_", kAlnum) + "\n\n## End\n\nclose")
          .blocks;
  auto chunks = chunk(Document{}, blocks, {});
  auto withheld = withhold_secrets(chunks, blocks);
  REQUIRE(withheld.size() == 1);
  CHECK(withheld[0].section == "Keys");
  CHECK(withheld[0].kind == "a GitHub token");
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[1].section == "End");
  CHECK(chunks[1].index == 1);
}

TEST_CASE("every chunk that contains a part of a long key is withheld") {
  std::string body;
  for (int i = 0; i < 60; ++i) {
    body += "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
    body += std::to_string(1000 + i * 7) + "\n";
  }
  std::string pem = join("-----BEGIN PRIV", "ATE KEY-----\n") + body + "-----END PRIVATE KEY-----";
  std::string jwt = join("eyJhbGciOiJIUzI1NiJ9", ".eyJ");
  for (int i = 0; i < 300; ++i) jwt += "Q" + std::to_string(i * 977);
  jwt += ".c2lnbmF0dXJlLXNpZ25hdHVyZQ";
  const std::string bare = join("BEGIN RSA PRIV", "ATE KEY\n") +
                           "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n" +
                           body + "END RSA PRIVATE KEY";
  const std::string unclosed = join("BEGIN PRIV", "ATE KEY\n") + body;
  for (const std::string& secret : {pem, jwt, bare, unclosed}) {
    auto blocks =
        parse_markdown("open\n\n## Keys\n\n```\n" + secret + "\n```\n\n## End\n\nclose").blocks;
    auto chunks = chunk(Document{}, blocks, {64, 16, PrefixMode::full});
    CHECK(chunks.size() > 6);
    CHECK(withhold_secrets(chunks, blocks).size() > 4);
    for (const Chunk& c : chunks)
      for (size_t at = 0; at + 24 <= c.content.size(); ++at)
        REQUIRE(secret.find(c.content.substr(at, 24)) == std::string::npos);
    CHECK(chunks.back().content == "close");
  }
}

TEST_CASE("a page without secrets keeps every chunk") {
  auto blocks = parse_markdown("one\n\n## Two\n\nthree").blocks;
  auto chunks = chunk(Document{}, blocks, {});
  CHECK(withhold_secrets(chunks, blocks).empty());
  CHECK(chunks.size() == 2);
}

}  // namespace secrets_test
