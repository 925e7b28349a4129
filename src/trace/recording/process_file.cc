#include "trace/recording/process_file.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sooth {
namespace {

// The text up to the next blank, which is taken off as well.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

template <typename T>
std::optional<T> take_number(std::string_view& line, int base) {
  const std::string_view word = take_word(line);
  T value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

bool is_build_id(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool parse_module(std::string_view line, RecordedProcess& process) {
  RecordedModule module;
  const auto loaded = take_number<std::uint32_t>(line, 10);
  const auto bias = take_number<std::uint64_t>(line, 16);
  const auto begin = take_number<std::uint64_t>(line, 16);
  const auto end = take_number<std::uint64_t>(line, 16);
  const std::string_view build_id = take_word(line);
  if (!loaded || !bias || !begin || !end || *begin >= *end || (build_id != "-" && !is_build_id(build_id))) {
    return false;
  }
  process.modules.push_back(
      {*loaded, 0xffffffff, *bias, *begin, *end, std::string(build_id == "-" ? "" : build_id), std::string(line)});
  return true;
}

bool parse_unload(std::string_view line, RecordedProcess& process) {
  const auto generation = take_number<std::uint32_t>(line, 10);
  const auto bias = take_number<std::uint64_t>(line, 16);
  if (!generation || !bias) {
    return false;
  }
  process.generation = std::max(process.generation, *generation);
  // The latest one: the same file may have been loaded at the same place before.
  const auto module = std::find_if(process.modules.rbegin(), process.modules.rend(), [&](const RecordedModule& m) {
    return m.bias == *bias && m.path == line && m.unloaded == 0xffffffff;
  });
  if (module == process.modules.rend()) {
    return false;
  }
  module->unloaded = *generation;
  return true;
}

bool parse_line(std::string_view line, RecordedProcess& process) {
  const std::string_view key = take_word(line);
  if (key == "module") {
    return parse_module(line, process);
  }
  if (key == "unload") {
    return parse_unload(line, process);
  }
  if (key == "command") {
    process.command = line;
    return true;
  }
  return false;
}

}  // namespace

const RecordedModule* RecordedProcess::find(std::uint64_t pc, std::uint32_t at) const {
  const auto module = std::find_if(modules.rbegin(), modules.rend(), [&](const RecordedModule& m) {
    return pc >= m.begin && pc < m.end && m.loaded <= at && at < m.unloaded;
  });
  return module == modules.rend() ? nullptr : &*module;
}

Result<RecordedProcess> parse_process(std::string_view text, const std::string& path) {
  RecordedProcess process;
  for (std::size_t number = 1; text.find('\n') != std::string_view::npos; ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    if (!parse_line(line, process)) {
      return Status::bad_input(path + ": the recording is damaged: line " + std::to_string(number) +
                               " is not one that a program writes");
    }
  }
  return process;
}

}  // namespace sooth
