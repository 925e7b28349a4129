// Encodes what a writer added to its tables since the last block, and adds it to a reader's. FORMAT.md, "Names".
#pragma once

#include "base/status.h"
#include "trace/byte_io.h"
#include "trace/tables.h"

namespace sooth {

// How far the tables have been written.
struct TablesCursor {
  std::size_t threads = 0;
  std::size_t sites = 0;
  std::size_t stacks = 1;  // the empty stack is never written
  std::size_t names = 0;
};

// Appends rows to `out` until everything is written or a block is full; returns their number, 0 when nothing is new.
std::uint32_t encode_names(const Tables& tables, TablesCursor& cursor, Bytes& out);
// The error is a sentence without the name of the file.
Status decode_names(const Bytes& payload, std::uint32_t rows, Tables& tables);

}  // namespace sooth
