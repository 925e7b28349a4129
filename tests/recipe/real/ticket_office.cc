// Tickets are counted down in an atomic. Who gets one writes a name into the list of guests, at a place of its own; who
// gets none is put on the waiting list, which has no lock.
//
// In a serial run the first counter sells all tickets but one, and the second one gets that.
#include <array>
#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kTickets = 4;

class Office {
 public:
  bool sell(const std::string& name) {
    const int left = tickets_.fetch_sub(1);
    if (left <= 0) {
      tickets_.fetch_add(1);
      wait(name);
      return false;
    }
    guests_[static_cast<std::size_t>(left - 1)] = name;
    return true;
  }
  void give_back() { tickets_.fetch_add(1); }

  int waiting() const { return waiting_; }  // RACE(waiting)

 private:
  void wait(const std::string& name) {
    ++waiting_;  // RACE(waiting)
    letters_ += static_cast<int>(name.size());
  }

  std::atomic<int> tickets_{kTickets};
  std::array<std::string, kTickets> guests_;
  int waiting_ = 0;
  int letters_ = 0;
};

}  // namespace

int main() {
  Office office;
  int sold = 0, waiting = 0;
  bool late = false;
  std::thread first([&] {
    for (const char* name : {"anna", "bert", "carl", "dora"}) {
      sold += office.sell(name) ? 1 : 0;
    }
    office.give_back();
    waiting = office.waiting();
  });
  std::thread second([&] { late = office.sell("emil"); });
  first.join();
  second.join();
  std::cout << sold << ' ' << late << ' ' << waiting << '\n';
}
