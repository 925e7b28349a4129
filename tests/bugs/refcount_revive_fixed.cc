// refcount_revive without the bug: the count goes up only from a value that was seen not to be zero.
#include <atomic>
#include <cassert>
#include <thread>

struct Object {
  std::atomic<int> owners{1};
  std::atomic<bool> destroyed{false};
};

Object object;

void release() {
  if (object.owners.fetch_sub(1) == 1) {
    object.destroyed.store(true);
  }
}

bool become_owner() {
  int owners = object.owners.load();
  while (owners != 0) {
    if (object.owners.compare_exchange_strong(owners, owners + 1)) {
      return true;
    }
  }
  return false;
}

void use() {
  if (become_owner()) {
    assert(!object.destroyed.load());
    release();
  }
}

int main() {
  std::thread user(use);
  std::thread owner(release);
  user.join();
  owner.join();
}
