// See loader_frees_norace.cc.
thread_local int counters[64];

extern "C" void use() {
  for (int& counter : counters) ++counter;
}
