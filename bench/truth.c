/* The truth server: an HTTP/1.1 server whose response times are known, because it chooses them.
 *
 *   truth [--delay TIME] [--stall TIME --every TIME] [--body BYTES] [--rate N] [--address A] [--port P]
 *
 * It prints its port first. On SIGTERM it prints what it counted as one line of JSON. With --delay it answers each request after this time.
 * With --stall it sends nothing for that long in the middle of every period, which begins with the first request, and then everything. With
 * --rate it also prints how late requests arrived against an even schedule of N per second. It reads requests without a body.
 *
 * Built by bench/compare.py: cc -O2 -o truth truth.c */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

enum { LONGEST_REQUEST = 16384, AT_ONCE = 16 };
/* The server stays awake this long before the end of a stall, because a core that sleeps begins late. */
static const uint64_t AWAKE_NS = 3000000;

enum kind { KEEP, KEEP_1_0, LAST, KINDS };
struct answer { char *bytes; size_t length; } answers[KINDS];

struct connection {
    int is_open, generation;
    enum kind kind;         /* as the latest request asked for it */
    size_t owed, sent;      /* responses that are due and not written completely, bytes of the first of them that are written */
    size_t unread;
    char *request;          /* bytes of an incomplete request; NULL until there is one */
};
struct due { uint64_t at_ns, came_ns; int fd, generation; };

/* By descriptor. */
static struct connection *connections;
static int places, epoll, listener;
static uint64_t delay_ns, stall_ns, every_ns, rate, first_ns, last_ns, requests, answered, open_now, most_open;
/* Responses become due in the order of their requests, so a queue is enough: a delay is constant, and a stall ends for all at once. */
static struct due *queue, *ready;
static size_t queue_room, queue_from, queue_to, ready_room, ready_count;
static struct samples held, arrivals;

static uint64_t due_ns(uint64_t now) {
    uint64_t at = now + delay_ns;
    if (!stall_ns) return at;
    uint64_t begins = (every_ns - stall_ns) / 2, in_period = (at - first_ns) % every_ns;
    return in_period >= begins && in_period < begins + stall_ns ? at - in_period + begins + stall_ns : at;
}

static void close_connection(int fd) {
    close(fd);
    connections[fd].is_open = 0;
    connections[fd].generation++;
    open_now--;
}

/* Writes what is owed, as far as the socket takes it. */
static void write_owed(int fd) {
    struct connection *c = &connections[fd];
    struct answer *a = &answers[c->kind];
    while (c->owed) {
        ssize_t n = send(fd, a->bytes + c->sent, a->length - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            watch(epoll, fd, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return;
        }
        if (n < 0) return close_connection(fd);
        c->sent += n;
        if (c->sent < a->length) continue;
        c->sent = 0;
        c->owed--;
        answered++;
    }
    last_ns = now_ns();
    if (c->kind == LAST) close_connection(fd);
}

static enum kind kind_of(const char *head, size_t length) {
    const char *line_end = memmem(head, length, "\r\n", 2), *connection = NULL;
    for (const char *line = line_end; line && line + 2 < head + length; line = memmem(line + 2, head + length - line - 2, "\r\n", 2))
        if (!strncasecmp(line + 2, "Connection:", 11)) connection = line + 13;
    while (connection && *connection == ' ') connection++;
    if (line_end && line_end - head > 8 && !memcmp(line_end - 8, "HTTP/1.0", 8))
        return connection && !strncasecmp(connection, "keep-alive", 10) ? KEEP_1_0 : LAST;
    return connection && !strncasecmp(connection, "close", 5) ? LAST : KEEP;
}

/* The length of the first request in so many bytes; 0: it is incomplete. A generator sends the same bytes again and again. */
static size_t next_request(struct connection *c, const char *bytes, size_t length) {
    static char latest[LONGEST_REQUEST];
    static size_t latest_length;
    static enum kind latest_kind;
    if (!latest_length || length < latest_length || memcmp(bytes, latest, latest_length)) {
        const char *end = memmem(bytes, length, "\r\n\r\n", 4);
        if (!end) return 0;
        latest_length = end + 4 - bytes;
        memcpy(latest, bytes, latest_length);
        latest_kind = kind_of(bytes, latest_length);
    }
    c->kind = latest_kind;
    return latest_length;
}

static void received(int fd, uint64_t now) {
    struct connection *c = &connections[fd];
    if (!first_ns) first_ns = now;
    requests++;
    if (rate) add(&arrivals, now);
    if (!delay_ns && !stall_ns) {
        c->owed++;
        return;
    }
    if (queue_to == queue_room) {
        memmove(queue, queue + queue_from, (queue_to - queue_from) * sizeof *queue);
        queue_to -= queue_from;
        queue_from = 0;
        if (queue_to * 2 >= queue_room) queue = grown(queue, queue_room = queue_room * 2 + 1024, sizeof *queue);
    }
    queue[queue_to++] = (struct due){due_ns(now), now, fd, c->generation};
}

static void read_requests(int fd) {
    static char buffer[LONGEST_REQUEST];
    struct connection *c = &connections[fd];
    if (c->unread) memcpy(buffer, c->request, c->unread);
    ssize_t n = recv(fd, buffer + c->unread, sizeof buffer - c->unread, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return close_connection(fd);
    size_t length = c->unread + n, used = 0, one;
    uint64_t now = now_ns();
    while (used < length && (one = next_request(c, buffer + used, length - used))) {
        used += one;
        received(fd, now);
    }
    c->unread = length - used;
    if (c->unread == sizeof buffer) return close_connection(fd);
    if (c->unread) {
        if (!c->request) c->request = grown(NULL, LONGEST_REQUEST, 1);
        memcpy(c->request, buffer + used, c->unread);
    }
    if (c->owed) write_owed(fd);
}

/* Writes a few of the responses that are due, so that new requests do not wait for the others. The newest goes out first: what writing
 * hundreds of responses after a stall takes is then added to the longest waits, of which it is a small share. */
static void answer_what_is_due(void) {
    uint64_t now = now_ns();
    for (; queue_from < queue_to && queue[queue_from].at_ns <= now; queue_from++) {
        if (ready_count == ready_room) ready = grown(ready, ready_room = ready_room * 2 + 1024, sizeof *ready);
        ready[ready_count++] = queue[queue_from];
    }
    for (int i = 0; i < AT_ONCE && ready_count; i++) {
        struct due *due = &ready[--ready_count];
        struct connection *c = &connections[due->fd];
        if (c->generation != due->generation) continue;
        c->owed++;
        write_owed(due->fd);
        add(&held, now_ns() - due->came_ns);
    }
}

static void accept_all(void) {
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (fd >= places) {
            connections = grown(connections, fd * 2 + 1024, sizeof *connections);
            memset(connections + places, 0, (fd * 2 + 1024 - places) * sizeof *connections);
            places = fd * 2 + 1024;
        }
        struct connection *c = &connections[fd];
        *c = (struct connection){.is_open = 1, .generation = c->generation, .request = c->request};
        watch(epoll, fd, EPOLL_CTL_ADD, EPOLLIN);
        if (++open_now > most_open) most_open = open_now;
    }
}

/* Nanoseconds until the next response is due; -1: none is. */
static int64_t wait_ns(void) {
    if (ready_count) return 0;
    if (queue_from == queue_to) return -1;
    uint64_t now = now_ns(), at = queue[queue_from].at_ns, wait = at > now ? at - now : 0;
    return stall_ns && wait < AWAKE_NS ? 0 : (int64_t)wait;
}

static void print_counts(void) {
    double seconds = last_ns > first_ns ? (last_ns - first_ns) / 1e9 : 0;
    printf("{\"requests\": %lu, \"answers\": %lu, \"connections\": %lu, \"seconds\": %.9f, \"rate_per_s\": %.3f",
           requests, answered, most_open, seconds, seconds ? answered / seconds : 0);
    print_quantiles("held_ms", &held);
    /* Only the client knows when its schedule began. It is taken as late as it can be without any request being early. */
    int64_t began = INT64_MAX;
    for (size_t i = 0; i < arrivals.count; i++) {
        int64_t offset = arrivals.ns[i] - i * 1000000000 / rate;
        arrivals.ns[i] = offset;
        if (offset < began) began = offset;
    }
    for (size_t i = 0; i < arrivals.count; i++) arrivals.ns[i] -= began;
    print_quantiles("lateness_ms", &arrivals);
    puts("}");
}

int main(int count, char **words) {
    size_t body = 13;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 1; i < count; i += 2) {
        const char *flag = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(flag, "--delay")) delay_ns = time_ns(flag, value);
        else if (!strcmp(flag, "--stall")) stall_ns = time_ns(flag, value);
        else if (!strcmp(flag, "--every")) every_ns = time_ns(flag, value);
        else if (!strcmp(flag, "--body")) body = number(flag, value);
        else if (!strcmp(flag, "--rate")) rate = number(flag, value);
        else if (!strcmp(flag, "--port")) address.sin_port = htons(number(flag, value));
        else if (!strcmp(flag, "--address") && inet_pton(AF_INET, value, &address.sin_addr) == 1) continue;
        else give_up("%s %s: write --delay, --stall, --every, --body, --rate, --address or --port with its value", flag, value);
    }
    if (stall_ns >= (every_ns ? every_ns : stall_ns + !stall_ns)) give_up("--stall must be shorter than --every, as in --stall 200ms --every 2s");
    const char *heads[KINDS][2] = {{"1.1", ""}, {"1.0", "Connection: keep-alive\r\n"}, {"1.1", "Connection: close\r\n"}};
    for (int kind = 0; kind < KINDS; kind++) {
        char *bytes = grown(NULL, body + 200, 1);
        int head = sprintf(bytes, "HTTP/%s 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n", heads[kind][0], body, heads[kind][1]);
        for (size_t i = 0; i < body; i++) bytes[head + i] = "Hello, World!"[i % 13];
        answers[kind] = (struct answer){bytes, head + body};
    }
    int one = 1;
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 65535) || getsockname(listener, (struct sockaddr *)&address, &size))
        give_up("cannot listen on port %d: %s; --port 0 takes any free one", ntohs(address.sin_port), strerror(errno));
    /* Otherwise the kernel may wake us up to 50 us late on purpose. */
    prctl(PR_SET_TIMERSLACK, 1);
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    int stop_signal = signalfd(-1, &stop, 0);
    epoll = epoll_create1(0);
    watch(epoll, listener, EPOLL_CTL_ADD, EPOLLIN);
    watch(epoll, stop_signal, EPOLL_CTL_ADD, EPOLLIN);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        struct epoll_event events[1024];
        int64_t ns = wait_ns();
        struct timespec wait = {ns / 1000000000, ns % 1000000000};
        int n = epoll_pwait2(epoll, events, 1024, ns < 0 ? NULL : &wait, NULL);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == stop_signal) return print_counts(), 0;
            if (fd == listener) accept_all();
            else if (connections[fd].is_open && events[i].events & EPOLLOUT) {
                watch(epoll, fd, EPOLL_CTL_MOD, EPOLLIN);
                write_owed(fd);
            } else if (connections[fd].is_open) read_requests(fd);
        }
        answer_what_is_due();
    }
}
