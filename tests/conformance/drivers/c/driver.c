/* The driver for C: one thread per request, or per logical thread. With the argument `async` locks
 * are taken by the asynchronous calls, where a logical thread is a zoolock_owner. See the README for
 * the protocol. */

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zoolock.h>

enum { MOST_FIELDS = 24 };

/* A request; its strings lie in `line`. */
typedef struct request {
  char *line;
  const char *id, *verb;
  const char *keys[MOST_FIELDS], *values[MOST_FIELDS];
  int fields;
  struct request *next;
} request;

/* What has a name in this process; never removed but by `drop`, so that pointers stay good. */
typedef enum { SESSION, MUTEX, REENTRANT, READ, WRITE, GUARD, CANCEL, OWNER, THREAD } kind;
typedef struct named {
  kind kind;
  char *name;
  void *value;
  struct named *next;
} named;

/* A logical thread: a real one that takes requests in order. */
typedef struct {
  pthread_cond_t arrived;
  request *first;
} worker;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static named *table;
static bool asynchronous;

static void *must(void *memory) {
  if (memory == NULL) abort();
  return memory;
}

static char *copy(const char *text) {
  return strcpy(must(malloc(strlen(text) + 1)), text);
}

/* ---- output ---- */

static void put_escaped(const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    if (strchr("_./:,-", *at) || (*at < 128 && ((*at | 32) >= 'a' && (*at | 32) <= 'z')) ||
        (*at >= '0' && *at <= '9')) {
      putchar(*at);
    } else {
      printf("%%%02X", *at);
    }
  }
}

/* Writes one line: `id word`, then pairs of key and value up to a NULL. */
static void tell(const char *id, const char *word, ...) {
  va_list pairs;
  const char *key;
  va_start(pairs, word);
  pthread_mutex_lock(&output_lock);
  printf("%s %s", id, word);
  while ((key = va_arg(pairs, const char *)) != NULL) {
    printf(" %s=", key);
    put_escaped(va_arg(pairs, const char *));
  }
  putchar('\n');
  fflush(stdout);
  pthread_mutex_unlock(&output_lock);
  va_end(pairs);
}

static void misunderstood(const char *id, const char *problem) {
  tell(id, "misunderstood", "message", problem, NULL);
}

static const char *const KINDS[] = {
    "?",           "InvalidArgument", "Unavailable",   "Timeout", "Cancelled",
    "LockLost",    "NotHeld",         "WouldDeadlock", "SequenceExhausted",
    "NoAuth",      "AuthFailed",      "SessionExpired", "Closed", "Unsupported",
    "Internal"};

static const char *or_empty(const char *text) {
  return text == NULL ? "" : text;
}

/* Answers for a status that is not ZOOLOCK_OK. */
static void answer_error(const char *id, zoolock_status status, const zoolock_error *err) {
  if (status < 1 || status > 14 || zoolock_error_status(err) != status) {
    misunderstood(id, "status and error disagree");
  } else {
    tell(id, "error", "kind", KINDS[status], "operation",
         or_empty(zoolock_error_operation(err)), "path", or_empty(zoolock_error_path(err)),
         "message", or_empty(zoolock_error_message(err)), NULL);
  }
}

static void answer(const request *req, zoolock_status status, zoolock_error *err) {
  if (status == ZOOLOCK_OK) {
    tell(req->id, "ok", NULL);
  } else {
    answer_error(req->id, status, err);
  }
  zoolock_error_free(err);
}

/* ---- names ---- */

static named *find_locked(kind wanted, const char *name) {
  for (named *at = table; name != NULL && at != NULL; at = at->next) {
    if (at->kind == wanted && strcmp(at->name, name) == 0) return at;
  }
  return NULL;
}

static void *find(kind wanted, const char *name) {
  pthread_mutex_lock(&table_lock);
  named *found = find_locked(wanted, name);
  void *value = found == NULL ? NULL : found->value;
  pthread_mutex_unlock(&table_lock);
  return value;
}

static void put_locked(kind of, const char *name, void *value) {
  named *entry = must(malloc(sizeof *entry));
  *entry = (named){of, copy(name), value, table};
  table = entry;
}

static void put(kind of, const char *name, void *value) {
  pthread_mutex_lock(&table_lock);
  put_locked(of, name, value);
  pthread_mutex_unlock(&table_lock);
}

static const char *field(const request *req, const char *key) {
  for (int i = 0; i < req->fields; i++) {
    if (strcmp(req->keys[i], key) == 0) return req->values[i];
  }
  return NULL;
}

static int64_t number(const request *req, const char *key, int64_t otherwise) {
  const char *value = field(req, key);
  return value == NULL ? otherwise : strtoll(value, NULL, 10);
}

/* ---- callbacks ---- */

static void on_lost(void *guard) {
  tell("!", "lost", "guard", (const char *)guard, NULL);
}

static void on_state(zoolock_session_state_t state, void *userdata) {
  static const char *const names[] = {"connecting", "connected", "suspended", "expired", "closed"};
  (void)userdata;
  tell("!", "state", "state", names[state], NULL);
}

/* ---- verbs ---- */

static void set_tls(const request *req, zoolock_session_options *options) {
  if (field(req, "tls") == NULL) return;
  zoolock_session_options_set_tls(options, true);
  if (field(req, "tls_ca")) zoolock_session_options_set_tls_ca(options, field(req, "tls_ca"));
  if (field(req, "tls_cert")) zoolock_session_options_set_tls_cert(options, field(req, "tls_cert"));
  if (field(req, "tls_key")) zoolock_session_options_set_tls_key(options, field(req, "tls_key"));
  if (field(req, "tls_any_name")) {
    zoolock_session_options_set_tls_check_server_name(options, false);
  }
}

/* `open`, `creator`, or entries such as `31 digest user:hash;1 world anyone`, for a session's options
 * or a lock's. */
static void set_acl(const char *text, zoolock_session_options *session, zoolock_lock_options *lock) {
  if (text == NULL) return;
  if (strcmp(text, "open") == 0) {
    session ? zoolock_session_options_set_acl_open(session)
            : zoolock_lock_options_set_acl_open(lock);
    return;
  }
  if (strcmp(text, "creator") == 0) {
    session ? zoolock_session_options_set_acl_creator(session)
            : zoolock_lock_options_set_acl_creator(lock);
    return;
  }
  char *entries = copy(text), *rest = NULL;
  for (char *entry = strtok_r(entries, ";", &rest); entry != NULL;
       entry = strtok_r(NULL, ";", &rest)) {
    char *scheme = strchr(entry, ' ');
    char *id = scheme == NULL ? NULL : strchr(scheme + 1, ' ');
    if (id == NULL) abort();
    *scheme++ = '\0';
    *id++ = '\0';
    uint32_t permissions = (uint32_t)strtoul(entry, NULL, 10);
    session ? zoolock_session_options_add_acl_entry(session, permissions, scheme, id)
            : zoolock_lock_options_add_acl_entry(lock, permissions, scheme, id);
  }
  free(entries);
}

static void do_connect(const request *req) {
  zoolock_session *session = NULL;
  zoolock_error *err = NULL;
  zoolock_session_options *options = zoolock_session_options_new();
  if (field(req, "session_timeout_ms")) {
    zoolock_session_options_set_session_timeout_ms(options, number(req, "session_timeout_ms", 0));
  }
  if (field(req, "connect_timeout_ms")) {
    zoolock_session_options_set_connect_timeout_ms(options, number(req, "connect_timeout_ms", 0));
  }
  if (field(req, "identity")) {
    zoolock_session_options_set_identity(options, field(req, "identity"));
  }
  if (field(req, "auth")) {
    const char *scheme = field(req, "auth_scheme");
    zoolock_session_options_add_auth(options, scheme ? scheme : "digest", field(req, "auth"));
  }
  if (field(req, "exclusive")) {
    zoolock_session_options_set_exclusive(options, true);
  }
  set_tls(req, options);
  set_acl(field(req, "acl"), options, NULL);
  zoolock_status status = zoolock_session_connect(field(req, "hosts"), options, &session, &err);
  zoolock_session_options_free(options);
  if (status == ZOOLOCK_OK) status = zoolock_session_on_state(session, on_state, NULL, &err);
  if (status == ZOOLOCK_OK) put(SESSION, field(req, "session"), session);
  answer(req, status, err);
}

static void do_open(const request *req, kind of) {
  zoolock_session *session = find(SESSION, field(req, "session"));
  zoolock_lock_options *options = zoolock_lock_options_new();
  const char *naming = field(req, "naming"), *data = field(req, "data"), *path = field(req, "path");
  if (naming) {
    zoolock_lock_options_set_naming(options, strcmp(naming, "kazoo") == 0 ? ZOOLOCK_NAMING_KAZOO
                                                                          : ZOOLOCK_NAMING_CURATOR);
  }
  if (data) zoolock_lock_options_set_data(options, data, strlen(data));
  if (field(req, "keep_ms")) zoolock_lock_options_set_keep_ms(options, number(req, "keep_ms", 0));
  set_acl(field(req, "acl"), NULL, options);
  zoolock_error *err = NULL;
  zoolock_status status;
  void *lock = NULL;
  if (of == MUTEX) {
    zoolock_mutex *mutex = NULL;
    status = zoolock_mutex_new(session, path, options, &mutex, &err);
    lock = mutex;
  } else if (of == REENTRANT) {
    zoolock_reentrant *reentrant = NULL;
    status = zoolock_reentrant_new(session, path, options, &reentrant, &err);
    lock = reentrant;
  } else {
    zoolock_rwlock *rwlock = NULL;
    status = zoolock_rwlock_new(session, path, options, &rwlock, &err);
    lock = rwlock;
  }
  zoolock_lock_options_free(options);
  if (status == ZOOLOCK_OK) put(of, field(req, "lock"), lock);
  answer(req, status, err);
}

/* What has this name, made if it is new. */
static void *made_once(kind of, const char *name) {
  if (name == NULL) return NULL;
  pthread_mutex_lock(&table_lock);
  named *found = find_locked(of, name);
  if (found == NULL) {
    put_locked(of, name, of == CANCEL ? (void *)zoolock_cancel_new() : (void *)zoolock_owner_new());
    found = table;
  }
  pthread_mutex_unlock(&table_lock);
  return found->value;
}

static void answer_lock(const char *id, const char *name, zoolock_status status,
                        zoolock_guard *guard, const zoolock_error *err) {
  if (status == ZOOLOCK_NOT_ACQUIRED) {
    tell(id, "none", NULL);
    return;
  }
  if (status != ZOOLOCK_OK) {
    answer_error(id, status, err);
    return;
  }
  /* The name outlives every callback. */
  if (zoolock_guard_on_lost(guard, on_lost, copy(name), NULL) != ZOOLOCK_OK) {
    misunderstood(id, "on_lost failed");
    return;
  }
  put(GUARD, name, guard);
  char token[32], count[32];
  snprintf(token, sizeof token, "%" PRId64, zoolock_guard_fencing_token(guard));
  snprintf(count, sizeof count, "%" PRIu64, zoolock_guard_grant_count(guard));
  tell(id, "ok", "token", token, "count", count, "node", or_empty(zoolock_guard_node_path(guard)), NULL);
}

static void on_locked(zoolock_status status, zoolock_guard *guard, const zoolock_error *err,
                      void *userdata) {
  request *asked = userdata;
  answer_lock(asked->id, field(asked, "guard"), status, guard, err);
  free(asked->line);
  free(asked);
}

/* The request is the callback's from here on. */
static void do_lock_async(request *req, int64_t timeout_ms) {
  const char *name = field(req, "lock"), *thread = field(req, "thread");
  zoolock_cancel *cancel = made_once(CANCEL, field(req, "cancel"));
  zoolock_owner *fresh = thread == NULL ? zoolock_owner_new() : NULL;
  zoolock_owner *owner = thread == NULL ? fresh : made_once(OWNER, thread);
  zoolock_status status = ZOOLOCK_INVALID_ARGUMENT;
  void *lock;
  if ((lock = find(MUTEX, name))) {
    status = zoolock_mutex_lock_async(lock, timeout_ms, cancel, on_locked, req);
  } else if ((lock = find(REENTRANT, name))) {
    status = zoolock_reentrant_lock_owned_async(lock, owner, timeout_ms, cancel, on_locked, req);
  } else if ((lock = find(READ, name))) {
    status = zoolock_rwlock_read_owned_async(lock, owner, timeout_ms, cancel, on_locked, req);
  } else if ((lock = find(WRITE, name))) {
    status = zoolock_rwlock_write_owned_async(lock, owner, timeout_ms, cancel, on_locked, req);
  }
  zoolock_owner_free(fresh);
  if (status != ZOOLOCK_OK) abort();
}

static void do_lock(const request *req, int64_t timeout_ms) {
  const char *name = field(req, "lock");
  zoolock_cancel *cancel = made_once(CANCEL, field(req, "cancel"));
  zoolock_guard *guard = NULL;
  zoolock_error *err = NULL;
  zoolock_status status;
  void *lock;
  if ((lock = find(MUTEX, name))) {
    status = zoolock_mutex_lock(lock, timeout_ms, cancel, &guard, &err);
  } else if ((lock = find(REENTRANT, name))) {
    status = zoolock_reentrant_lock(lock, timeout_ms, cancel, &guard, &err);
  } else if ((lock = find(READ, name))) {
    status = zoolock_rwlock_read(lock, timeout_ms, cancel, &guard, &err);
  } else if ((lock = find(WRITE, name))) {
    status = zoolock_rwlock_write(lock, timeout_ms, cancel, &guard, &err);
  } else {
    misunderstood(req->id, "there is no such lock");
    return;
  }
  answer_lock(req->id, field(req, "guard"), status, guard, err);
  zoolock_error_free(err);
}

static void do_state(const request *req) {
  static const char *const names[] = {"held", "suspended", "lost", "released"};
  zoolock_guard *guard = find(GUARD, field(req, "guard"));
  if (guard == NULL) {
    misunderstood(req->id, "there is no such guard");
    return;
  }
  const char *held = zoolock_guard_is_held(guard) ? "yes" : "no";
  tell(req->id, "ok", "state", names[zoolock_guard_state(guard)], "held", held, NULL);
}

static void do_session_state(const request *req) {
  static const char *const names[] = {"connecting", "connected", "suspended", "expired", "closed"};
  zoolock_session *session = find(SESSION, field(req, "session"));
  if (session == NULL) {
    misunderstood(req->id, "there is no such session");
    return;
  }
  tell(req->id, "ok", "state", names[zoolock_session_state(session)], NULL);
}

static void do_release(const request *req) {
  zoolock_error *err = NULL;
  zoolock_status status = zoolock_guard_release(find(GUARD, field(req, "guard")), &err);
  answer(req, status, err);
}

static void do_drop(const request *req) {
  pthread_mutex_lock(&table_lock);
  named *entry = find_locked(GUARD, field(req, "guard"));
  zoolock_guard *guard = entry == NULL ? NULL : entry->value;
  if (entry != NULL) entry->name[0] = '\0';
  pthread_mutex_unlock(&table_lock);
  zoolock_guard_free(guard);
  answer(req, ZOOLOCK_OK, NULL);
}

static void do_contenders(const request *req) {
  const char *name = field(req, "lock");
  zoolock_contenders *list = NULL;
  zoolock_error *err = NULL;
  zoolock_status status;
  void *lock;
  if ((lock = find(MUTEX, name))) {
    status = zoolock_mutex_contenders(lock, &list, &err);
  } else if ((lock = find(REENTRANT, name))) {
    status = zoolock_reentrant_contenders(lock, &list, &err);
  } else {
    lock = find(READ, name) ? find(READ, name) : find(WRITE, name);
    status = zoolock_rwlock_contenders(lock, &list, &err);
  }
  if (status != ZOOLOCK_OK) {
    answer(req, status, err);
    return;
  }
  pthread_mutex_lock(&output_lock);
  printf("%s ok", req->id);
  for (size_t i = 0; i < zoolock_contenders_count(list); i++) {
    const zoolock_contender *one = zoolock_contenders_get(list, i);
    printf(" contender=%s,%" PRId64 ",%" PRId64 ",", one->holds ? "holds" : "waits", one->sequence,
           one->session_id);
    put_escaped(one->node_path);
    putchar(',');
    put_escaped(one->identity);
  }
  putchar('\n');
  fflush(stdout);
  pthread_mutex_unlock(&output_lock);
  zoolock_contenders_free(list);
}

static void do_close(const request *req) {
  zoolock_error *err = NULL;
  zoolock_session *session = find(SESSION, field(req, "session"));
  zoolock_status status = zoolock_session_close(session, number(req, "timeout_ms", 5000), &err);
  answer(req, status, err);
}

static void obey(request *req) {
  const char *verb = req->verb;
  if (asynchronous && strcmp(verb, "lock") == 0) {
    do_lock_async(req, number(req, "timeout_ms", -1));
    return;
  }
  if (asynchronous && strcmp(verb, "try") == 0) {
    do_lock_async(req, 0);
    return;
  }
  if (strcmp(verb, "connect") == 0) {
    do_connect(req);
  } else if (strcmp(verb, "mutex") == 0) {
    do_open(req, MUTEX);
  } else if (strcmp(verb, "reentrant") == 0) {
    do_open(req, REENTRANT);
  } else if (strcmp(verb, "read") == 0) {
    do_open(req, READ);
  } else if (strcmp(verb, "write") == 0) {
    do_open(req, WRITE);
  } else if (strcmp(verb, "lock") == 0) {
    do_lock(req, number(req, "timeout_ms", -1));
  } else if (strcmp(verb, "try") == 0) {
    do_lock(req, 0);
  } else if (strcmp(verb, "cancel") == 0) {
    answer(req, zoolock_cancel_cancel(made_once(CANCEL, field(req, "cancel"))), NULL);
  } else if (strcmp(verb, "release") == 0) {
    do_release(req);
  } else if (strcmp(verb, "drop") == 0) {
    do_drop(req);
  } else if (strcmp(verb, "state") == 0) {
    do_state(req);
  } else if (strcmp(verb, "session_state") == 0) {
    do_session_state(req);
  } else if (strcmp(verb, "contenders") == 0) {
    do_contenders(req);
  } else if (strcmp(verb, "close") == 0) {
    do_close(req);
  } else if (strcmp(verb, "show") == 0) {
    /* In C nothing shows itself but errors, and those are answers. */
    tell(req->id, "ok", "text", "", NULL);
  } else {
    misunderstood(req->id, "no such verb");
  }
  free(req->line);
  free(req);
}

/* ---- threads ---- */

static void *run_one(void *req) {
  obey(req);
  return NULL;
}

static void *run_worker(void *self) {
  worker *mine = self;
  for (;;) {
    pthread_mutex_lock(&table_lock);
    while (mine->first == NULL) pthread_cond_wait(&mine->arrived, &table_lock);
    request *req = mine->first;
    mine->first = req->next;
    pthread_mutex_unlock(&table_lock);
    obey(req);
  }
  return NULL;
}

static void start(void *(*body)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument) != 0) abort();
  pthread_detach(thread);
}

static void dispatch(request *req) {
  const char *name = field(req, "thread");
  if (name == NULL) {
    start(run_one, req);
    return;
  }
  worker *mine = find(THREAD, name);
  if (mine == NULL) {
    mine = must(calloc(1, sizeof *mine));
    pthread_cond_init(&mine->arrived, NULL);
    put(THREAD, name, mine);
    start(run_worker, mine);
  }
  pthread_mutex_lock(&table_lock);
  request **last = &mine->first;
  while (*last != NULL) last = &(*last)->next;
  *last = req;
  pthread_cond_signal(&mine->arrived);
  pthread_mutex_unlock(&table_lock);
}

/* ---- input ---- */

static void unescape(char *text) {
  char *to = text;
  for (char *from = text; *from; from++, to++) {
    if (*from == '%' && from[1] && from[2]) {
      const char digits[] = {from[1], from[2], '\0'};
      *to = (char)strtol(digits, NULL, 16);
      from += 2;
    } else {
      *to = *from;
    }
  }
  *to = '\0';
}

static request *parse(const char *line) {
  request *req = must(calloc(1, sizeof *req));
  char *rest = NULL;
  req->line = copy(line);
  req->id = strtok_r(req->line, " \n", &rest);
  req->verb = strtok_r(NULL, " \n", &rest);
  for (char *word; (word = strtok_r(NULL, " \n", &rest)) != NULL && req->fields < MOST_FIELDS;) {
    char *value = strchr(word, '=');
    if (value == NULL) abort();
    *value++ = '\0';
    unescape(value);
    req->keys[req->fields] = word;
    req->values[req->fields++] = value;
  }
  if (req->verb == NULL) abort();
  return req;
}

int main(int count, char **arguments) {
  asynchronous = count > 1 && strcmp(arguments[1], "async") == 0;
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, stdin) > 0) {
    request *req = parse(line);
    if (strcmp(req->verb, "exit") == 0) break;
    dispatch(req);
  }
  return 0;
}
