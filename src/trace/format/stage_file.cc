#include "trace/format/stage_file.h"

#include <xxhash.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "trace/format/format.h"
#include "trace/format/small_file.h"
#include "trace/versions.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMostBytes = 16 << 20;  // the longest line is that of the program and its arguments

constexpr std::string_view kCheckKey = "check ";
constexpr std::size_t kCheckDigits = 16;  // of a check

constexpr struct {
  ColumnSet bit;
  std::string_view name;
} kColumnNames[] = {
    {kValues, "values"}, {kStacks, "stacks"}, {kBranches, "branches"}, {kReaches, "reaches"}, {kDeep, "deep"}};

// One line per field; newlines cannot stand in a line, so they become blanks.
std::string one_line(std::string text) {
  for (char& c : text) {
    c = (c == '\n' || c == '\r') ? ' ' : c;
  }
  return text;
}

// The first word of the first line, and the line that counts what there is.
struct KindWords {
  std::string_view name;
  std::uint32_t oldest;  // that can be read
  std::uint32_t newest;  // that is written
  std::string_view count_key;
  const char* what;
};
KindWords words_of(StageKind kind) {
  switch (kind) {
    case StageKind::kTrace:
      return {.name = "sooth-trace ",
              .oldest = kOldestTraceVersion,
              .newest = kTraceVersion,
              .count_key = "events ",
              .what = "trace"};
    case StageKind::kRecording:
      return {.name = "sooth-recording ",
              .oldest = kOldestStreamVersion,
              .newest = kStreamVersion,
              .count_key = "chunks ",
              .what = "recording"};
  }
  return {};
}

std::string render(const Stage& stage, bool whole) {
  const KindWords words = words_of(stage.kind);
  std::string text = std::string(words.name) + std::to_string(words.newest) + "\n";
  text += stage.info.exact ? "exact yes\n" : "exact no\n";
  text += "columns";
  for (const auto& column : kColumnNames) {
    if ((stage.info.columns & column.bit) != 0) {
      text += " " + std::string(column.name);
    }
  }
  text += "\nprogram " + one_line(stage.info.program) + "\n";
  if (!stage.info.filtered.empty()) {
    text += "filtered " + one_line(stage.info.filtered) + "\n";
  }
  if (whole) {
    const std::uint64_t count = stage.kind == StageKind::kTrace ? stage.info.events : stage.chunks;
    text += std::string(words.count_key) + std::to_string(count) + "\nbytes " + std::to_string(stage.bytes) + "\n";
    if (stage.kind == StageKind::kRecording) {
      text += "checks " + hex_digits(stage.checks, kCheckDigits) + "\n";
    }
  }
  return text + std::string(kCheckKey) + hex_digits(XXH3_64bits(text.data(), text.size()), kCheckDigits) + "\n";
}

std::optional<std::uint64_t> parse_whole(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<ColumnSet> parse_columns(std::string_view text) {
  ColumnSet columns = kNoColumns;
  while (!text.empty()) {
    text.remove_prefix(1);  // the blank
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    ColumnSet bit = kNoColumns;
    for (const auto& column : kColumnNames) {
      bit = column.name == word ? column.bit : bit;
    }
    if (bit == kNoColumns) {
      return std::nullopt;
    }
    columns |= bit;
  }
  return columns;
}

// Takes the line that starts with `key` off the front of `text`.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view key) {
  if (text.substr(0, key.size()) != key) {
    return std::nullopt;
  }
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = text.substr(key.size(), end - key.size());
  text.remove_prefix(end + 1);
  return line;
}

// The lines behind those that every stage file has.
bool parse_totals(std::string_view& body, Stage& stage) {
  const auto count = parse_whole(take_line(body, words_of(stage.kind).count_key).value_or(""), 10);
  const auto bytes = parse_whole(take_line(body, "bytes ").value_or(""), 10);
  if (!count || !bytes) {
    return false;
  }
  stage.bytes = *bytes;
  if (stage.kind == StageKind::kTrace) {
    stage.info.events = *count;
    return true;
  }
  const auto checks = parse_whole(take_line(body, "checks ").value_or(""), 16);
  stage.chunks = *count;
  stage.checks = checks.value_or(0);
  return checks.has_value();
}

Result<Stage> parse(std::string_view text, const std::string& path, StageKind kind, bool whole) {
  const Status damaged = Status::bad_input(path + ": is damaged");
  const std::size_t check_at = text.rfind(kCheckKey);
  if (check_at == std::string_view::npos) {
    return damaged;
  }
  std::string_view body = text.substr(0, check_at);
  if (text.substr(check_at) !=
      std::string(kCheckKey) + hex_digits(XXH3_64bits(body.data(), body.size()), kCheckDigits) + "\n") {
    return damaged;
  }
  const auto first = take_line(body, words_of(kind).name);
  if (!first) {
    return damaged;
  }
  const KindWords words = words_of(kind);
  const std::optional<std::uint64_t> version = parse_whole(*first, 10);
  if (!version) {
    return damaged;
  }
  SOOTH_RETURN_IF_ERROR(check_format_version(path, words.what, *version, words.oldest, words.newest));
  Stage stage;
  stage.version = static_cast<std::uint32_t>(*version);
  stage.kind = kind;
  const auto exact = take_line(body, "exact ");
  const auto columns_line = take_line(body, "columns");
  const auto columns = parse_columns(columns_line.value_or(" ?"));
  const auto program = take_line(body, "program ");
  // Only recordings have deep records.
  const bool impossible = kind == StageKind::kTrace && (columns.value_or(kNoColumns) & ~kAllColumns) != 0;
  if (impossible || !exact || (*exact != "yes" && *exact != "no") || !columns || !program) {
    return damaged;
  }
  stage.info.exact = *exact == "yes";
  stage.info.columns = *columns;
  stage.info.program = *program;
  stage.info.filtered = take_line(body, "filtered ").value_or("");
  stage.info.incomplete = !whole;
  if (whole && !parse_totals(body, stage)) {
    return damaged;
  }
  return body.empty() ? Result(stage) : damaged;
}

}  // namespace

Status check_format_version(const std::string& path, const char* what, std::uint64_t version, std::uint32_t oldest,
                            std::uint32_t newest) {
  if (version >= oldest && version <= newest) {
    return {};
  }
  const std::string has = path + ": the " + what + " has format " + std::to_string(version) + ", and this sooth reads ";
  const std::string range =
      oldest == newest ? std::to_string(newest) : std::to_string(oldest) + " to " + std::to_string(newest);
  return Status::bad_input(has + range +
                           (version > newest ? ": a newer sooth wrote it, which can read it"
                                             : ": an older sooth wrote it; record the program again"));
}

Result<Stage> read_stage(const std::string& directory) {
  // `version` a second time, because a writer may have finished between the first two looks.
  for (const bool whole : {true, false, true}) {
    const std::string path = directory + "/" + (whole ? format::kVersionFile : format::kIncompleteFile);
    Result<std::optional<std::string>> text = read_small_file(path, kMostBytes);
    if (!text.ok()) {
      return std::move(text).status();
    }
    if (text->has_value()) {
      return parse(**text, path, StageKind::kTrace, whole);
    }
  }
  return Status::bad_input(directory +
                           ": is a directory, but not a trace: it has neither a file `version` nor `incomplete`");
}

Result<std::optional<Stage>> read_recording_stage(const std::string& directory) {
  const std::string path = directory + "/" + format::kVersionFile;
  Result<std::optional<std::string>> text = read_small_file(path, kMostBytes);
  if (!text.ok()) {
    return std::move(text).status();
  }
  if (!text->has_value()) {
    return std::optional<Stage>();
  }
  Result<Stage> stage = parse(**text, path, StageKind::kRecording, true);
  return stage.ok() ? Result(std::optional(std::move(*stage))) : Result<std::optional<Stage>>(stage.status());
}

Status write_incomplete(const std::string& directory, const TraceInfo& info) {
  Stage stage;
  stage.info = info;
  return write_small_file(directory + "/" + format::kIncompleteFile, render(stage, false));
}

Status write_version(const std::string& directory, const Stage& stage) {
  // In two steps, so that `version` is there only with all its lines: write beside it, then move over.
  SOOTH_RETURN_IF_ERROR(replace_small_file(directory + "/" + format::kVersionFile, render(stage, true)));
  std::remove((directory + "/" + format::kIncompleteFile).c_str());
  return {};
}

}  // namespace sooth
