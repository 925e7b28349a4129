// Memory as a detector sees it: a cell of its own for every variable, and the log of who accessed it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "detect/access_log.h"
#include "order/shadow_memory.h"
#include "trace/batch.h"

namespace sooth {

// Cell is the detector's summary of the accesses to a variable; default-constructed, there were none. Host is the
// detector; it provides
//   void touch(CellId, Cell&, const AccessRecord&);
// which is called for every cell of an access, compares it with what the cell and log().walk() say of earlier accesses,
// and records it in both. It is also called for the first cell in freed memory, with the free; nothing is earlier then.
template <typename Host, typename Cell>
class AccessHistory {
 public:
  AccessHistory(Host& host, AccessLog::Keys keys) : host_(host), log_(keys), memory_(*this) {}

  void access(const AccessRecord& access) {
    memory_.access(access.event.object, access.event.size, [&](CellId cell) { host_.touch(cell, cells_[raw(cell)], access); });
  }
  void free(const AccessRecord& access) {
    memory_.free(access.event.object, access.event.size, access, [&](CellId cell) { host_.touch(cell, cells_[raw(cell)], access); });
  }
  void allocate(const Event& e) { memory_.allocate(e.object, e.size); }

  // Asks for the memory that accesses a few events behind event `i` will touch. locks_of(thread) guesses their locks.
  template <typename LocksOf>
  void prefetch_ahead(const Batch& batch, std::size_t i, LocksOf&& locks_of) {
    if (i + 2 * kAhead >= batch.events.size()) {
      return;
    }
    if (const Event& far = batch.events[i + 2 * kAhead]; far.op <= Op::kWrite) {
      if (const auto cell = memory_.peek(far.object)) {
        __builtin_prefetch(&cells_[raw(*cell)], 1);
        log_.prefetch(*cell, far, locks_of(far.thread));
      }
    }
    if (const Event& near = batch.events[i + kAhead]; near.op <= Op::kWrite) {
      if (const auto cell = memory_.peek(near.object)) {
        log_.prefetch_entry(*cell, near, locks_of(near.thread));
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
  }
  void on_drop_cell(CellId cell) { log_.drop_cell(cell); }
  void on_freed_cell(CellId cell, const AccessRecord& free) { host_.touch(cell, cells_[raw(cell)], free); }

 private:
  static constexpr std::size_t kAhead = 8;  // events between asking for memory and using it

  Host& host_;
  std::vector<Cell> cells_;
  AccessLog log_;
  ShadowMemory<AccessHistory, AccessRecord> memory_;
};

}  // namespace sooth
