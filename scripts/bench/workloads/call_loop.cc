// Two threads walk documents of their own and look words up in a table that they share, for reading: what recording the
// calls costs when the table's functions, table_*, are left out.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Entry {
  long key;
  long uses;
};
struct Table {
  std::vector<Entry> entries;
  explicit Table(std::size_t size) : entries(size) {}
};

extern "C" __attribute__((noinline)) long table_find(const Table* table, long key) {
  const std::size_t size = table->entries.size();
  for (std::size_t at = static_cast<std::size_t>(key) % size, probes = 0; probes < 8; ++probes, at = (at + 1) % size) {
    if (table->entries[at].key == key) {
      return static_cast<long>(at);
    }
  }
  return -1;
}

static long walk(const Table& table, std::vector<long>& words, int rounds) {
  long found = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = (words[i] * 31 + round) % 1009;
      if (i % 64 == 0) {
        found += table_find(&table, words[i]) >= 0;
      }
    }
  }
  return found;
}

int main(int, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  Table table(1021);
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    table.entries[i].key = static_cast<long>(i);
  }
  long found[2] = {0, 0};
  const auto work = [&](int which) {
    std::vector<long> words(4096, which + 1);
    found[which] = walk(table, words, rounds);
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  std::printf("%ld\n", found[0] + found[1]);
}
