/* The uncontended cycle in C: cycle HOSTS LOCK_PATH.
 * For each number on standard input, that many cycles, and one line of times (nanoseconds) and fencing tokens. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <zoolock.h>

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void check(zoolock_status rc, zoolock_error *err) {
    if (rc == ZOOLOCK_OK) return;
    fprintf(stderr, "%s: %s\n", zoolock_status_name(rc), zoolock_error_message(err));
    exit(1);
}

static void show(const char *name, const int64_t *numbers, size_t count, const char *after) {
    printf("\"%s\":[", name);
    for (size_t i = 0; i < count; i++) printf("%s%" PRId64, i ? "," : "", numbers[i]);
    printf("]%s", after);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s HOSTS LOCK_PATH\n", argv[0]);
        return 2;
    }
    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_error *err = NULL;
    check(zoolock_session_connect(argv[1], NULL, &session, &err), err);
    check(zoolock_mutex_new(session, argv[2], NULL, &mutex, &err), err);
    puts("ready");
    fflush(stdout);

    for (size_t count; scanf("%zu", &count) == 1;) {
        int64_t *nanos = calloc(count, sizeof *nanos);
        int64_t *tokens = calloc(count, sizeof *tokens);
        if (!nanos || !tokens) return 1;
        for (size_t i = 0; i < count; i++) {
            int64_t start = now();
            zoolock_guard *guard = NULL;
            check(zoolock_mutex_lock(mutex, -1, NULL, &guard, &err), err);
            tokens[i] = zoolock_guard_fencing_token(guard);
            check(zoolock_guard_release(guard, &err), err);
            zoolock_guard_free(guard);
            nanos[i] = now() - start;
        }
        putchar('{');
        show("nanos", nanos, count, ",");
        show("tokens", tokens, count, "}\n");
        fflush(stdout);
        free(nanos);
        free(tokens);
    }
    zoolock_mutex_free(mutex);
    check(zoolock_session_close(session, 5000, &err), err);
    zoolock_session_free(session);
    return 0;
}
