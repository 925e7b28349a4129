// A configuration of names and values that is loaded again while another thread asks for a value.
//
// In a serial run the new configuration says "fast", and nothing is verified.
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace {

using Values = std::map<std::string, std::string>;

Values parse(const std::string& text) {
  Values values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find('=');
    if (at != std::string::npos) {
      values[line.substr(0, at)] = line.substr(at + 1);
    }
  }
  return values;
}

class Configuration {
 public:
  explicit Configuration(Values values) : values_(std::move(values)) {}

  void reload(const std::string& text) {
    Values values = parse(text);
    std::lock_guard<std::mutex> guard(mutex_);
    values_.swap(values);
  }

  std::string get(const std::string& name) const {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }

 private:
  mutable std::mutex mutex_;
  Values values_;
};

int verified = 0;

void handle(const Configuration& configuration, int request) {
  if (configuration.get("mode") == "safe") {
    verified = request;  // RACE(verified)
  }
}

}  // namespace

int main() {
  Configuration configuration(parse("mode=safe\nlimit=10\n"));
  int last = 0;
  std::thread reloading([&] {
    configuration.reload("mode=fast\nlimit=20\n");
    last = verified;  // RACE(verified)
  });
  std::thread serving([&] { handle(configuration, 7); });
  reloading.join();
  serving.join();
  std::cout << "last verified: " << last << ", limit " << configuration.get("limit") << '\n';
}
