// A database under load: four threads write to LevelDB, read back and scan, while its own thread compacts.
//   leveldb_load FOLDER OPERATIONS
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"

namespace {

constexpr int kThreads = 4;

std::string key_of(unsigned number) {
  char key[24];
  std::snprintf(key, sizeof key, "key%012u", number);
  return key;
}

void work(leveldb::DB* db, unsigned thread, unsigned operations, unsigned* found) {
  unsigned state = thread * 2654435761u + 1;
  std::string value(100, 'v');
  for (unsigned i = 0; i < operations; ++i) {
    state = state * 1664525u + 1013904223u;
    const std::string key = key_of((state >> 8) % (kThreads * operations));
    if (i % 2 == 0) {
      value[i % value.size()] = static_cast<char>('a' + i % 26);
      db->Put({}, key, value);
    } else if (i % 101 == 0) {
      const std::unique_ptr<leveldb::Iterator> at(db->NewIterator({}));
      int left = 50;
      for (at->Seek(key); at->Valid() && left > 0; at->Next()) {
        --left;
        *found += at->value().size() != 0 ? 1 : 0;
      }
    } else {
      std::string read;
      *found += db->Get({}, key, &read).ok() ? 1 : 0;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: leveldb_load FOLDER OPERATIONS\n");
    return 2;
  }
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 256 << 10;  // so that there is something to compact
  options.compression = leveldb::kNoCompression;
  leveldb::DestroyDB(argv[1], options);
  leveldb::DB* opened = nullptr;
  if (const leveldb::Status status = leveldb::DB::Open(options, argv[1], &opened); !status.ok()) {
    std::fprintf(stderr, "leveldb_load: %s\n", status.ToString().c_str());
    return 1;
  }
  const std::unique_ptr<leveldb::DB> db(opened);
  std::vector<unsigned> found(kThreads * 16);  // far apart
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back(work, db.get(), i, static_cast<unsigned>(std::atoi(argv[2])), &found[i * 16]);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("%s\n", found[0] != 0 ? "done" : "found nothing");
}
