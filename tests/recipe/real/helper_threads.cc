// A sorter starts helpers as long as there are places for them (Figure 7 of RECIPE, with std::thread). To look how many
// there are takes one lock, to change it another one.
//
// In a serial run the first sorter takes both places, and the second one starts no helper.
#include <algorithm>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kPlaces = 2;
int helpers = 0;
std::mutex looking;

int places() {
  std::lock_guard<std::mutex> guard(looking);
  return kPlaces - helpers;  // RACE(look_left) RACE(look_right)
}

void sort_part(std::vector<int>& numbers, std::size_t begin, std::size_t end) {
  std::sort(numbers.begin() + static_cast<long>(begin), numbers.begin() + static_cast<long>(end));
}

void sort_all(std::vector<int>& numbers) {
  std::mutex changing;
  const std::size_t middle = numbers.size() / 2;
  const int free = places();
  if (free >= 2) {
    std::thread left([&] { sort_part(numbers, 0, middle); });
    changing.lock();
    ++helpers;  // RACE(look_left) RACE(left_left) RACE(left_right)
    changing.unlock();
    std::thread right([&] { sort_part(numbers, middle, numbers.size()); });
    changing.lock();
    ++helpers;  // RACE(look_right) RACE(left_right) RACE(right_right) RACE(right_one)
    changing.unlock();
    left.join();
    right.join();
  } else if (free == 1) {
    std::thread helper([&] { sort_part(numbers, 0, middle); });
    changing.lock();
    ++helpers;  // RACE(right_one)
    changing.unlock();
    helper.join();
    sort_part(numbers, middle, numbers.size());
  } else {
    sort_part(numbers, 0, middle);
    sort_part(numbers, middle, numbers.size());
  }
  std::inplace_merge(numbers.begin(), numbers.begin() + static_cast<long>(middle), numbers.end());
}

}  // namespace

int main() {
  std::vector<int> one{5, 3, 8, 1}, two{9, 2, 7, 4};
  std::thread first([&] { sort_all(one); });
  std::thread second([&] { sort_all(two); });
  first.join();
  second.join();
  std::cout << one[0] << one[1] << one[2] << one[3] << ' ' << two[0] << two[1] << two[2] << two[3] << '\n';
}
