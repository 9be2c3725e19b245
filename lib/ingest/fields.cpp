#include "ingest/fields.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/ascii.h"
#include "base/toml.h"

namespace stoka::ingest {
namespace {

constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxValues = 10'000;

// Collects scalars under their dotted path from the events of a parser of any format.
class Flattener {
 public:
  // Enters an object or list. Returns false if the nesting is too deep.
  bool open(bool list) {
    frames_.push_back({list, {}});
    return frames_.size() <= kMaxDepth;
  }
  void close() { frames_.pop_back(); }
  void key(std::string name) { frames_.back().key = std::move(name); }

  // Adds a scalar. Returns false if there are too many values.
  bool scalar(std::string text) {
    std::string path;
    bool list = false;
    for (const Frame& frame : frames_) {
      list = list || frame.list;
      if (frame.list) continue;
      if (!path.empty()) path += '.';
      path += frame.key;
    }
    // A key may occur more than once. Inside a list (of maps, for example) its values are gathered,
    // elsewhere the last value wins.
    auto [found, is_new] = index_.try_emplace(path, fields_.size());
    if (is_new) fields_.push_back({path, {}, list});
    Field& field = fields_[found->second];
    if (!list) field.values.clear();
    field.values.push_back(std::move(text));
    return ++count_ <= kMaxValues;
  }

  bool in_map() const { return !frames_.empty() && !frames_.back().list; }
  size_t depth() const { return frames_.size(); }
  std::vector<Field> take() { return std::move(fields_); }

 private:
  struct Frame {
    bool list = false;
    std::string key;
  };
  std::vector<Frame> frames_;
  std::vector<Field> fields_;
  std::map<std::string, size_t> index_;
  size_t count_ = 0;
};

// Thrown by the event handler, because yaml-cpp cannot be stopped in another way.
struct UnsupportedYaml {
  YAML::Mark mark;
  std::string_view feature;
};

class YamlEvents : public YAML::EventHandler {
 public:
  Flattener flat;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { value(mark, anchor, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw UnsupportedYaml{mark, "aliases"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& text) override {
    value(mark, anchor, text);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, true);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, false);
  }
  void OnMapEnd() override { close(); }

 private:
  void reject_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw UnsupportedYaml{mark, "anchors"};
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, bool list) {
    reject_anchor(mark, anchor);
    if (expects_key()) throw UnsupportedYaml{mark, "keys that are not text"};
    if (flat.depth() == 0 && list) throw UnsupportedYaml{mark, "a list instead of keys and values"};
    if (!flat.open(list)) throw UnsupportedYaml{mark, "more than 16 levels"};
    key_next_.push_back(true);
  }
  void close() {
    flat.close();
    key_next_.pop_back();
    value_done();
  }
  void value(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& text) {
    reject_anchor(mark, anchor);
    if (flat.depth() == 0) throw UnsupportedYaml{mark, "a value instead of keys and values"};
    if (expects_key()) {
      flat.key(text);
      key_next_.back() = false;
    } else {
      if (!flat.scalar(text)) throw UnsupportedYaml{mark, "more than 10000 values"};
      value_done();
    }
  }
  bool expects_key() const { return flat.in_map() && key_next_.back(); }
  void value_done() {
    if (!key_next_.empty()) key_next_.back() = true;
  }

  std::vector<bool> key_next_;  // for each open container: whether a map expects a key next
};

class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  Flattener flat;
  bool too_deep = false;

  bool null() override { return value(""); }
  bool boolean(bool v) override { return value(v ? "true" : "false"); }
  bool number_integer(number_integer_t v) override { return value(std::to_string(v)); }
  bool number_unsigned(number_unsigned_t v) override { return value(std::to_string(v)); }
  bool number_float(number_float_t, const string_t& text) override { return value(text); }
  bool string(string_t& text) override { return value(text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(false); }
  bool key(string_t& name) override {
    flat.key(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return flat.depth() > 0 && open(true); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool value(const std::string& text) { return flat.depth() > 0 && flat.scalar(text); }
  bool open(bool list) {
    too_deep = too_deep || !flat.open(list);
    return !too_deep;
  }
  bool close() {
    flat.close();
    return true;
  }
};

std::string_view unquote(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
    return text.substr(1, text.size() - 2);
  if (!text.empty() && (text[0] == '"' || text[0] == '\'')) text.remove_prefix(1);
  return text;
}

void salvage_value(Field& field, std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return;
  if (text[0] != '[') {
    field.values.emplace_back(unquote(text));
    return;
  }
  field.is_list = true;
  text.remove_prefix(1);
  text = text.substr(0, text.find(']'));
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view item = unquote(text.substr(0, comma));
    if (!item.empty()) field.values.emplace_back(item);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

Result<std::vector<Field>> parse_unchecked_yaml(const std::string& yaml) {
  YamlEvents events;
  auto problem = [](const YAML::Mark& mark, std::string_view what) {
    return fail(ErrorKind::data, fmt::format("line {}: {}", mark.line + 1, what),
                "correct the YAML");
  };
  try {
    std::istringstream stream(yaml);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(events);
  } catch (const UnsupportedYaml& unsupported) {
    return problem(unsupported.mark,
                   fmt::format("YAML with {} is not supported", unsupported.feature));
  } catch (const YAML::Exception& error) {
    return problem(error.mark, error.msg);
  } catch (const std::exception& error) {
    return fail(ErrorKind::data, error.what(), "correct the YAML");
  }
  return events.flat.take();
}

// Whether a quoted scalar is never closed, which yaml-cpp accepts silently. To find out, a key is
// appended to the text: it is missing among the fields if it became a part of the scalar.
bool ends_inside_quotes(const std::string& yaml) {
  constexpr std::string_view kSentinel = "stoka-end-of-frontmatter";
  auto odd = [&](char quote) { return std::count(yaml.begin(), yaml.end(), quote) % 2 != 0; };
  if (!odd('"') && !odd('\'')) return false;
  auto fields = parse_unchecked_yaml(yaml + "\n" + std::string(kSentinel) + ": true\n");
  return fields && std::none_of(fields->begin(), fields->end(),
                                [&](const Field& field) { return field.key == kSentinel; });
}

}  // namespace

const std::vector<std::string>& values_of(const std::vector<Field>& fields, std::string_view key) {
  static const std::vector<std::string> kNone;
  for (const Field& field : fields)
    if (field.key == key) return field.values;
  return kNone;
}

bool is_simple_key(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_ascii_alnum(c) || c == '_' || c == '-';
  });
}

Result<std::vector<Field>> parse_yaml_fields(std::string_view text) {
  std::string yaml(text);
  auto fields = parse_unchecked_yaml(yaml);
  if (fields && ends_inside_quotes(yaml))
    return fail(ErrorKind::data, "a quote is never closed", "correct the YAML");
  return fields;
}

Result<std::vector<Field>> parse_toml_fields(std::string_view toml) {
  STOKA_ASSIGN(auto entries, parse_toml(toml, "line", TomlNested::skip));
  std::vector<Field> out;
  for (TomlEntry& entry : entries)
    out.push_back({std::move(entry.key), std::move(entry.values), entry.is_list});
  return out;
}

Result<std::vector<Field>> parse_json_fields(std::string_view json) {
  JsonEvents events;
  if (nlohmann::json::sax_parse(json.begin(), json.end(), &events)) return events.flat.take();
  return fail(
      ErrorKind::data,
      events.too_deep ? "JSON is nested more than 16 levels" : "not a well-formed JSON object",
      "correct the JSON");
}

std::vector<Field> salvage_fields(std::string_view text, char separator) {
  std::vector<Field> out;
  std::string table, parent;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    std::string_view item = trimmed(line);
    if (item.starts_with("- ") && !out.empty()) {
      out.back().is_list = true;
      out.back().values.emplace_back(unquote(item.substr(2)));
      continue;
    }
    if (separator == '=' && item.starts_with('[')) {
      std::string_view name = item.substr(1, item.find(']') - 1);
      table = is_simple_key(trimmed(name)) ? std::string(trimmed(name)) + "." : "[].";
      continue;
    }
    size_t at = line.find(separator);
    if (at == std::string_view::npos || !is_simple_key(trimmed(line.substr(0, at)))) continue;
    std::string key(trimmed(line.substr(0, at)));
    bool indented = separator == ':' && (line[0] == ' ' || line[0] == '\t') && !parent.empty();
    if (!indented) parent = key;
    out.push_back({indented ? parent + "." + key : table + key, {}, false});
    salvage_value(out.back(), line.substr(at + 1));
  }
  std::erase_if(out, [](const Field& field) { return field.values.empty(); });
  return out;
}

}  // namespace stoka::ingest
