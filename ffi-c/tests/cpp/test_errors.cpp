// Exceptions and error codes.
#include "support.hpp"

#include <new>
#include <string>

namespace {

template <class Class>
void is_raised_as(zoolock::errc kind)
{
    const zoolock::error failure(kind, "lock", "/locks/a", "lock /locks/a: why");
    try {
        zoolock::detail::raise(failure);
    } catch (const Class &caught) {
        EXPECT_EQ(caught.kind(), kind);
        EXPECT_EQ(caught.code(), kind);
        EXPECT_STREQ(caught.what(), "lock /locks/a: why");
        EXPECT_EQ(caught.operation(), "lock");
        EXPECT_EQ(caught.path(), "/locks/a");
        EXPECT_EQ(caught.cause(), nullptr);
        return;
    } catch (...) {
    }
    ADD_FAILURE() << "not raised as its class: " << static_cast<int>(kind);
}

TEST(Errors, every_kind_has_its_class)
{
    is_raised_as<zoolock::invalid_argument>(zoolock::errc::invalid_argument);
    is_raised_as<zoolock::unavailable>(zoolock::errc::unavailable);
    is_raised_as<zoolock::timeout>(zoolock::errc::timeout);
    is_raised_as<zoolock::cancelled>(zoolock::errc::cancelled);
    is_raised_as<zoolock::lock_lost>(zoolock::errc::lock_lost);
    is_raised_as<zoolock::not_held>(zoolock::errc::not_held);
    is_raised_as<zoolock::would_deadlock>(zoolock::errc::would_deadlock);
    is_raised_as<zoolock::sequence_exhausted>(zoolock::errc::sequence_exhausted);
    is_raised_as<zoolock::no_auth>(zoolock::errc::no_auth);
    is_raised_as<zoolock::auth_failed>(zoolock::errc::auth_failed);
    is_raised_as<zoolock::session_expired>(zoolock::errc::session_expired);
    is_raised_as<zoolock::closed>(zoolock::errc::closed);
    is_raised_as<zoolock::unsupported>(zoolock::errc::unsupported);
    is_raised_as<zoolock::internal>(zoolock::errc::internal);
    // Of a library that is newer than the header.
    is_raised_as<zoolock::error>(static_cast<zoolock::errc>(999));
}

TEST(Errors, every_status_of_the_library_has_its_kind)
{
    for (int status = 1; std::string(zoolock_status_name(status)) != "unknown"; status++) {
        const std::error_code code = static_cast<zoolock::errc>(status);
        EXPECT_EQ(code.message().find("unknown"), std::string::npos) << zoolock_status_name(status);
        EXPECT_EQ(code.category(), zoolock::category());
    }
    EXPECT_EQ(std::error_code(static_cast<zoolock::errc>(999)).message(), "unknown failure 999");
    EXPECT_STREQ(zoolock::category().name(), "zoolock");
}

TEST(Errors, codes_compare_with_the_standard_conditions)
{
    const std::error_code code = zoolock::errc::timeout;
    EXPECT_EQ(code, std::errc::timed_out);
    EXPECT_EQ(code, zoolock::errc::timeout);
    EXPECT_NE(code, std::errc::invalid_argument);
    EXPECT_EQ(std::error_code(zoolock::errc::invalid_argument), std::errc::invalid_argument);
    EXPECT_EQ(std::error_code(zoolock::errc::cancelled), std::errc::operation_canceled);
    EXPECT_EQ(std::error_code(zoolock::errc::would_deadlock), std::errc::resource_deadlock_would_occur);
    EXPECT_EQ(std::error_code(zoolock::errc::no_auth), std::errc::permission_denied);
}

TEST(Errors, r20_bad_arguments_are_told_before_anything_is_sent)
{
    EXPECT_THROW(zoolock::session("no port:x"), zoolock::invalid_argument);
    EXPECT_THROW(zoolock::session("127.0.0.1:1", zoolock::session_options().session_timeout(0s)), zoolock::invalid_argument);
    EXPECT_THROW(zoolock::session_options().session_timeout(-1s), zoolock::invalid_argument);
    // Cut off at the NUL it would be another lock.
    EXPECT_THROW(zoolock::session(std::string("127.0.0.1:2181\0,other", 21)), zoolock::invalid_argument);
    try {
        const zoolock::session none("127.0.0.1:1", zoolock::session_options().backoff_fixed(std::chrono::hours(24 * 4000)));
        FAIL() << "connected";
    } catch (const zoolock::invalid_argument &caught) {
        EXPECT_NE(std::string(caught.what()).find("backoff"), std::string::npos) << caught.what();
    }
}

TEST_F(Locks, r20_bad_paths_are_told_with_the_argument)
{
    EXPECT_THROW(zoolock::mutex(session, "relative"), zoolock::invalid_argument);
    EXPECT_THROW(zoolock::reentrant_mutex(session, "/a//b"), zoolock::invalid_argument);
    EXPECT_THROW(zoolock::shared_mutex(session, std::string("/locks/a\0b", 10)), zoolock::invalid_argument);
    EXPECT_THROW(zoolock::mutex(session, path, zoolock::lock_options().data(std::string(600 * 1024, 'x'))), zoolock::invalid_argument);
    EXPECT_THROW(zoolock::mutex(session, path, zoolock::lock_options().names(static_cast<zoolock::naming>(7))),
                 zoolock::invalid_argument);
}

TEST(Errors, no_server_is_unavailable_and_tells_the_operation)
{
    try {
        const zoolock::session none("127.0.0.1:1", zoolock::session_options().connect_timeout(200ms));
        FAIL() << "connected";
    } catch (const zoolock::error &caught) {
        EXPECT_EQ(caught.code(), zoolock::errc::unavailable);
        EXPECT_EQ(caught.operation(), "connect");
        EXPECT_EQ(caught.path(), "");
        EXPECT_EQ(std::string(caught.what()).find("connect"), 0U) << caught.what();
    }
}

TEST_F(Locks, r06_a_time_out_without_a_server_has_its_reason_as_cause)
{
    zoolock::mutex mutex(session, path);
    const zoolock::guard held = mutex.acquire();
    try {
        (void)mutex.acquire(500ms);
        FAIL() << "granted twice";
    } catch (const zoolock::timeout &caught) {
        EXPECT_EQ(caught.path(), path);
        EXPECT_EQ(caught.cause(), nullptr);
    }
    server.stop();
    ASSERT_TRUE(held.wait_lost(patience));
    try {
        (void)mutex.acquire(200ms);
        FAIL() << "granted without a server";
    } catch (const zoolock::timeout &caught) {
        // The cause lives as long as a copy of the error does.
        const zoolock::error copy = caught;
        ASSERT_NE(copy.cause(), nullptr);
        EXPECT_EQ(copy.cause()->code(), zoolock::errc::unavailable);
    }
}

} // namespace
