// Addresses of the network: as text, by name, of sockets.
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/descriptors.h"
#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

std::size_t address_size(int family) {
  return family == AF_INET ? sizeof(in_addr) : family == AF_INET6 ? sizeof(in6_addr) : 0;
}

std::size_t socket_address_size(const sockaddr* address) {
  switch (address->sa_family) {
    case AF_INET: return sizeof(sockaddr_in);
    case AF_INET6: return sizeof(sockaddr_in6);
    case AF_UNIX: return sizeof(sockaddr_un);
    default: return sizeof(sockaddr);
  }
}

// What fits of an address of *length bytes into `room`.
void address_came(const OnBehalf& on, const void* address, const socklen_t* length, socklen_t room) {
  if (address == nullptr || length == nullptr) return;
  on.out(address, *length < room ? *length : room);
  on.out(length);
}

void entry(const OnBehalf& on, const hostent* p) {
  if (p == nullptr) return;
  on.out(p);
  on.out_text(p->h_name);
  on.out_texts(p->h_aliases);
  on.out_list(p->h_addr_list);
  for (char** address = p->h_addr_list; address != nullptr && *address != nullptr; ++address)
    on.out(*address, static_cast<std::size_t>(p->h_length));
}

void entry(const OnBehalf& on, const netent* p) {
  if (p == nullptr) return;
  on.out(p);
  on.out_text(p->n_name);
  on.out_texts(p->n_aliases);
}

void entry(const OnBehalf& on, const protoent* p) {
  if (p == nullptr) return;
  on.out(p);
  on.out_text(p->p_name);
  on.out_texts(p->p_aliases);
}

void entry(const OnBehalf& on, const servent* p) {
  if (p == nullptr) return;
  on.out(p);
  on.out_text(p->s_name);
  on.out_text(p->s_proto);
  on.out_texts(p->s_aliases);
}

void found_addresses(const OnBehalf& on, const addrinfo* list) {
  for (; list != nullptr; list = list->ai_next) {
    on.out(list);
    on.out(list->ai_addr, list->ai_addrlen);
    on.out_text(list->ai_canonname);
  }
}

void found_interfaces(const OnBehalf& on, const ifaddrs* list) {
  for (; list != nullptr; list = list->ifa_next) {
    on.out(list);
    on.out_text(list->ifa_name);
    for (const sockaddr* address : {list->ifa_addr, list->ifa_netmask})
      if (address != nullptr) on.out(address, socket_address_size(address));
  }
}

}  // namespace

// Family libc_addresses: addresses as text.
SOOTH_ON_BEHALF(const char*, inet_ntop, (int family, const void* from, char* to, socklen_t n), (family, from, to, n),
                on.in(from, address_size(family)), on.out_text(r))
SOOTH_ON_BEHALF(int, inet_pton, (int family, const char* from, void* to), (family, from, to), on.text(from),
                if (r == 1) on.out(to, address_size(family)))
SOOTH_ON_BEHALF(int, inet_aton, (const char* from, in_addr* to), (from, to), on.text(from), if (r != 0) on.out(to))
SOOTH_ON_BEHALF(in_addr_t, inet_addr, (const char* from), (from), on.text(from))
SOOTH_ON_BEHALF(char*, inet_ntoa, (in_addr from), (from), (void)0)
SOOTH_ON_BEHALF(ether_addr*, ether_aton, (const char* from), (from), on.text(from), on.out(r))
SOOTH_ON_BEHALF(ether_addr*, ether_aton_r, (const char* from, ether_addr* to), (from, to), on.text(from), on.out(r))
SOOTH_ON_BEHALF(char*, ether_ntoa, (const ether_addr* from), (from), on.in(from), on.out_text(r))
SOOTH_ON_BEHALF(char*, ether_ntoa_r, (const ether_addr* from, char* to), (from, to), on.in(from), on.out_text(r))
SOOTH_ON_BEHALF(int, ether_ntohost, (char* to, const ether_addr* from), (to, from), on.in(from),
                if (r == 0) on.out_text(to))
SOOTH_ON_BEHALF(int, ether_hostton, (const char* from, ether_addr* to), (from, to), on.text(from),
                if (r == 0) on.out(to))
SOOTH_ON_BEHALF(int, ether_line, (const char* line, ether_addr* to, char* name), (line, to, name), on.text(line),
                if (r == 0) on.out(to);
                if (r == 0) on.out_text(name))
SOOTH_ON_BEHALF(char*, if_indextoname, (unsigned index, char* to), (index, to), (void)0, on.out_text(r))
SOOTH_ON_BEHALF(unsigned, if_nametoindex, (const char* name), (name), on.text(name))

// Family libc_hosts: names of machines, services and protocols. Those without _r return memory that all threads share.
SOOTH_ON_BEHALF_WAITING(int, getaddrinfo, (const char* name, const char* service, const addrinfo* like, addrinfo** to),
                        (name, service, like, to), on.text(name);
                        on.text(service); on.in(like), if (r == 0) on.out(to); if (r == 0) found_addresses(on, *to))
SOOTH_ON_BEHALF_WAITING(int, getnameinfo,
                        (const sockaddr* from, socklen_t length, char* host, socklen_t host_room, char* service,
                         socklen_t service_room, int flags),
                        (from, length, host, host_room, service, service_room, flags), on.in(from, length),
                        if (r == 0 && host_room > 0) on.out_text(host);
                        if (r == 0 && service_room > 0) on.out_text(service))
#define SOOTH_FINDS(type, name, parameters, arguments, before) \
  SOOTH_ON_BEHALF_WAITING(type*, name, parameters, arguments, before, SOOTH_NAME_RESULT(name); entry(on, r))
#define SOOTH_FINDS_R(name, parameters, arguments, before) \
  SOOTH_ON_BEHALF_WAITING(int, name, parameters, arguments, before, on.out(found); if (r == 0) entry(on, *found))
SOOTH_FINDS(hostent, gethostbyname, (const char* name), (name), on.text(name))
SOOTH_FINDS(hostent, gethostbyname2, (const char* name, int family), (name, family), on.text(name))
SOOTH_FINDS(hostent, gethostbyaddr, (const void* from, socklen_t n, int family), (from, n, family), on.in(from, n))
SOOTH_FINDS(hostent, gethostent, (void), (), (void)0)
SOOTH_FINDS(netent, getnetbyname, (const char* name), (name), on.text(name))
SOOTH_FINDS(netent, getnetbyaddr, (uint32_t net, int type), (net, type), (void)0)
SOOTH_FINDS(netent, getnetent, (void), (), (void)0)
SOOTH_FINDS(protoent, getprotobyname, (const char* name), (name), on.text(name))
SOOTH_FINDS(protoent, getprotobynumber, (int number), (number), (void)0)
SOOTH_FINDS(protoent, getprotoent, (void), (), (void)0)
SOOTH_FINDS(servent, getservbyname, (const char* name, const char* protocol), (name, protocol), on.text(name);
            on.text(protocol))
SOOTH_FINDS(servent, getservbyport, (int port, const char* protocol), (port, protocol), on.text(protocol))
SOOTH_FINDS_R(gethostbyname_r, (const char* name, hostent* to, char* room, std::size_t n, hostent** found, int* error),
              (name, to, room, n, found, error), on.text(name))
SOOTH_FINDS_R(gethostbyname2_r,
              (const char* name, int family, hostent* to, char* room, std::size_t n, hostent** found, int* error),
              (name, family, to, room, n, found, error), on.text(name))
SOOTH_FINDS_R(gethostbyaddr_r,
              (const void* from, socklen_t length, int family, hostent* to, char* room, std::size_t n, hostent** found,
               int* error),
              (from, length, family, to, room, n, found, error), on.in(from, length))
SOOTH_FINDS_R(gethostent_r, (hostent * to, char* room, std::size_t n, hostent** found, int* error),
              (to, room, n, found, error), (void)0)
SOOTH_FINDS_R(getprotobyname_r, (const char* name, protoent* to, char* room, std::size_t n, protoent** found),
              (name, to, room, n, found), on.text(name))
SOOTH_FINDS_R(getprotobynumber_r, (int number, protoent* to, char* room, std::size_t n, protoent** found),
              (number, to, room, n, found), (void)0)
SOOTH_FINDS_R(getprotoent_r, (protoent * to, char* room, std::size_t n, protoent** found), (to, room, n, found),
              (void)0)
SOOTH_ON_BEHALF(int, getifaddrs, (ifaddrs * *to), (to), (void)0, if (r == 0) on.out(to);
                if (r == 0) found_interfaces(on, *to))
// libresolv's.
SOOTH_ON_BEHALF(int, dn_comp, (const char* name, unsigned char* to, int n, unsigned char** names, unsigned char** last),
                (name, to, n, names, last), on.text(name), if (r > 0) on.out(to, static_cast<std::size_t>(r)))
SOOTH_ON_BEHALF(int, dn_expand,
                (const unsigned char* message, const unsigned char* end, const unsigned char* from, char* to, int n),
                (message, end, from, to, n), (void)0, if (r >= 0) on.in(from, static_cast<std::size_t>(r));
                if (r >= 0) on.out_text(to))
SOOTH_ON_BEHALF(int, __b64_ntop, (const unsigned char* from, std::size_t n, char* to, std::size_t room),
                (from, n, to, room), on.in(from, n), if (r >= 0) on.out(to, static_cast<std::size_t>(r) + 1))
SOOTH_ON_BEHALF(int, __b64_pton, (const char* from, unsigned char* to, std::size_t room), (from, to, room),
                on.text(from), if (r >= 0) on.out(to, static_cast<std::size_t>(r)))

// Family libc_sockets: addresses and options of sockets.
SOOTH_ON_BEHALF(int, bind, (int fd, const sockaddr* address, socklen_t n), (fd, address, n), on.in(address, n))
SOOTH_ON_BEHALF(int, getsockname, (int fd, sockaddr* to, socklen_t* n), (fd, to, n), on.in(n);
                socklen_t room = n != nullptr ? *n : 0, if (r == 0) address_came(on, to, n, room))
SOOTH_ON_BEHALF(int, getpeername, (int fd, sockaddr* to, socklen_t* n), (fd, to, n), on.in(n);
                socklen_t room = n != nullptr ? *n : 0, if (r == 0) address_came(on, to, n, room))
SOOTH_ON_BEHALF(int, getsockopt, (int fd, int level, int option, void* to, socklen_t* n), (fd, level, option, to, n),
                on.in(n);
                socklen_t room = n != nullptr ? *n : 0, if (r == 0) address_came(on, to, n, room))
SOOTH_ON_BEHALF(int, setsockopt, (int fd, int level, int option, const void* from, socklen_t n),
                (fd, level, option, from, n), on.in(from, n))
