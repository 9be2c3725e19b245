// The formats of source files. To add a format, write its reader and add a row to the table in
// source_format.cpp. Which files are sources, how each is read, and the messages that list the
// formats follow from the table. Thread safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/page.h"
#include "ingest/text_repair.h"

namespace stoka::ingest {

// The input of a reader.
struct SourceBytes {
  const SourceFile& file;
  std::string_view bytes;          // the whole file as it is stored
  std::string_view chunk_options;  // ChunkOptions::describe(), which goes into the content hashes
};

// Which files of a format are sources when they are found in a folder: all of them, only those
// whose name is the name of the format, or none. A file that is given itself is always a source.
enum class InFolder { all, named, none };

struct SourceFormat {
  std::string_view name;  // the name for people, e.g. "markdown" or "products.json"
  std::vector<std::string_view> extensions;  // such as ".md", in lower case; in one format only
  InFolder in_folder;
  std::string_view syntax;  // the syntax of other files with these extensions, e.g. "JSON"
  uint64_t max_bytes;       // the size limit; larger files are skipped
  // The reader of the format. Never fails: what cannot be read is reported in the result. Adds what
  // it repaired to `repairs`. A page whose author keeps it from readers goes to LoadedFile::skipped
  // as unpublished, and code that is marked secret to LoadedFile::left_out. build_page() makes a
  // page of one text.
  LoadedFile (*read)(const SourceBytes& source, RepairReport& repairs);
};

std::span<const SourceFormat> source_formats();

// The format of a file by its extension in any case; null if no format has the extension.
const SourceFormat* find_format(const std::filesystem::path& path);

// Whether a file that was found in a folder is a source.
bool is_source_in_folder(const std::filesystem::path& path);

// The reasons why a given file, or a file found in a folder, is not a source.
std::string unsupported_reason();
std::string unsupported_in_folder_reason(const std::filesystem::path& path);

// All formats, for people: "markdown, products.json, corpus.jsonl"; in the help and in hints.
std::string format_names();

// Returns the bytes of a file as clean text (see repair_text()), for formats that are one text.
// Returns nothing if the file is binary or has no text; the reason is then added to `out`.
std::optional<std::string> read_text(const SourceBytes& source,
                                     std::string_view control_replacement, RepairReport& repairs,
                                     LoadedFile& out);

}  // namespace stoka::ingest
