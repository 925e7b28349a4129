#include "filter/tree_context.h"

namespace sooth {

// The part of a lock in the count changes from that of a free one to that of a held one. Events of others that came before
// an acquire are what the thread may have learnt by it, or others by its releases before.
void TreeContexts::open_section(TreeContext& context, std::uint64_t lock) {
  std::uint64_t& all = lock_events_[lock];
  TreeContext::Use& use = context.uses[lock];
  use.others = all - use.own;
  context.count += use.others - use.releases;
  ++all;
  ++use.own;
}

void TreeContexts::close_section(TreeContext& context, std::uint64_t lock) {
  ++lock_events_[lock];
  TreeContext::Use& use = context.uses[lock];
  ++use.own;
  ++use.releases;
  context.count += use.releases - use.others;
}

std::uint64_t TreeContexts::memory() const {
  std::uint64_t bytes = threads_.capacity() * sizeof(TreeContext) + lock_events_.memory();
  for (const TreeContext& context : threads_) {
    bytes += context.locks.memory() + context.uses.memory();
  }
  return bytes;
}

}  // namespace sooth
