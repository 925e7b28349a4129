// The top of a stack is looked at in one section and taken off in another: two threads get the same.
#include <cassert>
#include <mutex>
#include <stack>
#include <thread>

std::mutex stack_mutex;
std::stack<int> values({1, 2});
int sum = 0;

int top() {
  std::lock_guard guard(stack_mutex);
  return values.top();
}

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(stack_mutex);
  sum += values.top();
  values.pop();
}
#else
void work(int) {
  const int value = top();
  std::lock_guard guard(stack_mutex);
  values.pop();
  sum += value;
}
#endif

int main() {
  assert(top() == 2);
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(sum == 3);
}
