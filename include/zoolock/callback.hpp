// C++ callables as C's callbacks.
//
// Nothing that a callback throws reaches C, or ends the program: it is caught here and told to the log as an error, or to the
// standard error stream where there is no log callback.
#ifndef ZOOLOCK_CALLBACK_HPP
#define ZOOLOCK_CALLBACK_HPP

#include <zoolock.h>
#include <zoolock/config.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace zoolock::detail {

/// Called where an exception is being handled.
inline void report_exception(const char *callback) noexcept
{
    try {
        throw;
    } catch (const std::exception &thrown) {
        zoolock_report_callback_failure(callback, thrown.what());
    } catch (...) {
        zoolock_report_callback_failure(callback, "an exception that is no std::exception");
    }
}

/// Runs what the application gave.
template <class Function, class... Arguments>
void run(const char *callback, Function &function, Arguments &&...arguments) noexcept
{
    try {
        std::invoke(function, std::forward<Arguments>(arguments)...);
    } catch (...) {
        report_exception(callback);
    }
}

/// A callable on the heap, which C's callback gets as its userdata.
template <class Function>
std::unique_ptr<std::decay_t<Function>> keep(Function &&function)
{
    return std::unique_ptr<std::decay_t<Function>>(new std::decay_t<Function>(std::forward<Function>(function)));
}

template <class Function>
void destroy(void *userdata) noexcept
{
    delete static_cast<Function *>(userdata);
}

} // namespace zoolock::detail

#endif
