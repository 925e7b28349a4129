// From one trace into another, batch by batch.
#pragma once

#include <cstddef>
#include <functional>

#include "base/status.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace sooth {

// Carries the entries of one set of tables over to another that is still empty, in order of addition: ids stay equal.
class TableCopier {
 public:
  // What was added to `from` since the last call. An error when `to` does not give equal ids.
  Status copy_new(const Tables& from, Tables& to);

 private:
  std::size_t threads_ = 0;
  std::size_t sites_ = 0;
  std::size_t stacks_ = 1;  // the empty stack is always there
  std::size_t names_ = 0;
  std::size_t types_ = 1;
  std::size_t allocations_ = 0;
};

// What becomes of a batch.
struct CopyStep {
  Batch batch;        // appended as it is, unless empty: its numbering is that of the copy
  bool stop = false;  // read no more after it
};
// Gets the batches of the reader and its tables. What it returns must last until the next call.
using CopyTransform = std::function<Result<CopyStep>(const Batch& batch, const Tables& tables)>;

// Copies all columns that `reader` decodes; `writer` must be new and have these columns. Does not finish() the writer.
Status copy_trace(TraceReader& reader, TraceWriter& writer, const CopyTransform& transform);
Status copy_trace(TraceReader& reader, TraceWriter& writer);

}  // namespace sooth
