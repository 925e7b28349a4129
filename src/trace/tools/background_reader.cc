#include "trace/tools/background_reader.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "trace/format/names_codec.h"

namespace sooth {
namespace {

// Batches are handed over together until there are so many events or branches, so that locking costs nothing. All slots
// together should stay in a second level cache: 8 slots of 4096 events are 0.8 MB.
constexpr std::size_t kSlotEvents = 4096;
constexpr std::size_t kSlots = 8;

struct Position {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_total = 0;
};

Position position_of(const TraceReader& reader) { return {reader.bytes_read(), reader.bytes_total()}; }

// One batch of a slot: how much of each vector is its, behind what is of the batches before it.
struct Part {
  EventId first{};
  std::size_t events = 0;
  std::size_t values = 0;
  std::size_t stacks = 0;
  std::size_t branches = 0;
  std::size_t reaches = 0;
  std::size_t deep = 0;
  Position position;
};

// What is handed over at once. Its names and info hold from its first batch on; a batch that changes them starts a
// slot. A slot without batches carries names that did not fit into one.
struct Slot {
  TraceInfo info;
  Bytes names;  // rows of the tables, see names_codec.h
  std::uint32_t name_rows = 0;
  std::vector<Part> parts;
  std::vector<Event> events;
  std::vector<Value> values;
  std::vector<StackId> stacks;
  std::vector<Branch> branches;
  std::vector<Reach> reaches;
  std::vector<DeepRecord> deep;
  std::optional<Part> end;  // the last slot: the answer after all parts is `status`, or the end of the trace
  Status status;

  // Keeps the memory: slots are used again.
  void clear() {
    names.clear();
    name_rows = 0;
    parts.clear();
    events.clear();
    values.clear();
    stacks.clear();
    branches.clear();
    reaches.clear();
    deep.clear();
  }
  bool full() const {
    return events.size() >= kSlotEvents || branches.size() >= kSlotEvents || deep.size() >= kSlotEvents;
  }
  void add(const Batch& batch, const Position& position) {
    append(events, batch.events);
    append(values, batch.values);
    append(stacks, batch.stacks);
    append(branches, batch.branches);
    append(reaches, batch.reaches);
    append(deep, batch.deep);
    parts.push_back({batch.first, batch.events.size(), batch.values.size(), batch.stacks.size(), batch.branches.size(),
                     batch.reaches.size(), batch.deep.size(), position});
  }
  Batch all() const { return {{}, events, values, stacks, branches, reaches, {}, deep}; }

 private:
  template <typename T>
  static void append(std::vector<T>& to, std::span<const T> from) {
    to.insert(to.end(), from.begin(), from.end());
  }
};

template <typename T>
std::span<const T> take(std::span<const T>& rest, std::size_t count) {
  const std::span<const T> front = rest.first(count);
  rest = rest.subspan(count);
  return front;
}

// A ring of slots. The thread fills slot `published_`, the caller empties slot `released_`; both numbers count slots
// since the start and are the only things that both sides touch at a time.
class BackgroundReader final : public TraceReader {
 public:
  explicit BackgroundReader(std::unique_ptr<TraceReader> reader)
      : reader_(std::move(reader)),
        cursor_(TablesCursor::end_of(reader_->tables())),
        info_(reader_->info()),
        tables_(reader_->tables()),
        position_(position_of(*reader_)) {}
  ~BackgroundReader() override;

  // May throw std::system_error; then there is no thread.
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  // Gives back what was wrapped, when there is no thread.
  std::unique_ptr<TraceReader> unwrap() { return std::move(reader_); }

  Result<Batch> next() override;
  const TraceInfo& info() const override { return info_; }
  const Tables& tables() const override { return tables_; }
  std::uint64_t bytes_read() const override { return position_.bytes_read; }
  std::uint64_t bytes_total() const override { return position_.bytes_total; }

 private:
  // In the thread. The slot being filled is always ours; functions that go on to the next are false when it is time to
  // stop.
  Slot& filling() { return slots_[published_by_thread_ % kSlots]; }
  void run();
  void read_all();
  bool describe();
  void end(Part part, Status status);
  void publish();
  bool begin_slot();
  bool next_slot() {
    publish();
    return begin_slot();
  }

  // In the caller.
  void open_slot();
  Batch next_part();

  // Of the thread, after start().
  std::unique_ptr<TraceReader> reader_;
  TablesCursor cursor_;                    // the rows that were put into slots
  std::uint64_t published_by_thread_ = 0;  // published_, without the lock
  Status out_of_memory_ = Status::internal("out of memory while reading the trace");  // made while there is some

  // Of the caller.
  TraceInfo info_;
  Tables tables_;
  Position position_;
  const Slot* slot_ = nullptr;  // being emptied
  std::size_t part_ = 0;        // of slot_: the next
  Batch rest_;                  // of slot_: what is of the parts from part_ on
  Status error_;                // once there is one, it stays

  // Of both: slots by turns, the rest under the mutex.
  std::array<Slot, kSlots> slots_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::uint64_t published_ = 0;
  std::uint64_t released_ = 0;
  std::atomic<bool> stop_ = false;  // set under the mutex, read anywhere

  std::thread thread_;
};

BackgroundReader::~BackgroundReader() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  emptied_.notify_one();
  thread_.join();
}

void BackgroundReader::run() {
  try {
    read_all();
  } catch (const std::bad_alloc&) {
    end({.position = position_of(*reader_)}, std::move(out_of_memory_));
  } catch (const std::exception& error) {
    end({.position = position_of(*reader_)},
        Status::internal(std::string("reading the trace failed: ") + error.what()));
  }
}

void BackgroundReader::read_all() {
  while (!stop_.load(std::memory_order_relaxed)) {
    const Result<Batch> batch = reader_->next();
    const bool changed = cursor_ != TablesCursor::end_of(reader_->tables()) || filling().info != reader_->info();
    if (changed && !filling().parts.empty() && !next_slot()) {
      return;
    }
    if (filling().parts.empty() && !describe()) {
      return;
    }
    if (!batch.ok() || batch->empty()) {
      end({.first = batch.ok() ? batch->first : EventId{}, .position = position_of(*reader_)},
          batch.ok() ? Status() : batch.status());
      return;
    }
    filling().add(*batch, position_of(*reader_));
    if (filling().full() && !next_slot()) {
      return;
    }
  }
}

// Starts a slot with what is to be known before its first batch; one slot after the other while names do not fit.
bool BackgroundReader::describe() {
  for (;;) {
    filling().info = reader_->info();
    filling().name_rows = encode_names(reader_->tables(), cursor_, filling().names);
    if (cursor_ == TablesCursor::end_of(reader_->tables())) {
      return true;
    }
    if (!next_slot()) {
      return false;
    }
  }
}

void BackgroundReader::end(Part part, Status status) {
  filling().end = part;
  filling().status = std::move(status);
  publish();
}

void BackgroundReader::publish() {
  {
    const std::lock_guard lock(mutex_);
    published_ = ++published_by_thread_;
  }
  filled_.notify_one();
}

bool BackgroundReader::begin_slot() {
  {
    std::unique_lock lock(mutex_);
    if (published_ - released_ == kSlots) {
      // Sleeps until half of the ring is free: waking up for each slot would cost more than the rest of the hand-over.
      emptied_.wait(lock, [this] { return stop_ || published_ - released_ <= kSlots / 2; });
    }
  }
  filling().clear();
  return !stop_;
}

Result<Batch> BackgroundReader::next() {
  if (!error_.ok()) {
    return error_;
  }
  while (slot_ == nullptr || part_ == slot_->parts.size()) {
    if (slot_ != nullptr && slot_->end.has_value()) {
      position_ = slot_->end->position;
      error_ = slot_->status;
      return error_.ok() ? Result<Batch>(Batch{slot_->end->first, {}, {}, {}, {}, {}}) : Result<Batch>(error_);
    }
    open_slot();
    if (slot_->name_rows != 0 && !decode_names(slot_->names, slot_->name_rows, tables_).ok()) {
      return error_ = Status::internal("the reader's tables refer to rows that are not in them");
    }
  }
  return next_part();
}

void BackgroundReader::open_slot() {
  {
    std::unique_lock lock(mutex_);
    if (slot_ != nullptr && published_ - ++released_ == kSlots / 2) {
      emptied_.notify_one();
    }
    filled_.wait(lock, [this] { return published_ != released_; });
    slot_ = &slots_[released_ % kSlots];
  }
  part_ = 0;
  rest_ = slot_->all();
  info_ = slot_->info;
}

Batch BackgroundReader::next_part() {
  const Part& part = slot_->parts[part_++];
  position_ = part.position;
  return {part.first,
          take(rest_.events, part.events),
          take(rest_.values, part.values),
          take(rest_.stacks, part.stacks),
          take(rest_.branches, part.branches),
          take(rest_.reaches, part.reaches),
          {},
          take(rest_.deep, part.deep)};
}

}  // namespace

std::unique_ptr<TraceReader> read_in_background(std::unique_ptr<TraceReader> reader) {
  auto background = std::make_unique<BackgroundReader>(std::move(reader));
  try {
    background->start();
  } catch (const std::system_error&) {
    return background->unwrap();
  }
  return background;
}

}  // namespace sooth
