/* Clock, samples and flags of the truth server and of the bare loop. */

static inline uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

#define give_up(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(2))

static inline void *grown(void *memory, size_t count, size_t size) {
    memory = realloc(memory, count * size);
    if (!memory) give_up("no memory is left");
    return memory;
}

struct samples { uint64_t *ns; size_t count, room; };

static inline void add(struct samples *s, uint64_t ns) {
    if (s->count == s->room) s->ns = grown(s->ns, s->room = s->room * 2 + 1024, sizeof *s->ns);
    s->ns[s->count++] = ns;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Adds quantiles in milliseconds to a JSON object; nothing where there are no samples. */
static inline void print_quantiles(const char *name, struct samples *s) {
    static const struct { const char *name; double share; } quantiles[] = {
        {"p50", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99_9", .999}, {"max", 1}};
    if (!s->count) return;
    qsort(s->ns, s->count, sizeof *s->ns, by_size);
    printf(", \"%s\": ", name);
    for (int i = 0; i < 6; i++) {
        size_t rank = (size_t)(quantiles[i].share * s->count + .999999);
        printf("%s\"%s\": %.6f", i ? ", " : "{", quantiles[i].name, s->ns[rank ? rank - 1 : 0] / 1e6);
    }
    printf("}");
}

static inline void watch(int epoll, int fd, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(epoll, operation, fd, &event)) give_up("epoll: %s", strerror(errno));
}

static inline uint64_t number(const char *flag, const char *value) {
    char *end;
    uint64_t n = strtoull(value, &end, 10);
    if (end == value || *end) give_up("%s %s: write a whole number", flag, value);
    return n;
}

/* A time with its unit, such as 300us, 20ms or 2s. */
static inline uint64_t time_ns(const char *flag, const char *value) {
    char *unit;
    double n = strtod(value, &unit);
    double ns = !strcmp(unit, "us") ? 1e3 : !strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "s") ? 1e9 : 0;
    if (unit == value || !ns || n < 0) give_up("%s %s: write a number and a unit, such as 300us, 20ms or 2s", flag, value);
    return n * ns;
}
