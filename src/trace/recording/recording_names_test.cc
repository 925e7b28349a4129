// What a recording's threads, places and variables are called.
#include <gtest/gtest.h>

#include "trace/recording/process_file.h"
#include "trace/recording/recording_testing.h"
#include "trace/recording/symbol_file.h"
#include "trace/tools/copy.h"

namespace sooth {
namespace {

// Main calls through row 1 and writes at row 0, twice at different program counters of one line; a named thread.
TestRecording recording_of_main() {
  TestRecording recording;
  TestStream main = recording.stream(0);
  SlotTable slots(8);
  main.thread(0);
  main.ticket(1);
  main.stack(0, {1});
  for (const std::uint32_t row : {0u, 2u, 3u}) {
    const Event write{0x601010, ThreadId{0}, SiteId{row}, 4, Op::kWrite, MemoryOrder::kNotAtomic, 0, 0};
    main.event(slots.slot_for(main, write, 0), write, 0, nullptr, {});
  }
  main.thread(3);
  main.name(ObjectKind::kThread, 3, "worker");
  recording.control.next_ticket = 2;
  return recording;
}

RecordingSymbols symbols_of_main() {
  RecordingSymbols symbols;
  const SiteFrame inner{"a.cc", "add(int)", 3, 7};
  const SiteFrame outer{"b.cc", "main", 12, 0};
  symbols.sites = {{"/bin/prog", 0x100, {inner, outer}},
                   {"/bin/prog", 0x101, {{"c.cc", "start()", 1, 2}}},
                   {"/bin/prog", 0x102, {inner, outer}}};
  symbols.globals = {{0x601000, 0x601020, "table", "b.cc", 4}};
  return symbols;
}

TEST(RecordingNames, SymbolsNamePlacesInlinedCallersAndVariables) {
  const TemporaryDirectory directory;
  recording_of_main().write(directory / "r");
  ASSERT_TRUE(write_symbol_file(directory / "r/symbols", symbols_of_main(), recording_of_main().mark()).ok());
  const Result<WholeTrace> trace = read_recording(directory / "r");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  ASSERT_EQ(trace->events.size(), 3u);
  EXPECT_EQ(trace->events[0].site, trace->events[1].site) << "two program counters of one place";
  EXPECT_EQ(trace->tables.site(trace->events[0].site).label, "a.cc:3:7");
  EXPECT_EQ(trace->tables.site(trace->events[2].site).label, "prog+0x103") << "a row behind the symbols";
  std::vector<std::string> calls;
  for (const SiteId call : trace->tables.frames(trace->stacks[0])) {
    calls.push_back(trace->tables.site(call).label);
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"b.cc:12", "c.cc:1:2"}));
  EXPECT_EQ(trace->tables.describe(ObjectKind::kMemory, 0x601010), "table+16");
  EXPECT_EQ(trace->tables.describe(ObjectKind::kMemory, 0x601000), "table");
  EXPECT_EQ(trace->tables.describe(ObjectKind::kMemory, 0x601020), "0x601020");
  EXPECT_EQ(trace->tables.threads(), (std::vector<std::string>{"main", "T1", "T2", "T3 (worker)"}));
}

TEST(RecordingNames, TheHeadersThatPassALockOnAreNotItsPlace) {
  const TemporaryDirectory directory;
  recording_of_main().write(directory / "r");
  const SiteFrame glue{"/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", "__gthread_mutex_lock", 749, 41};
  const SiteFrame guard{"/usr/include/c++/12/bits/std_mutex.h", "lock_guard", 229, 23};
  const SiteFrame vector{"/usr/include/c++/12/bits/stl_vector.h", "operator[]", 1046, 9};
  const SiteFrame user{"a.cc", "deposit()", 11, 3};
  RecordingSymbols symbols;
  symbols.sites = {{"/bin/prog", 0x100, {glue, guard, user}},
                   {"/bin/prog", 0x101, {{"c.cc", "start()", 1, 2}}},
                   {"/bin/prog", 0x102, {vector, user}},
                   {"/bin/prog", 0x103, {glue}}};
  ASSERT_TRUE(write_symbol_file(directory / "r/symbols", symbols, recording_of_main().mark()).ok());
  const Result<WholeTrace> trace = read_recording(directory / "r");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_EQ(trace->tables.site(trace->events[0].site).label, "a.cc:11:3");
  EXPECT_EQ(trace->tables.frames(trace->stacks[0]).size(), 1u) << "the caller alone";
  EXPECT_EQ(trace->tables.site(trace->events[1].site).line, 1046u)
      << "other headers stay: they access memory themselves";
  EXPECT_EQ(trace->tables.site(trace->events[2].site).line, 749u) << "not inlined: there is no other place";
}

TEST(RecordingNames, AConvertedRecordingKeepsThem) {
  const TemporaryDirectory directory;
  recording_of_main().write(directory / "r");
  ASSERT_TRUE(write_symbol_file(directory / "r/symbols", symbols_of_main(), recording_of_main().mark()).ok());
  auto reader = open_trace(directory / "r", {kAllColumns});
  ASSERT_TRUE(reader.ok());
  auto writer = create_trace_directory(directory / "t", (*reader)->info());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(copy_trace(**reader, **writer).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  const Result<WholeTrace> copy = read_directory(directory / "t");
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  EXPECT_EQ(copy->tables.describe(ObjectKind::kMemory, 0x601010), "table+16");
  EXPECT_EQ(copy->tables.threads().back(), "T3 (worker)");
  EXPECT_EQ(copy->tables.names(), (*reader)->tables().names());
}

TEST(RecordingNames, SymbolsOfAnotherRecordingAreRefused) {
  const TemporaryDirectory directory;
  recording_of_main().write(directory / "r");
  // The same program, which was loaded to another address.
  TestRecording other = recording_of_main();
  other.sites.front().pc += 0x1000;
  ASSERT_TRUE(write_symbol_file(directory / "r/symbols", symbols_of_main(), other.mark()).ok());
  const Result<WholeTrace> trace = read_recording(directory / "r");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().code(), ExitCode::kBadInput);
  EXPECT_NE(trace.status().message().find("symbols of another recording"), std::string::npos)
      << trace.status().message();
  other = recording_of_main();
  other.process += "\n";
  EXPECT_NE(other.mark(), recording_of_main().mark());
}

TEST(SymbolFile, OldOnesWithoutAMarkAreRefusedByName) {
  const TemporaryDirectory directory;
  fill_file(directory / "symbols", "SOTHSYM1" + std::string(20, 'x'));
  const Result<RecordingSymbols> read = read_symbol_file(directory / "symbols", 7);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("an earlier version of sooth"), std::string::npos) << read.status().message();
}

TEST(SymbolFile, ReadsWhatWasWritten) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_symbol_file(directory / "symbols", symbols_of_main(), 7).ok());
  const Result<RecordingSymbols> read = read_symbol_file(directory / "symbols", 7);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, symbols_of_main());
  const std::string bytes = file_content(directory / "symbols");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    fill_file(directory / "symbols", bytes.substr(0, size));
    EXPECT_FALSE(read_symbol_file(directory / "symbols", 7).ok()) << size;
  }
}

TEST(ProcessFile, FindsModulesAsOfTheirGeneration) {
  const Result<RecordedProcess> process = parse_process(
      "command ./a \\ b\nmodule 0 1000 1000 2000 - /lib/a b.so\nunload 1 1000 /lib/a b.so\n"
      "module 1 1000 1000 3000 ab /lib/c.so\nmodule 1 5",
      "process");
  ASSERT_TRUE(process.ok()) << process.status().message();
  EXPECT_EQ(process->command, "./a \\ b");
  ASSERT_EQ(process->modules.size(), 2u);
  EXPECT_EQ(process->find(0x1800, 0)->path, "/lib/a b.so");
  EXPECT_EQ(process->find(0x1800, 1)->path, "/lib/c.so");
  EXPECT_EQ(process->find(0x2800, 0), nullptr);
  for (const char* line : {"module 0 1000 2000 1000 - /x\n", "module x 1 1 2 - /x\n", "unload 1 99 /nowhere\n", "\n",
                           "module 0 1 1 2 zz /x\n"}) {
    EXPECT_FALSE(parse_process(line, "process").ok()) << line;
  }
}

}  // namespace
}  // namespace sooth
