// A ZooKeeper server inside the program, for development and tests only. Not part of zoolock.hpp: libraries built without the
// feature `testing` have none.
#ifndef ZOOLOCK_TESTING_HPP
#define ZOOLOCK_TESTING_HPP

#include <zoolock.h>
#include <zoolock/handle.hpp>
#include <zoolock/wait.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zoolock::testing {

/// Options of a server; each is left at its default unless set. Bad values are told by the server that is started with them.
class server_options {
public:
    server_options() : handle_(detail::made(zoolock_test_server_options_new(), "server_options")) {}

    /// The address to listen on, IPv4 or IPv6. Default 127.0.0.1. Anything but a loopback address lets others in.
    server_options &address(const std::string &text)
    {
        zoolock_test_server_options_set_address(handle_.get(), detail::c_text(text, "address", "text"));
        return *this;
    }

    /// The port. Default 0: a free one.
    server_options &port(std::uint16_t number)
    {
        zoolock_test_server_options_set_port(handle_.get(), number);
        return *this;
    }

    /// ZooKeeper's `tickTime`: sessions expire in steps of it. From 10 ms to a minute; default 500 ms.
    template <class Rep, class Period>
    server_options &tick(std::chrono::duration<Rep, Period> length)
    {
        zoolock_test_server_options_set_tick_ms(handle_.get(), detail::milliseconds(length, "tick"));
        return *this;
    }

    /// The shortest session timeout that clients get. Default, and least, two ticks (R1).
    template <class Rep, class Period>
    server_options &min_session_timeout(std::chrono::duration<Rep, Period> length)
    {
        zoolock_test_server_options_set_min_session_timeout_ms(handle_.get(), detail::milliseconds(length, "min_session_timeout"));
        return *this;
    }

    /// The longest session timeout that clients get. Default the longest of a minute, twenty ticks, and the shortest.
    template <class Rep, class Period>
    server_options &max_session_timeout(std::chrono::duration<Rep, Period> length)
    {
        zoolock_test_server_options_set_max_session_timeout_ms(handle_.get(), detail::milliseconds(length, "max_session_timeout"));
        return *this;
    }

    /// How often empty containers are removed. From 1 ms to a day; default a minute.
    template <class Rep, class Period>
    server_options &container_check(std::chrono::duration<Rep, Period> length)
    {
        zoolock_test_server_options_set_container_check_ms(handle_.get(), detail::milliseconds(length, "container_check"));
        return *this;
    }

    /// Throws `invalid_argument` if it was moved from.
    const zoolock_test_server_options *c_handle() const { return detail::present(handle_, "server_options"); }

private:
    detail::handle<zoolock_test_server_options, zoolock_test_server_options_free> handle_;
};

/// A session that a server has.
struct server_session {
    /// As `session::id` tells it.
    std::int64_t id;
    /// The session timeout, as negotiated.
    std::chrono::milliseconds timeout;
    /// Whether it has an open connection.
    bool connected;
    /// The paths of its ephemeral nodes, sorted.
    std::vector<std::string> ephemerals;
};

/// A ZooKeeper server in memory: it does not replicate, knows no TLS and no SASL, and lets everybody in who reaches its port. For any
/// thread. No function waits for a client. All but `hosts` and `stop` throw `closed` after `stop`, and in a forked child. Its end
/// stops it, which takes some milliseconds.
class server {
public:
    /// Starts it; clients can connect then. Throws `invalid_argument`, and `unavailable` if the address or port cannot be bound.
    explicit server(const server_options &options = {})
    {
        zoolock_test_server *started = nullptr;
        detail::call([&](zoolock_error **err) { return zoolock_test_server_start(options.c_handle(), &started, err); });
        handle_.reset(started);
    }

    /// The connect string, for `session`.
    std::string hosts() const { return detail::text(zoolock_test_server_hosts(handle_.get())); }

    /// The sessions that have not ended, sorted by id.
    std::vector<server_session> sessions() const
    {
        zoolock_test_sessions *place = nullptr;
        detail::call([&](zoolock_error **err) { return zoolock_test_server_sessions(handle_.get(), &place, err); });
        const detail::handle<zoolock_test_sessions, zoolock_test_sessions_free> list(place);
        std::vector<server_session> found;
        for (std::size_t index = 0; index < zoolock_test_sessions_count(list.get()); index++) {
            const zoolock_test_session &row = *zoolock_test_sessions_get(list.get(), index);
            found.push_back({row.id, std::chrono::milliseconds(row.timeout_ms), row.connected,
                             {row.ephemerals, row.ephemerals + row.ephemeral_count}});
        }
        return found;
    }

    /// Ends a session at once, as if it had been silent for its timeout; true if there was such a session.
    bool expire_session(std::int64_t id) const { return one(zoolock_test_server_expire_session, id); }
    /// Ends all sessions; how many there were.
    std::size_t expire_all() const { return all(zoolock_test_server_expire_all); }

    /// Ends the connection of a session, whose client may come back at once; true if it had one.
    bool cut_session(std::int64_t id) const { return one(zoolock_test_server_cut_session, id); }
    /// Ends all connections; how many there were.
    std::size_t cut_all() const { return all(zoolock_test_server_cut_all); }

    /// Cuts a session off: nothing is read or answered, with connections open, and its time runs on; true if there is such a session.
    bool freeze_session(std::int64_t id) const { return one(zoolock_test_server_freeze_session, id); }
    /// Ends that; what was kept back goes through. True if the session was frozen by it.
    bool thaw_session(std::int64_t id) const { return one(zoolock_test_server_thaw_session, id); }
    /// Cuts every client off, later ones too.
    void freeze_all() const { order(zoolock_test_server_freeze_all); }
    /// Ends every freeze.
    void thaw_all() const { order(zoolock_test_server_thaw_all); }

    /// Holds back every answer and event from now on for so long, at most an hour; zero ends that.
    template <class Rep, class Period>
    void delay_answers(std::chrono::duration<Rep, Period> length) const
    {
        const std::int64_t milliseconds = detail::milliseconds(length, "delay");
        detail::call([&](zoolock_error **err) { return zoolock_test_server_delay_answers(handle_.get(), milliseconds, err); });
    }

    /// Closes the port: new connections are refused. Open ones stay.
    void refuse_connections() const { order(zoolock_test_server_refuse_connections); }
    /// Opens it again. Throws `unavailable` if the system has no descriptor left for it.
    void accept_connections() const { order(zoolock_test_server_accept_connections); }

    /// Ends all connections and frees the port; sessions and data are gone then. Stopping again does nothing.
    void stop() const { order(zoolock_test_server_stop); }

private:
    template <class Function>
    bool one(Function function, std::int64_t id) const
    {
        bool found = false;
        detail::call([&](zoolock_error **err) { return function(handle_.get(), id, &found, err); });
        return found;
    }

    template <class Function>
    std::size_t all(Function function) const
    {
        std::size_t count = 0;
        detail::call([&](zoolock_error **err) { return function(handle_.get(), &count, err); });
        return count;
    }

    template <class Function>
    void order(Function function) const
    {
        detail::call([&](zoolock_error **err) { return function(handle_.get(), err); });
    }

    detail::handle<zoolock_test_server, zoolock_test_server_free> handle_;
};

} // namespace zoolock::testing

#endif
