// The second pass of a trace that comes by only once: behind the first, out of a spool.
#include <algorithm>
#include <utility>

#include "pipeline/passes.h"

namespace sooth {

namespace {

// Stays sound when it misses accesses to memory that was private when they came by. For hb accesses order nothing; wcp sees
// all that are made in critical sections.
bool can_miss(const RunningDetector& detector) {
  return detector.info->sees == Sees::kUnordered || detector.info->sees == Sees::kSections;
}

}  // namespace

// Those that find no pairs do not ask which variables there are, and need not wait unless it is for locks.
bool DetectorPasses::spools_for(const RunningDetector& detector) const {
  return detector.info->needs != Preserves::kNoPairs || detector.info->sees_locks != SeesLocks::kOfTrace;
}

void DetectorPasses::spool(const Batch& batch, const Tables& tables) {
  if (Status kept = spool_->add(batch); !kept.ok()) {
    // Nothing is lost as long as nothing was left out.
    spool_status_ = behind_ == nullptr ? Status() : std::move(kept);
    return stop_spooling(tables);
  }
  if (keeping_ && events_ >= options_.first_look_events) {
    keeping_ = false;
    choose_direct_behind(tables);
  } else if (spool_->bytes() > options_.spool_bytes) {
    if (behind_ == nullptr) {
      begin_behind();
    }
    if (any_waits_behind()) {
      feed_from_spool(tables, options_.spool_bytes / 2);
    } else {
      stop_spooling(tables);
    }
  }
}

void DetectorPasses::choose_direct_behind(const Tables& tables) {
  (void)give_up_locks();
  see_all_without_gain();
  if (!any_waits_behind()) {
    stop_spooling(tables);
  }
}

// The whole trace will not be known when the detectors see its beginning.
void DetectorPasses::begin_behind() {
  finder_.reset();
  for (RunningDetector& each : detectors_) {
    each.direct = each.direct || !can_miss(each);
  }
  see_all_without_gain();
}

void DetectorPasses::see_all_without_gain() {
  for (RunningDetector& each : detectors_) {
    each.direct = each.direct || !gains(each);
  }
}

// Where nobody gains anything by looking first there is no need for a spool.
bool DetectorPasses::any_waits_behind() const {
  return std::any_of(detectors_.begin(), detectors_.end(),
                     [](const RunningDetector& each) { return !each.included && !each.direct; });
}

// Gives the detectors the oldest events, as far as they can matter by what is known now, until so many bytes are left; with
// 0, all of them.
void DetectorPasses::feed_from_spool(const Tables& tables, std::uint64_t left) {
  see_behind(scan_->so_far());
  behind_->sections.keep_all_sections(true);
  while ((left == 0 || spool_->bytes() > left) && feed_next_from_spool(tables)) {
  }
  scan_->forget_before(spool_->first());
}

void DetectorPasses::see_behind(SharedTimes times) {
  if (behind_ == nullptr) {
    behind_ = std::make_unique<Views>(std::move(times));
  } else {
    behind_->times = std::move(times);
  }
}

// False: there is nothing left, or it cannot be read.
bool DetectorPasses::feed_next_from_spool(const Tables& tables) {
  Result<Batch> batch = spool_->next();
  if (!batch.ok()) {
    broken_ = std::move(batch).status();
    return false;
  }
  if (batch->empty()) {
    return false;
  }
  variables_.consume(*batch, tables);
  begin_sample(batch->events.size());
  feed(*batch, behind_.get());
  (void)bound_memory(raw(spool_->first()));
  return true;
}

// From here on the detectors see everything as it comes.
void DetectorPasses::stop_spooling(const Tables& tables) {
  finder_.reset();
  for (RunningDetector& each : detectors_) {
    each.direct = each.direct || behind_ == nullptr;
  }
  feed_from_spool(tables, 0);
  late_ = scan_->late();
  spool_.reset();
  scan_.reset();
}

// The rest of it. When this is all of it, whatever is private stayed so, and it is a trace that can be read again.
std::uint64_t DetectorPasses::finish_spool(const Tables& tables) {
  late_ = scan_->late();
  const bool whole = behind_ == nullptr;
  see_behind(scan_->finish());
  behind_->sections.keep_all_sections(false);
  if (whole) {
    show_locks(*behind_);
    const bool any_sees_all = std::any_of(detectors_.begin(), detectors_.end(),
                                          [&](const auto& each) { return each.direct && spools_for(each); });
    if (!any_sees_all && !any_to_feed(behind_->times)) {
      return events_;
    }
  }
  while (feed_next_from_spool(tables)) {
  }
  return events_;
}

}  // namespace sooth
