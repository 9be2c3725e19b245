// Faults that are the same for all endpoints.
#include <algorithm>

#include "support/upstream/endpoints.h"

namespace stoka::testing {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Keeps the first `after` texts of a stream, or the first `after` bytes of another body.
void cut_parts(FakeResponse& response, std::optional<size_t> after) {
  if (response.stream) {
    size_t texts = after.value_or(3);
    for (auto part = response.parts.begin(); part != response.parts.end(); ++part)
      if (!part->text.empty() && texts-- == 0) {
        response.parts.erase(part, response.parts.end());
        break;
      }
    return;
  }
  std::string all;
  for (const Part& part : response.parts) all += part.bytes;
  const std::string kept = all.substr(0, after.value_or(all.size() / 2));
  response.missing = all.size() - kept.size();
  response.parts = {{kept}};
}

void cut_in_tag(FakeResponse& response) {
  std::string text;
  for (auto part = response.parts.begin(); part != response.parts.end(); ++part) {
    text += part->text;
    const size_t tag = text.find("<cite");
    if (tag == std::string::npos || text.size() < tag + 8) continue;
    response.parts.erase(part + 1, response.parts.end());
    return;
  }
  cut_parts(response, std::nullopt);
}

void set_body(FakeResponse& response, std::string body, std::string content_type) {
  response.parts = {{std::move(body)}};
  response.content_type = std::move(content_type);
  response.stream = false;
}

// A deflate stream (RFC 1951): one space, and then for every 258 more a match of 13 bits.
std::string gzip_bomb() {
  std::string bits;
  auto put = [&](std::string_view more) { bits += more; };
  put("1");         // the last block
  put("10");        // of fixed codes
  put("01010000");  // ' '
  std::string bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10);
  // Length code 285 is 258 bytes; distance code 0 is the byte before.
  for (int i = 0; i < 64 * 1024 * 1024 / 258; ++i) put("1100010100000");
  put("0000000");  // the end
  bits.resize((bits.size() + 7) / 8 * 8, '0');
  for (size_t i = 0; i < bits.size(); i += 8) {
    unsigned byte = 0;
    for (size_t j = 0; j < 8; ++j) byte |= static_cast<unsigned>(bits[i + j] == '1') << j;
    bytes += static_cast<char>(byte);
  }
  bytes.append(8, '\0');  // a wrong checksum and length
  return bytes;
}

void set_gzip_bomb(FakeResponse& response) {
  static const std::string bytes = gzip_bomb();
  set_body(response, bytes, response.content_type);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

std::string insert_malformed(std::string json) {
  replace_all(json, "\"" + std::string(kNan) + "\"", "NaN");
  replace_all(json, kHigh, "\\ud83d");
  replace_all(json, kLow, "\\ude00");
  replace_all(json, kLone, "\\ud800");
  replace_all(json, kBytes, "\xff\xfe\xc3");
  return json;
}

void apply_fault(const Context& context, FakeResponse& response) {
  using Head = FakeResponse::Head;
  using End = FakeResponse::End;
  const Behaviour& behaviour = context.behaviour;
  const std::string& fault = behaviour.fault;
  auto set_end = [&](Head head, End end) {
    response.parts.clear();
    response.head = head;
    response.end = end;
  };
  if (fault == "close") set_end(Head::none, End::close);
  if (fault == "hang") set_end(Head::none, End::hang);
  if (fault == "half_head") set_end(Head::half, End::hang);
  if (fault == "cut_head") set_end(Head::half, End::close);
  if (fault == "reset" && !behaviour.after) set_end(Head::none, End::reset);
  if (fault == "no_http") {
    set_end(Head::none, End::close);
    set_body(response, "SSH-2.0-OpenSSH_9.2p1\r\n", "");
  }
  if (fault == "cut" || fault == "hang_mid" || (fault == "reset" && behaviour.after)) {
    cut_parts(response, behaviour.after);
    response.end = fault == "cut" ? End::close : fault == "reset" ? End::reset : End::hang;
  }
  if (fault == "cut_in_tag") {
    cut_in_tag(response);
    response.end = End::close;
  }
  if (fault == "close_after") response.end = End::whole_close;
  if (fault == "empty") set_body(response, "", response.content_type);
  if (fault == "html") {
    set_body(response, "<!DOCTYPE html>\n<html><body><h1>It works!</h1></body></html>\n",
             "text/html; charset=utf-8");
    response.status = behaviour.status == 0 ? 200 : behaviour.status;
  }
  if (fault == "truncated_json" && !response.stream) {
    cut_parts(response, behaviour.after);
    response.missing = 0;
  }
  if (fault == "wrong_length") {
    response.missing = 1000;
    response.end = End::close;
  }
  if (fault == "long_body") {
    std::string numbers;
    for (int i = 0; i < 16384; ++i) numbers += ",0.5";
    response.parts = {{"{\"data\":[[0.5"}, {numbers, {}, 1024}};
    response.stream = false;
    response.chunked = true;
  }
  if (fault == "gzip_bomb") set_gzip_bomb(response);
  if (fault == "redirect") {
    set_body(response, "", "");
    response.status = 302;
    response.headers.emplace_back("Location", "http://127.0.0.2:9/");
  }
}

}  // namespace stoka::testing
