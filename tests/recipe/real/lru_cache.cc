// A cache that forgets what was not used for longest. Hits are counted without the lock.
//
// In a serial run the first thread has pushed "alpha" out again before the second one asks for it.
#include <iostream>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

namespace {

class Cache {
 public:
  explicit Cache(std::size_t capacity) : capacity_(capacity) {}

  void put(const std::string& key, int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (const auto known = index_.find(key); known != index_.end()) {
      known->second->second = value;
      return;
    }
    if (entries_.size() == capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, value);
    index_[key] = entries_.begin();
  }

  std::optional<int> get(const std::string& key) {
    std::optional<int> value;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      const auto known = index_.find(key);
      if (known == index_.end()) {
        return value;
      }
      entries_.splice(entries_.begin(), entries_, known->second);
      value = known->second->second;
    }
    ++hits_;  // RACE(hits)
    return value;
  }

  int hits() const { return hits_; }  // RACE(hits)

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::list<std::pair<std::string, int>> entries_;
  std::unordered_map<std::string, std::list<std::pair<std::string, int>>::iterator> index_;
  int hits_ = 0;
};

}  // namespace

int main() {
  Cache cache(2);
  std::optional<int> got;
  int hits = 0;
  std::thread filler([&] {
    cache.put("alpha", 1);
    cache.put("beta", 2);
    cache.put("gamma", 3);
    hits = cache.hits();
  });
  std::thread reader([&] { got = cache.get("alpha"); });
  filler.join();
  reader.join();
  std::cout << got.value_or(-1) << ' ' << hits << '\n';
}
