// Of plugin.cc.
int value = 0;

extern "C" void write_it() {
  value = 1;  // SITE(1)
}

extern "C" int read_it() {
  int seen = value;  // SITE(2)
  return seen;
}
