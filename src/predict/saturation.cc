#include "predict/saturation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "predict/allowed_events.h"
#include "predict/order_graph.h"

namespace sooth {
namespace {

// Above this many clock entries the order of all needed events is not computed: 64 MB.
constexpr std::uint64_t kMaxClockEntries = 1 << 24;
// Inference may stop at any point. Most contradictions show in the first passes.
constexpr int kMaxPasses = 16;

class Saturation {
 public:
  Saturation(const TraceIndex& index, const Window& window, std::span<const EventIndex> targets,
             const SaturationOptions& options)
      : index_(index),
        window_(window),
        targets_(targets),
        rules_{options.reads, false, options.poll},
        ends_sections_(options.end_sections),
        infers_order_(options.end_sections && options.infer_order),
        need_(index, window, targets, rules_) {}

  std::optional<Bounds> run() {
    for (const EventIndex target : targets_) {
      if (!need_.add_predecessors(target)) {
        return std::nullopt;
      }
    }
    std::uint64_t size;
    do {
      size = need_.size();
      if ((ends_sections_ && !end_sections_beside_final_ones()) || !infer_order() || stopped(rules_.poll)) {
        return std::nullopt;
      }
    } while (need_.size() > size);
    const AllowedEvents allowed(index_, window_, need_, rules_);
    return Bounds{{need_.lengths().begin(), need_.lengths().end()},
                  allowed.lengths(),
                  {need_.binding().begin(), need_.binding().end()},
                  allowed.may_bind(),
                  std::move(before_),
                  std::move(settled_),
                  std::move(order_)};
  }

 private:
  // Whether the release of the section needs a target, or does not exist.
  bool is_final(SectionIndex s) {
    Answer& answer = final_[s];
    if (answer == Answer::kNotAsked) {
      const EventIndex release = index_.section(s).release;
      if (stops(rules_.poll, index_.thread_count())) {
        return false;
      }
      PrefixClosure closure(index_, window_, targets_, rules_);
      answer = release == kNoEvent || !closure.add(release) ? Answer::kYes : Answer::kNo;
    }
    return answer == Answer::kYes;
  }

  // Of each thread the sections it is in after the given prefix.
  std::vector<SectionIndex> open_sections(std::span<const std::uint32_t> lengths) const {
    std::vector<SectionIndex> open;
    for (std::uint32_t t = 0; t < lengths.size() && !stops(rules_.poll); ++t) {
      const std::vector<SectionIndex> held = index_.held_after(t, lengths[t]);
      open.insert(open.end(), held.begin(), held.end());
    }
    return open;
  }

  // False when a section must end and cannot. Sections that are closed already need no attention.
  bool end_sections_beside_final_ones() {
    const std::vector<SectionIndex> open = open_sections(need_.lengths());
    for (const SectionIndex last : open) {
      if (stops(rules_.poll, open.size())) {
        return false;
      }
      if (!is_final(last)) {
        continue;
      }
      for (const SectionIndex other : open) {
        if (other != last && exclude_each_other(index_.section(last), index_.section(other)) &&
            (is_final(other) || !need_.add(index_.section(other).release))) {
          return false;
        }
      }
    }
    return true;
  }

  bool infer_order() {
    if (!infers_order_ || size_in_window() * index_.thread_count() > kMaxClockEntries) {
      return true;
    }
    const auto graph =
        std::make_shared<OrderGraph>(index_, window_, need_.lengths(),
                                     FixedReads{.by_value = rules_.reads == ReadRule::kAdmissible,
                                                .binding = need_.binding(),
                                                .may_come = [this](EventIndex write) { return may_come(write); }},
                                     rules_.poll);
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      if (!graph->close()) {
        return false;
      }
      std::vector<SectionIndex> must_end;
      if (!graph->infer_lock_order([this](SectionIndex s) { return is_open(s) && is_final(s); }, must_end)) {
        return std::all_of(must_end.begin(), must_end.end(), [this](SectionIndex s) {
          return index_.section(s).release != kNoEvent && need_.add(index_.section(s).release);
        });
      }
      graph->infer_read_order();
      if (stopped(rules_.poll)) {
        return false;
      }
      if (!graph->missing().empty()) {
        return std::all_of(graph->missing().begin(), graph->missing().end(),
                           [this](EventIndex write) { return need(write); });
      }
      if (!graph->changed()) {
        break;
      }
    }
    note_order(*graph);
    order_ = graph;
    return true;
  }

  // The write must be seen by a read that binds, so the reads before it bind as well.
  bool need(EventIndex write) {
    const std::uint32_t behind = index_.position(write) + (is_read(index_.event(write).op) ? 1 : 0);
    return need_.add(write) && (!index_.has_branches() || need_.bind(index_.thread(write), behind));
  }

  // False only if no reordering that reaches the targets has the event.
  bool may_come(EventIndex e) {
    const std::uint32_t t = index_.thread(e);
    if (index_.position(e) >= window_.limit[t] || (refused_[t] != 0 && index_.position(e) + 1 >= refused_[t])) {
      return false;
    }
    if (index_.position(e) < accepted_[t]) {
      return true;
    }
    if (stops(rules_.poll, index_.thread_count())) {
      return true;
    }
    PrefixClosure with = need_;
    if (!with.add(e)) {
      refused_[t] = index_.position(e) + 1;
      return false;
    }
    accepted_[t] = index_.position(e) + 1;
    return true;
  }

  void note_order(const OrderGraph& graph) {
    before_ = graph.added();
    for (std::uint32_t t = 0; t < index_.thread_count() && !stopped(rules_.poll); ++t) {
      for (const EventIndex e : index_.events_of(t).first(need_.lengths()[t]).subspan(window_.floor[t])) {
        const SectionIndex s = index_.section_of(e);
        const bool enters = s != kNoSection && index_.section(s).acquire == e;
        if ((enters || is_write(index_.event(e).op)) && graph.is_settled(e)) {
          settled_[e] = true;
        }
      }
    }
  }

  std::uint64_t size_in_window() const {
    return need_.size() - std::accumulate(window_.floor.begin(), window_.floor.end(), std::uint64_t{0});
  }

  bool is_open(SectionIndex s) const {
    const EventIndex release = index_.section(s).release;
    return release == kNoEvent || !need_.contains(release);
  }

  enum class Answer : std::uint8_t { kNotAsked, kYes, kNo };

  const TraceIndex& index_;
  const Window& window_;
  const std::span<const EventIndex> targets_;
  const ClosureRules rules_;
  const bool ends_sections_, infers_order_;
  PrefixClosure need_;
  FlatMap<Answer> final_;
  FlatMap<std::uint32_t> refused_, accepted_;  // of may_come(), by thread: from the first position (+ 1) on, and up to
  FlatMap<std::vector<EventIndex>> before_;
  FlatMap<bool> settled_;
  std::shared_ptr<const OrderGraph> order_;
};

}  // namespace

std::optional<Bounds> saturate(const TraceIndex& index, const Window& window, std::span<const EventIndex> targets,
                               const SaturationOptions& options) {
  return Saturation(index, window, targets, options).run();
}

}  // namespace sooth
