// A weak reference is made a strong one by a look at the count and an increment: in between the last owner can go.
//
// FAILS: assertion: an object is used after it was destroyed
// PREEMPTIONS: 1, of the thread that looks, before it increments
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
  if (object.owners.load() == 0) {
    return false;
  }
  object.owners.fetch_add(1);
  return true;
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
