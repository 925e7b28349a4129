// The one way to read a trace, whatever it is stored in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "trace/batch.h"
#include "trace/tables.h"

namespace sooth {

// What is known of a trace before its first event is read.
struct TraceInfo {
  // Total order and reads-from are what happened: serial recordings, text imports. Otherwise the order is only
  // consistent with must-order and lock order.
  bool exact = true;
  ColumnSet columns = kNoColumns;  // side columns that the trace has
  // The writer never finished (the program was killed): this is the complete prefix.
  bool incomplete = false;
  // Number of events, when known without reading them all (0 for text).
  std::uint64_t events = 0;
  std::string program;  // command line of the recorded program, or what made the trace; may be empty
  // Why the trace ends before the program did: "the disk was full". Empty when it does not, or until the end is read.
  std::string stopped = {};
  // Reads so far whose value no recorded write explains, because something that is not instrumented wrote there; their
  // values are left out. Only counted when values of an exact recording are read.
  std::uint64_t unexplained_reads = 0;
  // The mode of TREE (docs/tree.md) whose redundant accesses the recorder left out. Empty: none was used.
  std::string filtered = {};

  friend bool operator==(const TraceInfo&, const TraceInfo&) = default;
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;

  // The next batch, valid until the following call. An empty one is the end, and the end is only reached after
  // every byte was seen to be intact: a cut or damaged trace is an error, never a shorter trace.
  virtual Result<Batch> next() = 0;

  virtual const TraceInfo& info() const = 0;
  // Resolves every id of the batches handed out so far; grows with next().
  virtual const Tables& tables() const = 0;
  // Whether it has seen to it that every value it hands out is what the last writes left: nobody need check that again.
  virtual bool explains_values() const { return false; }
  // Bytes consumed and in total, for progress displays. 0 of 0 when unknown.
  virtual std::uint64_t bytes_read() const = 0;
  virtual std::uint64_t bytes_total() const = 0;
};

struct ReadOptions {
  ColumnSet columns = kNoColumns;  // side columns to decode; others cost nothing
};

// A trace directory of ours, a recording, or a file in STD text ("-" is standard input), told apart by looking.
Result<std::unique_ptr<TraceReader>> open_trace(const std::string& path, const ReadOptions& options = {});

}  // namespace sooth
