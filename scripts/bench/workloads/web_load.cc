// A web server under a bounded client: CivetWeb with four workers, and two threads that ask it for pages over sockets.
//   web_load REQUESTS
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "civetweb.h"

namespace {

constexpr int kClients = 2;
std::mutex guard;
std::map<std::string, unsigned> visits;  // by page, under `guard`

int answer(mg_connection* connection, void*) {
  const mg_request_info* request = mg_get_request_info(connection);
  unsigned count = 0;
  {
    const std::lock_guard<std::mutex> lock(guard);
    count = ++visits[request->local_uri];
  }
  std::string page = "<ul>";
  for (int i = 0; i < 40; ++i) {
    page +=
        "<li>" + std::string(request->local_uri) + " number " + std::to_string(i * 7 + request->num_headers) + "</li>";
  }
  page += count == 0 ? "" : "</ul>\n";
  mg_printf(connection, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %zu\r\n\r\n", page.size());
  mg_write(connection, page.data(), page.size());
  return 200;
}

// Up to the end of a page, on a connection that stays open. False: it did not.
bool read_page(int socket, std::string& buffer) {
  buffer.clear();
  char part[4096];
  while (buffer.find("</ul>\n") == std::string::npos) {
    const ssize_t got = ::read(socket, part, sizeof part);
    if (got <= 0) {
      return false;
    }
    buffer.append(part, static_cast<std::size_t>(got));
  }
  return true;
}

int connect_to(int port) {
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // else each answer waits for an acknowledgement
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? client : -1;
}

void ask(int port, int requests, int* answered) {
  const int client = connect_to(port);
  std::string buffer;
  for (int i = 0; i < requests && client >= 0; ++i) {
    const std::string request = "GET /page/" + std::to_string(i % 50) + "?n=" + std::to_string(i) +
                                " HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n";
    if (::write(client, request.data(), request.size()) < 0 || !read_page(client, buffer)) {
      break;
    }
    ++*answered;
  }
  ::close(client);
}

}  // namespace

int main(int argc, char** argv) {
  const int requests = argc > 1 ? std::atoi(argv[1]) : 1000;
  mg_init_library(0);
  const char* options[] = {
      "listening_ports", "127.0.0.1:0", "num_threads", "4",    "enable_keep_alive", "yes", "keep_alive_timeout_ms",
      "10000",           "tcp_nodelay", "1",           nullptr};
  mg_callbacks callbacks{};
  mg_context* server = mg_start(&callbacks, nullptr, options);
  if (server == nullptr) {
    std::fprintf(stderr, "web_load: the server does not start\n");
    return 1;
  }
  mg_set_request_handler(server, "/page", answer, nullptr);
  mg_server_port ports[1];
  mg_get_server_ports(server, 1, ports);
  std::vector<int> answered(kClients * 16);  // far apart
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back(ask, ports[0].port, requests / kClients, &answered[static_cast<std::size_t>(i) * 16]);
  }
  for (std::thread& client : clients) {
    client.join();
  }
  mg_stop(server);
  int all = 0;
  for (const int each : answered) {
    all += each;
  }
  std::printf("%d answers\n", all);
  return all == requests / kClients * kClients ? 0 : 1;
}
