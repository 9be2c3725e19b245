#include "ingest/secrets.h"

#include <algorithm>
#include <unordered_set>

#include "base/ascii.h"

namespace stoka::ingest {
namespace {

bool is_token(char c) { return is_ascii_alnum(c) || c == '-' || c == '_'; }

// The length of the run of characters from `at` that satisfy `is`.
template <class Is>
size_t run(std::string_view text, size_t at, Is is) {
  size_t n = 0;
  while (at + n < text.size() && is(text[at + n])) ++n;
  return n;
}

bool inside_word(std::string_view text, size_t at) { return at > 0 && is_token(text[at - 1]); }

// A matcher gets the offset of its prefix and returns the offset of the end of the secret, or 0 if
// there is none.
size_t match_sk(std::string_view text, size_t at) {
  if (inside_word(text, at)) return 0;  // a part of a word: "sk-" in "task-force"
  size_t length = run(text, at + 3, is_token);
  if (length < 20) return 0;
  // A key has a digit or twenty letters in a row, unlike words that are joined with dashes.
  std::string_view body = text.substr(at + 3, length);
  bool digit = std::any_of(body.begin(), body.end(), is_ascii_digit);
  size_t longest = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    size_t letters = run(body, i, is_ascii_alnum);
    longest = std::max(longest, letters);
    i += letters;
  }
  return digit || longest >= 20 ? at + 3 + length : 0;
}

size_t match_github(std::string_view text, size_t at) {
  size_t length = run(text, at + 4, is_ascii_alnum);
  return length >= 20 ? at + 4 + length : 0;
}

size_t match_github_fine(std::string_view text, size_t at) {
  size_t length = run(text, at + 11, is_token);
  return length >= 20 ? at + 11 + length : 0;
}

size_t match_aws(std::string_view text, size_t at) {
  size_t length = run(text, at + 4, [](char c) { return is_ascii_digit(c) || is_ascii_upper(c); });
  return length >= 16 ? at + 4 + length : 0;
}

size_t match_slack(std::string_view text, size_t at) {
  return at + 5 + run(text, at + 5, is_token);
}

// A JSON web token is three parts of base64url. The first two are JSON objects, which begin with {"
// and therefore with "eyJ" when encoded.
size_t match_jwt(std::string_view text, size_t at) {
  if (inside_word(text, at)) return 0;
  size_t header = run(text, at, is_token);
  size_t payload_at = at + header + 1;
  if (header < 10 || !text.substr(std::min(payload_at, text.size()) - 1).starts_with(".eyJ"))
    return 0;
  size_t payload = run(text, payload_at, is_token);
  size_t signature_at = payload_at + payload;
  if (payload < 8 || signature_at >= text.size() || text[signature_at] != '.') return 0;
  return signature_at + 1 + run(text, signature_at + 1, is_token);
}

constexpr size_t kMaxKeyBytes = 16 * 1024;

// Matches "BEGIN RSA PRIVATE KEY" and the rest of the line.
size_t match_key_heading(std::string_view text, size_t at) {
  constexpr size_t kHeading = 64;
  std::string_view heading = text.substr(at, kHeading);
  heading = heading.substr(0, heading.find('\n'));
  size_t end = heading.find("PRIVATE KEY");
  if (end == std::string_view::npos) return 0;
  std::string_view algorithm = heading.substr(6, end - 6);  // such as "RSA " or "OPENSSH ", or ""
  bool is_heading = std::all_of(algorithm.begin(), algorithm.end(), [](char c) {
    return is_ascii_upper(c) || is_ascii_digit(c) || c == ' ';
  });
  return is_heading ? std::min(text.find('\n', at), text.size()) : 0;
}

bool is_key_material(char c) { return is_token(c) || c == '+' || c == '/' || c == '=' || c == '.'; }

bool ends_key(std::string_view line) {
  const size_t end = line.find("END ");
  return end != line.npos && line.find("PRIVATE KEY", end) != line.npos;
}

// Whether a line below the heading of a private key belongs to that key.
bool is_key_line(std::string_view line) {
  if (line.starts_with("Proc-Type: ") || line.starts_with("DEK-Info: ")) return true;
  return std::all_of(line.begin(), line.end(), is_key_material);
}

// A private key whose heading has lost its dashes: the heading, the lines of the key below it, and
// "END RSA PRIVATE KEY".
size_t match_bare_key(std::string_view text, size_t at) {
  const size_t heading = match_key_heading(text, at);
  if (heading == 0) return 0;
  size_t end = heading;
  if (ends_key(text.substr(at, end - at))) return end;
  text = text.substr(0, std::min(text.size(), end + kMaxKeyBytes));
  for (size_t next = end; next < text.size();) {
    const size_t begin = next + 1;
    next = std::min(text.find('\n', begin), text.size());
    const std::string_view raw = text.substr(begin, next - begin);
    const std::string_view line = trimmed(raw);
    if (line.empty()) continue;
    const bool closes = ends_key(line);
    if (!closes && !is_key_line(line)) break;
    end = begin + static_cast<size_t>(line.data() - raw.data()) + line.size();
    if (closes) break;
  }
  while (text[end - 1] == '\r') --end;
  return end;
}

// A private key in PEM format, from its first dashes to its last.
size_t match_private_key(std::string_view text, size_t at) {
  if (match_key_heading(text, at + 5) == 0) return 0;
  std::string_view body = text.substr(at, kMaxKeyBytes);
  size_t close = body.find("-----END ");
  if (close == std::string_view::npos) return at + body.size();
  size_t dashes = body.find("-----", close + 9);
  return at + (dashes == std::string_view::npos ? body.size() : dashes + 5);
}

struct Pattern {
  std::string_view prefix;
  std::string_view kind;
  size_t (*match)(std::string_view text, size_t at);
};

constexpr Pattern kPatterns[] = {
    {"sk-", "an API key (sk-)", match_sk},
    {"ghp_", "a GitHub token", match_github},
    {"gho_", "a GitHub token", match_github},
    {"ghs_", "a GitHub token", match_github},
    {"ghu_", "a GitHub token", match_github},
    {"ghr_", "a GitHub token", match_github},
    {"github_pat_", "a GitHub token", match_github_fine},
    {"AKIA", "an AWS access key", match_aws},
    {"ASIA", "an AWS access key", match_aws},
    {"xoxb-", "a Slack token", match_slack},
    {"xoxp-", "a Slack token", match_slack},
    {"eyJ", "a JSON web token", match_jwt},
    {"-----BEGIN ", "a private key", match_private_key},
    {"BEGIN ", "a private key", match_bare_key},
};

constexpr size_t kWindowBytes = 16;

// All substrings of 16 bytes of the words of the secrets, for recognising a part of a secret.
std::unordered_set<std::string_view> windows_of(std::string_view text,
                                                const std::vector<Secret>& secrets) {
  std::unordered_set<std::string_view> out;
  for (const Secret& secret : secrets) {
    for (size_t at = secret.begin; at < secret.end; ++at) {
      size_t word = run(text.substr(0, secret.end), at, is_key_material);
      for (size_t i = 0; i + kWindowBytes <= word; ++i)
        out.insert(text.substr(at + i, kWindowBytes));
      at += word;
    }
  }
  return out;
}

bool contains_window(std::string_view text, const std::unordered_set<std::string_view>& windows) {
  for (size_t i = 0; i + kWindowBytes <= text.size(); ++i)
    if (windows.contains(text.substr(i, kWindowBytes))) return true;
  return false;
}

}  // namespace

std::vector<Secret> find_secrets(std::string_view text) {
  std::vector<Secret> out;
  for (size_t at = 0; (at = text.find_first_of("sgAxe-B", at)) != std::string_view::npos; ++at) {
    for (const Pattern& pattern : kPatterns) {
      if (text.compare(at, pattern.prefix.size(), pattern.prefix) != 0) continue;
      size_t end = pattern.match(text, at);
      if (end == 0) continue;
      out.push_back({at, end, std::string(pattern.kind)});
      at = end - 1;
      break;
    }
  }
  return out;
}

std::optional<std::string> find_secret(std::string_view text) {
  auto found = find_secrets(text);
  if (found.empty()) return std::nullopt;
  return found.front().kind;
}

std::vector<WithheldChunk> withhold_secrets(std::vector<Chunk>& chunks,
                                            std::span<const Block> blocks) {
  std::string whole;
  for (const Block& block : blocks) whole.append(block.text).append("\n\n");
  std::vector<Secret> secrets = find_secrets(whole);
  auto windows = windows_of(whole, secrets);
  std::vector<WithheldChunk> out;
  auto contains_secret = [&](const Chunk& chunk) {
    std::optional<std::string> kind = find_secret(chunk.content);
    if (!kind) kind = find_secret(chunk.title + "\n" + chunk.section);
    if (!kind && !windows.empty() && contains_window(chunk.content, windows))
      kind = secrets.front().kind;
    if (kind) out.push_back({chunk.section, *kind});
    return kind.has_value();
  };
  std::erase_if(chunks, contains_secret);
  for (size_t i = 0; i < chunks.size(); ++i) chunks[i].index = static_cast<int>(i);
  return out;
}

}  // namespace stoka::ingest
