// Whether a session is there is asked under the lock, and it is made under the lock, but these are two sections: both
// threads may make it.
//
// FAILS: assertion: the session was opened twice
// PREEMPTIONS: 1, of one thread between its look and its insertion
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

class Sessions {
 public:
  bool contains(const std::string& user) {
    std::lock_guard lock(mutex_);
    return sessions_.count(user) != 0;
  }
  void open(const std::string& user) {
    std::lock_guard lock(mutex_);
    sessions_[user]++;
  }
  int opened(const std::string& user) {
    std::lock_guard lock(mutex_);
    return sessions_[user];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> sessions_;
};

Sessions sessions;

void login() {
  if (!sessions.contains("ada")) {
    sessions.open("ada");
  }
}

int main() {
  std::thread phone(login);
  std::thread laptop(login);
  phone.join();
  laptop.join();
  assert(sessions.opened("ada") == 1);
}
