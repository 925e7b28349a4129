// Encodes what a writer added to its tables since the last block, and adds it to a reader's. FORMAT.md, "Names".
#pragma once

#include "base/status.h"
#include "trace/format/byte_io.h"
#include "trace/tables.h"

namespace sooth {

// How far the tables have been written.
struct TablesCursor {
  std::size_t threads = 0;
  std::size_t sites = 0;
  std::size_t stacks = 1;  // the empty stack is never written
  std::size_t names = 0;
  std::size_t types = 1;  // kNoType is never written
  std::size_t allocations = 0;
  std::size_t layouts = 0;
  std::size_t frames = 0;
  std::size_t ends = 0;

  // Behind all that is there now.
  static TablesCursor end_of(const Tables& tables) {
    const VariableTable& variables = tables.variables();
    return {tables.thread_count(),      tables.sites().size(),     tables.stacks().size(),
            tables.names().size(),      variables.types().size(),  variables.allocations().size(),
            variables.layouts().size(), variables.frames().size(), variables.ends().size()};
  }
  friend bool operator==(const TablesCursor&, const TablesCursor&) = default;
};

// Appends rows to `out` until everything is written or a block is full; returns their number, 0 when nothing is new.
std::uint32_t encode_names(const Tables& tables, TablesCursor& cursor, Bytes& out);
// The error is a sentence without the name of the file.
Status decode_names(const Bytes& payload, std::uint32_t rows, Tables& tables);

}  // namespace sooth
