// The travelling salesman by branch and bound: threads take first cities and search the tours that begin there. A
// tour that is already longer than the best known one is given up; that look at the best is made without the lock.
//
// FOUND(bound): hb wcp    the look at the best tour, and the thread that has found a better one
//
// No race: `best` is written under the lock, after a second look; the distances are written before the threads
// start.
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

constexpr int kCities = 7;
int distances[kCities][kCities];
std::mutex mutex;
int best = 1 << 20;
int next_city = 3;

bool hopeless(int length) {
  return length >= best;  // RACE(bound)
}

void offer(int length) {
  std::lock_guard<std::mutex> guard(mutex);
  if (length < best) {
    best = length;  // RACE(bound)
  }
}

void search(int city, unsigned visited, int length) {
  if (hopeless(length)) {
    return;
  }
  if (visited == (1u << kCities) - 1) {
    offer(length + distances[city][0]);
    return;
  }
  for (int next = 1; next < kCities; ++next) {
    if ((visited & (1u << next)) == 0) {
      search(next, visited | 1u << next, length + distances[city][next]);
    }
  }
}

int take_city() {
  std::lock_guard<std::mutex> guard(mutex);
  return next_city++;
}

void salesman(int first_city) {
  for (int city = first_city; city < kCities; city = take_city()) {
    search(city, 1u | 1u << city, distances[0][city]);
  }
}

}  // namespace

int main() {
  for (int from = 0; from < kCities; ++from) {
    for (int to = 0; to < kCities; ++to) {
      distances[from][to] = from == to ? 0 : 10 + (from * to * 7 + from + to) % 23;
    }
  }
  std::thread first(salesman, 1), second(salesman, 2);
  first.join();
  second.join();
  std::printf("shortest tour: %d\n", best);
}
