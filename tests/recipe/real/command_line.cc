// Commands with arguments are looked up in a table of functions; what is wrong with them is thrown. The level may be changed
// while others execute commands, which count what they did without a lock.
//
// In a serial run the level has been lowered, and the command is not allowed any more.
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) {
      words.emplace_back(line.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return words;
}

class Shell {
 public:
  using Command = void (Shell::*)(const std::vector<std::string>&);

  Shell() {
    commands_["add"] = &Shell::add;
    commands_["echo"] = &Shell::echo;
  }

  void set_level(int level) {
    std::lock_guard<std::mutex> guard(mutex_);
    level_ = level;
  }

  void execute(std::string_view line) {
    const std::vector<std::string> words = split(line);
    if (words.empty()) {
      return;
    }
    const auto found = commands_.find(words[0]);
    if (found == commands_.end()) {
      throw std::invalid_argument("no such command");
    }
    {
      std::lock_guard<std::mutex> guard(mutex_);
      if (level_ < 2) {
        return;
      }
    }
    (this->*found->second)(words);
  }

  long sum() const { return sum_; }  // RACE(sum)

 private:
  void add(const std::vector<std::string>& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      sum_ += std::stol(words[i]);  // RACE(sum)
    }
  }
  void echo(const std::vector<std::string>& words) { std::cout << words.size() << '\n'; }

  std::unordered_map<std::string, Command> commands_;
  std::mutex mutex_;
  int level_ = 2;
  long sum_ = 0;
};

}  // namespace

int main() {
  Shell shell;
  long seen = 0;
  std::thread admin([&] {
    shell.set_level(1);
    seen = shell.sum();
  });
  std::thread user([&] { shell.execute("add 12 30"); });
  admin.join();
  user.join();
  std::cout << seen << '\n';
}
