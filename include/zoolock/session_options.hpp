// Options of a session.
#ifndef ZOOLOCK_SESSION_OPTIONS_HPP
#define ZOOLOCK_SESSION_OPTIONS_HPP

#include <zoolock.h>
#include <zoolock/lock_options.hpp>
#include <zoolock/wait.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace zoolock {

/// What renews the leases of held locks (R3).
enum class lease_confirmation : std::int32_t {
    /// `sync`, which the leader answers without asking its quorum. The default.
    sync = ZOOLOCK_LEASE_CONFIRMATION_SYNC,
    /// A quorum write, for those who restart followers behind a partition.
    write = ZOOLOCK_LEASE_CONFIRMATION_WRITE,
};

/// Options of a session; each is left at its default unless set. Setters return the options, to be strung together. A bad value
/// is told by the session that is connected with them, as `invalid_argument`, with its name (R20). Not for two threads at once.
class session_options {
public:
    session_options() : handle_(detail::made(zoolock_session_options_new(), "session_options")) {}

    /// The session timeout to ask the servers for; they may grant another. Default 15 s.
    template <class Rep, class Period>
    session_options &session_timeout(std::chrono::duration<Rep, Period> length)
    {
        zoolock_session_options_set_session_timeout_ms(handle_.get(), detail::milliseconds(length, "session_timeout"));
        return *this;
    }

    /// How long the connect, and a try, may take. Default 10 s.
    template <class Rep, class Period>
    session_options &connect_timeout(std::chrono::duration<Rep, Period> length)
    {
        zoolock_session_options_set_connect_timeout_ms(handle_.get(), detail::milliseconds(length, "connect_timeout"));
        return *this;
    }

    /// Adds credentials, such as "digest" with "user:password". They are copied, and never logged (R19). With credentials the default
    /// ACL is the creator's.
    session_options &auth(const std::string &scheme, const std::string &credentials)
    {
        zoolock_session_options_add_auth(handle_.get(), detail::c_text(scheme, "auth", "scheme"),
                                         detail::c_text(credentials, "auth", "credentials"));
        return *this;
    }

    /// Nodes that anyone may do anything with. The default without credentials.
    session_options &acl_open()
    {
        zoolock_session_options_set_acl_open(handle_.get());
        return *this;
    }

    /// Nodes that only this session's credentials may change; anyone may read contenders. The default with credentials.
    session_options &acl_creator()
    {
        zoolock_session_options_set_acl_creator(handle_.get());
        return *this;
    }

    /// Adds an entry to a list of one's own, which replaces the default ACL. Whoever queues on a path needs to read the contenders
    /// there.
    session_options &acl_entry(permission permissions, const std::string &scheme, const std::string &id)
    {
        zoolock_session_options_add_acl_entry(handle_.get(), static_cast<std::uint32_t>(permissions),
                                              detail::c_text(scheme, "acl_entry", "scheme"), detail::c_text(id, "acl_entry", "id"));
        return *this;
    }

    /// What contenders' data says of the holder. Default "host/pid".
    session_options &identity(const std::string &text)
    {
        zoolock_session_options_set_identity(handle_.get(), detail::c_text(text, "identity", "text"));
        return *this;
    }

    /// Whether this session is one of its own, instead of sharing a ZooKeeper session with equal options (R16). Default false.
    session_options &exclusive(bool own = true)
    {
        zoolock_session_options_set_exclusive(handle_.get(), own);
        return *this;
    }

    /// Pauses between the rounds of servers of the first connect: `base`, doubled each time, at most `longest`. `retries` is how many
    /// full rounds may fail, -1 for no limit but the connect timeout. Default 50 ms, 1 s, -1.
    template <class Rep1, class Period1, class Rep2, class Period2>
    session_options &backoff_exponential(std::chrono::duration<Rep1, Period1> base, std::chrono::duration<Rep2, Period2> longest,
                                         std::int32_t retries = -1)
    {
        zoolock_session_options_set_backoff_exponential(handle_.get(), detail::milliseconds(base, "backoff"),
                                                        detail::milliseconds(longest, "backoff"), retries);
        return *this;
    }

    /// Pauses of `delay` between the rounds of servers of the first connect.
    template <class Rep, class Period>
    session_options &backoff_fixed(std::chrono::duration<Rep, Period> delay, std::int32_t retries = -1)
    {
        zoolock_session_options_set_backoff_fixed(handle_.get(), detail::milliseconds(delay, "backoff"), retries);
        return *this;
    }

    /// What renews the leases of held locks (R3).
    session_options &confirmation(lease_confirmation by)
    {
        zoolock_session_options_set_lease_confirmation(handle_.get(), static_cast<std::int32_t>(by));
        return *this;
    }

    /// TLS towards the servers, trusting the platform's authorities; or none, which is the default.
    session_options &tls(bool on = true)
    {
        zoolock_session_options_set_tls(handle_.get(), on);
        return *this;
    }

    /// File with the authorities to trust, PEM. Turns TLS on.
    session_options &tls_ca(const std::string &file)
    {
        zoolock_session_options_set_tls_ca(handle_.get(), detail::c_text(file, "tls_ca", "file"));
        return *this;
    }

    /// File with the client's certificate chain, PEM. Turns TLS on.
    session_options &tls_cert(const std::string &file)
    {
        zoolock_session_options_set_tls_cert(handle_.get(), detail::c_text(file, "tls_cert", "file"));
        return *this;
    }

    /// File with the client's private key, PEM. Turns TLS on.
    session_options &tls_key(const std::string &file)
    {
        zoolock_session_options_set_tls_key(handle_.get(), detail::c_text(file, "tls_key", "file"));
        return *this;
    }

    /// Whether the server's name is checked against its certificate. Default true. Turns TLS on.
    session_options &tls_check_server_name(bool check)
    {
        zoolock_session_options_set_tls_check_server_name(handle_.get(), check);
        return *this;
    }

    /// Throws `invalid_argument` if it was moved from.
    const zoolock_session_options *c_handle() const { return detail::present(handle_, "session_options"); }

private:
    detail::handle<zoolock_session_options, zoolock_session_options_free> handle_;
};

} // namespace zoolock

#endif
