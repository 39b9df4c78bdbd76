#!/usr/bin/env bash
# Sees that something is there that not everybody needs: installs Debian's package of it where that is possible (as root), and
# says what is missing where it is not.
# Usage: debian.sh PACKAGE COMMAND…, a command that succeeds where it is there
set -euo pipefail

package=$1
shift
if "$@" >/dev/null 2>&1; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "This is needed (the name of Debian's package): $package" >&2
    exit 1
fi
echo "Installing $package" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2
apt-get install -y -qq --no-install-recommends "$package" >&2
"$@" >/dev/null
