// Faults that do not care what the answer is about.
#include <algorithm>

#include "support/upstream/endpoints.h"

namespace stoka::testing {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Leaves of a stream what comes before the text number `after`, of another body so many bytes.
void cut_parts(Answer& answer, std::optional<size_t> after) {
  if (answer.stream) {
    size_t texts = after.value_or(3);
    for (auto part = answer.parts.begin(); part != answer.parts.end(); ++part)
      if (!part->text.empty() && texts-- == 0) {
        answer.parts.erase(part, answer.parts.end());
        break;
      }
    return;
  }
  std::string all;
  for (const Part& part : answer.parts) all += part.bytes;
  const std::string kept = all.substr(0, after.value_or(all.size() / 2));
  answer.missing = all.size() - kept.size();
  answer.parts = {{kept}};
}

void cut_in_tag(Answer& answer) {
  std::string text;
  for (auto part = answer.parts.begin(); part != answer.parts.end(); ++part) {
    text += part->text;
    const size_t tag = text.find("<cite");
    if (tag == std::string::npos || text.size() < tag + 8) continue;
    answer.parts.erase(part + 1, answer.parts.end());
    return;
  }
  cut_parts(answer, std::nullopt);
}

void whole_body(Answer& answer, std::string body, std::string content_type) {
  answer.parts = {{std::move(body)}};
  answer.content_type = std::move(content_type);
  answer.stream = false;
}

// A deflate stream of one space and then 13 bits for every 258 more: of 8 such matches 13 bytes
// make a period.
void bomb(Answer& answer) {
  std::string bits;
  auto put = [&](std::string_view more) { bits += more; };
  put("1");         // the last block
  put("10");        // of fixed codes
  put("01010000");  // ' '
  std::string bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10);
  // 285: 258 bytes; distance code 0: the byte before.
  for (int i = 0; i < 64 * 1024 * 1024 / 258; ++i) put("1100010100000");
  put("0000000");  // the end
  bits.resize((bits.size() + 7) / 8 * 8, '0');
  for (size_t i = 0; i < bits.size(); i += 8) {
    unsigned byte = 0;
    for (size_t j = 0; j < 8; ++j) byte |= static_cast<unsigned>(bits[i + j] == '1') << j;
    bytes += static_cast<char>(byte);
  }
  bytes.append(8, '\0');  // checksum and length, wrong
  whole_body(answer, bytes, answer.content_type);
  answer.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

std::string spoil(std::string json) {
  replace_all(json, "\"" + std::string(kNan) + "\"", "NaN");
  replace_all(json, kHigh, "\\ud83d");
  replace_all(json, kLow, "\\ude00");
  replace_all(json, kLone, "\\ud800");
  replace_all(json, kBytes, "\xff\xfe\xc3");
  return json;
}

void apply_fault(const Context& context, Answer& answer) {
  using Head = Answer::Head;
  using End = Answer::End;
  const Behaviour& behaviour = context.behaviour;
  const std::string& fault = behaviour.fault;
  auto nothing = [&](Head head, End end) {
    answer.parts.clear();
    answer.head = head;
    answer.end = end;
  };
  if (fault == "close") nothing(Head::none, End::close);
  if (fault == "hang") nothing(Head::none, End::hang);
  if (fault == "half_head") nothing(Head::half, End::hang);
  if (fault == "cut_head") nothing(Head::half, End::close);
  if (fault == "reset" && !behaviour.after) nothing(Head::none, End::reset);
  if (fault == "no_http") {
    nothing(Head::none, End::close);
    whole_body(answer, "SSH-2.0-OpenSSH_9.2p1\r\n", "");
  }
  if (fault == "cut" || fault == "hang_mid" || (fault == "reset" && behaviour.after)) {
    cut_parts(answer, behaviour.after);
    answer.end = fault == "cut" ? End::close : fault == "reset" ? End::reset : End::hang;
  }
  if (fault == "cut_in_tag") {
    cut_in_tag(answer);
    answer.end = End::close;
  }
  if (fault == "close_after") answer.end = End::whole_close;
  if (fault == "empty") whole_body(answer, "", answer.content_type);
  if (fault == "html") {
    whole_body(answer, "<!DOCTYPE html>\n<html><body><h1>It works!</h1></body></html>\n",
               "text/html; charset=utf-8");
    answer.status = behaviour.status == 0 ? 200 : behaviour.status;
  }
  if (fault == "truncated_json" && !answer.stream) {
    cut_parts(answer, behaviour.after);
    answer.missing = 0;
  }
  if (fault == "wrong_length") {
    answer.missing = 1000;
    answer.end = End::close;
  }
  if (fault == "long_body") {
    std::string numbers;
    for (int i = 0; i < 16384; ++i) numbers += ",0.5";
    answer.parts = {{"{\"data\":[[0.5"}, {numbers, {}, 1024}};
    answer.stream = false;
    answer.chunked = true;
  }
  if (fault == "gzip_bomb") bomb(answer);
  if (fault == "redirect") {
    whole_body(answer, "", "");
    answer.status = 302;
    answer.headers.emplace_back("Location", "http://127.0.0.2:9/");
  }
}

}  // namespace stoka::testing
