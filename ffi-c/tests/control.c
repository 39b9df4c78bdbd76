#include "control.h"

#include "harness.h"
#include "support.h"

#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Orders such as `wait` and `restart` take their time. */
#define ANSWER_SECONDS 90

static int dial(void)
{
    char address[256];
    snprintf(address, sizeof address, "%s", environment("ZOOLOCK_TEST_CONTROL"));
    char *colon = strrchr(address, ':');
    CHECK(colon != NULL);
    *colon = '\0';
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    CHECK_INT(0, getaddrinfo(address, colon + 1, &hints, &found));
    int control = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    CHECK(control >= 0);
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    CHECK_INT(0, setsockopt(control, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
    CHECK_INT(0, connect(control, found->ai_addr, found->ai_addrlen));
    freeaddrinfo(found);
    return control;
}

static char *order(const char *line)
{
    int control = dial();
    FILE *out = fdopen(dup(control), "w");
    FILE *in = fdopen(control, "r");
    CHECK(out != NULL && in != NULL);
    fprintf(out, "%s\n", line);
    CHECK_INT(0, fflush(out));
    char *answer = NULL;
    size_t size = 0;
    if (getline(&answer, &size, in) < 0)
        FAIL("the ensemble does not answer `%s`", line);
    fclose(out);
    fclose(in);
    return answer;
}

static char *obeyed(const char *line)
{
    char *answer = order(line);
    if (strstr(answer, "\"ok\":true") == NULL)
        FAIL("the ensemble does not obey `%s`: %s", line, answer);
    return answer;
}

char *control(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return obeyed(line);
}

void control_do(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    free(obeyed(line));
}

void control_denied(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    char *answer = order(line);
    if (strstr(answer, "NoAuth") == NULL)
        FAIL("`%s` is not denied: %s", line, answer);
    free(answer);
}

int control_children(const char *path)
{
    char *answer = control("exists %s", path);
    const char *count = strstr(answer, "\"num_children\":");
    int children = count ? atoi(strchr(count, ':') + 1) : 0;
    free(answer);
    return children;
}

void control_await_children(const char *path, int count)
{
    EVENTUALLY(control_children(path) == count);
}

/* Where the ensemble's list of sessions tells of this one; NULL if it does not. */
static const char *entry_of(const char *sessions, int64_t session_id)
{
    char id[40];
    snprintf(id, sizeof id, "\"id\":\"0x%llx\"", (unsigned long long)session_id);
    return strstr(sessions, id);
}

int control_server_of(int64_t session_id)
{
    char *sessions = control("sessions");
    const char *entry = entry_of(sessions, session_id);
    const char *server = entry ? strstr(entry, "\"server\":") : NULL;
    if (server == NULL)
        FAIL("the ensemble knows no session 0x%llx: %s", (unsigned long long)session_id, sessions);
    int number = atoi(strchr(server, ':') + 1);
    free(sessions);
    CHECK(number > 0);
    return number;
}

bool control_knows_session(int64_t session_id)
{
    char *sessions = control("sessions");
    bool known = entry_of(sessions, session_id) != NULL;
    free(sessions);
    return known;
}
