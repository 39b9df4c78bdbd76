// The library's log.
#ifndef ZOOLOCK_LOG_HPP
#define ZOOLOCK_LOG_HPP

#include <zoolock.h>
#include <zoolock/callback.hpp>
#include <zoolock/error.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace zoolock {

/// How much a line of the log matters. Values are append-only.
enum class log_level : std::int32_t {
    off = ZOOLOCK_LOG_LEVEL_OFF,
    error = ZOOLOCK_LOG_LEVEL_ERROR,
    warn = ZOOLOCK_LOG_LEVEL_WARN,
    info = ZOOLOCK_LOG_LEVEL_INFO,
    debug = ZOOLOCK_LOG_LEVEL_DEBUG,
    trace = ZOOLOCK_LOG_LEVEL_TRACE,
};

/// Sends the library's log to `callback(level, target, message)`, with two `std::string_view` that live until it returns: lines of
/// `level` and of those that matter more, on the callback thread, in order. It takes the place of the one before, for the whole
/// process. Lines that are on their way still go to the one before, so what that refers to has to live until its copy here is
/// destroyed. A slow callback delays the other callbacks, but no lock; while more than 1000 lines wait, further ones are counted
/// instead. What the callback itself does is not logged. No line has credentials or key material (R19). Never blocks.
///
/// Throws `internal` if there can be no callback thread.
template <class Callback>
void set_log_callback(log_level level, Callback &&callback)
{
    using function = std::decay_t<Callback>;
    static_assert(std::is_invocable_v<function &, log_level, std::string_view, std::string_view>,
                  "set_log_callback takes a callable that takes a log_level and two std::string_view");
    auto kept = detail::keep(std::forward<Callback>(callback));
    const auto call = [](zoolock_log_level of, const char *target, const char *message, void *userdata) noexcept {
        detail::run("log callback", *static_cast<function *>(userdata), static_cast<log_level>(of), std::string_view(target),
                    std::string_view(message));
    };
    detail::call([&](zoolock_error **err) {
        return zoolock_set_log_callback(static_cast<std::int32_t>(level), call, kept.release(), detail::destroy<function>, err);
    });
}

/// No log, as at first. The callback before may still get a line, as above.
inline void clear_log_callback()
{
    detail::call([](zoolock_error **err) { return zoolock_set_log_callback(ZOOLOCK_LOG_LEVEL_OFF, nullptr, nullptr, nullptr, err); });
}

} // namespace zoolock

#endif
