// A chat with members who may be muted. What is said goes into a log under a lock; how much was said is counted without.
//
// In a serial run the member has been muted before saying anything.
#include <algorithm>
#include <deque>
#include <iostream>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace {

class Room {
 public:
  void mute(const std::string& member) {
    std::lock_guard<std::mutex> guard(mutex_);
    muted_.insert(member);
  }

  bool say(const std::string& member, const std::string& text) {
    std::string line;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      if (muted_.find(member) != muted_.end() || text.empty()) {
        return false;
      }
      line = member + ": " + text;
      std::replace(line.begin(), line.end(), '\n', ' ');
      log_.push_back(line);
      if (log_.size() > 100) {
        log_.pop_front();
      }
    }
    said_ += line.size();  // RACE(said)
    return true;
  }

  std::size_t said() const { return said_; }  // RACE(said)

 private:
  std::mutex mutex_;
  std::set<std::string> muted_;
  std::deque<std::string> log_;
  std::size_t said_ = 0;
};

}  // namespace

int main() {
  Room room;
  room.mute("troll");
  bool heard = false;
  std::size_t said = 0;
  std::thread moderator([&] {
    room.mute("zoe");
    said = room.said();
  });
  std::thread member([&] { heard = room.say("zoe", "hello\neverybody"); });
  moderator.join();
  member.join();
  std::cout << heard << ' ' << said << '\n';
}
