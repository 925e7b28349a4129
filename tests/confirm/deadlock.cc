// Two locks in two orders. The recorded run takes one thread after the other, and nothing happens.
#include <mutex>
#include <thread>

namespace {

std::mutex accounts, journal;
int balance = 0;

void deposit() {
  std::lock_guard<std::mutex> first(accounts);
  std::lock_guard<std::mutex> second(journal);
  ++balance;
}

void audit() {
  std::lock_guard<std::mutex> first(journal);
  std::lock_guard<std::mutex> second(accounts);
  --balance;
}

}  // namespace

int main() {
  std::thread one(deposit), other(audit);
  one.join();
  other.join();
}
