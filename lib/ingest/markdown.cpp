#include "ingest/markdown.h"

#include <md4c.h>

#include <algorithm>

#include "ingest/code_fence.h"
#include "ingest/html.h"
#include "ingest/plain_text.h"
#include "text/entities.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

// Limits the work for one page. An ordinary page causes less than one parser event per byte; a
// table with very many columns causes far more.
constexpr size_t kEventsPerByte = 8;
constexpr size_t kFreeEvents = 10'000;

// Builds blocks from the events of md4c. Each callback returns false if parsing must stop.
class BlockBuilder {
 public:
  explicit BlockBuilder(size_t bytes) : events_left_(bytes * kEventsPerByte + kFreeEvents) {}

  Markdown take() { return {std::move(out_), secret_code_, false}; }

  bool enter(MD_BLOCKTYPE type, const void* detail) {
    if (!count_event()) return false;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) return true;
    flush();
    switch (type) {
      case MD_BLOCK_H:
        level_ = static_cast<int>(static_cast<const MD_BLOCK_H_DETAIL*>(detail)->level);
        break;
      case MD_BLOCK_CODE: {
        const MD_ATTRIBUTE& info = static_cast<const MD_BLOCK_CODE_DETAIL*>(detail)->info;
        code_ = true;
        secret_ = info.text != nullptr && is_marked_secret({info.text, info.size});
        break;
      }
      case MD_BLOCK_HTML:
        html_ = true;
        break;
      case MD_BLOCK_LI:
        ++items_;
        break;
      case MD_BLOCK_QUOTE:
        ++quotes_;
        break;
      case MD_BLOCK_TR:
        row_.clear();
        break;
      default:
        break;
    }
    return true;
  }

  bool leave(MD_BLOCKTYPE type) {
    if (!count_event()) return false;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
      end_cell();
      return true;
    }
    if (type == MD_BLOCK_HTML) {
      end_html();
    } else if (type == MD_BLOCK_TR) {
      if (!row_.empty()) out_.push_back({BlockKind::row, 0, std::move(row_)});
      row_.clear();
    } else {
      flush();
    }
    switch (type) {
      case MD_BLOCK_H:
        level_ = 0;
        break;
      case MD_BLOCK_CODE:
        code_ = secret_ = false;
        break;
      case MD_BLOCK_LI:
        --items_;
        break;
      case MD_BLOCK_QUOTE:
        --quotes_;
        break;
      default:
        break;
    }
    return true;
  }

  bool text(MD_TEXTTYPE type, std::string_view text) {
    if (!count_event()) return false;
    if (!dropped_element_.empty() && type != MD_TEXT_HTML) return true;
    switch (type) {
      case MD_TEXT_NULLCHAR:
        text_ += "\uFFFD";
        break;
      case MD_TEXT_BR:
        text_ += '\n';
        break;
      case MD_TEXT_SOFTBR:
        text_ += ' ';
        break;
      case MD_TEXT_ENTITY:
        text_ += text::decode_entities(text);
        break;
      case MD_TEXT_HTML:
        if (html_) {
          text_ += text;
        } else {
          inline_html(text);
        }
        break;
      default:
        text_ += text;
        break;
    }
    return true;
  }

  bool count_event() { return events_left_ > 0 && --events_left_ > 0; }

 private:
  // Drops an inline tag. A <br> becomes a line break, and the text inside a script is dropped too.
  void inline_html(std::string_view tag) {
    auto is = [&](std::string_view name) {
      if (tag.size() <= name.size()) return false;
      for (size_t i = 0; i < name.size(); ++i)
        if ((tag[i] | 0x20) != (name[i] | 0x20)) return false;
      return true;
    };
    if (!dropped_element_.empty()) {
      if (is("</" + std::string(dropped_element_))) dropped_element_ = {};
      return;
    }
    if (is("<br")) text_ += '\n';
    for (std::string_view name : {"script", "style", "svg"})
      if (is("<" + std::string(name)) && !tag.ends_with("/>")) dropped_element_ = name;
  }

  void end_cell() {
    std::string cell = text::collapse_whitespace(text_);
    text_.clear();
    dropped_element_ = {};
    if (cell.empty()) return;
    if (!row_.empty()) row_ += " | ";
    row_ += cell;
  }

  void end_html() {
    html_ = false;
    for (Block& block : parse_html(text_)) out_.push_back(std::move(block));
    text_.clear();
  }

  void flush() {
    dropped_element_ = {};
    if (text_.empty()) return;
    if (secret_) {
      ++secret_code_;
      text_.clear();
      return;
    }
    BlockKind kind = BlockKind::paragraph;
    if (code_) {
      kind = BlockKind::code;
      // Blank lines before code are trimmed, but not the indentation of its first line.
      size_t first = std::min(text_.find_first_not_of('\n'), text_.size());
      text_ = text_.substr(first, text_.find_last_not_of(" \t\n") + 1 - first);
    } else {
      if (level_ > 0) {
        kind = BlockKind::heading;
      } else if (items_ > 0) {
        kind = BlockKind::item;
      } else if (quotes_ > 0) {
        kind = BlockKind::quote;
      }
      text_ = squeeze_lines(level_ > 0);
    }
    if (!text_.empty())
      out_.push_back({kind, kind == BlockKind::heading ? level_ : 0, std::move(text_)});
    text_.clear();
  }

  // The running text with squeezed white space and without empty lines.
  std::string squeeze_lines(bool one_line) const {
    if (one_line || text_.find('\n') == std::string::npos) return text::collapse_whitespace(text_);
    std::string out;
    for (size_t at = 0; at < text_.size();) {
      size_t end = std::min(text_.find('\n', at), text_.size());
      std::string line = text::collapse_whitespace(std::string_view(text_).substr(at, end - at));
      if (!line.empty()) out += (out.empty() ? "" : "\n") + line;
      at = end + 1;
    }
    return out;
  }

  std::vector<Block> out_;
  std::string text_, row_;
  std::string_view dropped_element_;  // the open inline element whose text is dropped
  int level_ = 0, items_ = 0, quotes_ = 0;
  bool code_ = false, html_ = false;
  bool secret_ = false;     // the open code block is marked secret
  size_t secret_code_ = 0;  // how many code blocks were marked secret
  size_t events_left_;
};

}  // namespace

Markdown parse_markdown(std::string_view text, Dialect dialect) {
  std::string prepared = preprocess_markdown(text, dialect);
  BlockBuilder builder(prepared.size());
  MD_PARSER parser{};
  parser.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
    return static_cast<BlockBuilder*>(self)->enter(type, detail) ? 0 : 1;
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
    return static_cast<BlockBuilder*>(self)->leave(type) ? 0 : 1;
  };
  parser.enter_span = parser.leave_span = [](MD_SPANTYPE, void*, void* self) {
    return static_cast<BlockBuilder*>(self)->count_event() ? 0 : 1;
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* bytes, MD_SIZE size, void* self) {
    return static_cast<BlockBuilder*>(self)->text(type, {bytes, size}) ? 0 : 1;
  };
  int failed = md_parse(prepared.data(), static_cast<MD_SIZE>(prepared.size()), &parser, &builder);
  if (failed == 0) return builder.take();
  PlainText plain = parse_plain_text(prepared);
  return {std::move(plain.blocks), plain.secret_code, true};
}

}  // namespace stoka::ingest
