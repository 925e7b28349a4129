// Addresses are read and written, as text and as bytes, and is looked at behind the join.
#include <arpa/inet.h>
#include <net/if.h>

#include "harness.h"

in_addr address = {htonl(INADDR_LOOPBACK)};
alignas(64) char text[INET_ADDRSTRLEN];
alignas(64) in_addr parsed;
alignas(64) char name[IF_NAMESIZE] = "lo";
Apart copy, result;

static void worker() {
  result.value = inet_ntop(AF_INET, &address, text, sizeof text) != nullptr;
  result.value += inet_pton(AF_INET, "127.0.0.2", &parsed);
  result.value += static_cast<int>(if_nametoindex(name));
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  address.s_addr = 0;
  copy.value = text[0];
  copy.value += static_cast<int>(parsed.s_addr);
  name[0] = 'L';
}
