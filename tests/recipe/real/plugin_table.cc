// Plugins behind virtual functions. Which of them is active is an index under a lock.
//
// In a serial run the plugin that does nothing is active when the second thread calls it.
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual void run(int input) = 0;
  virtual std::string name() const = 0;
};

class Nothing final : public Plugin {
 public:
  void run(int) override {}
  std::string name() const override { return "nothing"; }
};

class Counting final : public Plugin {
 public:
  void run(int input) override {
    total_ += input;  // RACE(total)
  }
  std::string name() const override { return "counting"; }
  int total() const { return total_; }  // RACE(total)

 private:
  int total_ = 0;
};

class Host {
 public:
  Host() {
    plugins_.push_back(std::make_unique<Nothing>());
    auto counting = std::make_unique<Counting>();
    counting_ = counting.get();
    plugins_.push_back(std::move(counting));
  }

  void choose(std::size_t active) {
    std::lock_guard<std::mutex> guard(mutex_);
    active_ = active;
  }
  void run(int input) {
    Plugin* plugin = nullptr;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      plugin = plugins_[active_].get();
    }
    plugin->run(input);
  }
  int total() const { return counting_->total(); }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  Counting* counting_ = nullptr;
  std::size_t active_ = 1;
};

}  // namespace

int main() {
  Host host;
  int total = 0;
  std::thread control([&] {
    host.choose(0);
    total = host.total();
  });
  std::thread worker([&] { host.run(42); });
  control.join();
  worker.join();
  std::cout << total << '\n';
}
