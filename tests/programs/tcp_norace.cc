// The client writes the message before it connects and sends its byte over TCP; the answer orders the other way.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

int listener;
sockaddr_in address{};
int message;

static void server() {
  int connection = accept(listener, nullptr, nullptr);
  char byte = 0;
  if (read(connection, &byte, 1) == 1) {
    message = 2;
    send(connection, "y", 1, 0);
  }
  close(connection);
}

static void client() {
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  message = 1;
  connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address);
  if (write(connection, "x", 1) != 1) {
    return;
  }
  char byte = 0;
  if (recv(connection, &byte, 1, 0) == 1) {
    message = 3;
  }
  close(connection);
}

int main() {
  listener = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address);
  listen(listener, 1);
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  run_threads(server, client);
  close(listener);
}
