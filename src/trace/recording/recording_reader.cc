#include "trace/recording/recording_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "trace/check/value_memory.h"
#include "trace/for_each_batch.h"
#include "trace/format/small_file.h"
#include "trace/recording/call_reaches.h"
#include "trace/recording/chunk_source.h"
#include "trace/recording/recording_checks.h"
#include "trace/recording/recording_names.h"
#include "trace/recording/stream_decoder.h"

namespace sooth {
namespace {

constexpr std::size_t kRecordedBatchEvents = 8192;

std::string stop_sentence(stream::StopReason reason) {
  switch (reason) {
    case stream::StopReason::kNone: return "";
    case stream::StopReason::kDiskFull: return "the disk was full";
    case stream::StopReason::kSizeLimit: return "it reached its size limit";
    case stream::StopReason::kSignal: return "it was told to stop";
    case stream::StopReason::kTooManySites: return "the program has too many places to record";
    case stream::StopReason::kTooManyThreads: return "the program started too many threads";
    case stream::StopReason::kFileTooLarge: return "its file had grown as large as files may be (ulimit -f)";
    case stream::StopReason::kQuota: return "the disk quota was used up";
    case stream::StopReason::kInputOutput: return "the disk reported an error";
    case stream::StopReason::kNoMemory: return "there was no memory for it in the program (ulimit -v)";
    case stream::StopReason::kNoDescriptor: return "the program had no file descriptor left for it (ulimit -n)";
    case stream::StopReason::kSignalUnderValgrind: return "a signal came, and under Valgrind its moment is not certain";
  }
  return "for a reason that this version of sooth does not know";
}

// What the merge needs of the files beside the streams.
struct RecordingFiles {
  std::unique_ptr<ChunkSource> source;
  RecordingNames::Source more;
  RecordedProcess process;
  RecordingSymbols symbols;
  CallReaches reaches;
  bool incomplete = false;
};

class RecordingReader final : public TraceReader {
 public:
  RecordingReader(RecordingFiles files, ColumnSet wanted)
      : source_(std::move(files.source)),
        has_values_((source_->flags() & stream::kWithValues) != 0),
        reload_process_(files.more.process),
        known_reaches_(std::move(files.reaches)),
        names_(std::move(files.process), std::move(files.symbols), (wanted & kStacks) != 0, std::move(files.more)) {
    info_.exact = (source_->flags() & stream::kExactOrder) != 0;
    info_.columns = recording_columns(source_->flags());
    info_.incomplete = files.incomplete;
    info_.filtered = source_->filter_name();
    wanted &= info_.columns;
    events_.resize(kRecordedBatchEvents);
    values_.resize((wanted & kValues) != 0 ? kRecordedBatchEvents : 0);
    stacks_.resize((wanted & kStacks) != 0 ? kRecordedBatchEvents : 0);
    wants_reaches_ = (wanted & kReaches) != 0;
    wants_deep_ = (wanted & kDeep) != 0;
    info_.program = reload_process_().command;
  }

  Result<Batch> next() override {
    if (!error_.ok()) {
      return error_;  // behind damage nothing is known
    }
    sink_ = {events_.data(),
             values_.empty() ? nullptr : values_.data(),
             stacks_.empty() ? nullptr : stacks_.data(),
             0,
             kRecordedBatchEvents,
             (info_.columns & kReaches) != 0 ? &calls_ : nullptr,
             wants_deep_ ? &deep_ : nullptr,
             emitted_};
    calls_.clear();
    reaches_.clear();
    deep_.clear();
    if (!over_) {
      error_ = fill();
    }
    if (error_.ok() && over_ && sink_.count == 0 && deep_.empty()) {
      error_ = source_->verify_rest();
    }
    if (!error_.ok()) {
      return error_;
    }
    for (DeepRecord& record : deep_) {
      record.before = EventId{emitted_ + raw(record.before)};
    }
    find_reaches();
    explain_reads();
    update_info();
    Batch batch;
    batch.first = EventId{emitted_};
    batch.events = std::span(events_).first(sink_.count);
    batch.values = std::span(values_).first(values_.empty() ? 0 : sink_.count);
    batch.stacks = std::span(stacks_).first(stacks_.empty() ? 0 : sink_.count);
    batch.reaches = wants_reaches_ ? std::span<const Reach>(reaches_) : std::span<const Reach>();
    batch.deep = deep_;
    emitted_ += sink_.count;
    return batch;
  }

  const TraceInfo& info() const override { return info_; }
  const Tables& tables() const override { return names_.tables(); }
  bool explains_values() const override { return info_.exact; }
  std::uint64_t bytes_read() const override { return bytes_read_; }
  std::uint64_t bytes_total() const override { return std::uint64_t{source_->chunk_count()} * stream::kChunkBytes; }

 private:
  struct Stream {
    StreamDecoder decoder;
    std::uint32_t sequence = 0;          // of the next chunk
    std::optional<std::uint32_t> chunk;  // the open one
  };
  // The next ticketed record of a stream.
  struct Head {
    std::uint64_t ticket;
    std::uint32_t stream;  // index into streams_
    friend bool operator>(const Head& a, const Head& b) { return a.ticket > b.ticket; }
  };

  Status fill();
  Status run_current();
  Result<bool> more_bytes(Stream& stream);
  Result<bool> begin_next_ticket();
  Status take_head();
  Status look_again();
  Status wait_for_more();
  Status damaged(const std::string& what) const { return source_->damaged(what); }
  void find_reaches();
  void follow_call(const Event& event, EventId id, std::size_t& next_reach);
  void explain_reads();
  void note_words(EventId event, ThreadId thread, const Value& value);
  void update_info();

  std::unique_ptr<ChunkSource> source_;
  const bool has_values_;
  const std::function<RecordedProcess()> reload_process_;
  const CallReaches known_reaches_;
  RecordingNames names_;
  TraceInfo info_;
  std::vector<Event> events_;
  std::vector<Value> values_;    // empty: not asked for
  std::vector<StackId> stacks_;  // empty: not asked for
  bool wants_reaches_ = false;
  bool wants_deep_ = false;
  std::vector<DeepRecord> deep_;         // of the batch
  std::vector<DeepRecord> unexplained_;  // ... words of reads whose value is left out
  std::vector<DeepRecord> merged_;
  std::vector<std::size_t> calls_;      // of the batch: where calls begin
  std::vector<Reach> reaches_;          // ... and what they may touch
  FlatMap<std::uint64_t> call_counts_;  // by thread
  // By thread and call: a thread is in one at most.
  std::map<std::pair<std::uint32_t, std::uint64_t>, EventId> open_calls_;
  EventSink sink_;
  std::uint64_t emitted_ = 0;
  std::uint64_t bytes_read_ = 0;

  // Each stream is in exactly one of: current_, ready_, heads_, waiting_.
  std::vector<std::unique_ptr<Stream>> streams_;
  std::optional<std::uint32_t> current_;  // between two ticketed records
  std::vector<std::uint32_t> ready_;      // has bytes, and is between two ticketed records; the last one is next
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  std::vector<std::uint32_t> waiting_;     // for bytes
  std::optional<std::uint64_t> expected_;  // the next ticket, once the first is known
  bool over_ = false;
  bool scanned_to_the_end_ = false;  // the program was over when chunks were last looked for
  std::chrono::microseconds pause_{0};
  ValueMemory memory_;
  Status error_;
};

// Fills the sink; returns early with what there is when the program must write more first.
Status RecordingReader::fill() {
  while (!sink_.full() && !over_) {
    if (current_) {
      SOOTH_RETURN_IF_ERROR(run_current());
      continue;
    }
    if (!ready_.empty()) {
      current_ = ready_.back();
      ready_.pop_back();
      continue;
    }
    Result<bool> begun = begin_next_ticket();
    if (!begun.ok()) {
      return std::move(begun).status();
    }
    if (*begun || over_) {
      continue;
    }
    if (scanned_to_the_end_) {
      over_ = true;  // the owner of the next ticket died with it, or there is none
    } else if (sink_.count != 0 || !deep_.empty()) {
      return {};
    } else {
      SOOTH_RETURN_IF_ERROR(wait_for_more());
    }
  }
  return {};
}

Status RecordingReader::run_current() {
  Stream& stream = *streams_[*current_];
  switch (stream.decoder.run(sink_)) {
    case StreamDecoder::Stop::kFull: return {};
    case StreamDecoder::Stop::kDamaged: return damaged(stream.decoder.error());
    case StreamDecoder::Stop::kTicket:
      if (stream.decoder.ticket() >= source_->next_ticket()) {
        return damaged(
            stream.decoder.complaint("its ticket " + std::to_string(stream.decoder.ticket()) + " was never given out"));
      }
      if (!expected_ && stream.decoder.stream() == 0) {
        expected_ = std::min<std::uint64_t>(stream.decoder.ticket(), 1);
      }
      heads_.push({stream.decoder.ticket(), *current_});
      current_.reset();
      return {};
    case StreamDecoder::Stop::kNoMore: break;
  }
  Result<bool> more = more_bytes(stream);
  if (!more.ok()) {
    return std::move(more).status();
  }
  if (!*more) {
    if (scanned_to_the_end_) {
      stream.decoder.finish();
    } else {
      waiting_.push_back(*current_);
    }
    current_.reset();
  }
  return {};
}

// Whether the stream, which has used up its bytes, has more of them now.
Result<bool> RecordingReader::more_bytes(Stream& stream) {
  for (;;) {
    if (!stream.chunk) {
      Result<std::optional<std::uint32_t>> next = source_->take(stream.decoder.stream(), stream.sequence);
      if (!next.ok()) {
        return std::move(next).status();
      }
      if (!next->has_value()) {
        return false;
      }
      stream.chunk = **next;
      ++stream.sequence;
      SOOTH_RETURN_IF_ERROR(stream.decoder.start_chunk(**next, 0, [](auto&&...) { return Status(); }));
    }
    const std::uint32_t chunk = *stream.chunk;
    const Result<ChunkSource::Extent> extent = source_->extent(chunk);
    if (!extent.ok()) {
      return extent.status();
    }
    const std::uint32_t before = stream.decoder.limit();
    if (extent->limit > before) {
      SOOTH_RETURN_IF_ERROR(
          stream.decoder.extend_chunk(extent->limit, [&](std::uint8_t* buffer, std::uint32_t from, std::uint32_t to) {
            return source_->read(chunk, buffer, from, to);
          }));
      bytes_read_ += extent->limit - before;
      return true;
    }
    if (!extent->closed) {
      return false;
    }
    SOOTH_RETURN_IF_ERROR(source_->recycle(chunk));
    stream.chunk.reset();
  }
}

// Goes on with the stream that has the next ticket. False when none has (yet).
Result<bool> RecordingReader::begin_next_ticket() {
  if (!expected_ || heads_.empty()) {
    return false;
  }
  if (*expected_ >= source_->stop_ticket()) {
    over_ = true;
    return false;
  }
  if (heads_.top().ticket > *expected_) {
    return false;
  }
  Stream& stream = *streams_[heads_.top().stream];
  if (heads_.top().ticket < *expected_) {
    return damaged(stream.decoder.complaint("its ticket " + std::to_string(heads_.top().ticket) + " was used before"));
  }
  if (info_.exact && !scanned_to_the_end_) {
    // What the thread before did in its turn may have become visible only after its stream was last looked at.
    SOOTH_RETURN_IF_ERROR(look_again());
    if (!ready_.empty()) {
      return true;
    }
  }
  current_ = heads_.top().stream;
  heads_.pop();
  ++*expected_;
  stream.decoder.take(sink_);
  return true;
}

// Looks for bytes of the waiting streams.
Status RecordingReader::look_again() {
  std::vector<std::uint32_t> still;
  for (const std::uint32_t index : waiting_) {
    Result<bool> more = more_bytes(*streams_[index]);
    if (!more.ok()) {
      return std::move(more).status();
    }
    (*more ? ready_ : still).push_back(index);
  }
  waiting_ = std::move(still);
  return {};
}

// Looks for new chunks and bytes, and sleeps when there are none.
Status RecordingReader::wait_for_more() {
  const bool live = source_->live();  // before the look: what a dead program wrote is all there
  Result<std::vector<std::uint32_t>> discovered = source_->scan();
  if (!discovered.ok()) {
    return std::move(discovered).status();
  }
  for (auto stream = discovered->rbegin(); stream != discovered->rend(); ++stream) {
    ready_.push_back(static_cast<std::uint32_t>(streams_.size()));
    streams_.push_back(std::make_unique<Stream>(Stream{{*stream, has_values_, names_}, 0, {}}));
  }
  if (!live) {
    SOOTH_RETURN_IF_ERROR(source_->check_streams());
  }
  SOOTH_RETURN_IF_ERROR(look_again());
  scanned_to_the_end_ = !live;
  if (!ready_.empty() || !live) {
    pause_ = std::chrono::microseconds(0);
    return {};
  }
  source_->relieve();
  std::this_thread::sleep_for(pause_);
  pause_ = std::min(pause_ * 2 + std::chrono::microseconds(20), std::chrono::microseconds(2000));
  return {};
}

void RecordingReader::find_reaches() {
  for (const std::size_t i : calls_) {
    const ThreadId thread = events_[i].thread;
    for (const MemoryRange& range : known_reaches_.of(thread, call_counts_[raw(thread)]++)) {
      reaches_.push_back({EventId{emitted_ + i}, range.begin, range.length});
    }
  }
}

// Something that is not instrumented may write between recorded events, so a read may see what no recorded write left.
// Such values contradict the others, and are left out.
void RecordingReader::explain_reads() {
  if (values_.empty() || !info_.exact) {
    return;
  }
  std::size_t next_reach = 0;
  unexplained_.clear();
  for (std::size_t i = 0; i < sink_.count; ++i) {
    follow_call(events_[i], EventId{emitted_ + i}, next_reach);
    if (memory_.consume(events_[i], values_[i])) {
      if (wants_deep_) {
        note_words(EventId{emitted_ + i}, events_[i].thread, values_[i]);
      }
      values_[i] = {};
      ++info_.unexplained_reads;
      (void)memory_.consume(events_[i], values_[i]);  // never a conflict without a value
    }
  }
  if (!unexplained_.empty()) {
    const auto earlier = [](const DeepRecord& a, const DeepRecord& b) { return a.before < b.before; };
    merged_.resize(unexplained_.size() + deep_.size());
    // Of equals those of the first range come first: a word belongs right behind its read.
    std::merge(unexplained_.begin(), unexplained_.end(), deep_.begin(), deep_.end(), merged_.begin(), earlier);
    std::swap(deep_, merged_);
  }
}

// Whoever executes the code again must know what it read, whether anybody can explain it or not.
void RecordingReader::note_words(EventId event, ThreadId thread, const Value& value) {
  const std::uint64_t words[] = {value.low, value.high};
  for (std::size_t i = 0; i * 8 < value.size; ++i) {
    unexplained_.push_back({advance(event, 1), thread, DeepKind::kWord, 0, 0, 0, words[i]});
  }
}

// While a call is open, what it may touch has no known value.
void RecordingReader::follow_call(const Event& event, EventId id, std::size_t& next_reach) {
  if (event.op == Op::kCallBegin) {
    open_calls_[{raw(event.thread), event.object}] = id;
    for (; next_reach < reaches_.size() && reaches_[next_reach].call == id; ++next_reach) {
      memory_.open_reach(id, reaches_[next_reach].begin, reaches_[next_reach].length);
    }
  } else if (event.op == Op::kCallEnd) {
    const auto call = open_calls_.find({raw(event.thread), event.object});
    if (call != open_calls_.end()) {
      memory_.close_reach(call->second);
      open_calls_.erase(call);
    }
  }
}

void RecordingReader::update_info() {
  if (over_ && source_->stop_ticket() != stream::kNeverStopped) {
    info_.stopped = stop_sentence(source_->stop_reason());
  }
  if (over_ && info_.program.empty()) {
    info_.program = reload_process_().command;  // it may have been written after a live reader looked
  }
}

std::vector<stream::SiteRow> rows_of(const std::string& bytes, std::size_t first, std::size_t most) {
  const std::size_t count = std::min(bytes.size() / sizeof(stream::SiteRow), most);
  std::vector<stream::SiteRow> rows(count - std::min(first, count));
  if (!rows.empty()) {
    std::memcpy(rows.data(), bytes.data() + first * sizeof(stream::SiteRow), rows.size() * sizeof(stream::SiteRow));
  }
  return rows;
}

// What a descriptor has from `offset` on.
std::string read_from(int fd, std::uint64_t offset) {
  std::string text;
  char part[16384];
  for (;;) {
    const ssize_t got = ::pread(fd, part, sizeof part, static_cast<off_t>(offset + text.size()));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return text;
    }
    text.append(part, static_cast<std::size_t>(got));
  }
}

class SharedDescriptor {
 public:
  explicit SharedDescriptor(int fd) : fd_(fd) {}
  ~SharedDescriptor() { ::close(fd_); }
  SharedDescriptor(const SharedDescriptor&) = delete;
  SharedDescriptor& operator=(const SharedDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

bool is_recording(const std::string& directory) {
  struct stat info {};
  return ::stat((directory + "/" + stream::kStreamsFile).c_str(), &info) == 0;
}

namespace {

// Variables, and blocks of all times.
Result<MemoryObjects> find_objects(const std::string& directory, const RecordingSymbols& symbols) {
  MemoryObjects objects;
  for (const GlobalSymbol& global : symbols.globals) {
    objects.add({global.begin, global.end - global.begin});
  }
  const Result<std::unique_ptr<TraceReader>> reader = open_recording(directory, {.columns = kNoColumns});
  if (!reader.ok()) {
    return reader.status();
  }
  SOOTH_RETURN_IF_ERROR(for_each_batch(**reader, [&](const Batch& batch) {
    for (const Event& event : batch.events) {
      if (event.op == Op::kAlloc) {
        objects.add({event.object, event.size});
      }
    }
    return Status();
  }));
  objects.finish();
  return objects;
}

// What calls may touch stands at their begin, but the objects that it consists of may come later: all of the recording
// is looked through first.
Status read_reaches(const std::string& directory, RecordingFiles& files) {
  const std::string path = directory + "/" + stream::kReachesFile;
  const Result<std::optional<std::string>> bytes = read_small_file(path);
  if (!bytes.ok() || !bytes->has_value() || !is_sealed(**bytes)) {
    return bytes.ok() ? Status() : bytes.status();
  }
  const Result<MemoryObjects> objects = find_objects(directory, files.symbols);
  if (!objects.ok()) {
    return objects.status();
  }
  Result<CallReaches> reaches = CallReaches::parse(**bytes, path, *objects);
  if (!reaches.ok()) {
    return std::move(reaches).status();
  }
  files.reaches = std::move(*reaches);
  return {};
}

}  // namespace

Result<std::unique_ptr<TraceReader>> open_recording(const std::string& directory, const ReadOptions& options) {
  auto source = ChunkSource::open_file(directory + "/" + stream::kStreamsFile);
  if (!source.ok()) {
    return std::move(source).status();
  }
  RecordingFiles files;
  Result<std::string> sites = read_required_file(directory + "/" + stream::kSitesFile);
  Result<std::string> process = read_required_file(directory + "/" + stream::kProcessFile);
  if (!sites.ok() || !process.ok()) {
    return sites.ok() ? std::move(process).status() : std::move(sites).status();
  }
  Result<RecordingChecks> checks = read_recording_checks(directory);
  if (!checks.ok()) {
    return std::move(checks).status();
  }
  files.incomplete = !checks->whole;
  SOOTH_RETURN_IF_ERROR(checks->verify(directory, **source, *sites, *process));
  auto parsed = parse_process(*process, directory + "/" + stream::kProcessFile);
  if (!parsed.ok()) {
    return std::move(parsed).status();
  }
  if (::access((directory + "/" + stream::kSymbolsFile).c_str(), F_OK) == 0) {
    const std::string_view used =
        std::string_view(*sites).substr(0, std::size_t{(*source)->sites()} * sizeof(stream::SiteRow));
    auto symbols = read_symbol_file(directory + "/" + stream::kSymbolsFile, recording_mark(used, *process));
    if (!symbols.ok()) {
      return std::move(symbols).status();
    }
    files.symbols = std::move(*symbols);
  }
  if ((options.columns & kReaches) != 0 && ((*source)->flags() & stream::kWithCalls) != 0) {
    SOOTH_RETURN_IF_ERROR(read_reaches(directory, files));
  }
  files.process = *parsed;
  files.more.process = [process = std::move(*parsed)] { return process; };
  const std::size_t most = (*source)->sites();
  files.more.sites = [bytes = std::move(*sites), most](std::size_t first) { return rows_of(bytes, first, most); };
  files.source = std::move(*source);
  return std::unique_ptr<TraceReader>(std::make_unique<RecordingReader>(std::move(files), options.columns));
}

Result<std::unique_ptr<TraceReader>> follow_recording(const LiveRecording& recording, const ReadOptions& options) {
  RecordingFiles files;
  auto source = ChunkSource::open(::dup(recording.streams), "the live recording", recording.alive);
  if (!source.ok()) {
    return std::move(source).status();
  }
  files.source = std::move(*source);
  const auto sites = std::make_shared<SharedDescriptor>(::dup(recording.sites));
  const auto process = std::make_shared<SharedDescriptor>(::dup(recording.process));
  ChunkSource* const control = files.source.get();
  files.more.sites = [sites, control](std::size_t first) {
    const std::size_t most = control->sites();
    return rows_of(read_from(sites->get(), first * sizeof(stream::SiteRow)), 0, most - std::min(first, most));
  };
  files.more.process = [process] {
    Result<RecordedProcess> parsed = parse_process(read_from(process->get(), 0), "the live recording");
    return parsed.ok() ? std::move(*parsed) : RecordedProcess{};
  };
  files.more.symbols = recording.symbols;
  files.process = files.more.process();
  return std::unique_ptr<TraceReader>(std::make_unique<RecordingReader>(std::move(files), options.columns));
}

}  // namespace sooth
