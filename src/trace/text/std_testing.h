// For tests of the text format: whole traces in memory.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "trace/text/std_text.h"

namespace sooth {

struct WholeTrace {
  TraceInfo info;
  Tables tables;
  std::vector<Event> events;
  std::vector<Value> values;    // empty or parallel to events
  std::vector<StackId> stacks;  // empty or parallel to events
  std::vector<Branch> branches;
  std::vector<Reach> reaches;
};

// Drains the reader, checking what reader.h and batch.h promise of batches.
inline Result<WholeTrace> drain(TraceReader& reader) {
  WholeTrace trace;
  while (true) {
    const auto batch = reader.next();
    if (!batch.ok()) {
      const auto again = reader.next();
      EXPECT_FALSE(again.ok()) << "an error must not go away";
      return batch.status();
    }
    if (batch->empty()) {
      break;
    }
    EXPECT_EQ(raw(batch->first), trace.events.size());
    trace.events.insert(trace.events.end(), batch->events.begin(), batch->events.end());
    if (!batch->values.empty()) {
      EXPECT_EQ(batch->values.size(), batch->events.size());
      trace.values.resize(raw(batch->first));
      trace.values.insert(trace.values.end(), batch->values.begin(), batch->values.end());
    }
    if (!batch->stacks.empty()) {
      EXPECT_EQ(batch->stacks.size(), batch->events.size());
      trace.stacks.resize(raw(batch->first));
      trace.stacks.insert(trace.stacks.end(), batch->stacks.begin(), batch->stacks.end());
    }
    trace.branches.insert(trace.branches.end(), batch->branches.begin(), batch->branches.end());
    trace.reaches.insert(trace.reaches.end(), batch->reaches.begin(), batch->reaches.end());
  }
  EXPECT_TRUE(std::is_sorted(trace.branches.begin(), trace.branches.end(),
                             [](const Branch& a, const Branch& b) { return a.before < b.before; }));
  trace.info = reader.info();
  trace.tables = reader.tables();
  return trace;
}

inline Result<WholeTrace> read_text(std::string_view text, ColumnSet columns = kAllColumns) {
  auto reader = read_std_text(text, "t.std", {columns});
  return reader.ok() ? drain(**reader) : Result<WholeTrace>(reader.status());
}

// The trace of a text that must be right.
inline WholeTrace must_read(std::string_view text, ColumnSet columns = kAllColumns) {
  auto trace = read_text(text, columns);
  EXPECT_TRUE(trace.ok()) << trace.status().message() << "\n" << text;
  return trace.ok() ? std::move(*trace) : WholeTrace{};
}

// A path that nothing exists at, removed in the end.
class TemporaryPath {
 public:
  TemporaryPath() {
    static int count = 0;
    path_ = ::testing::TempDir() + "sooth_std_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + ".std";
    std::remove(path_.c_str());
  }
  ~TemporaryPath() { std::remove(path_.c_str()); }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  const std::string& path() const { return path_; }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void fill(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }

 private:
  std::string path_;
};

// The whole trace as one batch.
inline Batch as_batch(const WholeTrace& trace) {
  Batch batch;
  batch.events = trace.events;
  batch.values = trace.values;
  batch.branches = trace.branches;
  batch.reaches = trace.reaches;
  return batch;
}

// The text of the trace, or the writer's error.
inline Result<std::string> write_text(const WholeTrace& trace) {
  const TemporaryPath file;
  auto writer = create_std_trace(file.path(), trace.info);
  if (!writer.ok()) {
    return writer.status();
  }
  (*writer)->tables() = trace.tables;
  if (const Status status = (*writer)->append(as_batch(trace)); !status.ok()) {
    return status;
  }
  if (const Status status = (*writer)->finish(); !status.ok()) {
    return status;
  }
  return file.content();
}

}  // namespace sooth
