// C's handles, freed by who owns them.
#ifndef ZOOLOCK_HANDLE_HPP
#define ZOOLOCK_HANDLE_HPP

#include <zoolock.h>
#include <zoolock/error.hpp>

#include <memory>

namespace zoolock::detail {

template <auto Free>
struct freed_by {
    template <class Handle>
    void operator()(Handle *handle) const noexcept
    {
        Free(handle);
    }
};

template <class Handle, auto Free>
using handle = std::unique_ptr<Handle, freed_by<Free>>;

using guard_handle = handle<zoolock_guard, zoolock_guard_free>;
using holds_handle = handle<zoolock_holds, zoolock_holds_free>;

/// A handle that C's `*_new` gave: NULL only if the library itself fails.
template <class Handle>
Handle *made(Handle *handle, const char *what)
{
    if (handle == nullptr)
        throw internal(what, "", std::string(what) + " cannot be made");
    return handle;
}

/// The handle of something that was not moved from. C takes NULL for "the defaults" and "no cancel", and what was set is
/// nothing to lose in silence.
template <class Owned>
auto *present(const Owned &handle, const char *what)
{
    if (handle == nullptr)
        throw invalid_argument(what, "", std::string(what) + ": was moved from");
    return handle.get();
}

} // namespace zoolock::detail

#endif
