// What is found about names is written, and is looked at behind the join.
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
  result.value = getaddrinfo(name, nullptr, &like, &found);
  sockaddr_in mine = {};
  mine.sin_family = AF_INET;
  result.value += getnameinfo(reinterpret_cast<sockaddr*>(&mine), sizeof mine, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  name[0] = '2';
  addrinfo* first = found;
  copy.value = first->ai_family;
  copy.value += host[0];
}
