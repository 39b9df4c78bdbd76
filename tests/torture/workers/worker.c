/* Does the jobs that the runner hands out, several at once, and reports everything that it sees of its locks.
 * worker HOSTS RESOURCE NAME SESSION_TIMEOUT_MS THREADS ROOT; ends when its standard input does. The README has the
 * protocol. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <zoolock.h>

/* Longer than any outage that the runner makes. */
enum { CONNECT_MS = 120000, MOST_THREADS = 64 };

static const char *resource, *name;
static zoolock_mutex *mutex;
static zoolock_reentrant *reentrant;
static zoolock_rwlock *rw;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void give_up(const char *doing, const zoolock_error *err) {
    fprintf(stderr, "%s: %s\n", doing, err ? zoolock_error_message(err) : strerror(errno));
    exit(1);
}

/* ---- a connection to the runner ---- */

typedef struct {
    int socket;
    FILE *answers;
    pthread_mutex_t lock;
} line;

static void say(line *to, const char *format, ...) {
    char text[1024];
    va_list words;
    va_start(words, format);
    int length = vsnprintf(text, sizeof text - 1, format, words);
    va_end(words);
    if (length < 0 || (size_t)length >= sizeof text - 1) give_up("a line is too long", NULL);
    text[length++] = '\n';
    pthread_mutex_lock(&to->lock);
    for (int sent = 0; sent < length;) {
        ssize_t more = send(to->socket, text + sent, (size_t)(length - sent), MSG_NOSIGNAL);
        if (more < 0) give_up("send", NULL);
        sent += (int)more;
    }
    pthread_mutex_unlock(&to->lock);
}

static void answer(line *from, char *text, int size) {
    if (fgets(text, size, from->answers) == NULL) give_up("the runner went away", NULL);
    text[strcspn(text, "\n")] = '\0';
}

/* False if the resource refuses. */
static bool answer_value(line *from, uint64_t *value) {
    char text[128];
    answer(from, text, sizeof text);
    return sscanf(text, "ok %" SCNu64, value) == 1;
}

static line *open_line(const char *part) {
    line *opened = calloc(1, sizeof *opened);
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *colon = strchr(resource, ':');
    int on = 1;
    if (opened == NULL || colon == NULL) give_up("open", NULL);
    address.sin_port = htons((uint16_t)atoi(colon + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    opened->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(opened->socket, (struct sockaddr *)&address, sizeof address) != 0) give_up("connect", NULL);
    if (setsockopt(opened->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) give_up("setsockopt", NULL);
    opened->answers = fdopen(opened->socket, "r");
    if (opened->answers == NULL) give_up("fdopen", NULL);
    pthread_mutex_init(&opened->lock, NULL);
    say(opened, "hello %s %s", name, part);
    return opened;
}

/* ---- a job ---- */

typedef struct {
    line *at;
    char id[32], recipe[32];
    int64_t timeout_ms;
    long pause_ms;
} job;

static line *told;

/* What a callback has to know. Never freed: if one came after its release, it has to be reported, not to crash. */
typedef struct {
    char id[32];
    char guard;
} loss;

static void on_lost(void *userdata) {
    const loss *lost = userdata;
    say(told, "told %s %c %" PRIu64, lost->id, lost->guard, now());
}

static const char *kind(zoolock_status status) {
    return status == ZOOLOCK_OK ? "OK" : zoolock_status_name(status) + strlen("ZOOLOCK_");
}

typedef enum { MUTEX, REENTRANT, READ, WRITE } side;

static zoolock_status lock(side which, int64_t timeout_ms, zoolock_guard **guard, zoolock_error **err) {
    switch (which) {
    case MUTEX: return zoolock_mutex_lock(mutex, timeout_ms, NULL, guard, err);
    case REENTRANT: return zoolock_reentrant_lock(reentrant, timeout_ms, NULL, guard, err);
    case READ: return zoolock_rwlock_read(rw, timeout_ms, NULL, guard, err);
    default: return zoolock_rwlock_write(rw, timeout_ms, NULL, guard, err);
    }
}

static zoolock_guard *take(const job *of, char guard_name, side which) {
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    say(of->at, "asked %s %c %" PRIu64, of->id, guard_name, now());
    zoolock_status status = lock(which, of->timeout_ms, &guard, &err);
    uint64_t end = now();
    if (status == ZOOLOCK_NOT_ACQUIRED) {
        say(of->at, "denied %s %c BUSY %" PRIu64, of->id, guard_name, end);
        return NULL;
    }
    if (status != ZOOLOCK_OK) {
        say(of->at, "denied %s %c %s %" PRIu64 " %s", of->id, guard_name, kind(status), end,
            zoolock_error_message(err));
        zoolock_error_free(err);
        return NULL;
    }
    say(of->at, "granted %s %c %" PRId64 " %" PRIu64 " %s", of->id, guard_name,
        zoolock_guard_fencing_token(guard), end, zoolock_guard_node_path(guard));
    loss *about = calloc(1, sizeof *about);
    if (about == NULL) give_up("calloc", NULL);
    memcpy(about->id, of->id, sizeof about->id);
    about->guard = guard_name;
    if (zoolock_guard_on_lost(guard, on_lost, about, &err) != ZOOLOCK_OK) give_up("on_lost", err);
    return guard;
}

static bool check(const job *of, char guard_name, const zoolock_guard *guard) {
    uint64_t before = now();
    bool held = zoolock_guard_is_held(guard);
    uint64_t after = now();
    say(of->at, "check %s %c %d %" PRIu64 " %" PRIu64, of->id, guard_name, held, before, after);
    return held;
}

static void pause_for(long pause_us) {
    struct timespec time = {pause_us / 1000000, pause_us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* Adds one to the fenced register and to the counter; stops as soon as the lock is lost. */
static void write_in(const job *of, char guard_name, const zoolock_guard *guard) {
    int64_t token = zoolock_guard_fencing_token(guard);
    uint64_t value, ignored;
    if (!check(of, guard_name, guard)) return;
    say(of->at, "fread %s %c %" PRId64, of->id, guard_name, token);
    if (!answer_value(of->at, &value)) {
        check(of, guard_name, guard);
        return;
    }
    /* Without another look: whoever is stopped here is the fence's affair. */
    pause_for(of->pause_ms * 500);
    say(of->at, "fwrite %s %c %" PRId64 " %" PRIu64, of->id, guard_name, token, value + 1);
    bool written = answer_value(of->at, &ignored);
    if (!check(of, guard_name, guard) || !written) return;
    say(of->at, "read %s %c", of->id, guard_name);
    if (!answer_value(of->at, &value)) give_up("a read was refused", NULL);
    pause_for(of->pause_ms * 500);
    if (check(of, guard_name, guard)) {
        say(of->at, "write %s %c %" PRIu64, of->id, guard_name, value + 1);
        answer_value(of->at, &ignored);
        check(of, guard_name, guard);
    }
}

/* Looks twice at what no writer may change meanwhile. */
static void read_in(const job *of, char guard_name, const zoolock_guard *guard) {
    uint64_t ignored;
    if (!check(of, guard_name, guard)) return;
    say(of->at, "look %s %c %" PRId64, of->id, guard_name, zoolock_guard_fencing_token(guard));
    answer_value(of->at, &ignored);
    say(of->at, "read %s %c", of->id, guard_name);
    answer_value(of->at, &ignored);
    pause_for(of->pause_ms * 1000);
    say(of->at, "read %s %c", of->id, guard_name);
    answer_value(of->at, &ignored);
    check(of, guard_name, guard);
}

static void release(const job *of, char guard_name, zoolock_guard *guard) {
    uint64_t before = now();
    zoolock_status status = zoolock_guard_release(guard, NULL);
    uint64_t after = now();
    say(of->at, "released %s %c %s %" PRIu64 " %" PRIu64, of->id, guard_name, kind(status), before, after);
    zoolock_guard_free(guard);
}

static void do_exclusive(const job *of, side which) {
    zoolock_guard *guard = take(of, 'a', which);
    if (guard == NULL) return;
    write_in(of, 'a', guard);
    release(of, 'a', guard);
}

static void do_reentrant(const job *of) {
    zoolock_guard *outer = take(of, 'a', REENTRANT);
    if (outer == NULL) return;
    write_in(of, 'a', outer);
    zoolock_guard *inner = take(of, 'b', REENTRANT);
    if (inner != NULL) {
        write_in(of, 'b', inner);
        release(of, 'b', inner);
    }
    write_in(of, 'a', outer);
    release(of, 'a', outer);
}

static void do_shared(const job *of) {
    zoolock_guard *guard = take(of, 'a', READ);
    if (guard == NULL) return;
    read_in(of, 'a', guard);
    release(of, 'a', guard);
}

static void do_downgrade(const job *of) {
    zoolock_guard *writer = take(of, 'a', WRITE);
    if (writer == NULL) return;
    write_in(of, 'a', writer);
    zoolock_guard *reader = take(of, 'b', READ);
    release(of, 'a', writer);
    if (reader == NULL) return;
    read_in(of, 'b', reader);
    release(of, 'b', reader);
}

static void *work(void *at) {
    for (;;) {
        char order[128];
        job next = {.at = at};
        say(next.at, "next");
        answer(next.at, order, sizeof order);
        if (strcmp(order, "stop") == 0) return NULL;
        if (sscanf(order, "job %31s %31s %" SCNd64 " %ld", next.id, next.recipe, &next.timeout_ms,
                   &next.pause_ms) != 4) {
            give_up(order, NULL);
        }
        if (strcmp(next.recipe, "mutex") == 0) {
            do_exclusive(&next, MUTEX);
        } else if (strcmp(next.recipe, "reentrant") == 0) {
            do_reentrant(&next);
        } else if (strcmp(next.recipe, "write") == 0) {
            do_exclusive(&next, WRITE);
        } else if (strcmp(next.recipe, "read") == 0) {
            do_shared(&next);
        } else if (strcmp(next.recipe, "downgrade") == 0) {
            do_downgrade(&next);
        } else {
            give_up(next.recipe, NULL);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: %s HOSTS RESOURCE NAME SESSION_TIMEOUT_MS THREADS ROOT\n", argv[0]);
        return 2;
    }
    resource = argv[2];
    name = argv[3];
    int threads = atoi(argv[5]);
    if (threads < 1 || threads > MOST_THREADS) return 2;
    zoolock_session *session = NULL;
    zoolock_error *err = NULL;
    zoolock_session_options *options = zoolock_session_options_new();
    zoolock_session_options_set_session_timeout_ms(options, atoll(argv[4]));
    zoolock_session_options_set_connect_timeout_ms(options, CONNECT_MS);
    zoolock_session_options_set_identity(options, name);
    if (zoolock_session_connect(argv[1], options, &session, &err) != ZOOLOCK_OK) give_up("connect", err);
    zoolock_session_options_free(options);

    char path[3][256];
    snprintf(path[0], sizeof path[0], "%s/mutex", argv[6]);
    snprintf(path[1], sizeof path[1], "%s/reentrant", argv[6]);
    snprintf(path[2], sizeof path[2], "%s/rw", argv[6]);
    if (zoolock_mutex_new(session, path[0], NULL, &mutex, &err) != ZOOLOCK_OK) give_up("mutex", err);
    if (zoolock_reentrant_new(session, path[1], NULL, &reentrant, &err) != ZOOLOCK_OK) give_up("reentrant", err);
    if (zoolock_rwlock_new(session, path[2], NULL, &rw, &err) != ZOOLOCK_OK) give_up("rwlock", err);

    told = open_line("told");
    pthread_t running[MOST_THREADS];
    for (int number = 0; number < threads; number++) {
        char part[16];
        snprintf(part, sizeof part, "%d", number);
        if (pthread_create(&running[number], NULL, work, open_line(part)) != 0) give_up("pthread_create", NULL);
    }
    for (int number = 0; number < threads; number++) pthread_join(running[number], NULL);

    /* The session stays open until the runner has looked at what is left of it. */
    while (getchar() != EOF) continue;
    zoolock_rwlock_free(rw);
    zoolock_reentrant_free(reentrant);
    zoolock_mutex_free(mutex);
    if (zoolock_session_close(session, 5000, &err) != ZOOLOCK_OK) give_up("close", err);
    zoolock_session_free(session);
    return 0;
}
