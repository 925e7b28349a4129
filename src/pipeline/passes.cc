#include "pipeline/passes.h"

#include <algorithm>
#include <utility>

#include "base/memory_use.h"
#include "pipeline/stopped_detector.h"

namespace sooth {
namespace {

using PassClock = std::chrono::steady_clock;

// Shares of the accesses. Where much of the memory is shared and some of it is not in order, most of it will not be.
constexpr double kMuch = 0.5;
constexpr double kSome = 0.002;

constexpr std::uint64_t kSampleEvents = 1 << 16;  // between two looks at the memory of the process

double seconds_from(PassClock::time_point start) {
  return std::chrono::duration<double>(PassClock::now() - start).count();
}

// Where there is none of it, the detector need not see anything.
SharingLevel sharing_for(Sees view) {
  return view == Sees::kUnordered || view == Sees::kSections ? SharingLevel::kUnordered : SharingLevel::kSeveral;
}

// One of each. An analysis that another one includes comes out of the pass of that one.
std::vector<RunningDetector> make_detectors(const AnalysisOptions& options) {
  std::vector<RunningDetector> all;
  for (const DetectorInfo* info : options.detectors) {
    if (info->make != nullptr) {
      all.push_back({info, nullptr});
    }
  }
  const auto includer_of = [&](const RunningDetector& part) {
    return std::find_if(all.begin(), all.end(),
                        [&](const auto& other) { return other.info->includes == part.info->name; });
  };
  for (RunningDetector& each : all) {
    if (includer_of(each) == all.end()) {
      each.detector = each.info->make(options.detector);
      each.slots = each.info->takes_slots;
    }
  }
  for (RunningDetector& each : all) {
    if (each.detector == nullptr) {
      each.detector = includer_of(each)->detector->included();
      each.included = true;
    }
  }
  return all;
}

}  // namespace

DetectorPasses::DetectorPasses(const AnalysisOptions& options)
    : options_(options), detectors_(make_detectors(options)), variables_(options.user_code) {
  any_slots_ = std::any_of(detectors_.begin(), detectors_.end(), [](const auto& each) { return each.slots; });
  if (options.filter.has_value()) {
    if (options.compare_unfiltered) {
      unfiltered_ = make_detectors(options);
    }
    filter_ = make_tree_filter(*options.filter);
  }
  for (std::vector<RunningDetector>* all : {&detectors_, &unfiltered_}) {
    for (RunningDetector& each : *all) {
      each.detector->tell_apart(&variables_);
    }
  }
  if (!options.first_look) {
    return;
  }
  const bool spools = !options.reopen && options.spool_bytes != 0 && filter_ == nullptr;
  if (options.reopen || spools) {
    look_first();
  }
  if (spools && scan_ != nullptr) {
    spool_ = std::make_unique<EventSpool>(options.spool_folder, options.spool_segment_events);
  }
}

void DetectorPasses::look_first() {
  const bool any_to_gain = std::any_of(detectors_.begin(), detectors_.end(), [](const RunningDetector& each) {
    return !each.included && each.info->sees != Sees::kEverything;
  });
  if (!any_to_gain) {
    return;
  }
  const auto any_sees = [&](Sees sees) {
    return std::any_of(detectors_.begin(), detectors_.end(),
                       [&](const RunningDetector& each) { return each.info->sees == sees; });
  };
  // What reads teach is known of all of them; a filter may have hidden some.
  looks_at_reads_ = any_sees(Sees::kReads) && filter_ == nullptr;
  scan_ = make_sharing_scan(looks_at_reads_             ? ScanOrder::kReads
                            : any_sees(Sees::kSections) ? ScanOrder::kWcp
                                                        : ScanOrder::kHb);
  // Who ignores must-order tells apart threads that share a slot.
  scan_slots_ = std::none_of(detectors_.begin(), detectors_.end(),
                             [](const RunningDetector& each) { return each.info->sees == Sees::kSeveralThreads; });
  any_slots_ = any_slots_ || scan_slots_;
  look_for_locks();
}

// A filter knows nothing of these locks.
void DetectorPasses::look_for_locks() {
  const bool any_sees = std::any_of(detectors_.begin(), detectors_.end(), [](const RunningDetector& each) {
    return each.info->sees_locks != SeesLocks::kOfTrace;
  });
  finder_ = any_sees && filter_ == nullptr ? std::make_unique<MadeLockFinder>() : nullptr;
  any_slots_ = any_slots_ || finder_ != nullptr;
}

DetectorPasses::~DetectorPasses() = default;

// How much of the memory that is a detector must see.
Sees DetectorPasses::view_for(const RunningDetector& detector) const {
  if (spool_ != nullptr && detector.direct) {
    return Sees::kEverything;
  }
  if (any_reversible_ && detector.info->sees_locks == SeesLocks::kReversible) {
    return Sees::kSeveral;  // the scan took what they order for certain
  }
  switch (detector.info->sees) {
    case Sees::kSeveralThreads: return Sees::kSeveral;
    case Sees::kReads: return looks_at_reads_ ? Sees::kUnordered : Sees::kSeveral;
    case Sees::kEverything:
    case Sees::kSeveral:
    case Sees::kSections:
    case Sees::kUnordered: break;
  }
  return detector.info->sees;
}

// A filter stands in front of all of them, and works along one pass.
bool DetectorPasses::sees_all_at_once(const RunningDetector& detector) const {
  if (spool_ != nullptr) {
    return !spools_for(detector);
  }
  const bool may_wait = filter_ != nullptr || detector.info->sees != Sees::kEverything || waits_for_locks(detector);
  return scan_ == nullptr || detector.direct || !may_wait;
}

bool DetectorPasses::waits_for_locks(const RunningDetector& detector) const {
  return finder_ != nullptr && detector.info->sees_locks != SeesLocks::kOfTrace;
}

void DetectorPasses::consume(const Batch& batch, const BatchOutline& outline, const Tables& tables) {
  if (!detectors_.empty() && spool_ == nullptr) {
    variables_.consume(batch, outline, tables);
  }
  if (any_slots_) {
    slots_.follow(batch, outline);
  }
  events_ += batch.events.size();
  begin_sample(batch.events.size());
  if (scan_ == nullptr) {
    feed(batch, nullptr);
    // Who cannot read it again reads on, so that a program that runs meanwhile does not have to wait.
    (void)bound_memory(events_);
    return;
  }
  const Batch renamed = any_slots_ ? slots_.renamed(batch, renamed_) : batch;
  scan_->consume(scan_slots_ ? renamed : batch);
  if (finder_ != nullptr) {
    finder_->consume(batch, renamed);
  }
  for (RunningDetector& each : detectors_) {
    if (sees_all_at_once(each)) {
      feed_one(each, each.slots ? renamed : batch);
    }
  }
  if (spool_ != nullptr) {
    spool(batch, tables);
  } else if (keeping_) {
    keep(batch);
  }
  out_of_memory_ = !bound_memory(events_);
}

void DetectorPasses::keep(const Batch& batch) {
  first_stacks_.resize(batch.stacks.empty() ? first_stacks_.size() : first_events_.size());
  first_events_.insert(first_events_.end(), batch.events.begin(), batch.events.end());
  first_stacks_.insert(first_stacks_.end(), batch.stacks.begin(), batch.stacks.end());
  if (first_events_.size() >= options_.first_look_events) {
    choose_direct();
    stop_keeping();
  }
}

// Whether it has less to look at after a first look, as far as that has come.
bool DetectorPasses::gains(const RunningDetector& detector) const {
  const auto share = [&](SharingLevel what, bool sections) {
    const auto all = static_cast<double>(std::max<std::uint64_t>(1, scan_->accesses()));
    return static_cast<double>(scan_->accesses(what, sections)) / all;
  };
  if (waits_for_locks(detector)) {
    return true;
  }
  const double several = share(SharingLevel::kSeveral, false);
  switch (view_for(detector)) {
    case Sees::kEverything: return false;
    case Sees::kSections: return share(SharingLevel::kUnordered, true) <= kMuch;
    case Sees::kUnordered: break;
    case Sees::kReads:
    case Sees::kSeveralThreads:
    case Sees::kSeveral: return several <= kMuch;
  }
  const double unordered = share(SharingLevel::kUnordered, false);
  return unordered <= (several > kMuch && !looks_at_reads_ ? kSome : kMuch);
}

// When there is no sign of any so far. Whether that is so.
bool DetectorPasses::give_up_locks() {
  if (finder_ == nullptr || finder_->any_candidates()) {
    return false;
  }
  finder_.reset();
  return true;
}

// Those for which looking gains nothing catch up, and go on in this pass.
void DetectorPasses::choose_direct() {
  const bool waited_for_locks = give_up_locks();
  const Batch first = first_batch();
  const bool nobody_gains =
      std::none_of(detectors_.begin(), detectors_.end(), [&](const auto& each) { return gains(each); });
  if (filter_ != nullptr) {
    // It works along one pass, which is the second as long as there is one.
    if (nobody_gains) {
      feed(first, nullptr);
      scan_.reset();
    }
    return;
  }
  const Batch renamed = any_slots_ ? slots_.renamed(first, renamed_) : first;
  for (RunningDetector& each : detectors_) {
    const bool has_waited =
        each.info->sees != Sees::kEverything || (waited_for_locks && each.info->sees_locks != SeesLocks::kOfTrace);
    if (!each.included && has_waited && !gains(each)) {
      feed_one(each, each.slots ? renamed : first);
      each.direct = true;
    }
  }
  if (nobody_gains) {
    scan_.reset();
  }
}

void DetectorPasses::stop_keeping() {
  keeping_ = false;
  first_events_ = {};
  first_stacks_ = {};
}

Batch DetectorPasses::first_batch() {
  first_stacks_.resize(first_stacks_.empty() ? 0 : first_events_.size());
  Batch batch;
  batch.events = first_events_;
  batch.stacks = first_stacks_;
  return batch;
}

Result<std::uint64_t> DetectorPasses::finish(const Tables& tables) {
  std::uint64_t seen = events_;
  if (scan_ != nullptr) {
    Result<std::uint64_t> fed = spool_ != nullptr ? finish_spool(tables) : feed_again(tables);
    if (!fed.ok()) {
      return fed;
    }
    seen = *fed;
  }
  SOOTH_RETURN_IF_ERROR(broken_);
  for (std::vector<RunningDetector>* all : {&detectors_, &unfiltered_}) {
    for (RunningDetector& each : *all) {
      if (each.stopped_at.has_value()) {
        continue;
      }
      const PassClock::time_point start = PassClock::now();
      each.detector->finish();
      each.seconds += seconds_from(start);
    }
  }
  return seen;
}

bool DetectorPasses::any_to_feed(const SharedTimes& times) const {
  return filter_ != nullptr || std::any_of(detectors_.begin(), detectors_.end(), [&](const RunningDetector& each) {
           const bool judges = each.info->sees == Sees::kUnordered && scan_->destroys_in_use();
           const bool wants_all = each.info->sees == Sees::kEverything;
           return !sees_all_at_once(each) && (judges || wants_all || !times.empty(sharing_for(view_for(each))));
         });
}

// Those that the whole trace had.
void DetectorPasses::show_locks(Views& views) {
  if (finder_ == nullptr) {
    return;
  }
  const std::vector<MadeLock> locks = finder_->finish();
  views.reversible = LockView(locks, LockView::Of::kReversible);
  views.meant = LockView(locks, LockView::Of::kMeant);
  any_reversible_ = !views.reversible.empty();
}

// Which thread has which slot is known by now, and stays so.
Result<std::uint64_t> DetectorPasses::feed_again(const Tables& tables) {
  Views views(scan_->finish());
  show_locks(views);
  if (!any_to_feed(views.times)) {
    return events_;
  }
  if (!keeping_) {
    return read_again(views, tables);
  }
  // In parts, as variables come and go.
  constexpr std::size_t kPart = 4096;
  const Batch all = first_batch();
  variables_.restart();
  for (std::size_t from = 0; from < all.events.size(); from += kPart) {
    Batch part;
    part.first = EventId{from};
    part.events = all.events.subspan(from, std::min(kPart, all.events.size() - from));
    part.stacks = all.stacks.empty() ? all.stacks : all.stacks.subspan(from, part.events.size());
    variables_.consume(part, tables);
    feed(part, &views);
  }
  return events_;
}

// The second pass. What it finds is named by the tables of the first.
Result<std::uint64_t> DetectorPasses::read_again(Views& views, const Tables& tables) {
  const auto other = [] { return Status::bad_input("the trace has become another one while it was analysed"); };
  const bool was_cut = options_.cancelled && options_.cancelled();
  Result<std::unique_ptr<TraceReader>> again = options_.reopen();
  if (!again.ok()) {
    return std::move(again).status();
  }
  variables_.restart();
  std::uint64_t seen = 0;
  while (seen < events_) {
    Result<Batch> batch = (*again)->next();
    if (!batch.ok()) {
      return std::move(batch).status();
    }
    if (batch->empty()) {
      return other();
    }
    const std::size_t count = std::min<std::uint64_t>(batch->events.size(), events_ - seen);
    batch->events = batch->events.first(count);
    batch->stacks = batch->stacks.first(std::min(count, batch->stacks.size()));
    variables_.consume(*batch, tables);
    begin_sample(count);
    feed(*batch, &views);
    seen += count;
    (void)bound_memory(seen);
    if (!was_cut && options_.cancelled && options_.cancelled()) {
      return seen;
    }
  }
  const Tables& found = (*again)->tables();
  const bool same = found.thread_count() <= tables.thread_count() && found.site_count() <= tables.site_count() &&
                    found.stack_count() <= tables.stack_count() && found.site_count() != 0 &&
                    found.sites().back() == tables.sites()[found.site_count() - 1];
  return same ? Result<std::uint64_t>(seen) : other();
}

void DetectorPasses::feed(const Batch& batch, Views* views) {
  Batch seen = batch;
  if (filter_ != nullptr) {
    const PassClock::time_point start = PassClock::now();
    seen = filter_->hide(batch);
    filter_seconds_ += seconds_from(start);
  }
  feed(detectors_, seen, views);
  feed(unfiltered_, batch, views);
}

void DetectorPasses::feed(std::vector<RunningDetector>& to, const Batch& batch, Views* views) {
  for (const Sees sees : {Sees::kEverything, Sees::kSeveral, Sees::kSections, Sees::kUnordered}) {
    const auto is_one = [&](const RunningDetector& each) {
      const bool fed_before = views != nullptr && sees_all_at_once(each);
      return view_for(each) == sees && !each.included && !fed_before;
    };
    if (std::none_of(to.begin(), to.end(), is_one)) {
      continue;
    }
    const bool whole = views == nullptr || sees == Sees::kEverything;
    const Batch left = whole ? batch : views->view(sees).hide(batch);
    for (const SeesLocks locks : {SeesLocks::kOfTrace, SeesLocks::kReversible, SeesLocks::kMeant}) {
      const auto is_fed = [&](const RunningDetector& each) { return is_one(each) && each.info->sees_locks == locks; };
      if (std::any_of(to.begin(), to.end(), is_fed)) {
        feed_those(to, views == nullptr ? left : views->with_locks(left, locks), is_fed);
      }
    }
  }
}

template <typename IsFed>
void DetectorPasses::feed_those(std::vector<RunningDetector>& to, const Batch& batch, const IsFed& is_fed) {
  const Batch renamed = any_slots_ ? slots_.renamed(batch, renamed_) : batch;
  for (RunningDetector& each : to) {
    if (is_fed(each)) {
      feed_one(each, each.slots ? renamed : batch);
    }
  }
}

void DetectorPasses::feed_one(RunningDetector& to, const Batch& batch) {
  const std::uint64_t before = sampling_ ? memory_in_use() : 0;
  const PassClock::time_point start = PassClock::now();
  to.detector->consume(batch);
  to.seconds += seconds_from(start);
  if (sampling_) {
    to.grown += static_cast<std::int64_t>(memory_in_use() - before);
  }
}

std::uint64_t DetectorPasses::memory_in_use() const {
  return options_.memory_in_use ? options_.memory_in_use() : resident_bytes();
}

void DetectorPasses::begin_sample(std::size_t events) {
  unsampled_ += events;
  sampling_ = options_.max_memory != 0 && unsampled_ >= std::min(kSampleEvents, options_.memory_sample_events);
  unsampled_ = sampling_ ? 0 : unsampled_;
}

// After a batch up to event `seen` of the pass. Whether it is enough to stop detectors.
bool DetectorPasses::bound_memory(std::uint64_t seen) {
  if (!std::exchange(sampling_, false) || memory_in_use() <= options_.max_memory) {
    return true;
  }
  give_back_memory();
  while (memory_in_use() > options_.max_memory) {
    if (!stop_largest(seen)) {
      return false;
    }
    give_back_memory();
  }
  return true;
}

// Whether there was one that has grown.
bool DetectorPasses::stop_largest(std::uint64_t seen) {
  RunningDetector* largest = nullptr;
  for (RunningDetector& each : detectors_) {
    const bool works = !each.included && !each.stopped_at.has_value() && each.grown > 0;
    largest = works && (largest == nullptr || each.grown > largest->grown) ? &each : largest;
  }
  if (largest == nullptr) {
    return false;
  }
  const PassClock::time_point start = PassClock::now();
  largest->detector->finish();
  largest->seconds += seconds_from(start);
  for (RunningDetector& each : detectors_) {
    if (each.included && each.info->name == largest->info->includes) {
      each.detector = stop_detector(std::move(each.detector));
      each.stopped_at = seen;
    }
  }
  largest->detector = stop_detector(std::move(largest->detector));
  largest->stopped_at = seen;
  return true;
}

}  // namespace sooth
