/* A library that nobody instruments, and that keeps nothing between calls. */
int stateless_step(int x) { return x + 1; }

int stateless_first(const int* p) { return *(volatile const int*)p; }
