#!/usr/bin/env bash
# Tests what `make install` installs: that programs in C and C++ build and run with it, by pkg-config and by CMake, linked with the
# shared and with the static library.
#   install
# ZOOLOCK_TEST_REPORT names a file that gets a line per test.
set -euo pipefail

# shellcheck source=ffi-c/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"
trap 'rm -rf "$work"' EXIT
cd "$root"
scripts/debian.sh pkg-config pkg-config --version
scripts/debian.sh cmake cmake --version

# Below DESTDIR, hence not where it is said to be: what is installed has to find its parts all the same.
prefix=$work/dest/opt/zoolock
version=$(sed -n '/^\[workspace\.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)

installs() { make --no-print-directory install PREFIX=/opt/zoolock "DESTDIR=$work/dest"; }

files_are_in_place() {
    local file
    for file in lib/libzoolock.a lib/pkgconfig/zoolock.pc lib/cmake/zoolock/zoolockConfig.cmake include/zoolock.h \
        include/zoolock.hpp include/zoolock/testing.hpp share/doc/zoolock/{README.md,LICENSE-APACHE,LICENSE-MIT,CHANGELOG.md}; do
        [ -f "$prefix/$file" ] || { echo "no $file"; return 1; }
    done
    [ "$(readlink "$prefix/lib/libzoolock.so")" = libzoolock.so.0 ] &&
        [ "$(readlink "$prefix/lib/libzoolock.so.0")" = "libzoolock.so.$version" ] &&
        [ -x "$prefix/lib/libzoolock.so.$version" ] &&
        ! grep -rIl "$work\|$root\|@[A-Z_]*@" "$prefix/lib/pkgconfig" "$prefix/lib/cmake" "$prefix/include"
}

every_header_is_there() {
    diff <(cd include && find . -type f | sort) <(cd "$prefix/include" && find . -type f | sort)
}

# The first program of a language in the README, with what is installed and nothing else.
readme_program() { # LANGUAGE
    awk -v language="$1" '$0 == "```" language { shown = 1; next } /^```$/ && shown { exit } shown' README.md >"$work/readme.$1"
}
readme_program c
readme_program cpp

compile_c() { gcc -std=c11 "${warnings[@]}" "$@"; }
compile_cpp() { g++ -std=c++17 "${warnings[@]}" "$@"; }

says_a_token() { # PROGRAM
    local said
    said=$(timeout "$limit" "$1") || return 1
    echo "$said"
    grep -Eqx 'fencing token [0-9]+' <<<"$said"
}

needs() { LC_ALL=C readelf -d "$1" | grep -q 'NEEDED.*\[libzoolock\.so\.0\]'; }

of() { PKG_CONFIG_PATH=$2/lib/pkgconfig pkg-config "${@:3}" zoolock >"$work/$1" && cat "$work/$1"; }

shared_by_pkg_config() { # LANGUAGE
    local flags program=$work/shared-$1
    of flags "$prefix" --cflags --libs && read -ra flags <"$work/flags"
    "compile_$1" -o "$program" "$work/readme.$1" "${flags[@]}" && needs "$program" &&
        LD_LIBRARY_PATH=$prefix/lib says_a_token "$program"
}

# Where only the static library is, --static is all that it takes; beside the shared one the linker has to be told.
static_by_pkg_config() { # LANGUAGE
    local flags program=$work/static-$1 alone=$work/alone
    if [ ! -e "$alone" ]; then
        cp -a "$prefix" "$alone"
        rm "$alone"/lib/libzoolock.so*
    fi
    of flags "$alone" --static --cflags --libs && read -ra flags <"$work/flags"
    "compile_$1" -o "$program" "$work/readme.$1" "${flags[@]}" && ! needs "$program" && says_a_token "$program"
}

static_beside_the_shared_one() {
    local cflags private program=$work/beside
    of flags "$prefix" --cflags --libs-only-L && read -ra cflags <"$work/flags"
    of flags "$prefix" --static --libs-only-l && read -ra private <"$work/flags"
    compile_c -o "$program" "$work/readme.c" "${cflags[@]}" -Wl,-Bstatic -lzoolock -Wl,-Bdynamic "${private[@]:1}" &&
        ! needs "$program" && says_a_token "$program"
}

pkg_config_knows_the_version() {
    [ "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion zoolock)" = "$version" ]
}

cmake_project() { # VERSION
    mkdir -p "$work/project"
    cp "$work"/readme.{c,cpp} "$work/project/"
    cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(readme C CXX)
find_package(zoolock $1 CONFIG REQUIRED)
foreach(language c cpp)
    add_executable(shared-\${language} readme.\${language})
    target_link_libraries(shared-\${language} PRIVATE zoolock::zoolock)
    add_executable(static-\${language} readme.\${language})
    target_link_libraries(static-\${language} PRIVATE zoolock::static)
endforeach()
set_target_properties(shared-cpp static-cpp PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
END
    rm -rf "$work/built"
    cmake -S "$work/project" -B "$work/built" "-DCMAKE_PREFIX_PATH=$prefix"
}

cmake_builds_it() { cmake_project "${version%.*}" && cmake --build "$work/built" -j 2; }

# CMake has written where the library is into the program.
shared_by_cmake() { needs "$work/built/shared-$1" && says_a_token "$work/built/shared-$1"; }
static_by_cmake() { ! needs "$work/built/static-$1" && says_a_token "$work/built/static-$1"; }

cmake_refuses() { # VERSION
    local said
    if said=$(cmake_project "$1" 2>&1); then
        echo "taken: $said"
        return 1
    fi
    echo "$said"
    grep -q "compatible with requested version \"$1\"\|requested version \"$1\"" <<<"$said"
}

# Elsewhere, as distributions have it, and gone again.
uninstall_leaves_nothing() {
    local folders=(PREFIX=/usr "DESTDIR=$work/other" LIBDIR=/usr/lib/x86_64-linux-gnu) flags
    local lib=$work/other/usr/lib/x86_64-linux-gnu
    make --no-print-directory install "${folders[@]}" && [ -f "$lib/cmake/zoolock/zoolockConfig.cmake" ] || return 1
    PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags-only-I zoolock >"$work/flags" && read -ra flags <"$work/flags"
    [ -f "${flags[0]#-I}/zoolock.h" ] || { echo "no header in ${flags[0]}"; return 1; }
    make --no-print-directory uninstall "${folders[@]}" && [ -z "$(find "$work/other" -not -type d)" ]
}

bad_folders_are_refused() {
    ! make --no-print-directory install PREFIX=here && ! make --no-print-directory install PREFIX=/opt LIBDIR=../lib &&
        ! make --no-print-directory install PREFIX=/opt LIBDIR=/usr/lib "DESTDIR=$work/refused" && [ ! -e "$work/refused" ]
}

check install make_install_installs installs && {
    check install its_files_are_in_place files_are_in_place || true
    check install every_header_is_there every_header_is_there || true
    check install pkg_config_knows_the_version pkg_config_knows_the_version || true
    for language in c cpp; do
        check install "a_${language}_program_is_linked_by_pkg_config" shared_by_pkg_config "$language" || true
        check install "a_${language}_program_is_linked_statically_by_pkg_config" static_by_pkg_config "$language" || true
    done
    check install a_program_is_linked_statically_beside_the_shared_library static_beside_the_shared_one || true
    check install cmake_builds_a_project cmake_builds_it && for language in c cpp; do
        check install "a_${language}_program_is_linked_by_cmake" shared_by_cmake "$language" || true
        check install "a_${language}_program_is_linked_statically_by_cmake" static_by_cmake "$language" || true
    done
    check install cmake_refuses_another_version cmake_refuses 99.0 || true
    check install uninstall_leaves_nothing uninstall_leaves_nothing || true
    check install bad_folders_are_refused bad_folders_are_refused || true
}
summary
