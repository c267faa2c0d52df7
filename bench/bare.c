/* The bare loop: the least that a load generator must do, so its CPU per request is a floor for every other one.
 *
 *   bare PORT [-c CONNECTIONS] [-d TIME] [--body BYTES] [-r RATE [--lateness TIME]]
 *
 * Without a rate each connection sends its next request when it has read its response. It parses nothing and takes no times: it counts bytes.
 * With a rate it sleeps until the next request is due (and as long as --lateness allows), sends what is due, reads what has arrived, and never
 * wakes for a response. It prints one line of JSON: responses, seconds, and with a rate how late it sent.
 *
 * Built by bench/compare.py: cc -O2 -o bare bare.c */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
static const uint64_t LATE_NS = 1000000, DRAIN_NS = 5000000000;
static char buffer[65536];

static void ask(int fd) {
    if (send(fd, REQUEST, sizeof REQUEST - 1, MSG_NOSIGNAL) != sizeof REQUEST - 1) give_up("cannot send: %s", strerror(errno));
}

/* The bytes that have arrived, perhaps none. */
static size_t receive(int fd) {
    ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) give_up("the server closed a connection");
    return n < 0 ? 0 : n;
}

/* One closed loop over all connections; returns the complete responses. */
static uint64_t closed_loop(const int *fds, int count, uint64_t end, size_t answer) {
    uint64_t answers = 0;
    int epoll = epoll_create1(0);
    size_t *received = calloc(fds[count - 1] + 1, sizeof *received);
    for (int i = 0; i < count; i++) {
        watch(epoll, fds[i], EPOLL_CTL_ADD, EPOLLIN);
        ask(fds[i]);
    }
    while (now_ns() < end) {
        struct epoll_event events[1024];
        int n = epoll_wait(epoll, events, 1024, 100);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            received[fd] += receive(fd);
            if (received[fd] < answer) continue;
            received[fd] -= answer;
            answers++;
            ask(fd);
        }
    }
    return answers;
}

/* An open loop in which connections take turns; returns the complete responses. */
static uint64_t open_loop(const int *fds, int count, uint64_t start, uint64_t requests, uint64_t rate, uint64_t lateness_ns,
                          size_t answer, struct samples *lags, uint64_t *late) {
    uint64_t now = start, bytes = 0;
    for (uint64_t i = 0; i < requests; i++) {
        uint64_t due = start + i * 1000000000 / rate;
        if (now < due) {
            uint64_t wake = due + lateness_ns;
            struct timespec at = {wake / 1000000000, wake % 1000000000};
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) continue;
            now = now_ns();
        }
        uint64_t lag = now > due ? now - due : 0;
        add(lags, lag);
        *late += lag > LATE_NS;
        ask(fds[i % count]);
        bytes += receive(fds[(i + count - 1) % count]);
    }
    uint64_t give_up_at = now_ns() + DRAIN_NS;
    while (bytes < requests * answer && now_ns() < give_up_at) {
        for (int i = 0; i < count; i++) bytes += receive(fds[i]);
        usleep(1000);
    }
    return bytes / answer;
}

int main(int words, char **word) {
    uint64_t count = 64, length_ns = 5000000000, body = 13, rate = 0, lateness_ns = 0, late = 0;
    if (words < 2) give_up("write the port of a truth server, as in: bare 8080 -c 64 -d 5s");
    for (int i = 2; i < words; i += 2) {
        const char *flag = word[i], *value = i + 1 < words ? word[i + 1] : "";
        if (!strcmp(flag, "-c")) count = number(flag, value);
        else if (!strcmp(flag, "-d")) length_ns = time_ns(flag, value);
        else if (!strcmp(flag, "-r")) rate = number(flag, value);
        else if (!strcmp(flag, "--body")) body = number(flag, value);
        else if (!strcmp(flag, "--lateness")) lateness_ns = time_ns(flag, value);
        else give_up("%s: write -c, -d, -r, --body or --lateness with its value", flag);
    }
    if (!count) give_up("-c 0: write at least 1");
    struct sockaddr_in address = {AF_INET, htons(number("PORT", word[1])), {htonl(INADDR_LOOPBACK)}, {0}};
    int *fds = grown(NULL, count, sizeof *fds);
    for (uint64_t i = 0; i < count; i++) {
        int one = 1;
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fds[i], (struct sockaddr *)&address, sizeof address)) give_up("cannot connect to port %s: %s", word[1], strerror(errno));
        setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    /* As long as the answers of the truth server. */
    size_t answer = snprintf(NULL, 0, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %lu\r\n\r\n", body) + body;
    struct samples lags = {0};
    uint64_t start = now_ns();
    uint64_t answers = rate ? open_loop(fds, count, start, rate * (length_ns / 1e9), rate, lateness_ns, answer, &lags, &late)
                            : closed_loop(fds, count, start + length_ns, answer);
    printf("{\"answers\": %lu, \"seconds\": %.9f, \"late\": %lu", answers, (now_ns() - start) / 1e9, late);
    print_quantiles("send_lag_ms", &lags);
    puts("}");
}
