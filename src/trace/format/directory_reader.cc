#include <utility>

#include "trace/format/block_file.h"
#include "trace/format/directory.h"
#include "trace/format/names_codec.h"
#include "trace/format/segment.h"
#include "trace/format/stage_file.h"

namespace sooth {
namespace {

using format::BlockHeader;
using format::BlockKind;

class DirectoryReader final : public TraceReader {
 public:
  DirectoryReader(Stage stage, ColumnSet wanted, std::unique_ptr<BlockReader> blocks)
      : stage_(std::move(stage)), wanted_(wanted), blocks_(std::move(blocks)) {}

  Result<Batch> next() override {
    if (!error_.ok()) {
      return error_;  // behind damage nothing is known
    }
    Result<Batch> batch = decode_next();
    if (!batch.ok()) {
      error_ = batch.status();
    }
    return batch;
  }

  const TraceInfo& info() const override { return stage_.info; }
  const Tables& tables() const override { return tables_; }
  std::uint64_t bytes_read() const override { return blocks_->bytes_read(); }
  std::uint64_t bytes_total() const override { return blocks_->bytes_total(); }

 private:
  // One side column of the segment being read.
  struct Column {
    BlockKind kind;
    ColumnSet bit;
    bool seen = false;        // a block of it stood in front of the events
    std::uint32_t count = 0;  // of events, as that block says
    Bytes payload;

    const Bytes* if_wanted(ColumnSet wanted) const { return seen && (wanted & bit) != 0 ? &payload : nullptr; }
  };

  Result<Batch> decode_next() {
    while (segment_.done()) {
      Result<bool> more = next_segment();
      if (!more.ok()) {
        return std::move(more).status();
      }
      if (!*more) {
        return Batch{EventId{events_}, {}, {}, {}, {}, {}};
      }
    }
    return segment_.next();
  }

  // Reads blocks up to the next events block; false at the end of the trace.
  Result<bool> next_segment() {
    for (Column& column : columns_) {
      column.seen = false;
    }
    for (;;) {
      Result<std::optional<BlockHeader>> header = blocks_->next();
      if (!header.ok()) {
        return std::move(header).status();
      }
      if (!header->has_value()) {
        SOOTH_RETURN_IF_ERROR(check_end());
        return false;
      }
      Result<bool> segment = take_block(**header);
      if (!segment.ok() || *segment) {
        return segment;
      }
    }
  }

  // True when the block completed a segment.
  Result<bool> take_block(const BlockHeader& header) {
    const auto kind = static_cast<BlockKind>(header.kind);
    if (kind == BlockKind::kNames) {
      SOOTH_RETURN_IF_ERROR(blocks_->payload(names_));
      SOOTH_RETURN_IF_ERROR(in_block(decode_names(names_, header.count, tables_)));
      return false;
    }
    if (header.first != events_) {
      return blocks_->corrupt("it belongs to another place of the trace");
    }
    if (kind == BlockKind::kEvents) {
      SOOTH_RETURN_IF_ERROR(start_segment(header));
      return true;
    }
    for (Column& column : columns_) {
      if (column.kind != kind) {
        continue;
      }
      if (std::exchange(column.seen, true)) {
        return blocks_->corrupt("it has a column that was there already");
      }
      column.count = header.count;
      if ((wanted_ & column.bit) != 0) {
        SOOTH_RETURN_IF_ERROR(blocks_->payload(column.payload));
      }
      return false;
    }
    return blocks_->corrupt("its kind is unknown; it was written by a newer version");
  }

  Status start_segment(const BlockHeader& header) {
    for (const Column& column : columns_) {
      if (column.seen && column.count != header.count) {
        return blocks_->corrupt("a column in front of it is of other events");
      }
    }
    SOOTH_RETURN_IF_ERROR(blocks_->payload(events_payload_, SegmentDecoder::kSlack));
    const SegmentDecoder::Limits limits{tables_.thread_count(), tables_.site_count(), tables_.stack_count()};
    const SegmentDecoder::Payloads payloads{&events_payload_, columns_[0].if_wanted(wanted_),
                                            columns_[1].if_wanted(wanted_), columns_[2].if_wanted(wanted_),
                                            columns_[3].if_wanted(wanted_)};
    SOOTH_RETURN_IF_ERROR(in_block(segment_.start(EventId{events_}, header.count, payloads, limits)));
    events_ += header.count;
    return {};
  }

  Status in_block(Status status) const { return status.ok() ? Status() : blocks_->corrupt(status.message()); }

  Status check_end() const {
    if (stage_.info.incomplete || (events_ == stage_.info.events && blocks_->bytes_total() == stage_.bytes)) {
      return {};
    }
    return Status::bad_input(blocks_->path() + ": the trace is damaged: it has " + std::to_string(events_) +
                             " events in " + std::to_string(blocks_->bytes_total()) + " bytes where " +
                             std::to_string(stage_.info.events) + " in " + std::to_string(stage_.bytes) +
                             " were written");
  }

  Stage stage_;
  ColumnSet wanted_;
  std::unique_ptr<BlockReader> blocks_;
  Tables tables_;
  SegmentDecoder segment_;
  std::uint64_t events_ = 0;  // up to and with the current segment
  Column columns_[4] = {{BlockKind::kValues, kValues, false, 0, {}},
                        {BlockKind::kStacks, kStacks, false, 0, {}},
                        {BlockKind::kBranches, kBranches, false, 0, {}},
                        {BlockKind::kReaches, kReaches, false, 0, {}}};
  Bytes events_payload_;
  Bytes names_;
  Status error_;  // once there is one, it stays
};

}  // namespace

Result<std::unique_ptr<TraceReader>> open_trace_directory(const std::string& path, const ReadOptions& options) {
  Result<Stage> stage = read_stage(path);
  if (!stage.ok()) {
    return std::move(stage).status();
  }
  auto blocks = BlockReader::open(path + "/" + format::kEventsFile, stage->info.incomplete);
  if (!blocks.ok()) {
    return std::move(blocks).status();
  }
  const ColumnSet wanted = options.columns & stage->info.columns;
  return std::unique_ptr<TraceReader>(std::make_unique<DirectoryReader>(std::move(*stage), wanted, std::move(*blocks)));
}

}  // namespace sooth
