/* A library that nobody instruments: what it reads and writes through the pointers that it is given has no events. */
#include <stdarg.h>
#include <unistd.h>

struct box {
  int** where;
};

static int* kept;
static volatile int posted;

int outside_get(const int* p) { return *(volatile const int*)p; }

void outside_set(int* p, int value) { *(volatile int*)p = value; }

int outside_open(const struct box* box) { return **(volatile int**)box->where; }

void outside_keep(int* p) { kept = p; }

int outside_kept(void) { return *(volatile int*)kept; }

void outside_post(void) { posted = 1; }

int outside_posted(void) { return posted; }

int outside_first(va_list* list) { return *va_arg(*list, volatile int*); }

void outside_await(const int* p) {
  while (*(volatile const int*)p == 0) {
    usleep(1000);
  }
}

/* The same past everything that a run time library can stand in for. */
void outside_await_kernel(const int* p) {
  const long millisecond[2] = {0, 1000000};
  while (*(volatile const int*)p == 0) {
    long result = 35; /* nanosleep */
    __asm__ volatile("syscall" : "+a"(result) : "D"(millisecond), "S"(0) : "rcx", "r11", "memory");
  }
}
