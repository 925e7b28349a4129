// Look and insertion are one section.
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

class Sessions {
 public:
  void open_once(const std::string& user) {
    std::lock_guard lock(mutex_);
    if (sessions_.count(user) == 0) {
      sessions_[user]++;
    }
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

void login() { sessions.open_once("ada"); }

int main() {
  std::thread phone(login);
  std::thread laptop(login);
  phone.join();
  laptop.join();
  assert(sessions.opened("ada") == 1);
}
