// Two processes with one mutex, condition, semaphore, barrier, reader-writer lock, spin lock and futex: each waits for what only the other does.
// OUTPUT: 5 rounds, futex woken
// DEEP: some, the child of a fork begins in the middle
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct Shared {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_barrier_t barrier;
  pthread_rwlock_t lock;
  pthread_spinlock_t spin;
  sem_t to_child, to_parent;
  int turn;
  int rounds;
  unsigned futex;
};

static Shared* shared;

static void await_turn(int turn) {
  pthread_mutex_lock(&shared->mutex);
  while (shared->turn != turn)
    pthread_cond_wait(&shared->changed, &shared->mutex);
  shared->turn = 1 - turn;
  pthread_cond_signal(&shared->changed);
  pthread_mutex_unlock(&shared->mutex);
}

static void child() {
  for (int i = 0; i < 5; ++i) {
    sem_wait(&shared->to_child);
    await_turn(1);
    pthread_rwlock_wrlock(&shared->lock);
    ++shared->rounds;
    pthread_rwlock_unlock(&shared->lock);
    pthread_barrier_wait(&shared->barrier);
    sem_post(&shared->to_parent);
  }
  usleep(2000);
  pthread_spin_unlock(&shared->spin);
  usleep(2000);
  __atomic_store_n(&shared->futex, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &shared->futex, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  _exit(0);
}

int main() {
  shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_mutexattr_t mutex_attributes;
  pthread_mutexattr_init(&mutex_attributes);
  pthread_mutexattr_setpshared(&mutex_attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &mutex_attributes);
  pthread_condattr_t cond_attributes;
  pthread_condattr_init(&cond_attributes);
  pthread_condattr_setpshared(&cond_attributes, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&shared->changed, &cond_attributes);
  pthread_barrierattr_t barrier_attributes;
  pthread_barrierattr_init(&barrier_attributes);
  pthread_barrierattr_setpshared(&barrier_attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &barrier_attributes, 2);
  pthread_rwlockattr_t lock_attributes;
  pthread_rwlockattr_init(&lock_attributes);
  pthread_rwlockattr_setpshared(&lock_attributes, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(&shared->lock, &lock_attributes);
  sem_init(&shared->to_child, 1, 0);
  sem_init(&shared->to_parent, 1, 0);
  pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    pthread_spin_lock(&shared->spin);
    child();
  }
  for (int i = 0; i < 5; ++i) {
    sem_post(&shared->to_child);
    await_turn(0);
    pthread_barrier_wait(&shared->barrier);
    pthread_rwlock_rdlock(&shared->lock);
    pthread_rwlock_unlock(&shared->lock);
    sem_wait(&shared->to_parent);
  }
  pthread_spin_lock(&shared->spin);
  while (__atomic_load_n(&shared->futex, __ATOMIC_SEQ_CST) == 0)
    syscall(SYS_futex, &shared->futex, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  waitpid(pid, nullptr, 0);
  printf("%d rounds, futex %s\n", shared->rounds, shared->futex == 1 ? "woken" : "asleep");
}
