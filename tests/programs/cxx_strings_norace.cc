// Strings, lists and maps are used in libstdc++.so by one thread after the other, and are read by both at the same time.
#include <list>
#include <map>
#include <sstream>
#include <string>

#include "harness.h"

std::string title = "none", shared = "is only read";
std::list<std::string> queue;
std::map<std::string, int> ages;
int length[2];

static void use() {
  title += " of these";
  title.insert(0, "q");
  title.replace(0, 1, "zz");
  title.resize(40, 'x');
  title.reserve(100);
  title.erase(3, 2);
  title.push_back('!');
  title = title.substr(1, 5) + shared;
  queue.push_back(title);
  queue.push_back(std::move(title));
  queue.reverse();
  queue.pop_front();
  ages[queue.front()] = 1;
  ages["b"] = 2;
  ages["c"] = 3;
  for (auto& each : ages) {
    title += each.first;
  }
  ages.erase("b");
  std::ostringstream out;
  out << title << shared << 3;
  title.swap(queue.front());
}

static void worker() {
  use();
  reach(1);
  length[1] = static_cast<int>(shared.size() + shared.find("only") + static_cast<unsigned>(shared.compare(shared)));
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  length[0] = static_cast<int>(shared.length() + std::string(shared).find('r'));
  join(thread);
  use();
}
