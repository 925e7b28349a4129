#include <utility>

#include "trace/block_file.h"
#include "trace/directory.h"
#include "trace/names_codec.h"
#include "trace/segment.h"
#include "trace/stage_file.h"

namespace sooth {
namespace {

using format::BlockHeader;
using format::BlockKind;

class DirectoryReader final : public TraceReader {
 public:
  DirectoryReader(Stage stage, ColumnSet wanted, std::unique_ptr<BlockReader> blocks)
      : stage_(std::move(stage)), wanted_(wanted), blocks_(std::move(blocks)) {}

  Result<Batch> next() override {
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

  const TraceInfo& info() const override { return stage_.info; }
  const Tables& tables() const override { return tables_; }
  std::uint64_t bytes_read() const override { return blocks_->bytes_read(); }
  std::uint64_t bytes_total() const override { return blocks_->bytes_total(); }

 private:
  // One side column of the segment being read.
  struct Column {
    BlockKind kind;
    ColumnSet bit;
    bool present = false;
    Bytes payload;

    const Bytes* if_present() const { return present ? &payload : nullptr; }
  };

  // Reads blocks up to the next events block; false at the end of the trace.
  Result<bool> next_segment() {
    for (Column& column : columns_) {
      column.present = false;
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
      if ((wanted_ & column.bit) != 0) {
        SOOTH_RETURN_IF_ERROR(blocks_->payload(column.payload));
        column.present = true;
      }
      return false;
    }
    return blocks_->corrupt("its kind is unknown; it was written by a newer version");
  }

  Status start_segment(const BlockHeader& header) {
    SOOTH_RETURN_IF_ERROR(blocks_->payload(events_payload_, SegmentDecoder::kSlack));
    const SegmentDecoder::Limits limits{tables_.thread_count(), tables_.site_count(), tables_.stack_count()};
    const SegmentDecoder::Payloads payloads{&events_payload_, columns_[0].if_present(), columns_[1].if_present(),
                                            columns_[2].if_present(), columns_[3].if_present()};
    SOOTH_RETURN_IF_ERROR(in_block(segment_.start(EventId{events_}, header.count, payloads, limits)));
    events_ += header.count;
    return {};
  }

  Status in_block(Status status) const { return status.ok() ? Status() : blocks_->corrupt(status.message()); }

  Status check_end() const {
    if (stage_.info.incomplete || (events_ == stage_.info.events && blocks_->bytes_total() == stage_.bytes)) {
      return {};
    }
    return Status::bad_input(blocks_->path() + ": the trace is damaged: it has " + std::to_string(events_) + " events in " +
                             std::to_string(blocks_->bytes_total()) + " bytes where " + std::to_string(stage_.info.events) +
                             " in " + std::to_string(stage_.bytes) + " were written");
  }

  Stage stage_;
  ColumnSet wanted_;
  std::unique_ptr<BlockReader> blocks_;
  Tables tables_;
  SegmentDecoder segment_;
  std::uint64_t events_ = 0;  // up to and with the current segment
  Column columns_[4] = {{BlockKind::kValues, kValues, false, {}},
                        {BlockKind::kStacks, kStacks, false, {}},
                        {BlockKind::kBranches, kBranches, false, {}},
                        {BlockKind::kReaches, kReaches, false, {}}};
  Bytes events_payload_;
  Bytes names_;
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
