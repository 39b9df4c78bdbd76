/* The workloads in C: bench-c HOSTS LOCK_PATH.
 * Obeys commands on standard input, one a line, and answers each with one line of JSON. See the README for the commands. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zoolock.h>

/* Enough for a call of lock, so that thousands of threads fit. */
enum { STACK = 128 * 1024, MAX_PATH = 512 };
/* Longer than others' blocks take. */
enum { KEEP_MS = 3600 * 1000 };

struct numbers {
    int64_t *of;
    size_t count, room;
};

struct path {
    zoolock_mutex *mutex;
    size_t cycles;
    struct numbers tokens;
    pthread_t thread;
};

static const char *base;
static zoolock_session *session;
static zoolock_mutex *mutex;
static zoolock_mutex *keeping;
static struct path *paths;
static size_t paths_count;

static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static struct numbers granted;
static size_t waiting;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char *why) {
    fprintf(stderr, "bench-c: %s\n", why);
    exit(1);
}

static void check(zoolock_status rc, const zoolock_error *err) {
    if (rc != ZOOLOCK_OK) fail(err != NULL ? zoolock_error_message(err) : zoolock_status_name(rc));
}

static void add(struct numbers *numbers, int64_t number) {
    if (numbers->count == numbers->room) {
        numbers->room = numbers->room == 0 ? 1024 : 2 * numbers->room;
        numbers->of = realloc(numbers->of, numbers->room * sizeof *numbers->of);
        if (numbers->of == NULL) fail("out of memory");
    }
    numbers->of[numbers->count++] = number;
}

static void show(const struct numbers *numbers) {
    putchar('[');
    for (size_t i = 0; i < numbers->count; i++) printf("%s%" PRId64, i != 0 ? "," : "", numbers->of[i]);
    putchar(']');
}

static void show_as(const char *before, struct numbers *numbers) {
    fputs(before, stdout);
    show(numbers);
    numbers->count = 0;
}

static zoolock_mutex *mutex_at(const char *path) {
    zoolock_mutex *made = NULL;
    zoolock_error *err = NULL;
    check(zoolock_mutex_new(session, path, NULL, &made, &err), err);
    return made;
}

static zoolock_mutex *keeping_mutex_at(const char *path) {
    zoolock_lock_options *options = zoolock_lock_options_new();
    zoolock_mutex *made = NULL;
    zoolock_error *err = NULL;
    check(zoolock_lock_options_set_keep_ms(options, KEEP_MS), NULL);
    check(zoolock_mutex_new(session, path, options, &made, &err), err);
    zoolock_lock_options_free(options);
    return made;
}

static zoolock_guard *take(const zoolock_mutex *from) {
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    check(zoolock_mutex_lock(from, -1, NULL, &guard, &err), err);
    return guard;
}

static void give(zoolock_guard *guard) {
    zoolock_error *err = NULL;
    check(zoolock_guard_release(guard, &err), err);
    zoolock_guard_free(guard);
}

static int64_t cycle(const zoolock_mutex *from) {
    zoolock_guard *guard = take(from);
    int64_t token = zoolock_guard_fencing_token(guard);
    give(guard);
    return token;
}

static void do_cycles(size_t count) {
    struct numbers nanos = {0}, tokens = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t start = now();
        add(&tokens, cycle(mutex));
        add(&nanos, now() - start);
    }
    show_as("{\"nanos\":", &nanos);
    show_as(",\"tokens\":", &tokens);
    free(nanos.of);
    free(tokens.of);
}

static void do_kept(size_t count) {
    struct numbers nanos = {0}, acquires = {0}, tokens = {0}, counts = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t start = now();
        zoolock_guard *guard = take(keeping);
        int64_t acquired = now();
        add(&tokens, zoolock_guard_fencing_token(guard));
        add(&counts, (int64_t)zoolock_guard_grant_count(guard));
        give(guard);
        add(&nanos, now() - start);
        add(&acquires, acquired - start);
    }
    show_as("{\"nanos\":", &nanos);
    show_as(",\"acquires\":", &acquires);
    fputs(",\"tokens\":[", stdout);
    for (size_t i = 0; i < tokens.count; i++)
        printf("%s[%" PRId64 ",%" PRId64 "]", i != 0 ? "," : "", tokens.of[i], counts.of[i]);
    putchar(']');
    free(nanos.of);
    free(acquires.of);
    free(tokens.of);
    free(counts.of);
}

static void *run_path(void *argument) {
    struct path *path = argument;
    for (size_t i = 0; i < path->cycles; i++) add(&path->tokens, cycle(path->mutex));
    return NULL;
}

static void do_paths(size_t count, size_t cycles) {
    if (count > paths_count) {
        paths = realloc(paths, count * sizeof *paths);
        if (paths == NULL) fail("out of memory");
        for (size_t i = paths_count; i < count; i++) {
            char path[MAX_PATH];
            snprintf(path, sizeof path, "%s/%zu", base, i);
            paths[i] = (struct path){.mutex = mutex_at(path)};
        }
        paths_count = count;
    }
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    int64_t start = now();
    for (size_t i = 0; i < count; i++) {
        paths[i].cycles = cycles;
        if (pthread_create(&paths[i].thread, &small, run_path, &paths[i]) != 0) fail("no thread");
    }
    for (size_t i = 0; i < count; i++) pthread_join(paths[i].thread, NULL);
    printf("{\"nanos\":%" PRId64 ",\"tokens\":[", now() - start);
    for (size_t i = 0; i < count; i++) show_as(i != 0 ? "," : "", &paths[i].tokens);
    putchar(']');
    pthread_attr_destroy(&small);
}

static void do_share(size_t millis, size_t pause_micros) {
    struct numbers begins = {0}, grants = {0}, releases = {0}, tokens = {0};
    struct timespec pause = {.tv_sec = (time_t)(pause_micros / 1000000), .tv_nsec = (long)(pause_micros % 1000000) * 1000};
    int64_t end = now() + (int64_t)millis * 1000000;
    while (now() < end) {
        add(&begins, now());
        zoolock_guard *guard = take(mutex);
        add(&grants, now());
        add(&tokens, zoolock_guard_fencing_token(guard));
        if (pause_micros > 0) nanosleep(&pause, NULL);
        add(&releases, now());
        give(guard);
    }
    show_as("{\"begins\":", &begins);
    show_as(",\"grants\":", &grants);
    show_as(",\"releases\":", &releases);
    show_as(",\"tokens\":", &tokens);
    free(begins.of);
    free(grants.of);
    free(releases.of);
    free(tokens.of);
}

/* On the callback thread, in the order of the grants. The guard's end gives the lock back without waiting for it. */
static void on_grant(zoolock_status status, zoolock_guard *guard, const zoolock_error *err, void *userdata) {
    (void)userdata;
    check(status, err);
    pthread_mutex_lock(&turns);
    add(&granted, zoolock_guard_fencing_token(guard));
    if (granted.count == waiting) pthread_cond_signal(&turn);
    pthread_mutex_unlock(&turns);
    zoolock_guard_free(guard);
}

static void do_queue(size_t count) {
    waiting = count;
    for (size_t i = 0; i < count; i++) check(zoolock_mutex_lock_async(mutex, -1, NULL, on_grant, NULL), NULL);
    printf("{\"queued\":%zu", count);
}

static void do_drain(void) {
    int64_t start = now();
    pthread_mutex_lock(&turns);
    while (granted.count < waiting) pthread_cond_wait(&turn, &turns);
    printf("{\"nanos\":%" PRId64, now() - start);
    show_as(",\"tokens\":", &granted);
    pthread_mutex_unlock(&turns);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s HOSTS LOCK_PATH\n", argv[0]);
        return 2;
    }
    zoolock_error *err = NULL;
    check(zoolock_session_connect(argv[1], NULL, &session, &err), err);
    base = argv[2];
    mutex = mutex_at(base);
    keeping = keeping_mutex_at(base);
    puts("ready");
    fflush(stdout);
    char line[128];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char name[16] = "";
        size_t first = 0, second = 0;
        if (sscanf(line, "%15s %zu %zu", name, &first, &second) < 1) fail("an empty command");
        if (strcmp(name, "cycles") == 0) do_cycles(first);
        else if (strcmp(name, "kept") == 0) do_kept(first);
        else if (strcmp(name, "paths") == 0) do_paths(first, second);
        else if (strcmp(name, "share") == 0) do_share(first, second);
        else if (strcmp(name, "queue") == 0) do_queue(first);
        else if (strcmp(name, "drain") == 0) do_drain();
        else fail("unknown command");
        puts("}");
        fflush(stdout);
    }
    for (size_t i = 0; i < paths_count; i++) {
        zoolock_mutex_free(paths[i].mutex);
        free(paths[i].tokens.of);
    }
    free(paths);
    free(granted.of);
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(keeping);
    check(zoolock_session_close(session, 5000, &err), err);
    zoolock_session_free(session);
    return 0;
}
