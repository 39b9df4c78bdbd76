// The session.
#ifndef ZOOLOCK_SESSION_HPP
#define ZOOLOCK_SESSION_HPP

#include <zoolock.h>
#include <zoolock/callback.hpp>
#include <zoolock/session_options.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace zoolock {

/// State of a session (R16). Values are append-only.
enum class session_state : int {
    /// Not a state: the session was moved from.
    none = ZOOLOCK_SESSION_STATE_INVALID,
    /// No ZooKeeper session yet: the first connect, or one after an expiry.
    connecting = ZOOLOCK_SESSION_STATE_CONNECTING,
    connected = ZOOLOCK_SESSION_STATE_CONNECTED,
    /// The connection is lost; the ZooKeeper session may live on and is being moved to another server.
    suspended = ZOOLOCK_SESSION_STATE_SUSPENDED,
    /// The ZooKeeper session is over; a new one is being started.
    expired = ZOOLOCK_SESSION_STATE_EXPIRED,
    /// Final.
    closed = ZOOLOCK_SESSION_STATE_CLOSED,
};

/// A session with a ZooKeeper ensemble. Sessions with the same servers and options share one ZooKeeper session (R16). For any
/// thread. In a forked child it opens a session of the child's own on first use (R18).
///
/// Its end closes it in the background, once the last lock and guard made with it has ended too; `close` does so at once.
class session {
public:
    /// Connects to `hosts`, ZooKeeper's `host:port,host:port/chroot`. Blocks until connected, at most for the connect timeout.
    ///
    /// Throws `invalid_argument` before anything is sent (R20), `unavailable` at the connect timeout or when the retries are used up,
    /// `auth_failed` at once, `unsupported` for a server older than 3.5.5.
    explicit session(const std::string &hosts, const session_options &options = {})
    {
        connect(detail::c_text(hosts, "connect", "hosts"), options);
    }

    /// Connects to the hosts in the environment variable ZOOLOCK_HOSTS, else to 127.0.0.1:2181.
    explicit session(const session_options &options = {}) { connect(nullptr, options); }

    /// Closes the session (R17): its guards are lost and told so, its waiting calls throw `closed`, its contenders are freed. Blocks at
    /// most so long; the freeing goes on in the background. Closing again does nothing.
    void close(wait limit = std::chrono::seconds(5)) const
    {
        detail::call([&](zoolock_error **err) { return zoolock_session_close(handle_.get(), limit.c_milliseconds(), err); });
    }

    /// The state at this moment.
    session_state state() const noexcept { return static_cast<session_state>(zoolock_session_state(handle_.get())); }

    /// The id that the ensemble knows the session by; 0 before the first connect. Changes when a new session follows an expired one.
    std::int64_t id() const noexcept { return zoolock_session_id(handle_.get()); }

    /// The session timeout that the ensemble has granted; zero before the first connect.
    std::chrono::milliseconds negotiated_timeout() const noexcept
    {
        return std::chrono::milliseconds(zoolock_session_negotiated_timeout_ms(handle_.get()));
    }

    /// Calls `callback` with every change of state from now on, in order, on the callback thread; `closed` comes last. The callback may
    /// use everything here, `close` included; what blocks in it delays the other callbacks, but no lock. What it throws goes to the log.
    /// Throws `closed`.
    template <class Callback>
    void on_state(Callback &&callback) const
    {
        using function = std::decay_t<Callback>;
        static_assert(std::is_invocable_v<function &, session_state>, "on_state takes a callable that takes a session_state");
        auto kept = detail::keep(std::forward<Callback>(callback));
        const auto call = [](zoolock_session_state_t state, void *userdata) noexcept {
            detail::run("on_state", *static_cast<function *>(userdata), static_cast<session_state>(state));
        };
        detail::call([&](zoolock_error **err) {
            return zoolock_session_on_state_and_free(handle_.get(), call, kept.release(), detail::destroy<function>, err);
        });
    }

    const zoolock_session *c_handle() const noexcept { return handle_.get(); }

private:
    void connect(const char *hosts, const session_options &options)
    {
        zoolock_session *connected = nullptr;
        detail::call([&](zoolock_error **err) { return zoolock_session_connect(hosts, options.c_handle(), &connected, err); });
        handle_.reset(connected);
    }

    detail::handle<zoolock_session, zoolock_session_free> handle_;
};

} // namespace zoolock

#endif
