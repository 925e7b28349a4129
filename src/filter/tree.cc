#include "filter/tree.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "filter/location_table.h"
#include "filter/memory_stamps.h"
#include "filter/tree_context.h"

namespace sooth {
namespace {

constexpr TreeModeInfo kModes[] = {
    {"tree", "per set of locks, up to the next message the thread sends", TreeMode::kTree, Preserves::kHybridPairs, false},
    {"tree:hb", "per set of locks, until a lock changes hands or is left behind", TreeMode::kHb, Preserves::kHbPairs, false},
    {"tree:strict", "up to the next lock event or message of the thread", TreeMode::kStrict, Preserves::kWcpPairs, false},
    {"tree:data", "reads only, as tree:strict and until the memory is written", TreeMode::kData, Preserves::kPredictablePairs,
     false},
    {"tree:span", "as tree:strict, but all sites together: for the first race only", TreeMode::kSpan, Preserves::kWcpPairs,
     true},
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
  // How much longer than looking a pause is, how much looking may grow, and the share of hidden accesses, 1 in
  // kWorthwhile, at which the detectors save about what looking costs.
  static constexpr std::uint64_t kPauseFactor = 8;
  static constexpr std::uint64_t kMostPatience = 64;
  static constexpr std::uint64_t kWorthwhile = 8;

  // A plain access on its way into the table.
  struct Probe {
    LocationKey key;
    std::uint64_t hash = 0;
    std::uint64_t stamp = 0;
    bool may_hide = false;
  };

  Batch look(const Batch& batch);
  Batch let_pass(const Batch& batch);
  void make_room(const Batch& batch);
  void prepare(const Event& e, Probe& probe);
  void follow(const Event& e);
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
  LineVersions lines_;
  std::unique_ptr<EraserGates> gates_;
  std::uint64_t base_ = 0;  // part of every stamp: grows when nothing of before may be relied on

  std::uint64_t accesses_ = 0;
  std::uint64_t hidden_intra_ = 0;
  std::uint64_t hidden_inter_ = 0;

  std::uint64_t look_for_;                // accesses before the next decision
  std::uint64_t looked_since_ = 0;        // accesses_ at the latest decision
  std::uint64_t hidden_since_ = 0;
  std::uint64_t pausing_ = 0;             // events still to let pass

  std::array<Probe, kBlock> probes_;
  std::vector<Event> events_;  // what was left of the latest batch
  std::vector<EventId> ids_;
  std::vector<StackId> stacks_;
};

void TreeFilterImpl::make_room(const Batch& batch) {
  if (events_.size() < batch.events.size()) {
    events_.resize(batch.events.size());
    ids_.resize(batch.events.size());
  }
  if (stacks_.size() < batch.stacks.size()) {
    stacks_.resize(batch.stacks.size());
  }
}

Batch TreeFilterImpl::look(const Batch& batch) {
  make_room(batch);
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < batch.events.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, batch.events.size() - begin);
    // Contexts first: they do not depend on what is hidden, and the memory of the table arrives meanwhile.
    for (std::size_t i = 0; i < count; ++i) {
      const Event& e = batch.events[begin + i];
      if (e.op <= Op::kWrite) {
        prepare(e, probes_[i]);
      } else {
        probes_[i].may_hide = false;
        follow(e);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      events_[kept] = batch.events[begin + i];
      ids_[kept] = batch.id(begin + i);
      if (!batch.stacks.empty()) {
        stacks_[kept] = batch.stacks[begin + i];
      }
      kept += probes_[i].may_hide && is_redundant(probes_[i]) ? 0 : 1;
    }
  }
  decide_whether_to_pause();
  if (kept == batch.events.size()) {
    return batch;
  }
  Batch rest = batch;
  rest.events = {events_.data(), kept};
  rest.ids = {ids_.data(), kept};
  rest.stacks = batch.stacks.empty() ? batch.stacks : std::span<const StackId>(stacks_.data(), kept);
  rest.values = {};
  return rest;
}

Batch TreeFilterImpl::let_pass(const Batch& batch) {
  std::array<std::uint32_t, kBlock> others;
  for (std::size_t begin = 0; begin < batch.events.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, batch.events.size());
    // Without branches: where the other events are cannot be predicted.
    std::size_t count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      others[count] = static_cast<std::uint32_t>(i);
      count += batch.events[i].op > Op::kWrite ? 1 : 0;
    }
    accesses_ += end - begin - count;
    for (std::size_t k = 0; k < count; ++k) {
      follow(batch.events[others[k]]);
    }
  }
  pausing_ -= std::min<std::uint64_t>(pausing_, batch.events.size());
  if (pausing_ == 0) {
    looked_since_ = accesses_;
    // Accesses that were not looked at may have written, or moved a gate.
    base_ += gates_ != nullptr || options_.mode == TreeMode::kData ? 1 : 0;
  }
  return batch;
}

void TreeFilterImpl::decide_whether_to_pause() {
  const std::uint64_t looked = accesses_ - looked_since_;
  if (looked < look_for_ || options_.patience == 0) {
    return;
  }
  const std::uint64_t hidden = hidden_intra_ + hidden_inter_ - hidden_since_;
  if (hidden * kWorthwhile < looked) {
    pausing_ = kPauseFactor * looked;
    // A loop is only seen to repeat itself by who looks for longer than it takes.
    look_for_ = std::min(2 * look_for_, kMostPatience * options_.patience);
  } else {
    look_for_ = options_.patience;
  }
  looked_since_ = accesses_;
  hidden_since_ = hidden_intra_ + hidden_inter_;
}

inline void TreeFilterImpl::prepare(const Event& e, Probe& probe) {
  ++accesses_;
  TreeContext& context = contexts_.of(e.thread);
  const bool writes = e.op == Op::kWrite;
  const std::uint64_t stamp = memory_stamp(e, context);
  if (options_.mode == TreeMode::kData && writes) {
    lines_.change(e.object, e.size);
    probe.may_hide = false;
    return;
  }
  probe.key = {e.object, options_.mode == TreeMode::kSpan ? 0 : raw(e.site), raw(e.thread),
               keyed_by_locks_ ? raw(contexts_.set(context)) : 0, e.size << kSizeShift | (writes ? kWriteBit : 0)};
  probe.hash = options_.across_threads ? probe.key.hash_of_rest() : probe.key.hash();
  probe.stamp = stamp + context.count;
  probe.may_hide = e.size <= kLongest;
  __builtin_prefetch(&table_.set_of(probe.hash), 1);
}

// Events that are no plain access: they pass, but change contexts and memory.
void TreeFilterImpl::follow(const Event& e) {
  contexts_.follow(e);
  if (e.op > Op::kAtomicRmw && e.op != Op::kAlloc && e.op != Op::kFree) {
    return;
  }
  if (e.op == Op::kAlloc || (e.op == Op::kFree && gates_ != nullptr) ||
      (is_write(e.op) && options_.mode == TreeMode::kData)) {
    lines_.change(e.object, e.size);
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
  const std::uint64_t memory = table_.memory() + lines_.memory() + (gates_ != nullptr ? gates_->memory() : 0) + contexts_.memory() +
                               events_.capacity() * sizeof(Event) + ids_.capacity() * sizeof(EventId) +
                               stacks_.capacity() * sizeof(StackId);
  return {accesses_, hidden_intra_, hidden_inter_, table_.size(), memory};
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
  const auto it = std::find_if(std::begin(kModes), std::end(kModes), [&](const TreeModeInfo& info) { return info.name == name; });
  return it == std::end(kModes) ? nullptr : it;
}

std::unique_ptr<TreeFilter> make_tree_filter(const TreeOptions& options) { return std::make_unique<TreeFilterImpl>(options); }

}  // namespace sooth
