// Cars pay at a bridge. Prices depend on the class of a car and on the season; who cannot pay turns round, which is counted
// without the lock.
//
// In a serial run the season has changed to the cheap one, and the car can pay.
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace {

enum class Season { kSummer, kWinter };

class Car {
 public:
  explicit Car(int money) : money_(money) {}
  virtual ~Car() = default;
  virtual int wheels() const { return 4; }
  bool pay(int price) {
    if (money_ < price) {
      return false;
    }
    money_ -= price;
    return true;
  }

 private:
  int money_;
};

class Truck final : public Car {
 public:
  using Car::Car;
  int wheels() const override { return 10; }
};

class Bridge {
 public:
  Bridge() : prices_{{{4, Season::kSummer}, 5}, {{4, Season::kWinter}, 2}, {{10, Season::kSummer}, 30}, {{10, Season::kWinter}, 12}} {}

  void change(Season season) {
    std::lock_guard<std::mutex> guard(mutex_);
    season_ = season;
  }
  bool pass(Car& car) {
    int price = 0;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      const auto at = prices_.find({car.wheels(), season_});
      price = at == prices_.end() ? 0 : at->second;
    }
    if (!car.pay(price)) {
      ++turned_;  // RACE(turned)
      return false;
    }
    std::lock_guard<std::mutex> guard(mutex_);
    income_ += price;
    return true;
  }
  int turned() const { return turned_; }  // RACE(turned)

 private:
  std::map<std::pair<int, Season>, int> prices_;
  std::mutex mutex_;
  Season season_ = Season::kSummer;
  int income_ = 0, turned_ = 0;
};

}  // namespace

int main() {
  Bridge bridge;
  const std::unique_ptr<Car> truck = std::make_unique<Truck>(20);
  int seen = 0;
  bool passed = false;
  std::thread office([&] {
    bridge.change(Season::kWinter);
    seen = bridge.turned();
  });
  std::thread driver([&] { passed = bridge.pass(*truck); });
  office.join();
  driver.join();
  std::cout << passed << ' ' << seen << '\n';
}
