#include "trace/tools/hide_sync.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "trace/check/validator.h"
#include "trace/memory_trace.h"
#include "trace/text/std_testing.h"
#include "trace/tools/copy.h"
#include "trace/tools/generate.h"

namespace sooth {
namespace {

MemoryTrace from_text(std::string_view text) {
  WholeTrace whole = must_read(text);
  MemoryTrace trace;
  trace.info = whole.info;
  trace.info.columns = kStacks;
  trace.tables = std::move(whole.tables);
  trace.events = std::move(whole.events);
  trace.stacks = std::move(whole.stacks);
  return trace;
}

// In batches of `batch_events`.
MemoryTrace hide(const MemoryTrace& trace, std::size_t batch_events) {
  SyncHider hider;
  MemoryTraceReader first(trace, batch_events);
  for (Result<Batch> batch = first.next(); batch.ok() && !batch->empty(); batch = first.next()) {
    hider.scan(*batch, trace.tables);
  }
  hider.finish_scan();
  MemoryTraceReader second(trace, batch_events);
  TraceInfo info = trace.info;
  info.columns |= kReaches;
  MemoryTraceWriter writer(info);
  const Status status = copy_trace(second, writer, [&](const Batch& batch, const Tables&) -> Result<CopyStep> {
    return CopyStep{hider.rewrite(batch), false};
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(writer.finish().ok());
  return writer.trace();
}

// "T0 callbegin 7 =0x10:4,0x20:1" for each event: its thread, operation, and site or reach.
std::string show(const MemoryTrace& trace) {
  std::ostringstream out;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& e = trace.events[i];
    out << trace.tables.thread_name(e.thread) << ' ' << op_name(e.op) << ' ' << trace.tables.site(e.site).label;
    for (const Reach& reach : trace.reaches) {
      if (raw(reach.call) == i) {
        out << " 0x" << std::hex << reach.begin << std::dec << ':' << reach.length;
      }
    }
    out << '\n';
  }
  return out.str();
}

Status validate(const MemoryTrace& trace) {
  TraceValidator validator;
  return validator.consume(trace.batch(), trace.tables);
}

TEST(SyncHider, PutsCallsAroundFunctionsThatSynchronise) {
  // f, called at 1, locks; g, called at 2, does not; main waits for a signal itself. The block around 0x108 has 64
  // bytes.
  const MemoryTrace trace = from_text(
      "T0|alloc(0x100:64)|9\n"
      "T0|enter(f)|1\nT0|acq(0x40)|3\nT0|w(0x108:4)|4\nT0|w(0x10:4)|5\nT0|rel(0x40)|6\nT0|exit(f)|6\n"
      "T0|enter(g)|2\nT0|r(0x10:4)|7\nT0|exit(g)|7\n"
      "T0|wait(0x50)|8\nT0|r(0x10:4)|9\n");
  for (const std::size_t batch_events : {1, 3, 100}) {
    const MemoryTrace hidden = hide(trace, batch_events);
    EXPECT_EQ(show(hidden),
              "T0 alloc 9\n"
              "T0 enter 1\nT0 call begin 1 0x10:4 0x40:1 0x100:64\nT0 write 4\nT0 write 5\nT0 exit 6\nT0 call end 1\n"
              "T0 enter 2\nT0 read 7\nT0 exit 7\n"
              "T0 call begin 8 0x50:1\nT0 call end 8\nT0 read 9\n");
    EXPECT_TRUE(validate(hidden).ok()) << validate(hidden).message();
  }
}

TEST(SyncHider, NestsCallsAndLeavesThoseOpenInWhichAThreadEnds) {
  const MemoryTrace trace =
      from_text("T0|enter(f)|1\nT0|post(0x40)|3\nT0|enter(g)|2\nT0|w(0x20:4)|5\nT0|post(0x44)|6\nT0|end()|7\n");
  EXPECT_EQ(show(hide(trace, 2)),
            "T0 enter 1\nT0 call begin 1 0x20:4 0x40:1 0x44:1\nT0 enter 2\nT0 call begin 2 0x20:4 0x44:1\nT0 write "
            "5\nT0 end 7\n");
}

TEST(SyncHider, KeepsLongTracesWellFormed) {
  GenerateOptions options;
  options.events = 20'000;
  MemoryTraceWriter writer;
  ASSERT_TRUE(generate_trace(options, writer).ok());
  const MemoryTrace hidden = hide(writer.trace(), 1'000);
  EXPECT_TRUE(validate(hidden).ok()) << validate(hidden).message();
  for (const Event& e : hidden.events) {
    EXPECT_NE(object_kind(e), ObjectKind::kLock);
  }
  EXPECT_FALSE(hidden.reaches.empty());
}

}  // namespace
}  // namespace sooth
