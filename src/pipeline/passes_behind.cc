// The second pass of a trace that comes by only once: behind the first, out of a spool.
#include <algorithm>
#include <utility>

#include "pipeline/passes.h"

namespace sooth {

// Only for those that stay sound when they miss accesses to memory that was private when they came by. For hb accesses
// order nothing; wcp sees all that are made in critical sections. The others see everything.
void DetectorPasses::look_first_at_spool() {
  const auto can_miss = [](const RunningDetector& each) {
    return !each.included && (each.info->sees == Sees::kUnordered || each.info->sees == Sees::kSections);
  };
  if (std::none_of(detectors_.begin(), detectors_.end(), can_miss)) {
    return;
  }
  bool any_sections = false;
  for (RunningDetector& each : detectors_) {
    each.direct = !can_miss(each);
    any_sections = any_sections || each.info->sees == Sees::kSections;
  }
  scan_ = make_sharing_scan(any_sections ? ScanOrder::kWcp : ScanOrder::kHb);
  scan_slots_ = true;
  any_slots_ = true;
  spool_ = std::make_unique<EventSpool>(options_.spool_folder, options_.spool_segment_events);
}

// Those that find no pairs need not wait, and do not ask which variables there are.
bool DetectorPasses::spools_for(const RunningDetector& detector) const {
  return detector.info->needs != Preserves::kNoPairs;
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
    feed_from_spool(tables, options_.spool_bytes / 2);
  }
}

// Where nobody gains anything by looking first there is no need for a spool.
void DetectorPasses::choose_direct_behind(const Tables& tables) {
  bool anybody_gains = false;
  for (RunningDetector& each : detectors_) {
    each.direct = each.direct || !gains(each);
    anybody_gains = anybody_gains || !each.direct;
  }
  if (!anybody_gains) {
    stop_spooling(tables);
  }
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
  for (RunningDetector& each : detectors_) {
    each.direct = each.direct || behind_ == nullptr;
  }
  feed_from_spool(tables, 0);
  late_ = scan_->late();
  spool_.reset();
  scan_.reset();
}

// The rest of it. When this is all of it, whatever is private stayed so.
std::uint64_t DetectorPasses::finish_spool(const Tables& tables) {
  late_ = scan_->late();
  SharedTimes times = scan_->finish();
  const bool any_sees_all = std::any_of(detectors_.begin(), detectors_.end(),
                                        [&](const auto& each) { return each.direct && spools_for(each); });
  if (behind_ != nullptr || any_sees_all || any_to_feed(times)) {
    see_behind(std::move(times));
    behind_->sections.keep_all_sections(false);
    while (feed_next_from_spool(tables)) {
    }
  }
  return events_;
}

}  // namespace sooth
