#include "trace/recording/end_file.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "trace/format/small_file.h"
#include "trace/recording/chunk_source.h"
#include "trace/recording/library_glue.h"
#include "trace/recording/stream_format.h"
#include "trace/recording/symbol_file.h"

namespace sooth {
namespace {

constexpr std::size_t kMaxThreads = 1 << 16;

// The words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  template <typename Number>
  bool next(Number& number) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

std::optional<EndedThread> parse_thread(Words words) {
  EndedThread thread;
  if (!words.next(thread.thread) || !words.next(thread.waits_for)) {
    return std::nullopt;
  }
  Words holder = words;
  if (words.next() != "-" && !holder.next(thread.holder.emplace())) {
    return std::nullopt;
  }
  if (!words.next(thread.object)) {
    return std::nullopt;
  }
  for (std::uint32_t row = 0; words.next(row);) {
    thread.rows.push_back(row);
  }
  return thread;
}

// The places of a row, innermost first: more than one when they were inlined into each other.
void add_sites(const SiteSymbols& symbols, bool is_innermost, std::vector<Site>& stack) {
  if (symbols.frames.empty()) {
    Site site;
    site.module = symbols.module;
    site.offset = symbols.offset;
    site.label = symbols.module.substr(symbols.module.rfind('/') + 1) + "+" + hexadecimal(symbols.offset);
    stack.push_back(std::move(site));
    return;
  }
  auto first = is_innermost ? std::find_if(symbols.frames.begin(), symbols.frames.end(),
                                           [](const SiteFrame& frame) { return !is_library_glue(frame.file); })
                            : symbols.frames.begin();
  first = first == symbols.frames.end() ? symbols.frames.begin() : first;
  for (; first != symbols.frames.end(); ++first) {
    Site site;
    site.module = symbols.module;
    site.offset = symbols.offset;
    site.file = first->file;
    site.function = first->function;
    site.line = first->line;
    site.column = first->column;
    site.label = first->line == 0
                     ? symbols.module.substr(symbols.module.rfind('/') + 1) + "+" + hexadecimal(symbols.offset)
                     : first->file + ":" + std::to_string(first->line) +
                           (first->column == 0 ? "" : ":" + std::to_string(first->column));
    stack.push_back(std::move(site));
  }
}

void add_names(const RecordingSymbols& symbols, const std::vector<TypeLayout>& types, EndedThread& thread) {
  for (std::size_t i = 0; i < thread.rows.size(); ++i) {
    if (thread.rows[i] < symbols.sites.size()) {
      add_sites(symbols.sites[thread.rows[i]], i == 0, thread.stack);
    }
  }
  const auto global = std::find_if(symbols.globals.begin(), symbols.globals.end(), [&](const GlobalSymbol& each) {
    return thread.object >= each.begin && thread.object < each.end;
  });
  if (global != symbols.globals.end()) {
    // As Tables::describe() calls it.
    const std::uint64_t offset = thread.object - global->begin;
    const TypePart part = find_part(types, global->type, offset, 0);
    const std::uint64_t inside = part.opaque ? 0 : offset - part.offset;
    thread.object_name = global->name + part.path + (inside == 0 ? "" : "+" + std::to_string(inside));
  }
}

// They belong to the recording only if its sites and its process say so.
Result<RecordingSymbols> symbols_of(const std::string& directory) {
  const auto source = ChunkSource::open_file(directory + "/" + stream::kStreamsFile);
  const Result<std::string> sites = read_required_file(directory + "/" + stream::kSitesFile);
  const Result<std::string> process = read_required_file(directory + "/" + stream::kProcessFile);
  if (!source.ok() || !sites.ok() || !process.ok()) {
    return !source.ok() ? source.status() : !sites.ok() ? sites.status() : process.status();
  }
  const auto used = std::string_view(*sites).substr(0, std::size_t{(*source)->sites()} * sizeof(stream::SiteRow));
  return read_symbol_file(directory + "/" + stream::kSymbolsFile, recording_mark(used, *process));
}

}  // namespace

std::optional<RecordedEnd> parse_end(std::string_view text) {
  std::optional<RecordedEnd> end;
  std::string message;
  while (!text.empty()) {
    const std::size_t length = text.find('\n');
    if (length == std::string_view::npos) {
      break;  // its writer died
    }
    Words words(text.substr(0, length));
    text.remove_prefix(length + 1);
    const std::string_view what = words.next();
    if (what == "message") {
      message = words.rest();
    } else if (what == "deadlock" && !end) {
      end.emplace();
    } else if (what == "crash" && !end) {
      RecordedEnd crash;
      if (words.next(crash.signal) && crash.signal != 0) {
        end = crash;
      }
    } else if (what == "delay" && end) {
      words.next(end->delay);
    } else if (what == "thread" && end && end->threads.size() < kMaxThreads) {
      if (std::optional<EndedThread> thread = parse_thread(words)) {
        end->threads.push_back(std::move(*thread));
      }
    }
  }
  if (end) {
    end->message = std::move(message);
  }
  return end;
}

Result<std::optional<RecordedEnd>> read_recorded_end(const std::string& directory) {
  const Result<std::optional<std::string>> text = read_small_file(directory + "/" + stream::kEndFile);
  if (!text.ok()) {
    return text.status();
  }
  std::optional<RecordedEnd> end = text->has_value() ? parse_end(**text) : std::nullopt;
  if (!end) {
    return end;
  }
  // Without symbols there are still threads and what they wait for.
  if (const Result<RecordingSymbols> symbols = symbols_of(directory); symbols.ok()) {
    std::vector<TypeLayout> types(1);
    types.insert(types.end(), symbols->types.begin(), symbols->types.end());
    for (EndedThread& thread : end->threads) {
      add_names(*symbols, types, thread);
    }
  }
  return end;
}

}  // namespace sooth
