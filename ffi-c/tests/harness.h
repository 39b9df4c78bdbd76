/* A test program: its tests, how they fail, and its main. Run without arguments it lists its tests;
 * with a test's name it runs that one. One process a test: none can disturb another. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>

#include <zoolock.h>

struct test {
    const char *name;
    void (*run)(void);
};

#define TEST(name) {#name, name}

/* Runs as the body of main. */
int harness_main(int argc, char **argv, const struct test *tests, size_t count);

#define HARNESS_MAIN(tests)                                                      \
    int main(int argc, char **argv)                                              \
    {                                                                            \
        return harness_main(argc, argv, tests, sizeof(tests) / sizeof(*(tests))); \
    }

/* The name of the running test. */
const char *harness_test(void);

/* Prints why and ends the test, or the thread of the test that calls it. Not for callbacks: those
 * belong to the library. */
_Noreturn void harness_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define FAIL(...) harness_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)                         \
    do {                                         \
        if (!(condition))                        \
            FAIL("not so: %s", #condition);      \
    } while (0)

#define CHECK_INT(expected, actual)                                                \
    do {                                                                           \
        long long expected_ = (expected), actual_ = (actual);                      \
        if (expected_ != actual_)                                                  \
            FAIL("%s is %lld, not %s (%lld)", #actual, actual_, #expected, expected_); \
    } while (0)

#define CHECK_TEXT(expected, actual) harness_check_text(__FILE__, __LINE__, expected, actual, #actual)

/* That a call answers a status. `err` is a zoolock_error *, left NULL: an error is checked to have
 * come with its status, or not to have come, and freed. */
#define CHECK_STATUS(expected, call, err) \
    harness_check_status(__FILE__, __LINE__, expected, call, &(err), #call)

#define CHECK_OK(call, err) CHECK_STATUS(ZOOLOCK_OK, call, err)

/* The same for an error, whose message also has to contain a text. */
#define CHECK_ERROR(expected, contained, call, err) \
    harness_check_error(__FILE__, __LINE__, expected, contained, call, &(err), #call)

void harness_check_text(const char *file, int line, const char *expected, const char *actual,
                        const char *what);
void harness_check_status(const char *file, int line, zoolock_status expected,
                          zoolock_status actual, zoolock_error **err, const char *call);
void harness_check_error(const char *file, int line, zoolock_status expected,
                         const char *contained, zoolock_status actual, zoolock_error **err,
                         const char *call);

#endif
