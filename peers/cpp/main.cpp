// The avatar redirect on bare sockets: each thread has a listening socket of its own on the same port (SO_REUSEPORT) and
// takes one connection after the other, one request each, not understood. No allocation, no copy of the answer.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned images = 21;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

int listen_on(std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener == -1) fail("socket");
  const int on = 1;
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == -1) fail("SO_REUSEPORT");
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == -1) fail("SO_REUSEADDR");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == -1) fail("bind");
  if (listen(listener, 1024) == -1) fail("listen");
  return listener;
}

std::vector<std::string> answers() {
  std::vector<std::string> all;
  for (unsigned image = 1; image <= images; ++image) {
    all.push_back("HTTP/1.1 302 Found\r\nLocation: https://avatar.spacefox.fr/Renard-" + std::to_string(image) +
                  ".png\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }
  return all;
}

void serve(int listener) {
  const auto all = answers();
  std::minstd_rand random(std::random_device{}());
  char request[1024];
  for (;;) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client == -1) {
      if (errno == ECONNABORTED || errno == EINTR) continue;
      fail("accept");
    }
    const auto& answer = all[random() % images];
    // An error is the client's, and the next one waits.
    if (read(client, request, sizeof request) > 0) {
      [[maybe_unused]] const auto sent = send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
    close(client);
  }
}

}  // namespace

int main(int count, char** words) {
  const long port = count > 1 ? std::strtol(words[1], nullptr, 10) : 0;
  const std::string wanted = count > 2 ? words[2] : "1";
  const unsigned threads = wanted == "all" ? std::thread::hardware_concurrency() : std::strtoul(wanted.c_str(), nullptr, 10);
  if (port <= 0 || port > 65535 || threads == 0) {
    std::fprintf(stderr, "usage: avatar PORT [THREADS|all]\n");
    return 2;
  }
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i) running.emplace_back(serve, listen_on(static_cast<std::uint16_t>(port)));
  for (auto& thread : running) thread.join();
}
