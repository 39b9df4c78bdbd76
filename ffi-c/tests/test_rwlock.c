/* The read-write lock: sharing, order, downgrade, the upgrade that is refused. */
#include "control.h"
#include "support.h"

static zoolock_error *err;

static zoolock_guard *read_owned(const zoolock_rwlock *rwlock, const zoolock_owner *owner)
{
    zoolock_guard *guard = NULL;
    CHECK_OK(zoolock_rwlock_read_owned(rwlock, owner, PATIENCE_MS, NULL, &guard, &err), err);
    return guard;
}

static zoolock_guard *write_owned(const zoolock_rwlock *rwlock, const zoolock_owner *owner)
{
    zoolock_guard *guard = NULL;
    CHECK_OK(zoolock_rwlock_write_owned(rwlock, owner, PATIENCE_MS, NULL, &guard, &err), err);
    return guard;
}

static void readers_share_and_a_writer_is_alone(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_rwlock *rwlock = new_rwlock(session, lock_path("a"));
    zoolock_owner *one = zoolock_owner_new();
    zoolock_owner *two = zoolock_owner_new();
    zoolock_owner *three = zoolock_owner_new();
    zoolock_guard *guard = NULL;

    zoolock_guard *first = read_owned(rwlock, one);
    zoolock_guard *second = read_owned(rwlock, two);
    CHECK(zoolock_guard_is_held(first) && zoolock_guard_is_held(second));
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED,
                 zoolock_rwlock_write_owned(rwlock, three, 0, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_TIMEOUT,
                 zoolock_rwlock_write_owned(rwlock, three, 100, NULL, &guard, &err), err);
    release(first);
    release(second);

    zoolock_guard *writer = write_owned(rwlock, three);
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED,
                 zoolock_rwlock_read_owned(rwlock, one, 0, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED,
                 zoolock_rwlock_write_owned(rwlock, one, 0, NULL, &guard, &err), err);
    release(writer);

    zoolock_owner_free(one);
    zoolock_owner_free(two);
    zoolock_owner_free(three);
    zoolock_rwlock_free(rwlock);
    end_session(session);
}

static void r02_writers_tokens_rise(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_rwlock *rwlock = new_rwlock(session, lock_path("a"));
    zoolock_owner *owner = zoolock_owner_new();
    int64_t last = 0;
    for (int i = 0; i < 3; i++) {
        release(read_owned(rwlock, owner));
        zoolock_guard *writer = write_owned(rwlock, owner);
        CHECK(zoolock_guard_fencing_token(writer) > last);
        last = zoolock_guard_fencing_token(writer);
        release(writer);
    }
    zoolock_owner_free(owner);
    zoolock_rwlock_free(rwlock);
    end_session(session);
}

static void r07_a_later_reader_does_not_overtake_a_queued_writer(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_rwlock *rwlock = new_rwlock(session, path);
    zoolock_owner *one = zoolock_owner_new();
    zoolock_owner *two = zoolock_owner_new();
    zoolock_owner *three = zoolock_owner_new();
    zoolock_guard *reader = read_owned(rwlock, one);
    struct outcome write = OUTCOME_INITIALIZER, read = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK,
              zoolock_rwlock_write_owned_async(rwlock, two, -1, NULL, keep_outcome, &write));
    control_await_children(path, 2);
    CHECK_INT(ZOOLOCK_OK,
              zoolock_rwlock_read_owned_async(rwlock, three, -1, NULL, keep_outcome, &read));
    control_await_children(path, 3);
    zoolock_guard *guard = NULL;
    zoolock_owner *four = zoolock_owner_new();
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED,
                 zoolock_rwlock_read_owned(rwlock, four, 0, NULL, &guard, &err), err);
    release(reader);
    await_outcome(&write, ZOOLOCK_OK);
    CHECK_INT(0, event_count(&read.arrived));
    release(write.guard);
    await_outcome(&read, ZOOLOCK_OK);
    release(read.guard);
    zoolock_owner_free(one);
    zoolock_owner_free(two);
    zoolock_owner_free(three);
    zoolock_owner_free(four);
    zoolock_rwlock_free(rwlock);
    end_session(session);
}

static void r12_a_writer_downgrades_with_no_writer_in_between(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_rwlock *rwlock = new_rwlock(session, path);
    zoolock_owner *one = zoolock_owner_new();
    zoolock_owner *two = zoolock_owner_new();
    zoolock_guard *writer = write_owned(rwlock, one);
    struct outcome queued = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK,
              zoolock_rwlock_write_owned_async(rwlock, two, -1, NULL, keep_outcome, &queued));
    control_await_children(path, 2);
    zoolock_guard *reader = read_owned(rwlock, one);
    CHECK_INT(zoolock_guard_fencing_token(writer), zoolock_guard_fencing_token(reader));
    release(writer);
    CHECK(zoolock_guard_is_held(reader));
    CHECK_INT(0, event_count(&queued.arrived));
    release(reader);
    await_outcome(&queued, ZOOLOCK_OK);
    release(queued.guard);
    zoolock_owner_free(one);
    zoolock_owner_free(two);
    zoolock_rwlock_free(rwlock);
    end_session(session);
}

static void r12_an_upgrade_would_deadlock(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_rwlock *rwlock = new_rwlock(session, path);
    zoolock_guard *reader = NULL, *guard = NULL;
    CHECK_OK(zoolock_rwlock_read(rwlock, PATIENCE_MS, NULL, &reader, &err), err);
    zoolock_status status = zoolock_rwlock_write(rwlock, -1, NULL, &guard, &err);
    CHECK_TEXT("write", zoolock_error_operation(err));
    CHECK_ERROR(ZOOLOCK_WOULD_DEADLOCK, path, status, err);
    CHECK_STATUS(ZOOLOCK_WOULD_DEADLOCK, zoolock_rwlock_write(rwlock, 0, NULL, &guard, &err), err);
    CHECK(guard == NULL && zoolock_guard_is_held(reader));
    CHECK_INT(1, control_children(path));
    release(reader);
    CHECK_OK(zoolock_rwlock_write(rwlock, PATIENCE_MS, NULL, &guard, &err), err);
    release(guard);
    zoolock_rwlock_free(rwlock);
    end_session(session);
}

static void r11_each_side_is_re_entrant(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_rwlock *rwlock = new_rwlock(session, path);
    zoolock_guard *writers[2] = {NULL, NULL}, *readers[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        CHECK_OK(zoolock_rwlock_write(rwlock, PATIENCE_MS, NULL, &writers[i], &err), err);
    CHECK_INT(1, control_children(path));
    for (int i = 0; i < 2; i++)
        CHECK_OK(zoolock_rwlock_read(rwlock, PATIENCE_MS, NULL, &readers[i], &err), err);
    CHECK_INT(2, control_children(path));
    zoolock_contenders *list = NULL;
    CHECK_OK(zoolock_rwlock_contenders(rwlock, &list, &err), err);
    CHECK_INT(2, zoolock_contenders_count(list));
    zoolock_contenders_free(list);
    for (int i = 0; i < 2; i++) {
        release(writers[i]);
        release(readers[i]);
    }
    CHECK_INT(0, control_children(path));
    zoolock_statistics statistics;
    CHECK_OK(zoolock_rwlock_statistics(rwlock, &statistics, &err), err);
    CHECK_INT(4, statistics.acquisitions);
    zoolock_rwlock_free(rwlock);
    end_session(session);
}

static const struct test tests[] = {
    TEST(readers_share_and_a_writer_is_alone),
    TEST(r02_writers_tokens_rise),
    TEST(r07_a_later_reader_does_not_overtake_a_queued_writer),
    TEST(r12_a_writer_downgrades_with_no_writer_in_between),
    TEST(r12_an_upgrade_would_deadlock),
    TEST(r11_each_side_is_re_entrant),
};

HARNESS_MAIN(tests)
