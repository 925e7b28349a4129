// Who has handed a job over in a queue changes its name then.
#include <deque>
#include <mutex>
#include <thread>

struct Job {
  int id = 0, result = 0;
  char* name = nullptr;
};

std::mutex mutex;
std::deque<Job*> jobs;
bool closed;
long total;

Job* take(bool& over) {
  std::lock_guard lock(mutex);
  over = jobs.empty() && closed;
  if (jobs.empty()) {
    return nullptr;
  }
  Job* job = jobs.front();
  jobs.pop_front();
  return job;
}

void work() {
  for (bool over = false; !over;) {
    Job* job = take(over);
    if (job == nullptr) {
      std::this_thread::yield();
      continue;
    }
    job->result = job->id * 2 + job->name[0];
    total += job->result;
  }
}

int main() {
  std::thread worker(work);
  for (int i = 0; i < 4; ++i) {
    Job* job = new Job;
    job->id = i;
    job->name = new char[8];
    char* name = job->name;
    name[0] = 'a';
    {
      std::lock_guard lock(mutex);
      jobs.push_back(job);
    }
    name[0] = 'b';  // RACE
  }
  {
    std::lock_guard lock(mutex);
    closed = true;
  }
  worker.join();
  return total > 0 ? 0 : 1;
}
