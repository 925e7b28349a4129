// What a batch consists of, found out once for all who only want to know of few of its events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/batch.h"

namespace sooth {

// Most events by far are plain accesses, and most come behind one of the same thread. Who is about the others, or about
// threads, needs not look at each event. Positions are those of the batch that was read last, which must live as long.
class BatchOutline {
 public:
  // Consecutive events of one thread: [first, end).
  struct Run {
    ThreadId thread{};
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  BatchOutline() = default;
  explicit BatchOutline(const Batch& batch) { read(batch); }

  void read(const Batch& batch) {
    const std::size_t size = batch.events.size();
    const Event* const events = batch.events.data();
    others_.resize(std::max(others_.size(), size));
    begins_.resize(std::max(begins_.size(), size));
    std::size_t others = 0;
    std::size_t runs = 0;
    std::uint64_t writes = 0;
    std::uint64_t thread = ~std::uint64_t{0};
    for (std::size_t begin = 0; begin < size; begin += kStretch) {
      const std::size_t end = std::min(begin + kStretch, size);
      // Often there is nothing else in a stretch.
      unsigned ops = 0;
      unsigned sum = 0;
      std::uint64_t changes = 0;
      for (std::size_t i = begin; i < end; ++i) {
        ops |= raw(events[i].op);
        sum += raw(events[i].op);
        changes |= raw(events[i].thread) ^ thread;
      }
      if ((ops & ~unsigned{raw(Op::kWrite)}) == 0 && changes == 0) [[likely]] {
        writes += sum;
        continue;
      }
      // Without branches: where an event is another one, or of another thread, cannot be predicted.
      for (std::size_t i = begin; i < end; ++i) {
        const Event& e = events[i];
        others_[others] = static_cast<std::uint32_t>(i);
        others += e.op > Op::kWrite ? 1 : 0;
        begins_[runs] = static_cast<std::uint32_t>(i);
        runs += raw(e.thread) != thread ? 1 : 0;
        thread = raw(e.thread);
        writes += e.op == Op::kWrite ? 1 : 0;
      }
    }
    other_count_ = others;
    writes_ = writes;
    reads_ = size - others - writes;
    runs_.clear();
    for (std::size_t r = 0; r < runs; ++r) {
      const std::size_t end = r + 1 < runs ? begins_[r + 1] : size;
      runs_.push_back({events[begins_[r]].thread, begins_[r], static_cast<std::uint32_t>(end)});
    }
  }

  // Positions of the events that are not plain reads or writes, ascending.
  std::span<const std::uint32_t> others() const { return std::span(others_).first(other_count_); }
  std::span<const Run> runs() const { return runs_; }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }

  // Calls visit(position), ascending, for the others, and for all events where wants_all() is true before them.
  template <typename WantsAll, typename Visit>
  void visit(const Batch& batch, WantsAll&& wants_all, Visit&& visit) const {
    std::size_t other = 0;
    for (std::size_t at = 0; at < batch.events.size(); ++at) {
      if (!wants_all()) {
        while (other < other_count_ && others_[other] < at) {
          ++other;
        }
        if (other == other_count_) {
          return;
        }
        at = others_[other];
      }
      visit(at);
    }
  }

 private:
  static constexpr std::size_t kStretch = 16;

  std::vector<std::uint32_t> others_;
  std::vector<std::uint32_t> begins_;  // of runs
  std::vector<Run> runs_;
  std::size_t other_count_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace sooth
