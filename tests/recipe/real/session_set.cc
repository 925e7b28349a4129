// Users who are logged in. What a user does is noted without the lock.
//
// In a serial run the user has been logged out before the second thread acts for them.
#include <iostream>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace {

class Sessions {
 public:
  void log_in(const std::string& user) {
    std::lock_guard<std::mutex> guard(mutex_);
    users_.insert(user);
  }
  void log_out(const std::string& user) {
    std::lock_guard<std::mutex> guard(mutex_);
    users_.erase(user);
  }
  bool is_in(const std::string& user) {
    std::lock_guard<std::mutex> guard(mutex_);
    return users_.count(user) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<std::string> users_;
};

struct Activity {
  long last_action = 0;
  char last_kind = '-';
};

}  // namespace

int main() {
  Sessions sessions;
  Activity activity;
  sessions.log_in("anna");
  sessions.log_in("bob");
  long last = 0;
  std::thread admin([&] {
    sessions.log_out("bob");
    last = activity.last_action;  // RACE(action)
  });
  std::thread user([&] {
    if (sessions.is_in("bob")) {
      activity.last_action = 17;  // RACE(action)
      activity.last_kind = 'w';
    }
  });
  admin.join();
  user.join();
  std::cout << sessions.is_in("anna") << ' ' << last << '\n';
}
