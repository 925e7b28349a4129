#include "runtime/benign.h"

namespace sooth::rt {
namespace {

struct Range {
  uptr begin, end;
};
Range ranges_[kMaxIgnored];
u32 count_ = 0;
SpinLock lock_;

}  // namespace

void ignore_memory(uptr begin, uptr size) {
  Thread* t = current();
  if (t == nullptr) return;
  t->special |= kIgnoreMemory;
  SpinGuard guard(lock_);
  u32 count = __atomic_load_n(&count_, __ATOMIC_RELAXED);
  if (count == kMaxIgnored) return;
  ranges_[count] = {begin, begin + size};
  __atomic_store_n(&count_, count + 1, __ATOMIC_RELEASE);
}

bool is_ignored_memory(uptr address) {
  u32 count = __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
  for (u32 i = 0; i < count; ++i)
    if (address >= ranges_[i].begin && address < ranges_[i].end) return true;
  return false;
}

bool any_ignored_memory() { return __atomic_load_n(&count_, __ATOMIC_RELAXED) != 0; }

}  // namespace sooth::rt
