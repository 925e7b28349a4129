// Some of everything that makes threads wait for one another. The order of what they print depends on the schedule only.
#include <pthread.h>

#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

std::mutex lock;
std::condition_variable filled;
std::queue<int> jobs;
bool closed = false;
std::string order;
std::shared_mutex table_lock;
int table = 0;
std::counting_semaphore<4> slots(2);
pthread_barrier_t meeting;  // std::barrier takes the numbers of threads, which are addresses, into account

void work(char name) {
  pthread_barrier_wait(&meeting);
  for (;;) {
    int job;
    {
      std::unique_lock<std::mutex> hold(lock);
      filled.wait(hold, [] { return closed || !jobs.empty(); });
      if (jobs.empty()) return;
      job = jobs.front();
      jobs.pop();
      order += name;
    }
    slots.acquire();
    if (job % 3 == 0) {
      std::unique_lock<std::shared_mutex> hold(table_lock);
      table += job;
    } else {
      std::shared_lock<std::shared_mutex> hold(table_lock);
      if (table < 0) std::puts("never");
    }
    if (lock.try_lock()) {
      order += '.';
      lock.unlock();
    }
    slots.release();
  }
}

int main() {
  pthread_barrier_init(&meeting, nullptr, 3);
  std::vector<std::thread> pool;
  for (char name : {'a', 'b', 'c'}) pool.emplace_back(work, name);
  for (int i = 0; i < 12; ++i) {
    std::lock_guard<std::mutex> hold(lock);
    jobs.push(i);
    filled.notify_one();
  }
  std::future<int> answer = std::async(std::launch::async, [] { return 42; });
  {
    std::lock_guard<std::mutex> hold(lock);
    closed = true;
  }
  filled.notify_all();
  int number = answer.get();
  for (std::thread& thread : pool) thread.join();
  std::printf("%s %d %d\n", order.c_str(), table, number);
}
