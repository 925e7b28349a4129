// Names and their addresses, which are forgotten when they are too old. Misses are counted without the lock.
//
// In a serial run the name has been entered again, with a new age, before somebody asks.
#include <cstdio>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {

struct Entry {
  std::string address;
  int expires = 0;
};

class Names {
 public:
  void enter(const std::string& name, const std::string& address, int expires) {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto [at, is_new] = entries_.insert_or_assign(name, Entry{address, expires});
    if (is_new) {
      order_.push_back(name);
    }
    if (order_.size() > 3) {
      entries_.erase(order_.front());
      order_.pop_front();
    }
  }

  std::string look_up(const std::string& name, int now) {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      const auto at = entries_.find(name);
      if (at != entries_.end() && at->second.expires > now) {
        return at->second.address;
      }
    }
    ++misses_;  // RACE(misses)
    return "unknown";
  }

  int misses() const { return misses_; }  // RACE(misses)

 private:
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::list<std::string> order_;
  int misses_ = 0;
};

}  // namespace

int main() {
  Names names;
  names.enter("mail", "10.0.0.7", 50);
  names.enter("printer", "10.0.0.9", 100);
  std::string found;
  int misses = 0;
  std::thread refresh([&] {
    names.enter("mail", "10.0.0.8", 500);
    misses = names.misses();
  });
  std::thread client([&] { found = names.look_up("mail", 200); });
  refresh.join();
  client.join();
  std::printf("%s, %d\n", found.c_str(), misses);
}
