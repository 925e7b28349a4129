// A cache and its cleaner. A reader looks an entry up under the lock and uses it after it has given the lock back;
// the cleaner drops entries that have been used. When it comes in between, the reader holds an entry that is gone:
// the program aborts.
//
// FOUND(alive): hb wcp    the reader's use of an entry, and the cleaner that puts it to death
// FOUND(value): hb wcp ?  the reader's use of its value, and the cleaner that gives its memory back; not told by a run that aborts before
// FOUND(free): hb wcp     the reader's first look at it, and the memory that is given back
//
// No race: the list and the counts of uses, always under the lock.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

constexpr int kAlive = 0x600d, kDead = 0xdead;
constexpr int kEntries = 4;

struct Entry {
  int key;
  int value;
  int uses = 0;
  int state = kAlive;
};

std::mutex mutex;
std::condition_variable used;
Entry* cache[kEntries];
long sum = 0;

Entry* find(int key) {
  std::lock_guard<std::mutex> guard(mutex);
  Entry* entry = cache[key];
  entry->uses++;
  used.notify_one();
  return entry;
}

void reader() {
  for (int key = 0; key < kEntries; ++key) {
    Entry* entry = find(key);
    if (entry->state != kAlive) {  // RACE(alive) RACE(free)
      std::fputs("the entry in use is gone\n", stderr);
      std::abort();
    }
    sum += entry->value;  // RACE(value)
  }
}

// Takes the first entry that has been used out of the cache; waits until there is one.
Entry* take_used() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    for (Entry*& place : cache) {
      if (place != nullptr && place->uses > 0) {
        Entry* entry = place;
        place = nullptr;
        return entry;
      }
    }
    used.wait(lock);
  }
}

void cleaner() {
  for (int i = 0; i < kEntries; ++i) {
    Entry* entry = take_used();
    *static_cast<volatile int*>(&entry->state) = kDead;  // RACE(alive)
    std::free(entry);                                    // RACE(value) RACE(free)
  }
}

}  // namespace

int main() {
  for (int key = 0; key < kEntries; ++key) {
    cache[key] = static_cast<Entry*>(std::malloc(sizeof(Entry)));
    *cache[key] = Entry{key, key * 10};
  }
  std::thread reading(reader), cleaning(cleaner);
  reading.join();
  cleaning.join();
  std::printf("%ld\n", sum);
}
