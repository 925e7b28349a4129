#include "detect/section_guards.h"

#include <utility>

namespace sooth {

std::uint64_t SectionGuards::key(std::uint64_t lock, CellId cell) {
  std::uint32_t& number = lock_numbers_[lock];
  if (number == 0) {
    number = static_cast<std::uint32_t>(lock_numbers_.size());
  }
  return std::uint64_t{number} << 32 | raw(cell);
}

GuardId SectionGuards::find_behind_head(std::uint64_t lock, CellId cell) {
  const GuardId* known = index_.find(key(lock, cell));
  return known != nullptr ? *known : add(lock, cell);
}

GuardId SectionGuards::add(std::uint64_t lock, CellId cell) {
  GuardId id;
  if (free_.empty()) {
    id = GuardId(guards_.size());
    guards_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  if (raw(cell) >= heads_.size()) {
    heads_.resize(raw(cell) + 1);
  }
  Guard& guard = guards_[raw(id)];
  guard.lock = lock;
  // Behind the head: the first lock that guarded a variable mostly is the one that does.
  const GuardId first = heads_[raw(cell)];
  GuardId& link = first == kNoGuard ? heads_[raw(cell)] : guards_[raw(first)].next_in_cell;
  guard.next_in_cell = std::exchange(link, id);
  index_[key(lock, cell)] = id;
  return id;
}

void SectionGuards::replace(ClosedSection& slot, const ClosedSection& with) {
  clocks_.hold(with.said);
  clocks_.drop(slot.said);
  slot = with;
}

void SectionGuards::close_shared(GuardId id, AccessKind kind, const ThreadLife& own, Time released, ClockId said) {
  Guard& guard = guards_[raw(id)];
  guard.kinds |= static_cast<std::uint8_t>(1u << raw(kind));
  if (guard.shared == 0) {
    guard.shared = static_cast<std::uint32_t>(shared_.size());
    shared_.emplace_back();
  }
  // Of the same number: the section of the thread itself, or the earlier one of two that were before it. The later one
  // knows what that one said.
  SharedSection* replaced = nullptr;
  unsigned count = 0;
  for (SharedSection& section : shared_[guard.shared]) {
    if (section.kind != kind || section.closed.thread != own.thread) {
      continue;
    }
    ++count;
    if (own.did(own.thread, section.closed.released)) {
      return replace(section.closed, {own.thread, released, said});
    }
    if (replaced == nullptr || section.closed.released < replaced->closed.released) {
      replaced = &section;
    }
  }
  if (count < 2) {
    replaced = &shared_[guard.shared].emplace_back(SharedSection{kind, {}});
  }
  replace(replaced->closed, {own.thread, released, said});
}

GuardId SectionGuards::copy_guard(GuardId id, CellId to) {
  const GuardId copy_id = add(guards_[raw(id)].lock, to);
  const Guard& original = guards_[raw(id)];
  Guard& copy = guards_[raw(copy_id)];
  copy.kinds = original.kinds;
  for (std::size_t kind = 0; kind < original.exclusive.size(); ++kind) {
    replace(copy.exclusive[kind][0], original.exclusive[kind][0]);
    replace(copy.exclusive[kind][1], original.exclusive[kind][1]);
  }
  if (original.shared != 0) {
    copy.shared = static_cast<std::uint32_t>(shared_.size());
    shared_.push_back(shared_[original.shared]);
    for (const SharedSection& section : shared_.back()) {
      clocks_.hold(section.closed.said);
    }
  }
  return copy_id;
}

void SectionGuards::drop_cell(CellId cell) {
  for (GuardId id = head(cell); id != kNoGuard;) {
    Guard& guard = guards_[raw(id)];
    for (Guard::Sections& sections : guard.exclusive) {
      clocks_.drop(sections[0].said);
      clocks_.drop(sections[1].said);
    }
    if (guard.shared != 0) {
      for (const SharedSection& section : shared_[guard.shared]) {
        clocks_.drop(section.closed.said);
      }
      std::vector<SharedSection>().swap(shared_[guard.shared]);
    }
    index_.erase(key(guard.lock, cell));
    free_.push_back(id);
    Guard unused;
    unused.generation = guard.generation + 1;
    id = std::exchange(guard, unused).next_in_cell;
  }
  if (raw(cell) < heads_.size()) {
    heads_[raw(cell)] = kNoGuard;
  }
}

}  // namespace sooth
