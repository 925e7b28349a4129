// What is found about names is written, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "harness.h"

addrinfo* found;
alignas(64) char host[64];
alignas(64) char name[] = "127.0.0.1";
Apart copy, result;

static void worker() {
  addrinfo like = {};
  like.ai_flags = AI_NUMERICHOST;
  like.ai_socktype = SOCK_STREAM;
  result.value = getaddrinfo(name, nullptr, &like, &found);  // RACE(a) RACE(b) RACE(c)
  sockaddr_in mine = {};
  mine.sin_family = AF_INET;
  result.value += getnameinfo(reinterpret_cast<sockaddr*>(&mine), sizeof mine, host, sizeof host, nullptr, 0, NI_NUMERICHOST);  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  name[0] = '2';  // RACE(a)
  addrinfo* first = found;  // RACE(b)
  copy.value = first->ai_family;  // RACE(c)
  copy.value += host[0];  // RACE(d)
  join(thread);
}
