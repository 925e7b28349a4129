// Downloads that are claimed, finished or cancelled by compare-exchange. The one who finishes one counts its bytes without a lock.
//
// In a serial run the download has been cancelled before the worker claims it.
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

enum State : int { kQueued, kRunning, kDone, kCancelled };

struct Download {
  explicit Download(std::string u, long s) : url(std::move(u)), size(s) {}
  const std::string url;
  const long size;
  std::atomic<int> state{kQueued};
};

class Manager {
 public:
  Download& add(std::string url, long size) {
    downloads_.push_back(std::make_unique<Download>(std::move(url), size));
    return *downloads_.back();
  }

  bool cancel(Download& download) {
    int expected = kQueued;
    return download.state.compare_exchange_strong(expected, kCancelled);
  }

  void work() {
    for (const std::unique_ptr<Download>& download : downloads_) {
      int expected = kQueued;
      if (!download->state.compare_exchange_strong(expected, kRunning)) {
        continue;
      }
      fetched_ += download->size;  // RACE(fetched)
      download->state.store(kDone);
    }
  }

  long fetched() const { return fetched_; }  // RACE(fetched)

 private:
  std::vector<std::unique_ptr<Download>> downloads_;
  long fetched_ = 0;
};

}  // namespace

int main() {
  Manager manager;
  Download& page = manager.add("http://localhost/page", 2000);
  bool cancelled = false;
  long seen = 0;
  std::thread user([&] {
    cancelled = manager.cancel(page);
    seen = manager.fetched();
  });
  std::thread worker([&] { manager.work(); });
  user.join();
  worker.join();
  std::cout << page.url << ": " << cancelled << ' ' << seen << '\n';
}
