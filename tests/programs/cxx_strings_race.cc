// Strings are changed and looked at in libstdc++.so, which is not instrumented, and another thread does not wait.
// TSAN: none, it does not see what these functions touch
#include <list>
#include <string>

#include "harness.h"

std::string title = "none", *name = new std::string("Ada");
std::list<int>* queue = new std::list<int>;
Apart copy;

static void worker() {
  title.append("a longer title that goes to the heap");  // RACE(a)
  name->assign("Grace");  // RACE(b)
  queue->push_back(1);  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = static_cast<int>(title.size());  // RACE(a)
  std::string other(*name);  // RACE(b)
  queue->push_back(2);  // RACE(c)
  join(thread);
}
