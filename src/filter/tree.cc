#include "filter/tree.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "filter/location_table.h"
#include "filter/memory_stamps.h"
#include "filter/site_yield.h"
#include "filter/tree_context.h"

namespace sooth {
namespace {

constexpr TreeModeInfo kModes[] = {
    {.name = "tree",
     .summary = "per set of locks, up to the next message the thread sends",
     .mode = TreeMode::kTree,
     .preserves = Preserves::kHybridPairs},
    {.name = "tree:hb",
     .summary = "per set of locks, until a lock changes hands or is left behind",
     .mode = TreeMode::kHb,
     .preserves = Preserves::kHbPairs},
    {.name = "tree:strict",
     .summary = "up to the next lock event or message of the thread",
     .mode = TreeMode::kStrict,
     .preserves = Preserves::kWcpPairs},
    {.name = "tree:data",
     .summary = "reads only, as tree:strict, up to the next write of the thread or to the memory",
     .mode = TreeMode::kData,
     .preserves = Preserves::kPredictablePairs},
    {.name = "tree:span",
     .summary = "as tree:strict, but all sites together: for the first race only",
     .mode = TreeMode::kSpan,
     .preserves = Preserves::kWcpPairs,
     .first_race_only = true},
};

constexpr ContextKind context_kind(const TreeOptions& options) {
  switch (options.mode) {
    case TreeMode::kTree: return options.across_threads ? ContextKind::kLocksOnly : ContextKind::kSends;
    case TreeMode::kHb: return ContextKind::kUncontended;
    case TreeMode::kStrict:
    case TreeMode::kData:
    case TreeMode::kSpan: return ContextKind::kStretches;
  }
  return ContextKind::kStretches;
}

// LocationKey::shape: the size, whether it is the second thread of a context, and the kind.
constexpr std::uint32_t kWriteBit = 1;
constexpr std::uint32_t kSecondBit = 2;
constexpr unsigned kSizeShift = 2;
constexpr std::uint32_t kLongest = (1u << 30) - 1;

// Few looks tell what a site is like; the whole trace takes more. With Eraser's gates, which follow every access
// anyway, a sample saves less than keeping the accounts costs.
constexpr std::uint32_t site_patience(const TreeOptions& options) {
  return options.for_lockset ? 0 : static_cast<std::uint32_t>((options.patience + 31) / 32);
}

std::uint64_t hash_across_threads(const LocationKey& key) {
  LocationKey first = key;
  first.shape &= ~kSecondBit;
  return first.hash_of_rest();
}

class TreeFilterImpl final : public TreeFilter {
 public:
  explicit TreeFilterImpl(const TreeOptions& options)
      : options_(options),
        kind_(context_kind(options)),
        keyed_by_locks_(kind_ != ContextKind::kStretches),
        contexts_(kind_, options.for_lockset),
        table_(options.locations),
        yields_(site_patience(options)),
        samples_(site_patience(options) != 0),
        look_for_(options.patience) {
    if (options.across_threads) {
      table_.set_hash(hash_across_threads);
    }
    if (options.for_lockset) {
      gates_ = std::make_unique<EraserGates>();
    }
  }

  Preserves preserves() const override { return tree_modes()[raw(options_.mode)].preserves; }
  Batch hide(const Batch& batch) override { return pausing_ > 0 ? let_pass(batch) : look(batch); }
  FilterCounts counts() const override;
  std::vector<RememberedAccess> remembered() const override;

 private:
  static constexpr std::size_t kBlock = 64;
  // How much longer than looking a pause is, in looks and in events that were followed, how much looking may grow, and
  // the share of hidden accesses, 1 in kWorthwhile, below which even following contexts does not pay.
  static constexpr std::uint64_t kPauseFactor = 64;
  static constexpr std::uint64_t kPauseFactorOfEvents = 4;
  static constexpr std::uint64_t kMostPatience = 16;
  static constexpr std::uint64_t kWorthwhile = 8;

  // A plain access on its way into the table.
  struct Probe {
    LocationKey key;
    std::uint64_t hash = 0;
    std::uint64_t stamp = 0;
    std::uint32_t place = 0;    // in the batch
    std::uint32_t episode = 0;  // of the thread
  };
  // All that a thread does in a batch from an acquire while it holds no lock to the release after which it holds none.
  struct Episode {
    std::uint32_t latest = kNoPlace;  // lock event; the others are chained by earlier_
    bool over = false;
    bool needed = false;  // something in it passes
  };
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

  Batch look(const Batch& batch);
  Batch let_pass(const Batch& batch);
  Batch without_hidden(const Batch& batch);
  std::size_t prepare_block(std::span<const Event> events, std::size_t begin, std::size_t end);
  bool prepare(const Event& e, Probe& probe);
  void begin_episodes(std::size_t batch_size);
  void follow_in_episode(const Event& e, std::uint32_t place);
  std::size_t hide_episodes();
  // 0: none.
  std::uint32_t& episode_of(TreeContext& context) const {
    context.episode = context.episode_batch == batch_ ? context.episode : 0;
    context.episode_batch = batch_;
    return context.episode;
  }
  void follow(const Event& e);
  void follow_memory(const Event& e);
  // In kData. Who reads what was written comes after the write as if it had got a message.
  void note_write(const Event& e, TreeContext& context) {
    lines_.change(e.object, e.size);
    ++context.count;
  }
  bool is_redundant(const Probe& probe) {
    return options_.across_threads ? is_redundant_across_threads(probe) : is_redundant_in_thread(probe);
  }
  bool is_redundant_in_thread(const Probe& probe);
  bool is_redundant_across_threads(const Probe& probe);
  void decide_whether_to_pause();
  LockSetId guards(TreeContext& context, Op op) {
    const LockSetId held = contexts_.set(context);
    return is_write(op) ? contexts_.table().exclusive(held) : held;
  }
  std::uint64_t memory_stamp(const Event& e, TreeContext& context) {
    const std::uint64_t version = base_ + lines_.sum(e.object, e.size);
    return gates_ == nullptr ? version : version + gates_->access(e, guards(context, e.op), version, contexts_.table());
  }

  const TreeOptions options_;
  const ContextKind kind_;
  const bool keyed_by_locks_;
  TreeContexts contexts_;
  LocationTable table_;
  SiteYields yields_;
  const bool samples_;
  LineVersions lines_;
  std::unique_ptr<EraserGates> gates_;
  std::uint64_t base_ = 0;  // part of every stamp: grows when nothing of before may be relied on

  std::uint64_t looked_at_ = 0;
  std::uint64_t hidden_intra_ = 0;
  std::uint64_t hidden_inter_ = 0;
  std::uint64_t hidden_locks_ = 0;

  std::uint64_t look_for_;          // accesses before the next decision
  std::uint64_t looked_since_ = 0;  // looked_at_ at the latest decision
  std::uint64_t hidden_since_ = 0;
  std::uint64_t seen_since_ = 0;  // events, looked at or not
  std::uint64_t pausing_ = 0;     // events still to let pass

  std::array<Probe, kBlock> probes_;
  std::vector<std::uint8_t> hides_;     // by place in the batch: 1 or 0
  std::vector<Episode> episodes_;       // of the batch
  std::uint64_t batch_ = 0;             // number of it
  std::vector<std::uint32_t> earlier_;  // by place: the lock event before in the episode; scratch in a pause
  std::vector<Event> events_;           // what was left of it
  std::vector<EventId> ids_;
  std::vector<StackId> stacks_;
};

Batch TreeFilterImpl::look(const Batch& batch) {
  const std::size_t size = batch.events.size();
  hides_.assign(size, 0);
  std::size_t hidden = 0;
  begin_episodes(size);
  for (std::size_t begin = 0; begin < size; begin += kBlock) {
    // Contexts first: they do not depend on what is hidden, and the memory of the table arrives meanwhile.
    const std::size_t count = prepare_block(batch.events, begin, std::min(begin + kBlock, size));
    for (std::size_t k = 0; k < count; ++k) {
      const Probe& probe = probes_[k];
      const bool redundant = is_redundant(probe);
      hides_[probe.place] = redundant ? 1 : 0;
      if (samples_) {
        yields_.note(batch.events[probe.place].site, redundant);
      }
      hidden += redundant ? 1 : 0;
      episodes_[probe.episode].needed |= !redundant;
    }
  }
  hidden += hide_episodes();
  seen_since_ += size;
  decide_whether_to_pause();
  return hidden == 0 ? batch : without_hidden(batch);
}

// Follows the events and puts the accesses that may be hidden into probes_; their number.
std::size_t TreeFilterImpl::prepare_block(std::span<const Event> events, std::size_t begin, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Event& e = events[i];
    if (e.op <= Op::kWrite) {
      Probe& probe = probes_[count];
      probe.place = static_cast<std::uint32_t>(i);
      probe.episode = options_.hide_sections ? episode_of(contexts_.of(e.thread)) : 0;
      const bool may_hide = prepare(e, probe);
      episodes_[probe.episode].needed |= !may_hide;
      count += may_hide ? 1 : 0;
    } else if (options_.hide_sections) {
      follow_in_episode(e, static_cast<std::uint32_t>(i));
    } else {
      follow(e);
    }
  }
  return count;
}

void TreeFilterImpl::begin_episodes(std::size_t batch_size) {
  episodes_.assign(1, Episode{});  // the one of all who are in none
  if (options_.hide_sections) {
    ++batch_;
    earlier_.resize(std::max(earlier_.size(), batch_size));
  }
}

void TreeFilterImpl::follow_in_episode(const Event& e, std::uint32_t place) {
  TreeContext& context = contexts_.of(e.thread);
  if (e.op == Op::kAcquire && context.locks.empty()) {
    episode_of(context) = static_cast<std::uint32_t>(episodes_.size());
    episodes_.emplace_back();
  }
  const std::uint32_t episode = episode_of(context);
  follow(e);
  if (e.op != Op::kAcquire && e.op != Op::kRelease) {
    episodes_[episode].needed = true;
    return;
  }
  earlier_[place] = episodes_[episode].latest;
  episodes_[episode].latest = place;
  if (e.op == Op::kRelease && contexts_.of(e.thread).locks.empty()) {
    episodes_[episode].over = true;
    episode_of(contexts_.of(e.thread)) = 0;
  }
}

// Hides those that are over and in which nothing is left; how many events that are.
std::size_t TreeFilterImpl::hide_episodes() {
  std::size_t count = 0;
  for (std::size_t i = 1; i < episodes_.size(); ++i) {
    if (!episodes_[i].over || episodes_[i].needed) {
      continue;
    }
    for (std::uint32_t place = episodes_[i].latest; place != kNoPlace; place = earlier_[place]) {
      hides_[place] = 1;
      ++count;
    }
  }
  hidden_locks_ += count;
  return count;
}

Batch TreeFilterImpl::without_hidden(const Batch& batch) {
  const std::size_t size = batch.events.size();
  if (ids_.size() < size) {
    events_.resize(size);
    ids_.resize(size);
  }
  stacks_.resize(std::max(stacks_.size(), batch.stacks.size()));
  // Without branches: what is hidden cannot be predicted.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    events_[kept] = batch.events[i];
    ids_[kept] = batch.id(i);
    if (!batch.stacks.empty()) {
      stacks_[kept] = batch.stacks[i];
    }
    kept += 1u - hides_[i];
  }
  Batch rest = batch;
  rest.events = {events_.data(), kept};
  rest.ids = {ids_.data(), kept};
  rest.stacks = batch.stacks.empty() ? batch.stacks : std::span<const StackId>(stacks_.data(), kept);
  rest.values = {};
  return rest;
}

// Whatever is not followed here must not matter after the pause, when stamps start anew: that leaves the locks.
Batch TreeFilterImpl::let_pass(const Batch& batch) {
  if (contexts_.tracks_locks()) {
    static_assert(raw(Op::kRelease) == raw(Op::kAcquire) + 1);
    earlier_.resize(std::max(earlier_.size(), batch.events.size() + 1));
    // Without branches: where the lock events are cannot be predicted.
    std::size_t locks = 0;
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      earlier_[locks] = static_cast<std::uint32_t>(i);
      const Op op = batch.events[i].op;
      const bool ends = (op == Op::kEnd) | (op == Op::kJoin);
      locks += (raw(op) - unsigned{raw(Op::kAcquire)} <= 1) | ends ? 1 : 0;
    }
    for (std::size_t k = 0; k < locks; ++k) {
      contexts_.follow_locks(batch.events[earlier_[k]]);
    }
  }
  pausing_ -= std::min<std::uint64_t>(pausing_, batch.events.size());
  base_ += pausing_ == 0 ? contexts_.restart() + 1 : 0;
  return batch;
}

void TreeFilterImpl::decide_whether_to_pause() {
  const std::uint64_t looked = looked_at_ - looked_since_;
  if (looked < look_for_ || options_.patience == 0) {
    return;
  }
  const std::uint64_t hidden = hidden_intra_ + hidden_inter_ - hidden_since_;
  if (hidden * kWorthwhile < looked) {
    pausing_ = std::max(kPauseFactor * looked, kPauseFactorOfEvents * seen_since_);
    // A loop is only seen to repeat itself by who looks for longer than it takes.
    look_for_ = std::min(2 * look_for_, kMostPatience * options_.patience);
  } else {
    look_for_ = options_.patience;
  }
  looked_since_ = looked_at_;
  seen_since_ = 0;
  hidden_since_ = hidden_intra_ + hidden_inter_;
}

// False when the access passes in any case.
inline bool TreeFilterImpl::prepare(const Event& e, Probe& probe) {
  TreeContext& context = contexts_.of(e.thread);
  const bool writes = e.op == Op::kWrite;
  const bool sends = options_.mode == TreeMode::kData && writes;
  const bool may_hide = !sends && e.size <= kLongest && (!samples_ || yields_.wants(e.site, e.object));
  // Eraser's gates follow every access.
  const std::uint64_t stamp = may_hide || gates_ != nullptr ? memory_stamp(e, context) : 0;
  if (sends) {
    note_write(e, context);
  }
  if (!may_hide) {
    return false;
  }
  ++looked_at_;
  probe.key = {e.object, options_.mode == TreeMode::kSpan ? 0 : raw(e.site), raw(e.thread),
               keyed_by_locks_ ? raw(contexts_.set(context)) : 0, e.size << kSizeShift | (writes ? kWriteBit : 0)};
  probe.hash = options_.across_threads ? probe.key.hash_of_rest() : probe.key.hash();
  probe.stamp = stamp + context.count;
  __builtin_prefetch(&table_.set_of(probe.hash), 1);
  return true;
}

// Events that are no plain access: they pass, but change contexts and memory.
[[gnu::always_inline]] inline void TreeFilterImpl::follow(const Event& e) {
  contexts_.follow(e);
  if (e.op != Op::kAcquire && e.op != Op::kRelease) {
    follow_memory(e);
  }
}

void TreeFilterImpl::follow_memory(const Event& e) {
  if (!is_atomic(e.op) && e.op != Op::kAlloc && e.op != Op::kFree) {
    return;
  }
  if (e.op == Op::kAlloc || (e.op == Op::kFree && gates_ != nullptr)) {
    lines_.change(e.object, e.size);
  }
  if (is_write(e.op) && options_.mode == TreeMode::kData) {
    note_write(e, contexts_.of(e.thread));
  }
  if (gates_ != nullptr && is_atomic(e.op)) {
    memory_stamp(e, contexts_.of(e.thread));
  }
}

// Intra-thread redundancy.
inline bool TreeFilterImpl::is_redundant_in_thread(const Probe& probe) {
  Location* location = table_.set_of(probe.hash).find(probe.key, false);
  if (location == nullptr) {
    table_.insert(probe.hash, probe.key, probe.stamp);
    return false;
  }
  const bool same = location->stamp == probe.stamp;
  location->stamp = probe.stamp;
  hidden_intra_ += same ? 1 : 0;
  return same;
}

// Algorithm 2. The stack of a context is two locations: one for the first thread, one for the second. A second one with
// the present stamp proves that accesses of two threads have passed, even if the first was forgotten meanwhile.
bool TreeFilterImpl::is_redundant_across_threads(const Probe& probe) {
  LocationKey key = probe.key;
  for (const std::uint32_t bit : {0u, kSecondBit}) {
    key.shape = probe.key.shape | bit;
    Location* location = table_.set_of(probe.hash).find(key, true);
    if (location == nullptr) {
      table_.insert(probe.hash, key, probe.stamp);
      return false;
    }
    if (location->stamp != probe.stamp) {
      location->stamp = probe.stamp;
      location->thread = key.thread;
      return false;
    }
    if (location->thread == key.thread) {
      ++hidden_intra_;
      return true;
    }
  }
  ++hidden_inter_;
  return true;
}

FilterCounts TreeFilterImpl::counts() const {
  const std::uint64_t memory = table_.memory() + yields_.memory() + lines_.memory() +
                               (gates_ != nullptr ? gates_->memory() : 0) + contexts_.memory() +
                               events_.capacity() * sizeof(Event) + ids_.capacity() * sizeof(EventId) +
                               stacks_.capacity() * sizeof(StackId) + hides_.capacity() +
                               earlier_.capacity() * sizeof(std::uint32_t) + episodes_.capacity() * sizeof(Episode);
  return {looked_at_, hidden_intra_, hidden_inter_, hidden_locks_, table_.size(), memory};
}

std::vector<RememberedAccess> TreeFilterImpl::remembered() const {
  std::vector<Location> locations;
  table_.for_each([&](const Location& location) { locations.push_back(location); });
  std::sort(locations.begin(), locations.end(), [&](const Location& a, const Location& b) {
    return std::tuple(a.site, a.address, a.shape & ~kSecondBit, a.locks, a.shape, a.thread) <
           std::tuple(b.site, b.address, b.shape & ~kSecondBit, b.locks, b.shape, b.thread);
  });
  std::vector<RememberedAccess> all;
  for (const Location& location : locations) {
    if ((location.shape & kSecondBit) != 0 && !all.empty() && all.back().stamp == location.stamp) {
      all.back().threads.push_back(location.thread);
      continue;
    }
    RememberedAccess& access = all.emplace_back();
    access.address = location.address;
    access.size = location.shape >> kSizeShift;
    access.is_write = (location.shape & kWriteBit) != 0;
    access.site = location.site;
    for (const LockMode& lock : contexts_.table().locks(LockSetId{location.locks})) {
      access.locks.push_back(lock.lock);
    }
    access.stamp = location.stamp;
    access.threads.push_back(location.thread);
  }
  return all;
}

}  // namespace

std::span<const TreeModeInfo> tree_modes() { return kModes; }

const TreeModeInfo* find_tree_mode(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kModes), std::end(kModes), [&](const TreeModeInfo& info) { return info.name == name; });
  return it == std::end(kModes) ? nullptr : it;
}

std::unique_ptr<TreeFilter> make_tree_filter(const TreeOptions& options) {
  return std::make_unique<TreeFilterImpl>(options);
}

}  // namespace sooth
