// The plugin of dlopen_race.cc: a write that nothing protects.
static int calls;
int* counter = &calls;

extern "C" void work(int number) {
  *counter = number;  // RACE(a)
}
