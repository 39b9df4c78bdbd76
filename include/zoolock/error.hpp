// Failures: one exception class for each kind, an error code, and what went wrong in words.
#ifndef ZOOLOCK_ERROR_HPP
#define ZOOLOCK_ERROR_HPP

#include <zoolock.h>
#include <zoolock/config.hpp>

#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace zoolock {

/// The kinds of failure, by the numbers of `zoolock_status`. Values are append-only.
enum class errc : int {
    /// An argument is malformed; the message names it. Fix the call; nothing was sent (R20).
    invalid_argument = ZOOLOCK_INVALID_ARGUMENT,
    /// No server could be reached in time. Try again later, or raise the connect timeout.
    unavailable = ZOOLOCK_UNAVAILABLE,
    /// The lock was not granted within the time given. `error::cause` tells whether that was for want of a server.
    timeout = ZOOLOCK_TIMEOUT,
    /// The caller cancelled the call. No contender is left behind (R5).
    cancelled = ZOOLOCK_CANCELLED,
    /// The lock was held and is no longer. Stop the protected work; somebody else may be in it.
    lock_lost = ZOOLOCK_LOCK_LOST,
    /// The caller does not hold what it tries to release (R10). A bug in the caller.
    not_held = ZOOLOCK_NOT_HELD,
    /// The owner of a read lock asked for the write lock (R12). Release the read lock first.
    would_deadlock = ZOOLOCK_WOULD_DEADLOCK,
    /// The path's 32-bit sequence is used up (R14). Let the path empty, or use another.
    sequence_exhausted = ZOOLOCK_SEQUENCE_EXHAUSTED,
    /// The server denies it: the message names the path and the missing right.
    no_auth = ZOOLOCK_NO_AUTH,
    /// The server does not accept the credentials. Trying again does not help.
    auth_failed = ZOOLOCK_AUTH_FAILED,
    /// The session ended before the call could finish.
    session_expired = ZOOLOCK_SESSION_EXPIRED,
    /// The session is closed. Open another one.
    closed = ZOOLOCK_CLOSED,
    /// The server, or this build, does not offer what was asked for.
    unsupported = ZOOLOCK_UNSUPPORTED,
    /// Something that should not happen; please report it with its message.
    internal = ZOOLOCK_INTERNAL,
};

namespace detail {

class ZOOLOCK_VISIBLE category_type final : public std::error_category {
public:
    const char *name() const noexcept override { return "zoolock"; }

    std::string message(int value) const override
    {
        switch (static_cast<errc>(value)) {
        case errc::invalid_argument: return "invalid argument";
        case errc::unavailable: return "no server could be reached in time";
        case errc::timeout: return "the lock was not granted in time";
        case errc::cancelled: return "cancelled";
        case errc::lock_lost: return "the lock was lost";
        case errc::not_held: return "the lock is not held";
        case errc::would_deadlock: return "would wait for itself";
        case errc::sequence_exhausted: return "the path's sequence is used up";
        case errc::no_auth: return "the server denies it";
        case errc::auth_failed: return "the credentials were not accepted";
        case errc::session_expired: return "the session ended";
        case errc::closed: return "the session is closed";
        case errc::unsupported: return "not supported";
        case errc::internal: return "internal failure";
        }
        return "unknown failure " + std::to_string(value);
    }

    /// So that `code() == std::errc::timed_out` and its like hold.
    std::error_condition default_error_condition(int value) const noexcept override
    {
        switch (static_cast<errc>(value)) {
        case errc::invalid_argument: return std::errc::invalid_argument;
        case errc::unavailable: return std::errc::host_unreachable;
        case errc::timeout: return std::errc::timed_out;
        case errc::cancelled: return std::errc::operation_canceled;
        case errc::not_held: return std::errc::operation_not_permitted;
        case errc::would_deadlock: return std::errc::resource_deadlock_would_occur;
        case errc::no_auth:
        case errc::auth_failed: return std::errc::permission_denied;
        case errc::unsupported: return std::errc::not_supported;
        default: return std::error_condition(value, *this);
        }
    }
};

} // namespace detail

/// The category of zoolock's error codes, named `zoolock`.
ZOOLOCK_VISIBLE inline const std::error_category &category() noexcept
{
    // Never destroyed: errors are looked at until the very end of a program.
    static const detail::category_type &only = *new detail::category_type;
    return only;
}

inline std::error_code make_error_code(errc kind) noexcept
{
    return {static_cast<int>(kind), category()};
}

} // namespace zoolock

template <>
struct std::is_error_code_enum<zoolock::errc> : std::true_type {};

namespace zoolock {

/// The base of every exception that zoolock throws, but for `std::bad_alloc`. Never holds credentials (R19). Copies do not throw.
class ZOOLOCK_VISIBLE error : public std::system_error {
public:
    error(errc kind, std::string operation, std::string path, std::string message, std::shared_ptr<const error> cause = nullptr)
        : std::system_error(make_error_code(kind)),
          parts_(std::make_shared<const parts>(parts{std::move(operation), std::move(path), std::move(message), std::move(cause)}))
    {
    }

    /// One line that says which operation on which path failed, and why: for logs.
    const char *what() const noexcept override { return parts_->message.c_str(); }

    /// The kind; the same as `code()`.
    errc kind() const noexcept { return static_cast<errc>(code().value()); }

    /// The operation that failed, such as "lock" or "connect".
    const std::string &operation() const noexcept { return parts_->operation; }

    /// The lock path that it was about; empty if it was about none.
    const std::string &path() const noexcept { return parts_->path; }

    /// The failure that caused this one, or nullptr: a `timeout` is caused by an `unavailable` if no server could be reached in
    /// that time. Lives as long as this or a copy of it.
    const error *cause() const noexcept { return parts_->cause.get(); }

private:
    struct parts {
        std::string operation, path, message;
        std::shared_ptr<const error> cause;
    };

    std::shared_ptr<const parts> parts_;
};

namespace detail {

template <errc Kind>
class ZOOLOCK_VISIBLE error_of : public error {
public:
    error_of(std::string operation, std::string path, std::string message, std::shared_ptr<const error> cause = nullptr)
        : error(Kind, std::move(operation), std::move(path), std::move(message), std::move(cause))
    {
    }

    explicit error_of(const error &failure) : error(failure) {}
};

} // namespace detail

struct ZOOLOCK_VISIBLE invalid_argument : detail::error_of<errc::invalid_argument> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE unavailable : detail::error_of<errc::unavailable> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE timeout : detail::error_of<errc::timeout> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE cancelled : detail::error_of<errc::cancelled> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE lock_lost : detail::error_of<errc::lock_lost> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE not_held : detail::error_of<errc::not_held> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE would_deadlock : detail::error_of<errc::would_deadlock> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE sequence_exhausted : detail::error_of<errc::sequence_exhausted> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE no_auth : detail::error_of<errc::no_auth> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE auth_failed : detail::error_of<errc::auth_failed> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE session_expired : detail::error_of<errc::session_expired> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE closed : detail::error_of<errc::closed> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE unsupported : detail::error_of<errc::unsupported> { using error_of::error_of; };
struct ZOOLOCK_VISIBLE internal : detail::error_of<errc::internal> { using error_of::error_of; };

namespace detail {

inline std::string text(const char *from_c)
{
    return from_c == nullptr ? std::string() : std::string(from_c);
}

inline error to_error(const zoolock_error *from_c)
{
    const zoolock_error *cause = zoolock_error_cause(from_c);
    return error(static_cast<errc>(zoolock_error_status(from_c)), text(zoolock_error_operation(from_c)),
                 text(zoolock_error_path(from_c)), text(zoolock_error_message(from_c)),
                 cause == nullptr ? nullptr : std::make_shared<const error>(to_error(cause)));
}

/// Throws a failure as the class of its kind; as the base if a newer library has a kind that this header does not know.
[[noreturn]] inline void raise(const error &failure)
{
    switch (failure.kind()) {
    case errc::invalid_argument: throw invalid_argument(failure);
    case errc::unavailable: throw unavailable(failure);
    case errc::timeout: throw timeout(failure);
    case errc::cancelled: throw cancelled(failure);
    case errc::lock_lost: throw lock_lost(failure);
    case errc::not_held: throw not_held(failure);
    case errc::would_deadlock: throw would_deadlock(failure);
    case errc::sequence_exhausted: throw sequence_exhausted(failure);
    case errc::no_auth: throw no_auth(failure);
    case errc::auth_failed: throw auth_failed(failure);
    case errc::session_expired: throw session_expired(failure);
    case errc::closed: throw closed(failure);
    case errc::unsupported: throw unsupported(failure);
    case errc::internal: throw internal(failure);
    }
    throw failure;
}

struct free_error {
    void operator()(zoolock_error *handle) const noexcept { zoolock_error_free(handle); }
};

/// Calls a function of C's that takes a place for an error, and throws that error; else gives the status.
template <class Function>
zoolock_status call(Function &&function)
{
    zoolock_error *place = nullptr;
    const zoolock_status status = std::forward<Function>(function)(&place);
    const std::unique_ptr<zoolock_error, free_error> failure(place);
    if (status > ZOOLOCK_OK)
        raise(to_error(failure.get()));
    return status;
}

/// Text for C. A NUL inside would silently cut it off.
inline const char *c_text(const std::string &text, const char *operation, const char *argument)
{
    if (text.find('\0') != std::string::npos)
        throw invalid_argument(operation, "", std::string(operation) + ": " + argument + ": has a NUL inside");
    return text.c_str();
}

} // namespace detail

} // namespace zoolock

#endif
