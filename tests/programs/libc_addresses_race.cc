// Addresses are read and written, as text and as bytes, and another thread looks at it without waiting.
#include <arpa/inet.h>
#include <net/if.h>

#include "harness.h"

in_addr address = {htonl(INADDR_LOOPBACK)};
alignas(64) char text[INET_ADDRSTRLEN];
alignas(64) in_addr parsed;
alignas(64) char name[IF_NAMESIZE] = "lo";
Apart copy, result;

static void worker() {
  result.value = inet_ntop(AF_INET, &address, text, sizeof text) != nullptr;  // RACE(a) RACE(b)
  result.value += inet_pton(AF_INET, "127.0.0.2", &parsed);  // RACE(c)
  result.value += static_cast<int>(if_nametoindex(name));  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  address.s_addr = 0;  // RACE(a)
  copy.value = text[0];  // RACE(b)
  copy.value += static_cast<int>(parsed.s_addr);  // RACE(c)
  name[0] = 'L';  // RACE(d)
  join(thread);
}
