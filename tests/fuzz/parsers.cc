#include "parsers.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "cli/config_file.h"
#include "report/baseline.h"
#include "report/json.h"
#include "report/sink.h"
#include "report/suppressions.h"
#include "schedule/run_log.h"
#include "schedule/schedule_file.h"
#include "trace/check/validator.h"
#include "trace/format/block_file.h"
#include "trace/format/format.h"
#include "trace/reader.h"
#include "trace/recording/deep_file.h"
#include "trace/recording/process_file.h"
#include "trace/recording/stream_format.h"
#include "trace/recording/symbol_file.h"
#include "trace/text/std_text.h"
#include "trace/versions.h"
#include "trace/writer.h"

namespace sooth {
namespace {

// Of this process, in memory where there is such a place; removed at its end.
class Folder {
 public:
  Folder() : path_((::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/sooth_parsers_XXXXXX")) {
    if (::mkdtemp(path_.data()) == nullptr) {
      std::abort();
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

const Folder& folder() {
  static const Folder made;
  return made;
}

void fill(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Takes numbers and pieces off the front; what is not there is zeros and nothing.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T number() {
    T value{};
    const std::string_view taken = piece(sizeof value);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  std::string_view piece(std::size_t size) {
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

template <typename T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void must_be_bad_input(const Status& status) {
  if (status.code() != ExitCode::kBadInput || status.message().empty()) {
    std::fprintf(stderr, "bad bytes must be bad input with a sentence, not: %s\n", status.message().c_str());
    std::abort();
  }
}

void drain(TraceReader& reader) {
  TraceValidator validator;
  for (;;) {
    const Result<Batch> batch = reader.next();
    const Status status = batch.ok() ? validator.consume(*batch, reader.tables()) : batch.status();
    if (!status.ok()) {
      return must_be_bad_input(status);
    }
    if (batch->empty()) {
      return;
    }
  }
}

void drain_or_refuse(const Result<std::unique_ptr<TraceReader>>& reader) {
  return reader.ok() ? drain(**reader) : must_be_bad_input(reader.status());
}

void run_std(std::string_view bytes) { drain_or_refuse(read_std_text(bytes, "fuzz.std", {kAllColumns})); }

void run_trace(std::string_view bytes) {
  const std::string directory = folder() / "blocks";
  std::filesystem::remove_all(directory);
  TraceInfo info;
  info.columns = kAllColumns;
  auto trace = create_trace(directory, TraceFormat::kDirectory, info);  // leaves `incomplete`, and an empty `events`
  if (!trace.ok()) {
    std::abort();
  }
  const std::string path = directory + "/" + format::kEventsFile;
  std::filesystem::remove(path);
  auto writer = BlockWriter::create(path);
  if (!writer.ok()) {
    std::abort();
  }
  for (Taker taker(bytes); !taker.empty();) {
    const auto kind = taker.number<std::uint8_t>();
    const auto count = taker.number<std::uint32_t>();
    const auto first = taker.number<std::uint64_t>();
    const std::string_view payload = taker.piece(taker.number<std::uint32_t>());
    const Bytes copy(payload.begin(), payload.end());
    if (!(*writer)->write(format::BlockKind(kind), first, count, copy).ok()) {
      return;
    }
  }
  if ((*writer)->close().ok()) {
    drain_or_refuse(open_trace(directory, {kAllColumns}));
  }
}

void run_recording(std::string_view bytes) {
  const std::string directory = folder() / "recording";
  std::filesystem::create_directories(directory);
  Taker taker(bytes);
  auto control = taker.number<stream::Control>();
  control.magic = stream::kControlMagic;  // what fuzzing must not spend its time on
  control.version = kStreamVersion;
  control.chunk_bytes = stream::kChunkBytes;
  control.sites %= 4096;
  fill(directory + "/sites", taker.piece(taker.number<std::uint32_t>()));
  fill(directory + "/process", taker.piece(taker.number<std::uint32_t>()));
  std::string streams(stream::kControlBytes, '\0');
  std::uint32_t chunks = 0;
  for (; !taker.empty() && chunks < 16; ++chunks) {
    std::string chunk(taker.piece(taker.number<std::uint32_t>() % (stream::kChunkBytes + 1)));
    chunk.resize(stream::kChunkBytes);
    streams += chunk;
  }
  control.chunks = chunks;
  std::memcpy(streams.data(), &control, sizeof control);
  fill(directory + "/streams", streams);
  drain_or_refuse(open_trace(directory, {kAllColumns | kDeep}));
}

void run_report(std::string_view bytes) {
  const Result<Report> report = parse_report(bytes, "fuzz.json");
  if (!report.ok()) {
    return must_be_bad_input(report.status());
  }
  Report copy = *report;
  mark_known(copy, *report);  // as a baseline
  for (const SinkInfo& sink : sinks()) {
    if (sink.name == "html") {
      continue;  // reads the files that a report names
    }
    std::ostringstream out;
    (void)sink.write(copy, {}, out);
  }
}

void run_schedule(std::string_view bytes) {
  const Result<ScheduleFile> schedule = parse_schedule(bytes, "fuzz.schedule");
  if (!schedule.ok()) {
    return must_be_bad_input(schedule.status());
  }
  const Result<ScheduleFile> again = parse_schedule(print_schedule(*schedule), "again");
  if (!again.ok()) {
    std::fprintf(stderr, "what was read cannot be written and read again: %s\n", again.status().message().c_str());
    std::abort();
  }
}

void run_log(std::string_view bytes) { (void)parse_run_log(std::string(bytes)); }

void run_suppressions(std::string_view bytes) {
  Suppressions suppressions;
  if (const Status status = suppressions.parse(bytes, "fuzz.supp"); !status.ok()) {
    return must_be_bad_input(status);
  }
  Report report;
  report.findings.resize(2);
  for (Finding& finding : report.findings) {
    finding.accesses.resize(2);
    for (Access& access : finding.accesses) {
      access.site.function = "name::space::function(int) [clone]";
      access.site.file = "/src/folder/file.cc";
      access.stack.assign(3, access.site);
    }
  }
  suppressions.apply(report);
}

// The container alone; what is inside goes to fuzz_deep.
void run_deep(std::string_view bytes) {
  const Result<DeepFile> bare = DeepFile::parse(std::string(bytes), "fuzz");
  const Result<DeepFile> sealed = DeepFile::parse(seal_deep_file(std::string(bytes)), "fuzz");
  if (!sealed.ok()) {
    std::abort();  // what was sealed can be read
  }
  std::size_t sum = 0;
  for (const KeptModule& module : sealed->modules()) {
    sum += module.bitcode.size() + module.addresses.size();
  }
  if (sum > bytes.size() || (!bare.ok() && bare.status().code() != ExitCode::kBadInput)) {
    std::abort();
  }
}

void run_config(std::string_view bytes) {
  if (const Result<ConfigFile> file = parse_config(std::string(bytes), "sooth.toml"); !file.ok()) {
    must_be_bad_input(file.status());
  }
}

void run_process(std::string_view bytes) { (void)parse_process(bytes, "fuzz"); }

// What follows the header, which is made when it runs.
void run_symbols(std::string_view bytes) {
  const std::string path = folder() / "symbols";
  std::string file = "SOTHSYM2";
  put(file, std::uint64_t{7});
  put(file, std::uint64_t{XXH3_64bits(bytes.data(), bytes.size())});
  fill(path, file.append(bytes));
  if (const Result<RecordingSymbols> symbols = read_symbol_file(path, 7); !symbols.ok()) {
    must_be_bad_input(symbols.status());
  }
}

constexpr ParserHarness kHarnesses[] = {
    {"std", run_std},
    {"trace", run_trace},
    {"recording", run_recording},
    {"report", run_report},
    {"schedule", run_schedule},
    {"run_log", run_log},
    {"suppressions", run_suppressions},
    {"deep", run_deep},
    {"process", run_process},
    {"symbols", run_symbols},
    {"config", run_config},
};

}  // namespace

std::span<const ParserHarness> parser_harnesses() { return kHarnesses; }

const ParserHarness* find_harness(std::string_view name) {
  const auto* found = std::find_if(std::begin(kHarnesses), std::end(kHarnesses),
                                   [name](const ParserHarness& harness) { return harness.name == name; });
  return found == std::end(kHarnesses) ? nullptr : found;
}

std::string blocks_of_trace(const std::string& directory) {
  std::string out;
  auto blocks = BlockReader::open(directory + "/" + format::kEventsFile, false);
  for (Bytes payload; blocks.ok();) {
    const auto header = (*blocks)->next();
    if (!header.ok() || !header->has_value() || !(*blocks)->payload(payload).ok()) {
      break;
    }
    put(out, static_cast<std::uint8_t>((*header)->kind));
    put(out, static_cast<std::uint32_t>((*header)->count));
    put(out, static_cast<std::uint64_t>((*header)->first));
    put(out, static_cast<std::uint32_t>(payload.size()));
    out.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  return out;
}

std::string pack_recording(const std::string& directory) {
  const std::string streams = content(directory + "/streams");
  std::string out = streams.substr(0, sizeof(stream::Control));
  stream::Control control{};
  std::memcpy(&control, out.data(), std::min(out.size(), sizeof control));
  const std::string sites = content(directory + "/sites").substr(0, control.sites * sizeof(stream::SiteRow));
  for (const std::string& file : {sites, content(directory + "/process")}) {
    put(out, static_cast<std::uint32_t>(file.size()));
    out += file;
  }
  for (std::size_t at = stream::kControlBytes; at + stream::kChunkBytes <= streams.size(); at += stream::kChunkBytes) {
    std::string chunk = streams.substr(at, stream::kChunkBytes);
    chunk.resize(chunk.find_last_not_of('\0') + 1);
    put(out, static_cast<std::uint32_t>(chunk.size()));
    out += chunk;
  }
  return out;
}

}  // namespace sooth
