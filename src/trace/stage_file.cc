#include "trace/stage_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/format.h"

namespace sooth {
namespace {

constexpr std::string_view kCheckKey = "check ";

constexpr struct {
  ColumnSet bit;
  std::string_view name;
} kColumnNames[] = {{kValues, "values"}, {kStacks, "stacks"}, {kBranches, "branches"}, {kReaches, "reaches"}};

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// One line per field; newlines cannot stand in a line, so they become blanks.
std::string one_line(std::string text) {
  for (char& c : text) {
    c = (c == '\n' || c == '\r') ? ' ' : c;
  }
  return text;
}

std::string render(const Stage& stage, bool whole) {
  std::string text = std::string(format::kFirstLine) + "\n";
  text += stage.info.exact ? "exact yes\n" : "exact no\n";
  text += "columns";
  for (const auto& column : kColumnNames) {
    if ((stage.info.columns & column.bit) != 0) {
      text += " " + std::string(column.name);
    }
  }
  text += "\nprogram " + one_line(stage.info.program) + "\n";
  if (whole) {
    text += "events " + std::to_string(stage.info.events) + "\nbytes " + std::to_string(stage.bytes) + "\n";
  }
  return text + std::string(kCheckKey) + hex(XXH3_64bits(text.data(), text.size())) + "\n";
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return out ? Status() : Status::internal(path + ": cannot write: " + std::strerror(errno));
}

// nullopt when there is no such file.
Result<std::optional<std::string>> read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // must not wait for whoever fills a pipe
  if (fd < 0) {
    if (errno == ENOENT) {
      return std::optional<std::string>();
    }
    return Status::bad_input(path + ": cannot read: " + std::strerror(errno));
  }
  std::string text;
  char part[4096];
  ssize_t got = 0;
  do {
    got = ::read(fd, part, sizeof part);
    text.append(part, got > 0 ? static_cast<std::size_t>(got) : 0);
  } while (got > 0 || (got < 0 && errno == EINTR));
  const int error = errno;
  ::close(fd);
  if (got < 0) {
    return Status::bad_input(path + ": cannot read: " + std::strerror(error));
  }
  return std::optional(std::move(text));
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
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

Result<Stage> parse(std::string_view text, const std::string& path, bool whole) {
  const Status damaged = Status::bad_input(path + ": is damaged");
  const std::size_t check_at = text.rfind(kCheckKey);
  if (check_at == std::string_view::npos) {
    return damaged;
  }
  std::string_view body = text.substr(0, check_at);
  if (text.substr(check_at) != std::string(kCheckKey) + hex(XXH3_64bits(body.data(), body.size())) + "\n") {
    return damaged;
  }
  const auto first = take_line(body, "sooth-trace ");
  if (!first) {
    return damaged;
  }
  if (*first != std::string_view(format::kFirstLine).substr(12)) {
    return Status::bad_input(path + ": the trace has format " + std::string(*first) +
                             ", which this version of sooth cannot read");
  }
  Stage stage;
  const auto exact = take_line(body, "exact ");
  const auto columns_line = take_line(body, "columns");
  const auto columns = parse_columns(columns_line.value_or(" ?"));
  const auto program = take_line(body, "program ");
  if (!exact || (*exact != "yes" && *exact != "no") || !columns || !program) {
    return damaged;
  }
  stage.info.exact = *exact == "yes";
  stage.info.columns = *columns;
  stage.info.program = *program;
  stage.info.incomplete = !whole;
  if (whole) {
    const auto events = parse_number(take_line(body, "events ").value_or(""));
    const auto bytes = parse_number(take_line(body, "bytes ").value_or(""));
    if (!events || !bytes) {
      return damaged;
    }
    stage.info.events = *events;
    stage.bytes = *bytes;
  }
  return body.empty() ? Result(stage) : damaged;
}

}  // namespace

Result<Stage> read_stage(const std::string& directory) {
  // `version` a second time, because a writer may have finished between the first two looks.
  for (const bool whole : {true, false, true}) {
    const std::string path = directory + "/" + (whole ? format::kVersionFile : format::kIncompleteFile);
    Result<std::optional<std::string>> text = read_file(path);
    if (!text.ok()) {
      return std::move(text).status();
    }
    if (text->has_value()) {
      return parse(**text, path, whole);
    }
  }
  return Status::bad_input(directory + ": is a directory, but not a trace: it has neither a file `version` nor `incomplete`");
}

Status write_incomplete(const std::string& directory, const TraceInfo& info) {
  return write_file(directory + "/" + format::kIncompleteFile, render({info, 0}, false));
}

Status write_version(const std::string& directory, const Stage& stage) {
  // In two steps, so that `version` is there only with all its lines: write beside it, then move over.
  const std::string incomplete = directory + "/" + format::kIncompleteFile;
  const std::string temporary = directory + "/" + format::kVersionFile + ".tmp";
  const std::string version = directory + "/" + format::kVersionFile;
  SOOTH_RETURN_IF_ERROR(write_file(temporary, render(stage, true)));
  if (std::rename(temporary.c_str(), version.c_str()) != 0) {
    return Status::internal(version + ": cannot write: " + std::strerror(errno));
  }
  std::remove(incomplete.c_str());
  return {};
}

}  // namespace sooth
