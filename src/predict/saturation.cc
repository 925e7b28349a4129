#include "predict/saturation.h"

#include <algorithm>
#include <numeric>
#include <utility>

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
      : index_(index), window_(window), targets_(targets), rules_{options.reads, false},
        infers_order_(options.infer_order), need_(index, window, targets, rules_) {}

  std::optional<Bounds> run() {
    for (const EventIndex target : targets_) {
      if (!need_.add_predecessors(target)) {
        return std::nullopt;
      }
    }
    std::uint64_t size;
    do {
      size = need_.size();
      if (!end_sections_beside_final_ones() || !infer_order()) {
        return std::nullopt;
      }
    } while (need_.size() > size);
    return Bounds{{need_.lengths().begin(), need_.lengths().end()}, allowed(), std::move(before_),
                  {need_.binding().begin(), need_.binding().end()}, std::move(settled_)};
  }

 private:
  // Whether the release of the section needs a target, or does not exist.
  bool is_final(SectionIndex s) {
    Answer& answer = final_[s];
    if (answer == Answer::kNotAsked) {
      const EventIndex release = index_.section(s).release;
      PrefixClosure closure(index_, window_, targets_, rules_);
      answer = release == kNoEvent || !closure.add(release) ? Answer::kYes : Answer::kNo;
    }
    return answer == Answer::kYes;
  }

  // Of each thread the sections it is in after the given prefix.
  std::vector<SectionIndex> open_sections(std::span<const std::uint32_t> lengths) const {
    std::vector<SectionIndex> open;
    for (std::uint32_t t = 0; t < lengths.size(); ++t) {
      const std::vector<SectionIndex> held = index_.held_after(t, lengths[t]);
      open.insert(open.end(), held.begin(), held.end());
    }
    return open;
  }

  // False when a section must end and cannot. Sections that are closed already need no attention.
  bool end_sections_beside_final_ones() {
    const std::vector<SectionIndex> open = open_sections(need_.lengths());
    for (const SectionIndex last : open) {
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
    OrderGraph graph(index_, window_, need_.lengths(), {.by_value = rules_.reads == ReadRule::kAdmissible, .binding = need_.binding()});
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      if (!graph.close()) {
        return false;
      }
      std::vector<SectionIndex> must_end;
      if (!graph.infer_lock_order([this](SectionIndex s) { return is_open(s) && is_final(s); }, must_end)) {
        return std::all_of(must_end.begin(), must_end.end(), [this](SectionIndex s) {
          return index_.section(s).release != kNoEvent && need_.add(index_.section(s).release);
        });
      }
      graph.infer_read_order();
      if (!graph.changed()) {
        break;
      }
    }
    note_order(graph);
    return true;
  }

  void note_order(const OrderGraph& graph) {
    before_ = graph.added();
    for (std::uint32_t t = 0; t < index_.thread_count(); ++t) {
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

  // Adds the ends of all sections that somebody may have to wait for, and what they need.
  std::vector<std::uint32_t> allowed() {
    PrefixClosure set = need_;
    std::uint64_t size;
    do {
      size = set.size();
      const FlatMap<Users> users = users_of_locks(set.lengths());
      for (const SectionIndex s : open_sections(set.lengths())) {
        const LockSection& section = index_.section(s);
        const Users& of_lock = *users.find(section.lock);
        if (!set.contains(section.acquire) || !(section.shared ? of_lock.exclusive : of_lock.several) || is_final(s)) {
          continue;
        }
        set.add(section.release);  // succeeds: its closure has no target, and the set has none
      }
    } while (set.size() > size);
    return {set.lengths().begin(), set.lengths().end()};
  }

  struct Users {
    std::uint32_t first_thread = 0;
    bool any = false;
    bool several = false;    // threads
    bool exclusive = false;  // in exclusive mode, by whomever
  };
  FlatMap<Users> users_of_locks(std::span<const std::uint32_t> lengths) const {
    FlatMap<Users> users;
    for (std::uint32_t t = 0; t < lengths.size(); ++t) {
      const auto note = [&](const LockSection& section) {
        Users& of_lock = users[section.lock];
        of_lock.several = of_lock.several || (of_lock.any && of_lock.first_thread != t);
        of_lock.exclusive = of_lock.exclusive || !section.shared;
        of_lock.first_thread = of_lock.any ? of_lock.first_thread : t;
        of_lock.any = true;
      };
      for (const SectionIndex s : index_.held_after(t, window_.floor[t])) {
        note(index_.section(s));
      }
      const std::span<const SectionIndex> all = index_.sections_of(t);
      auto s = std::partition_point(all.begin(), all.end(), [&](SectionIndex past) {
        return index_.position(index_.section(past).acquire) < window_.floor[t];
      });
      for (; s != all.end() && index_.position(index_.section(*s).acquire) < lengths[t]; ++s) {
        note(index_.section(*s));
      }
    }
    return users;
  }

  enum class Answer : std::uint8_t { kNotAsked, kYes, kNo };

  const TraceIndex& index_;
  const Window& window_;
  const std::span<const EventIndex> targets_;
  const ClosureRules rules_;
  const bool infers_order_;
  PrefixClosure need_;
  FlatMap<Answer> final_;
  FlatMap<std::vector<EventIndex>> before_;
  FlatMap<bool> settled_;
};

}  // namespace

std::optional<Bounds> saturate(const TraceIndex& index, const Window& window, std::span<const EventIndex> targets,
                               const SaturationOptions& options) {
  return Saturation(index, window, targets, options).run();
}

}  // namespace sooth
