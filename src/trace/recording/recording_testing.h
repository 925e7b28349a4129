// For tests of recordings: a writer of streams as the run time library has one, but slow and simple.
#pragma once

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/test_environment.h"
#include "trace/batch.h"
#include "trace/format/byte_io.h"
#include "trace/format/directory_testing.h"
#include "trace/recording/recording_checks.h"
#include "trace/recording/recording_reader.h"
#include "trace/recording/stream_format.h"
#include "trace/recording/symbol_file.h"
#include "trace/versions.h"

namespace sooth {

inline constexpr char kTestProcess[] = "command ./prog --now\nmodule 0 400000 400000 500000 0123abcd /bin/prog\n";
inline constexpr std::uint64_t kTestBias = 0x400000;

// Gives out chunks of zeros with their number in the file.
struct NewChunk {
  std::uint8_t* bytes;
  std::uint32_t number;
};
using ChunkAllocator = std::function<NewChunk()>;

// One stream. Every record is put together first and copied behind what is there, its control word last.
class TestStream {
 public:
  TestStream(std::uint32_t stream, bool values, ChunkAllocator allocate)
      : stream_(stream), values_(values), allocate_(std::move(allocate)) {}

  // From now on, what a reader expects is left to runs.
  void use_runs() { runs_ = true; }
  std::uint64_t left_to_runs() const { return left_to_runs_; }

  void thread(std::uint32_t thread) {
    begin(stream::Record::kThread);
    out().put_varint(thread);
    end();
  }
  void ticket(std::uint64_t ticket, stream::Record kind = stream::Record::kTicket) {
    begin(kind);
    put_ticket(ticket);
    end();
  }
  void stack(std::uint64_t pops, const std::vector<std::uint32_t>& pushes) {
    begin(stream::Record::kStack);
    out().put_varint(pops);
    out().put_varint(pushes.size());
    for (const std::uint32_t row : pushes) {
      out().put_varint(row);
    }
    end();
  }
  void name(ObjectKind kind, std::uint64_t object, std::string_view name) {
    begin(stream::Record::kName);
    out().put(static_cast<std::uint8_t>(kind));
    out().put_varint(object);
    out().put_string(name);
    end();
  }
  void define(std::uint32_t slot, const Event& shape, std::uint8_t bits) {
    begin(stream::Record::kDefine);
    out().put(static_cast<std::uint16_t>(slot));
    out().put(shape.op);
    out().put(shape.order);
    out().put(shape.flags);
    out().put(bits);
    out().put_varint((bits & stream::kSized) != 0 ? 0 : shape.size);
    out().put_varint(raw(shape.site));
    end();
    slots_[slot] = {};
  }
  // `ticket`: nullptr when the shape is not ticketed. The site is a row of `sites`.
  void event(std::uint32_t slot, const Event& event, std::uint8_t bits, const std::uint64_t* ticket,
             const Value& value) {
    Slot& state = slots_[slot];
    const auto delta = [&] {
      const std::uint64_t difference = event.object - state.object - state.step;
      return (difference << 1) ^ (0 - (difference >> 63));
    };
    if (delta() >> 48 != 0) {
      define(slot, event, bits);
    }
    const std::uint64_t zigzag = delta();
    state.step = event.object - state.object;
    state.object = event.object;
    const bool remembered = values_ && is_access(event.op) && event.size <= 8 && value.size != 0;
    std::uint64_t& last = remembered_[stream::place_of(event.object)];
    const bool seen = std::exchange(state.seen, true);
    const bool known = remembered && value.low == last && zigzag == 0 && bits == 0 && seen;
    if (follow(slot) && known && runs_) {
      return run();
    }
    last = remembered ? value.low : last;
    std::uint32_t code = 0;
    while (code < 8 && zigzag >> 8 * std::min(code, 7u) != 0 && !(code == 7 && zigzag >> 56 == 0)) {
      ++code;
    }
    EXPECT_LT(code, stream::kEscapeCode) << "objects have 47 bits";
    record_.clear();
    out().put(static_cast<std::uint16_t>(code << stream::kSlotBits | slot));
    out().put_array(reinterpret_cast<const std::uint8_t*>(&zigzag), code);
    if (ticket != nullptr) {
      put_ticket(*ticket);
    }
    if ((bits & stream::kSized) != 0) {
      out().put_varint(event.size);
    }
    if (values_ && is_access(event.op) && event.size <= 16) {
      put_value(state, value);
    }
    end();
  }
  // Its `before` and `thread` do not matter: they are where it stands.
  void deep(const DeepRecord& record) {
    record_.clear();
    std::uint32_t value_bytes = 0;
    while (value_bytes < 8 && record.value >> 8 * value_bytes != 0) {
      ++value_bytes;
    }
    const bool named =
        record.kind == DeepKind::kEnter || record.kind == DeepKind::kReturn || record.kind == DeepKind::kLanded;
    const bool valued =
        record.kind == DeepKind::kWord || record.kind == DeepKind::kAddress || record.kind == DeepKind::kReturn;
    const bool is_branch = record.kind == DeepKind::kBranch;
    const bool is_long = is_branch && record.value >= stream::kLongBranch;
    if (is_branch && !is_long && follow(kBranchWord | static_cast<std::uint32_t>(record.value)) && runs_) {
      return run();
    }
    const std::uint64_t small = is_long ? stream::kLongBranch : is_branch ? record.value : valued ? value_bytes : 0;
    out().put(static_cast<std::uint16_t>(stream::kEscapeCode << stream::kSlotBits | stream::kDeepRecords |
                                         static_cast<unsigned>(record.kind) << stream::kDeepKindShift | small));
    if (is_long) {
      out().put_varint(record.value);
    }
    if (named) {
      out().put_varint(record.module);
      out().put_varint(record.function);
    }
    if (named && record.kind != DeepKind::kEnter) {
      out().put_varint(record.id);
    }
    if (valued) {
      out().put_array(reinterpret_cast<const std::uint8_t*>(&record.value), value_bytes);
    }
    end();
  }
  // Whatever the bytes mean.
  void raw_record(std::uint16_t control, std::string_view bytes) {
    record_.clear();
    out().put(control);
    out().put_array(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    end();
  }
  // Where records start: chunk of the file, byte of the chunk.
  const std::vector<std::pair<std::uint32_t, std::size_t>>& starts() const { return starts_; }

  // What follows goes into another chunk.
  void close_chunk() {
    if (chunk_ != nullptr) {
      publish();
      set(offsetof(stream::ChunkHeader, closed), 1);
      chunk_ = nullptr;
    }
  }
  // A reader may see everything so far.
  void publish() {
    if (chunk_ != nullptr) {
      set(offsetof(stream::ChunkHeader, committed), static_cast<std::uint32_t>(used_));
      run_end_ = {};
    }
  }

 private:
  struct Slot {
    std::uint64_t object = 0;
    std::uint64_t step = 0;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool seen = false;
  };
  static constexpr std::uint32_t kBranchWord = stream::kEscapeCode << stream::kSlotBits | stream::kDeepRecords |
                                               static_cast<unsigned>(DeepKind::kBranch) << stream::kDeepKindShift;

  // Whether the record was expected. stream::kRuns.
  bool follow(std::uint32_t word) {
    const std::uint32_t before = std::exchange(following_[context_], word);
    context_ = stream::next_context(context_, word);
    return before == word;
  }
  void run() {
    ++left_to_runs_;
    std::uint16_t word;
    const bool grows = chunk_ != nullptr && run_end_ == std::pair(number_, used_);
    if (grows) {
      std::memcpy(&word, chunk_ + used_ - 2, sizeof word);
      if ((++word & (stream::kSlots - 1)) < stream::kDeepRecords) {
        std::memcpy(chunk_ + used_ - 2, &word, sizeof word);
        return;
      }
    }
    begin(stream::Record{stream::kRuns + 1});
    end();
    run_end_ = {number_, used_};
  }

  ByteWriter out() { return ByteWriter(record_); }
  void put_ticket(std::uint64_t ticket) {
    out().put_varint(ticket - last_ticket_);
    last_ticket_ = ticket;
  }
  void put_value(Slot& state, const Value& value) {
    if (value.size == 0) {
      out().put(stream::kNoValue);
      return;
    }
    const std::uint64_t words[2] = {value.low ^ state.low, value.high ^ state.high};
    state.low = value.low;
    state.high = value.high;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
    std::uint8_t length = 16;
    while (length > 0 && bytes[length - 1] == 0) {
      --length;
    }
    out().put(length);
    out().put_array(bytes, length);
  }
  void begin(stream::Record kind) {
    record_.clear();
    out().put(static_cast<std::uint16_t>(stream::kEscapeCode << stream::kSlotBits | static_cast<unsigned>(kind)));
  }
  void end() {
    if (chunk_ != nullptr && used_ + record_.size() > stream::kChunkBytes) {
      close_chunk();
    }
    if (chunk_ == nullptr) {
      open_chunk();
    }
    starts_.emplace_back(number_, used_);
    std::memcpy(chunk_ + used_ + 2, record_.data() + 2, record_.size() - 2);
    std::uint16_t control;
    std::memcpy(&control, record_.data(), sizeof control);
    std::memcpy(chunk_ + used_, &control, sizeof control);
    used_ += record_.size();
  }
  void open_chunk() {
    const NewChunk chunk = allocate_();
    chunk_ = chunk.bytes;
    number_ = chunk.number;
    used_ = sizeof(stream::ChunkHeader);
    set(offsetof(stream::ChunkHeader, stream), stream_);
    set(offsetof(stream::ChunkHeader, sequence), sequence_++);
    set(offsetof(stream::ChunkHeader, magic), stream::kChunkMagic);
  }
  void set(std::size_t offset, std::uint32_t value) {
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(chunk_ + offset), value, __ATOMIC_RELEASE);
  }

  const std::uint32_t stream_;
  const bool values_;
  const ChunkAllocator allocate_;
  Bytes record_;
  std::uint8_t* chunk_ = nullptr;
  std::uint32_t number_ = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> starts_;
  std::size_t used_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint32_t, Slot> slots_;
  bool runs_ = false;
  std::map<std::uint32_t, std::uint32_t> following_;
  std::map<std::uint32_t, std::uint64_t> remembered_;
  std::uint32_t context_ = 0;
  std::pair<std::uint32_t, std::size_t> run_end_;  // chunk and byte; byte 0: there is none
  std::uint64_t left_to_runs_ = 0;
};

// The files of a recording in memory.
struct TestRecording {
  stream::Control control{};
  std::vector<std::unique_ptr<std::uint8_t[]>> chunks;
  std::vector<stream::SiteRow> sites;
  std::string process = kTestProcess;

  explicit TestRecording(std::uint32_t flags = 0, std::uint32_t site_rows = 16) {
    control.magic = stream::kControlMagic;
    control.version = kStreamVersion;
    control.chunk_bytes = stream::kChunkBytes;
    control.flags = flags;
    control.next_ticket = ~std::uint64_t{0};
    control.stop_ticket = stream::kNeverStopped;
    for (std::uint32_t row = 0; row < site_rows; ++row) {
      sites.push_back({kTestBias + 0x100 + row, 0, 0});
    }
  }

  TestStream stream(std::uint32_t number) {
    return {number, (control.flags & stream::kWithValues) != 0, [this] {
              chunks.push_back(std::make_unique<std::uint8_t[]>(stream::kChunkBytes));
              return NewChunk{chunks.back().get(), static_cast<std::uint32_t>(chunks.size() - 1)};
            }};
  }

  std::string streams_bytes() const {
    stream::Control page = control;
    page.chunks = static_cast<std::uint32_t>(chunks.size());
    page.sites = static_cast<std::uint32_t>(sites.size());
    std::string bytes(stream::kControlBytes, '\0');
    std::memcpy(bytes.data(), &page, sizeof page);
    for (const auto& chunk : chunks) {
      bytes.append(reinterpret_cast<const char*>(chunk.get()), stream::kChunkBytes);
    }
    return bytes;
  }
  std::string sites_bytes() const {
    return {reinterpret_cast<const char*>(sites.data()), sites.size() * sizeof(stream::SiteRow)};
  }
  std::uint64_t mark() const { return recording_mark(sites_bytes(), process); }
  void write(const std::string& directory) const {
    std::filesystem::create_directories(directory);
    fill_file(directory + "/streams", streams_bytes());
    fill_file(directory + "/sites", sites_bytes());
    fill_file(directory + "/process", process);
  }
};

inline Result<WholeTrace> read_recording(const std::string& directory, ColumnSet columns = kAllColumns) {
  auto reader = open_recording(directory, {columns});
  return reader.ok() ? drain(**reader) : Result<WholeTrace>(reader.status());
}

struct DeepTrace {
  std::vector<Event> events;
  std::vector<Value> values;
  std::vector<DeepRecord> deep;
  std::size_t batches = 0;
};

// All of a recording, with its deep records.
inline Result<DeepTrace> read_deep(const std::string& directory, ColumnSet columns = kAllColumns | kDeep) {
  auto reader = open_recording(directory, {columns});
  if (!reader.ok()) {
    return std::move(reader).status();
  }
  DeepTrace trace;
  for (;;) {
    const Result<Batch> batch = (*reader)->next();
    if (!batch.ok()) {
      return batch.status();
    }
    if (batch->empty()) {
      return trace;
    }
    ++trace.batches;
    trace.events.insert(trace.events.end(), batch->events.begin(), batch->events.end());
    trace.values.insert(trace.values.end(), batch->values.begin(), batch->values.end());
    trace.deep.insert(trace.deep.end(), batch->deep.begin(), batch->deep.end());
  }
}

// Changes bytes at random in the first two chunks. Whatever a reader makes of it, it is an answer.
inline void expect_damage_is_read_or_refused(const TestRecording& recording) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 4;
  const TemporaryDirectory directory;
  recording.write(directory / "r");
  const std::string bytes = recording.streams_bytes();
  std::uint64_t accepted = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    std::mt19937_64 random(seed);
    std::string changed = bytes;
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
      const std::size_t at =
          stream::kControlBytes + (random() % 2) * stream::kChunkBytes + sizeof(stream::ChunkHeader) + random() % 900;
      changed[at] = static_cast<char>(random() >> random() % 64);
    }
    fill_file(directory / "r/streams", changed);
    const Result<DeepTrace> read = read_deep(directory / "r");
    accepted += read.ok() ? 1 : 0;
    if (!read.ok()) {
      ASSERT_EQ(read.status().code(), ExitCode::kBadInput) << "seed " << seed;
    }
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, cases);
}

// Defines slots as events need them, as the run time library does: a slot belongs to a shape until another takes it.
class SlotTable {
 public:
  explicit SlotTable(std::uint32_t slots) : slots_(slots) {}

  std::uint32_t slot_for(TestStream& stream, const Event& event, std::uint8_t bits) {
    const auto key =
        std::tuple(event.op, event.order, event.flags, bits, (bits & stream::kSized) != 0 ? 0 : event.size, event.site);
    for (std::uint32_t slot = 1; slot <= keys_.size(); ++slot) {
      if (keys_[slot - 1] == key) {
        return slot;
      }
    }
    const std::uint32_t slot =
        keys_.size() < slots_ ? static_cast<std::uint32_t>(keys_.size() + 1) : 1 + next_++ % slots_;
    if (slot > keys_.size()) {
      keys_.push_back(key);
    }
    keys_[slot - 1] = key;
    stream.define(slot, event, bits);
    return slot;
  }

 private:
  using Key = std::tuple<Op, MemoryOrder, std::uint8_t, std::uint8_t, std::uint32_t, SiteId>;
  const std::uint32_t slots_;
  std::uint32_t next_ = 0;
  std::vector<Key> keys_;
};

}  // namespace sooth
