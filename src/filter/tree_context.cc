#include "filter/tree_context.h"

namespace sooth {

// Events of others that came before an acquire are what the thread may have learnt by it, or others by its releases before.
void TreeContexts::open_section(TreeContext& context, const Event& acquire) {
  std::uint64_t& all = lock_events_[acquire.object];
  TreeContext::Use& use = context.uses[acquire.object];
  use.shared = is_shared(acquire);
  use.while_held = all - use.own + (use.shared ? use.exclusive_releases : 0);
  context.count += use.while_held - use.releases;
  ++all;
  ++use.own;
}

void TreeContexts::close_section(TreeContext& context, const Event& release) {
  ++lock_events_[release.object];
  TreeContext::Use& use = context.uses[release.object];
  ++use.own;
  ++use.releases;
  use.exclusive_releases += use.shared ? 0 : 1;
  context.count += use.releases - use.while_held;
}

std::uint64_t TreeContexts::memory() const {
  std::uint64_t bytes = threads_.capacity() * sizeof(TreeContext) + lock_events_.memory();
  for (const TreeContext& context : threads_) {
    bytes += context.locks.memory() + context.uses.memory();
  }
  return bytes;
}

}  // namespace sooth
