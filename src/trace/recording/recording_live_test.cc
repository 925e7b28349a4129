// Recordings that are read while they are written: the program is a thread of the test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "trace/recording/recording_testing.h"

namespace sooth {
namespace {

// The three files as the program has them: mapped, with a limit on chunks.
class LiveProgram {
 public:
  LiveProgram(std::uint32_t chunk_limit, std::uint32_t flags)
      : streams_(::memfd_create("streams", MFD_CLOEXEC)),
        sites_(::memfd_create("sites", MFD_CLOEXEC)),
        process_(::memfd_create("process", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(streams_, kBytes), 0);
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, streams_, 0);
    EXPECT_NE(memory, MAP_FAILED);
    bytes_ = static_cast<std::uint8_t*>(memory);
    const TestRecording empty(flags);
    EXPECT_GT(::write(sites_, empty.sites_bytes().data(), empty.sites_bytes().size()), 0);
    EXPECT_GT(::write(process_, empty.process.data(), empty.process.size()), 0);
    control().version = kStreamVersion;
    control().chunk_bytes = stream::kChunkBytes;
    control().flags = flags;
    control().next_ticket = 1;
    control().stop_ticket = stream::kNeverStopped;
    control().sites = static_cast<std::uint32_t>(empty.sites.size());
    control().chunk_limit = chunk_limit;
  }
  ~LiveProgram() {
    ::munmap(bytes_, kBytes);
    ::close(streams_);
    ::close(sites_);
    ::close(process_);
  }
  LiveProgram(const LiveProgram&) = delete;
  LiveProgram& operator=(const LiveProgram&) = delete;

  stream::Control& control() { return *reinterpret_cast<stream::Control*>(bytes_); }
  void begin() { __atomic_store_n(&control().magic, stream::kControlMagic, __ATOMIC_RELEASE); }
  void end() { over_ = true; }
  std::uint64_t take_ticket() { return __atomic_fetch_add(&control().next_ticket, 1, __ATOMIC_ACQ_REL); }
  LiveRecording recording() {
    return {streams_, sites_, process_, {}, [this] { return !over_; }};
  }
  TestStream stream(std::uint32_t number) {
    return {number, (control().flags & stream::kWithValues) != 0, [this] { return new_chunk(); }};
  }

 private:
  static constexpr std::size_t kBytes = stream::kControlBytes + 256 * std::size_t{stream::kChunkBytes};

  // As the header says: a freed one, else a new one up to the limit, else wait.
  NewChunk new_chunk() {
    __atomic_fetch_add(&control().starving, 1, __ATOMIC_SEQ_CST);
    for (;;) {
      const std::lock_guard lock(mutex_);
      const std::uint32_t put = __atomic_load_n(&control().ring_put, __ATOMIC_SEQ_CST);
      std::uint32_t chunk = control().chunks;
      if (control().ring_taken != put) {
        chunk = control().ring[control().ring_taken % stream::kRingSlots];
        __atomic_store_n(&control().ring_taken, control().ring_taken + 1, __ATOMIC_SEQ_CST);
      } else if (control().chunk_limit == 0 || chunk < __atomic_load_n(&control().chunk_limit, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&control().chunks, chunk + 1, __ATOMIC_RELEASE);
      } else {
        ::syscall(SYS_futex, &control().ring_put, FUTEX_WAIT, put, nullptr, nullptr, 0);
        continue;
      }
      __atomic_fetch_sub(&control().starving, 1, __ATOMIC_SEQ_CST);
      return {bytes_ + stream::kControlBytes + std::size_t{chunk} * stream::kChunkBytes, chunk};
    }
  }

  const int streams_;
  const int sites_;
  const int process_;
  std::uint8_t* bytes_ = nullptr;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
};

Event access(std::uint32_t thread, std::uint64_t object) {
  return {object, ThreadId{thread}, SiteId{thread}, 8, Op::kWrite, MemoryOrder::kNotAtomic, 0, 0};
}

// What one thread of the program does: many accesses with a ticket now and then.
void work(LiveProgram& program, std::uint32_t thread, std::uint64_t count) {
  TestStream stream = program.stream(thread);
  SlotTable slots(4);
  stream.thread(thread);
  std::uint64_t ticket = program.take_ticket();
  stream.ticket(ticket);
  stream.publish();
  const std::uint32_t slot = slots.slot_for(stream, access(thread, 0), 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    stream.event(slot, access(thread, 0x10000000 * (i % 5) + 8 * i), 0, nullptr, {});
    if (i % 1000 == 999) {
      ticket = program.take_ticket();
      stream.ticket(ticket);
      stream.publish();
    }
  }
}

void expect_all(const WholeTrace& trace, std::uint32_t threads, std::uint64_t count) {
  std::vector<std::uint64_t> next(threads);
  for (const Event& event : trace.events) {
    ASSERT_LT(raw(event.thread), threads);
    const std::uint64_t i = next[raw(event.thread)]++;
    ASSERT_EQ(event.object, 0x10000000 * (i % 5) + 8 * i) << "thread " << raw(event.thread);
  }
  for (const std::uint64_t seen : next) {
    EXPECT_EQ(seen, count);
  }
}

void follow(std::uint32_t chunk_limit, std::uint32_t threads, std::uint64_t count) {
  LiveProgram program(chunk_limit, 0);
  std::thread runner([&] {
    program.begin();
    // The first ticket is that of stream 0.
    std::vector<std::thread> workers;
    std::atomic<bool> started = false;
    workers.emplace_back([&] {
      TestStream stream = program.stream(0);
      stream.thread(0);
      stream.ticket(program.take_ticket());
      stream.publish();
      started = true;
    });
    while (!started) {
      std::this_thread::yield();
    }
    for (std::uint32_t thread = 1; thread <= threads; ++thread) {
      workers.emplace_back([&, thread] { work(program, thread, count); });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    program.end();
  });
  auto reader = follow_recording(program.recording(), {kAllColumns});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  const Result<WholeTrace> trace = drain(**reader);
  runner.join();
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_EQ(trace->info.program, "./prog --now");
  WholeTrace shifted = *trace;
  for (Event& event : shifted.events) {
    event.thread = ThreadId{raw(event.thread) - 1};
  }
  expect_all(shifted, threads, count);
}

TEST(RecordingLive, FollowsAProgramThatIsNotHeldBack) { follow(0, 3, 100'000); }

TEST(RecordingLive, GivesChunksBackToAProgramWithALimit) { follow(8, 3, 300'000); }

// Fewer chunks than threads: the owner of the next ticket would wait for ever if the limit were not raised.
TEST(RecordingLive, RaisesALimitThatIsTooLow) { follow(1, 4, 100'000); }

TEST(RecordingLive, AProgramThatNeverBeginsIsAnError) {
  LiveProgram program(0, 0);
  program.end();
  const auto reader = follow_recording(program.recording(), {});
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.status().message().find("before it recorded anything"), std::string::npos);
}

}  // namespace
}  // namespace sooth
