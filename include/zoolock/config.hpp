// What the headers need of the compiler.
#ifndef ZOOLOCK_CONFIG_HPP
#define ZOOLOCK_CONFIG_HPP

#if !(defined(__cplusplus) && __cplusplus >= 201703L) && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "zoolock.hpp needs C++17 or newer"
#endif

#if !defined(__cpp_exceptions)
#error "zoolock.hpp reports failures by exceptions; where they are turned off, use zoolock.h"
#endif

// The same type in every shared library of a program that hides its symbols, so that what one throws can be caught in another.
#if defined(__GNUC__)
#define ZOOLOCK_VISIBLE __attribute__((visibility("default")))
#else
#define ZOOLOCK_VISIBLE
#endif

#endif
