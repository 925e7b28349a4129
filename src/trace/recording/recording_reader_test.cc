// Recordings that a simple writer makes from random traces, read back.
#include "trace/recording/recording_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "trace/check/validator.h"
#include "trace/memory_trace.h"
#include "trace/recording/recording_testing.h"

namespace sooth {
namespace {

// What a record of a stream stands for: an event of the trace, or the turn of a thread.
struct Step {
  std::size_t event = 0;
  bool ticketed = false;
};

// A trace put into streams, with the trace that a reader must make of it.
class Encoded {
 public:
  Encoded(const std::vector<Event>& events, std::uint64_t seed, bool serial)
      : events_(events),
        random_(seed),
        serial_(serial),
        recording_((serial ? stream::kExactOrder : 0) | (one_in(2) ? stream::kWithValues : 0), 16) {
    next_ticket_ = below(2);
    make_values();
    for (std::size_t i = 0; i < events.size(); ++i) {
      add(i);
    }
    recording_.control.next_ticket = next_ticket_;
    close_runs();
  }

  const TestRecording& recording() const { return recording_; }
  bool valued() const { return (recording_.control.flags & stream::kWithValues) != 0; }
  // Indices into the events that were given, in the order that the reader must find.
  const std::vector<std::size_t>& order() const { return order_; }
  const Value& value(std::size_t event) const { return values_[event]; }
  const std::vector<std::uint32_t>& stack(std::size_t event) const { return stacks_[event]; }
  std::uint64_t unexplained() const { return unexplained_; }
  const std::vector<bool>& dropped() const { return dropped_; }

 private:
  struct Thread {
    std::size_t stream = ~std::size_t{0};
    std::vector<std::uint32_t> calls;
  };
  struct Stream {
    TestStream out;
    SlotTable slots;
    std::uint32_t thread = 0;
    bool over = false;    // its thread has ended: another may go on here
    std::size_t run = 0;  // index into runs_: what stands behind its last ticket
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  // Bytes as they would be if the trace had happened, and sometimes as they cannot be.
  void make_values() {
    std::map<std::uint64_t, std::uint8_t> memory;  // known bytes
    values_.resize(events_.size());
    dropped_.resize(events_.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      const auto forget = [&] { memory.erase(memory.lower_bound(e.object), memory.lower_bound(e.object + e.size)); };
      if (e.op == Op::kAlloc || e.op == Op::kFree) {
        forget();
      }
      if (!is_access(e.op)) {
        continue;
      }
      std::uint8_t bytes[16];
      for (std::uint32_t b = 0; b < 16; ++b) {
        bytes[b] = static_cast<std::uint8_t>(below(3));
      }
      const bool recorded = e.size <= 16 && !one_in(5);
      if (is_read(e.op)) {
        bool wrong = false;
        for (std::uint32_t b = 0; b < std::min(e.size, 16u); ++b) {
          const auto known = memory.find(e.object + b);
          if (known != memory.end() && !one_in(20)) {
            bytes[b] = known->second;
          }
          wrong = wrong || (known != memory.end() && bytes[b] != known->second);
        }
        dropped_[i] = recorded && wrong;
        unexplained_ += dropped_[i] ? 1 : 0;
      }
      if (e.op != Op::kRead && e.op != Op::kAtomicLoad) {
        forget();
        for (std::uint32_t b = 0; recorded && e.op != Op::kAtomicRmw && b < e.size; ++b) {
          memory[e.object + b] = bytes[b];
        }
      }
      if (recorded) {
        std::memset(bytes + e.size, 0, 16 - e.size);
        std::memcpy(&values_[i].low, bytes, 8);
        std::memcpy(&values_[i].high, bytes + 8, 8);
        values_[i].size = static_cast<std::uint8_t>(e.size);
      }
    }
  }

  Thread& thread(std::uint32_t id) {
    if (id >= threads_.size()) {
      threads_.resize(id + 1);
    }
    return threads_[id];
  }

  // A record with the next ticket: it begins a run.
  std::uint64_t begin_run(Stream& stream) {
    stream.run = runs_.size();
    runs_.emplace_back();
    return next_ticket_++;
  }

  // The stream of the event's thread, with a turn or ticket in front where one is needed.
  Stream& stream_of(const Event& e) {
    Thread& t = thread(raw(e.thread));
    const bool fresh = t.stream == ~std::size_t{0};
    if (fresh) {
      for (std::size_t s = 0; s < streams_.size() && t.stream == ~std::size_t{0}; ++s) {
        if (streams_[s]->over && one_in(2)) {
          t.stream = s;
        }
      }
      if (t.stream == ~std::size_t{0}) {
        t.stream = streams_.size();
        const auto number = static_cast<std::uint32_t>(streams_.size());
        streams_.push_back(std::make_unique<Stream>(
            Stream{recording_.stream(number), SlotTable(static_cast<std::uint32_t>(1 + below(6)))}));
      }
    }
    Stream& s = *streams_[t.stream];
    const bool other_turn = serial_ && (last_stream_ != t.stream || one_in(8));
    if (fresh || other_turn) {
      const auto kind = serial_ ? stream::Record::kTurn : stream::Record::kTicket;
      s.out.ticket(begin_run(s), kind);
    }
    if (fresh) {
      s.out.thread(raw(e.thread));
      s.thread = raw(e.thread);
      s.over = false;
    }
    last_stream_ = t.stream;
    return s;
  }

  void change_stack(Stream& s, Thread& t) {
    const std::size_t pops = below(t.calls.size() + 1);
    std::vector<std::uint32_t> pushes(below(3));
    t.calls.resize(t.calls.size() - pops);
    for (std::uint32_t& row : pushes) {
      row = static_cast<std::uint32_t>(below(16));
      t.calls.push_back(row);
    }
    s.out.stack(pops, pushes);
  }

  void add(std::size_t i) {
    const Event& e = events_[i];
    Stream& s = stream_of(e);
    Thread& t = thread(raw(e.thread));
    if (one_in(6)) {
      change_stack(s, t);
    }
    if (one_in(10)) {
      s.out.close_chunk();
    }
    const bool plain = e.op == Op::kRead || e.op == Op::kWrite || e.op == Op::kEnter || e.op == Op::kExit;
    const bool ticketed = !serial_ && (!plain || one_in(10));
    const auto bits = static_cast<std::uint8_t>((ticketed ? stream::kTicketed : 0) | (one_in(3) ? stream::kSized : 0));
    const std::uint32_t slot = s.slots.slot_for(s.out, e, bits);
    std::uint64_t ticket = 0;
    if (ticketed) {
      ticket = begin_run(s);
    }
    s.out.event(slot, e, bits, ticketed ? &ticket : nullptr, values_[i]);
    runs_[s.run].push_back(i);
    stacks_.push_back(t.calls);
    s.over = e.op == Op::kEnd;
  }

  void close_runs() {
    for (const std::vector<std::size_t>& run : runs_) {
      order_.insert(order_.end(), run.begin(), run.end());
    }
  }

  const std::vector<Event>& events_;
  std::mt19937_64 random_;
  const bool serial_;
  TestRecording recording_;
  std::uint64_t next_ticket_ = 0;
  std::vector<Thread> threads_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::size_t last_stream_ = ~std::size_t{0};
  std::vector<std::vector<std::size_t>> runs_;  // events behind each ticket, in the order of tickets
  std::vector<std::size_t> order_;
  std::vector<Value> values_;
  std::vector<std::vector<std::uint32_t>> stacks_;  // by event: rows, outermost first
  std::vector<bool> dropped_;
  std::uint64_t unexplained_ = 0;
};

std::string row_label(std::uint32_t row) {
  char text[32];
  std::snprintf(text, sizeof text, "prog+0x%x", 0x100 + row);
  return text;
}

// Empty when `read` is what `encoded` must become; else what differs first.
std::string difference(const std::vector<Event>& events, const Encoded& encoded, const WholeTrace& read) {
  if (read.events.size() != encoded.order().size()) {
    return std::to_string(read.events.size()) + " events for " + std::to_string(encoded.order().size());
  }
  for (std::size_t i = 0; i < read.events.size(); ++i) {
    const std::size_t index = encoded.order()[i];
    const std::string where = " of event " + std::to_string(i) + ", written as " + std::to_string(index);
    Event expected = events[index];
    Event got = read.events[i];
    const auto label = [&](SiteId site) { return read.tables.site(site).label; };
    if (label(got.site) != row_label(raw(expected.site))) return "site" + where;
    const ObjectKind kind = object_kind(expected);
    if (kind == ObjectKind::kFunction || kind == ObjectKind::kCall) {
      if (label(SiteId(got.object)) != row_label(static_cast<std::uint32_t>(expected.object)))
        return "function" + where;
      got.object = expected.object;
    }
    got.site = expected.site;
    if (!(got == expected)) return "event" + where;
    std::vector<std::string> calls;
    for (const std::uint32_t row : encoded.stack(index)) {
      calls.insert(calls.begin(), row_label(row));
    }
    std::vector<std::string> frames;
    for (const SiteId site : read.tables.frames(read.stacks[i])) {
      frames.push_back(label(site));
    }
    if (frames != calls) return "stack" + where;
    const bool hidden = read.info.exact && encoded.dropped()[index];
    if (encoded.valued() && read.values[i] != (hidden ? Value{} : encoded.value(index))) return "value" + where;
  }
  return read.info.unexplained_reads != (encoded.valued() && read.info.exact ? encoded.unexplained() : 0)
             ? "count of unexplained reads"
             : "";
}

Status validate(const WholeTrace& trace) {
  TraceValidator validator;
  Batch batch = as_batch(trace);
  batch.stacks = trace.stacks;
  if (!trace.info.exact) {
    batch.values = {};
  }
  return validator.consume(batch, trace.tables);
}

TEST(RecordingReader, ReadsWhatRandomTracesBecome) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const TemporaryDirectory directory;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const auto profile = oracle::kProfiles[seed % oracle::kProfiles.size()];
    const std::vector<Event> events = oracle::random_trace(profile, seed).events;
    const Encoded encoded(events, seed, seed % 3 == 0);
    encoded.recording().write(directory / "r");
    if (seed % 2 == 0) {
      ASSERT_TRUE(finish_recording(directory / "r").ok());
    }
    const Result<WholeTrace> read = read_recording(directory / "r");
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status().message();
    EXPECT_EQ(read->info.incomplete, seed % 2 != 0);
    EXPECT_EQ(read->info.exact, seed % 3 == 0);
    ASSERT_EQ(difference(events, encoded, *read), "") << "seed " << seed;
    const Status valid = validate(*read);
    ASSERT_TRUE(valid.ok()) << "seed " << seed << ": " << valid.message();
    std::filesystem::remove_all(directory / "r");
  }
}

}  // namespace
}  // namespace sooth
