// A shop. What is sold out has to be ordered, and the list of orders has no lock.
//
// In a serial run the goods have been delivered before anybody wants them.
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

class Shop {
 public:
  void deliver(const std::string& article, int count) {
    std::lock_guard<std::mutex> guard(mutex_);
    stock_[article] += count;
  }

  // False: it has to be ordered.
  bool sell(const std::string& article, int count) {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto found = stock_.find(article);
    if (found == stock_.end() || found->second < count) {
      return false;
    }
    found->second -= count;
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, int> stock_;
};

struct Orders {
  std::vector<std::string> articles;
  int open = 0;

  void add(const std::string& article) {
    articles.push_back(article);
    ++open;  // RACE(open)
  }
};

}  // namespace

int main() {
  Shop shop;
  Orders orders;
  shop.deliver("lamp", 1);
  shop.deliver("table", 4);
  int open = 0;
  std::thread truck([&] {
    shop.deliver("lamp", 5);
    open = orders.open;  // RACE(open)
  });
  std::thread client([&] {
    if (!shop.sell("lamp", 3)) {
      orders.add("lamp");
    }
  });
  truck.join();
  client.join();
  std::cout << open << " orders seen\n";
}
