#include "harness.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *running;
static pthread_t runner;
static jmp_buf end_of_test;
static atomic_bool failed;

static const struct test *find(const struct test *tests, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tests[i].name, name) == 0)
            return &tests[i];
    return NULL;
}

int harness_main(int argc, char **argv, const struct test *tests, size_t count)
{
    if (argc == 1) {
        for (size_t i = 0; i < count; i++)
            puts(tests[i].name);
        return 0;
    }
    const struct test *test = argc == 2 ? find(tests, count, argv[1]) : NULL;
    if (test == NULL) {
        fprintf(stderr, "usage: %s [TEST]\n", argv[0]);
        return 2;
    }
    running = test->name;
    runner = pthread_self();
    if (setjmp(end_of_test) == 0)
        test->run();
    return atomic_load(&failed) ? 1 : 0;
}

const char *harness_test(void)
{
    return running;
}

void harness_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fprintf(stderr, "%s:%d: %s: ", file, line, running);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
    atomic_store(&failed, true);
    if (pthread_equal(pthread_self(), runner))
        longjmp(end_of_test, 1);
    pthread_exit(NULL);
}

void harness_check_text(const char *file, int line, const char *expected, const char *actual,
                        const char *what)
{
    if (actual == NULL || strcmp(expected, actual) != 0)
        harness_fail(file, line, "%s is \"%s\", not \"%s\"", what, actual ? actual : "(null)",
                     expected);
}

void harness_check_status(const char *file, int line, zoolock_status expected,
                          zoolock_status actual, zoolock_error **err, const char *call)
{
    if (actual != expected)
        harness_fail(file, line, "%s is %s, not %s: %s", call, zoolock_status_name(actual),
                     zoolock_status_name(expected), zoolock_error_message(*err));
    if ((*err != NULL) != (actual > 0))
        harness_fail(file, line, "%s is %s %s an error", call, zoolock_status_name(actual),
                     *err ? "with" : "without");
    if (*err == NULL)
        return;
    if (zoolock_error_status(*err) != actual)
        harness_fail(file, line, "%s is %s with an error that is %s", call,
                     zoolock_status_name(actual), zoolock_status_name(zoolock_error_status(*err)));
    zoolock_error_free(*err);
    *err = NULL;
}

void harness_check_error(const char *file, int line, zoolock_status expected,
                         const char *contained, zoolock_status actual, zoolock_error **err,
                         const char *call)
{
    const char *message = zoolock_error_message(*err);
    if (actual == expected && strstr(message, contained) == NULL)
        harness_fail(file, line, "%s says \"%s\", without \"%s\"", call, message, contained);
    harness_check_status(file, line, expected, actual, err, call);
}
