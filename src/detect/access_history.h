// Memory as a detector sees it: a cell of its own for every variable, and the log of who accessed it.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "detect/access_log.h"
#include "order/shadow_memory.h"
#include "trace/batch.h"

namespace sooth {

// Cell is the detector's summary of the accesses to a variable; default-constructed, there were none. Host is the
// detector; it provides
//   void touch(CellId, Cell&, const AccessView&);
//     called for every cell of an access: compares it with what the cell and log().walk() say of earlier accesses, and
//     puts it into the cell. The log is kept here.
//   AccessView record_of(const Batch&, std::size_t i);     // of a plain access, as it is to be remembered
//   void step(const Batch&, std::size_t i);                // any other event
//   LockSetId locks_of(ThreadId);                          // held now; only a hint where to look
// (either type may be AccessRecord instead, which costs a copy), and may provide
//   void before_touch(CellId, const AccessView&);          // for all cells of an access, before touch() for any
//   void prefetch(CellId);                                 // an access to the cell may come soon
//   void on_split_cell(CellId from, CellId to);            // for what else the host keeps by cell
//   void on_drop_cell(CellId);
template <typename Host, typename Cell>
class AccessHistory {
 public:
  AccessHistory(Host& host, AccessLog::Keys keys) : host_(host), log_(keys), memory_(*this) {}

  void access(const AccessView& access) {
    if constexpr (kHasBeforeTouch) {
      memory_.access(access.event.object, access.event.size, [&](CellId cell) { host_.before_touch(cell, access); });
    }
    memory_.access(access.event.object, access.event.size, [&](CellId cell) { touch(cell, access); });
  }
  void free(const AccessView& access) {
    if constexpr (kHasBeforeTouch) {
      memory_.free(access.event.object, access.event.size, [&](CellId cell) { host_.before_touch(cell, access); });
    }
    memory_.free(access.event.object, access.event.size, [&](CellId cell) { touch(cell, access); });
  }
  void allocate(const Event& e) { memory_.allocate(e.object, e.size); }

  // Feeds a batch to the host. Works on a block of events at a time: finds the cells and asks for the memory of all
  // accesses first, because waiting for memory is most of what an access costs.
  void consume(const Batch& batch) {
    for (std::size_t begin = 0; begin < batch.events.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, batch.events.size());
      prepare(batch, begin, end);
      const std::uint64_t version = memory_.version();
      for (std::size_t i = begin; i < end; ++i) {
        if (batch.events[i].op > Op::kWrite) {
          host_.step(batch, i);
          continue;
        }
        const auto access = host_.record_of(batch, i);
        const Prepared& prepared = prepared_[i - begin];
        if (prepared.found() && memory_.version() == version) [[likely]] {
          if constexpr (kHasBeforeTouch) {
            host_.before_touch(prepared.cell, access);
          }
          host_.touch(prepared.cell, cells_[raw(prepared.cell)], access);
          log_.record_at(prepared.place, prepared.cell, access);
        } else {
          access_anew(access);
        }
      }
    }
  }

  AccessLog& log() { return log_; }
  const AccessLog& log() const { return log_; }
  // Rows for Detector::stats().
  std::vector<std::pair<std::string, std::string>> stats() const {
    return {{"cells", std::to_string(memory_.cell_count())}, {"log entries", std::to_string(log_.entry_count())}};
  }

  // ShadowMemory's host.
  void on_new_cell(CellId cell) {
    if (raw(cell) >= cells_.size()) {
      cells_.resize(raw(cell) + 1);
    }
    cells_[raw(cell)] = Cell{};
    log_.add_cell(cell);
  }
  void on_split_cell(CellId from, CellId to) {
    on_new_cell(to);
    cells_[raw(to)] = cells_[raw(from)];
    log_.copy_cell(from, to);
    if constexpr (requires { host_.on_split_cell(from, to); }) {
      host_.on_split_cell(from, to);
    }
  }
  void on_drop_cell(CellId cell) {
    log_.drop_cell(cell);
    if constexpr (requires { host_.on_drop_cell(cell); }) {
      host_.on_drop_cell(cell);
    }
  }

 private:
  static constexpr std::size_t kBlock = 32;
  static constexpr bool kHasBeforeTouch = requires(Host & host, CellId cell, const AccessView& access) {
    host.before_touch(cell, access);
  };

  // Where an access of the block goes, found ahead of time.
  struct Prepared {
    AccessLog::Place place;
    CellId cell{};

    bool found() const { return place.shape != 0; }
  };

  void prepare(const Batch& batch, std::size_t begin, std::size_t end) {
    // First a list of the accesses, made without branches: where the other events are cannot be predicted.
    std::size_t count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      accesses_[count] = i;
      count += batch.events[i].op <= Op::kWrite ? 1 : 0;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const Event& e = batch.events[accesses_[k]];
      Prepared& prepared = prepared_[accesses_[k] - begin];
      prepared = {};
      if (const CellId cell = memory_.resolve(e.object, e.size); cell != kNoCell) [[likely]] {
        prepared = {log_.place_of(cell, e, log_.by_locks() ? host_.locks_of(e.thread) : kNoLocks), cell};
        __builtin_prefetch(&cells_[raw(cell)], 1);
        log_.prefetch_bucket(prepared.place);
        if constexpr (requires { host_.prefetch(cell); }) {
          host_.prefetch(cell);
        }
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      log_.prefetch_entry(prepared_[accesses_[k] - begin].place);
    }
  }

  // By value, so that consume() can keep the parts of other accesses in registers.
  [[gnu::noinline]] void access_anew(AccessView made) { access(made); }

  void touch(CellId cell, const AccessView& access) {
    host_.touch(cell, cells_[raw(cell)], access);
    log_.record(cell, access);
  }

  Host& host_;
  std::vector<Cell> cells_;
  AccessLog log_;
  ShadowMemory<AccessHistory> memory_;
  std::array<Prepared, kBlock> prepared_;     // by place in the block
  std::array<std::size_t, kBlock> accesses_;  // of the block
};

}  // namespace sooth
