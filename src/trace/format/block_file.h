// A file of checksummed, compressed blocks: the layer below segments and names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "trace/format/byte_io.h"
#include "trace/format/format.h"

namespace sooth {

class BlockWriter {
 public:
  // The file must not exist.
  static Result<std::unique_ptr<BlockWriter>> create(const std::string& path);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // One block, compressed when that makes it smaller.
  Status write(format::BlockKind kind, std::uint64_t first, std::uint32_t count, const Bytes& payload);
  Status close();
  std::uint64_t bytes() const { return bytes_; }

 private:
  BlockWriter(std::string path, int fd);

  std::string path_;
  int fd_;
  std::uint64_t bytes_ = 0;
  std::uint16_t sequence_ = 0;  // of the next block
  struct Compressor;
  std::unique_ptr<Compressor> compressor_;
  Bytes out_;  // header and stored payload of the block being written
};

class BlockReader {
 public:
  // `incomplete`: the writer may have died in the middle of its last block, which then ends the file.
  static Result<std::unique_ptr<BlockReader>> open(const std::string& path, bool incomplete);
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  // The next header with its payload still stored, checksum verified; nullopt at the end of the file.
  Result<std::optional<format::BlockHeader>> next();
  // The payload of the block that next() returned, decompressed into `out` with `slack` zero bytes behind it.
  Status payload(Bytes& out, std::size_t slack = 0);

  std::uint64_t bytes_read() const { return offset_; }
  std::uint64_t bytes_total() const { return size_; }
  const std::string& path() const { return path_; }
  // An error about the block that next() returned last.
  Status corrupt(const std::string& what) const;

 private:
  BlockReader(std::string path, int fd, std::uint64_t size, bool incomplete);
  // Whether the header is one that a writer could have written next.
  Status check_header() const;
  // Reads up to `size` bytes at offset_ into `out`; fewer only at the end of the file.
  Result<std::size_t> read_at_offset(void* out, std::size_t size);

  std::string path_;
  int fd_;
  std::uint64_t size_;
  bool incomplete_;
  std::uint64_t offset_ = 0;        // behind the current block
  std::uint64_t block_offset_ = 0;  // of the current block, for errors
  std::uint16_t sequence_ = 0;      // that the next block must have
  format::BlockHeader header_{};
  Bytes stored_;
  struct Decompressor;
  std::unique_ptr<Decompressor> decompressor_;
};

}  // namespace sooth
