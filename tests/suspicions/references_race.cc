// Both count down under a lock, and then clean up without looking who is the last.
#include <mutex>
#include <thread>

struct Object {
  std::mutex mutex;
  int references = 2;
  int data = 0;
};

void drop(Object* object) {
  bool last;
  {
    std::lock_guard lock(object->mutex);
    last = --object->references == 0;
  }
  object->data = last ? 7 : 8;  // RACE
}

void work(Object* object) {
  object->mutex.lock();
  ++object->data;
  object->mutex.unlock();
  drop(object);
}

int main() {
  Object* object = new Object;
  std::thread worker(work, object);
  work(object);
  worker.join();
}
