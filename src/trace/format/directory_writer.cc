#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/format/block_file.h"
#include "trace/format/directory.h"
#include "trace/format/names_codec.h"
#include "trace/format/segment.h"
#include "trace/format/stage_file.h"

namespace sooth {
namespace {

using format::BlockKind;

// Any number of branches and reaches may belong to an event, so these columns end a segment too, far below
// format::kMaxRawBytes.
constexpr std::size_t kEnoughColumnBytes = 1u << 22;

class DirectoryWriter final : public TraceWriter {
 public:
  DirectoryWriter(std::string path, TraceInfo info, std::unique_ptr<BlockWriter> blocks)
      : path_(std::move(path)), info_(std::move(info)), blocks_(std::move(blocks)), segment_(info_.columns) {
    info_.events = 0;
  }

  Tables& tables() override { return tables_; }

  Status append(const Batch& batch) override {
    if (raw(batch.first) != info_.events) {
      return Status::internal(path_ + ": a batch was appended out of order");
    }
    std::size_t branch = 0;
    std::size_t reach = 0;
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      const EventId id = batch.id(i);
      // Branches before the event belong to the segment that the event lands in.
      if (!segment_.add(batch, i)) {
        SOOTH_RETURN_IF_ERROR(flush());
        (void)segment_.add(batch, i);
      }
      for (; branch < batch.branches.size() && batch.branches[branch].before <= id; ++branch) {
        add_branch(batch.branches[branch]);
      }
      for (; reach < batch.reaches.size() && batch.reaches[reach].call <= id; ++reach) {
        add_reach(batch.reaches[reach]);
      }
      ++info_.events;
      if (segment_.branches().size() + segment_.reaches().size() > kEnoughColumnBytes) {
        SOOTH_RETURN_IF_ERROR(flush());
      }
    }
    for (; branch < batch.branches.size(); ++branch) {
      add_branch(batch.branches[branch]);
    }
    return {};
  }

  Status finish() override {
    SOOTH_RETURN_IF_ERROR(flush());
    SOOTH_RETURN_IF_ERROR(write_names());
    const std::uint64_t bytes = blocks_->bytes();
    SOOTH_RETURN_IF_ERROR(blocks_->close());
    return write_version(path_, {info_, bytes});
  }

 private:
  void add_branch(const Branch& branch) {
    if ((info_.columns & kBranches) != 0) {
      segment_.add_branch(raw(branch.before) - segment_first_, branch);
    }
  }

  void add_reach(const Reach& reach) {
    if ((info_.columns & kReaches) != 0) {
      segment_.add_reach(raw(reach.call) - segment_first_, reach);
    }
  }

  Status write_names() {
    for (;;) {
      names_.clear();
      const std::uint32_t rows = encode_names(tables_, written_, names_);
      if (rows == 0) {
        return {};
      }
      SOOTH_RETURN_IF_ERROR(blocks_->write(BlockKind::kNames, 0, rows, names_));
    }
  }

  // Columns come before their events: whoever finds an intact events block has the whole segment.
  Status flush() {
    if (segment_.empty()) {
      return {};
    }
    SOOTH_RETURN_IF_ERROR(write_names());
    const std::uint32_t count = segment_.event_count();
    const std::pair<BlockKind, const Bytes*> columns[] = {{BlockKind::kValues, &segment_.values()},
                                                          {BlockKind::kStacks, &segment_.stacks()},
                                                          {BlockKind::kBranches, &segment_.branches()},
                                                          {BlockKind::kReaches, &segment_.reaches()}};
    for (const auto& [kind, payload] : columns) {
      if (!payload->empty()) {
        SOOTH_RETURN_IF_ERROR(blocks_->write(kind, segment_first_, count, *payload));
      }
    }
    SOOTH_RETURN_IF_ERROR(blocks_->write(BlockKind::kEvents, segment_first_, count, segment_.events()));
    segment_first_ += count;
    segment_.reset();
    return {};
  }

  std::string path_;
  TraceInfo info_;
  std::unique_ptr<BlockWriter> blocks_;
  Tables tables_;
  TablesCursor written_;
  SegmentEncoder segment_;
  std::uint64_t segment_first_ = 0;
  Bytes names_;
};

}  // namespace

Result<std::unique_ptr<TraceWriter>> create_trace_directory(const std::string& path, const TraceInfo& given) {
  TraceInfo info = given;
  info.columns &= kAllColumns;  // the format has no other
  if (::mkdir(path.c_str(), 0700) != 0) {
    const std::string why = errno == EEXIST ? "already exists" : std::string("cannot create: ") + std::strerror(errno);
    return Status::bad_input(path + ": " + why);
  }
  SOOTH_RETURN_IF_ERROR(write_incomplete(path, info));
  auto blocks = BlockWriter::create(path + "/" + format::kEventsFile);
  if (!blocks.ok()) {
    return std::move(blocks).status();
  }
  return std::unique_ptr<TraceWriter>(std::make_unique<DirectoryWriter>(path, info, std::move(*blocks)));
}

}  // namespace sooth
