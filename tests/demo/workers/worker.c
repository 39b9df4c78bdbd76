/* Takes a lock again and again until it is told to stop, and reports each hold.
 * worker HOSTS LOCK_PATH WITNESS; the time to stop comes on standard input. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zoolock.h>

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void give_up(const char *doing, zoolock_error *err) {
    fprintf(stderr, "%s: %s\n", doing, err ? zoolock_error_message(err) : strerror(errno));
    exit(1);
}

/* The critical section. Whoever is alone in it can make the witness, a link that names its holder's token. */
static void work(const zoolock_guard *guard, uint64_t asked, const char *witness, char *report, size_t size) {
    uint64_t entered = now();
    int64_t token = zoolock_guard_fencing_token(guard);
    char name[32], met[32] = "none";
    snprintf(name, sizeof name, "%" PRId64, token);
    if (symlink(name, witness) != 0) {
        if (errno != EEXIST) give_up("symlink", NULL);
        ssize_t length = readlink(witness, met, sizeof met - 1);
        if (length < 0) give_up("readlink", NULL);
        met[length] = '\0';
    }
    struct timespec pause = {0, (long)(30 + asked / 1000 % 100) * 1000000};
    nanosleep(&pause, NULL);
    if (strcmp(met, "none") == 0 && unlink(witness) != 0) give_up("unlink", NULL);
    uint64_t left = now();
    const char *state = zoolock_guard_is_held(guard) ? "held" : "lost";
    snprintf(report, size,
             "hold token=%" PRId64 " asked=%" PRIu64 " entered=%" PRIu64 " left=%" PRIu64 " state=%s met=%s",
             token, asked, entered, left, state, met);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s HOSTS LOCK_PATH WITNESS\n", argv[0]);
        return 2;
    }
    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_error *err = NULL;
    if (zoolock_session_connect(argv[1], NULL, &session, &err) != ZOOLOCK_OK) give_up("connect", err);
    if (zoolock_mutex_new(session, argv[2], NULL, &mutex, &err) != ZOOLOCK_OK) give_up("mutex", err);
    puts("ready");
    fflush(stdout);
    uint64_t end;
    if (scanf("%" SCNu64, &end) != 1) {
        fputs("no time to stop\n", stderr);
        return 2;
    }

    for (uint64_t asked = now(); asked < end; asked = now()) {
        zoolock_guard *guard = NULL;
        char report[256];
        int64_t timeout_ms = (int64_t)((end - asked) / 1000000) + 1;
        zoolock_status rc = zoolock_mutex_lock(mutex, timeout_ms, NULL, &guard, &err);
        if (rc == ZOOLOCK_TIMEOUT) {
            zoolock_error_free(err);
            break;
        }
        if (rc != ZOOLOCK_OK) give_up("lock", err);
        work(guard, asked, argv[3], report, sizeof report);
        rc = zoolock_guard_release(guard, &err);
        zoolock_guard_free(guard);
        if (rc == ZOOLOCK_LOCK_LOST) { /* the report says so too */
            zoolock_error_free(err);
            err = NULL;
        } else if (rc != ZOOLOCK_OK) {
            give_up("release", err);
        }
        puts(report);
        fflush(stdout);
    }
    zoolock_mutex_free(mutex);
    if (zoolock_session_close(session, 5000, &err) != ZOOLOCK_OK) give_up("close", err);
    zoolock_session_free(session);
    return 0;
}
