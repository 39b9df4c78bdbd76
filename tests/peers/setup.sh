#!/usr/bin/env bash
# Gets the other libraries, in the versions that are pinned here, and builds all programs beside this file against them;
# quick when nothing has changed. `setup.sh curator kazoo go` or some of these; all, when none is named. ZOOLOCK_PEERS=debian
# takes what Debian has in place of Maven's and Go's registries, as happens by itself where these cannot be reached.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/env.sh"
peers=$ROOT/tests/peers
built=$TARGET/peers
mkdir -p "$built"
exec 9>"$built/lock" >&2
# Suites that run at the same time use the same peers.
flock 9

missing() { # PACKAGE…: Debian's, installed where we may
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "These are needed (names of Debian's packages): $*"
        return 1
    fi
    echo "Installing $*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

stale() { # STAMP SOURCE…
    local stamp=$1
    shift
    [ ! -e "$stamp" ] || [ -n "$(find "$@" -type f -newer "$stamp" -not -path '*/__pycache__/*' -print -quit)" ]
}

# What was fetched by one rule is not kept when another one is asked for.
asked=${ZOOLOCK_PEERS:-newest}
fetched_by_another_rule() { # FOLDER
    [ "$(cat "$1/asked" 2>/dev/null)" != "$asked" ]
}

curator_from_maven() { # FOLDER
    command -v mvn >/dev/null || missing maven default-jdk-headless
    mvn -q -B -Dstyle.color=never dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$1" \
        -f "$peers/curator/pom.xml" </dev/null &&
        (cd "$1" && sha256sum --check --strict --quiet "$peers/curator/jars.sha256")
}

curator_from_debian() { # FOLDER
    missing libcurator-recipes-java libslf4j-java default-jdk-headless || return 1
    local name
    for name in curator-recipes curator-framework curator-client zookeeper zookeeper-jute guava failureaccess commons-io slf4j-api \
        slf4j-simple netty-all; do
        if [ -e "/usr/share/java/$name.jar" ]; then cp -L "/usr/share/java/$name.jar" "$1"; fi
    done
}

curator() {
    local jars=$built/curator/jars classes=$built/curator/classes
    command -v javac >/dev/null || missing default-jdk-headless
    if fetched_by_another_rule "$built/curator" || stale "$built/curator/fetched" "$peers/curator/pom.xml" "$peers/curator/jars.sha256"; then
        rm -rf "$built/curator"
        mkdir -p "$jars"
        echo "$asked" >"$built/curator/asked"
        if [ "$asked" != debian ] && curator_from_maven "$jars"; then
            echo maven >"$built/curator/fetched"
        else
            echo "Curator as Debian has it, which is older: Maven's was not asked for, or not to be had"
            rm -rf "$jars"
            mkdir -p "$jars"
            curator_from_debian "$jars"
            echo debian >"$built/curator/fetched"
        fi
    fi
    if stale "$classes/built" "$peers/curator" "$built/curator/fetched"; then
        rm -rf "$classes"
        mkdir -p "$classes"
        # Manifests of jars name others that nobody needs here.
        find "$peers/curator" -name '*.java' -print0 |
            xargs -0 javac --release 17 -proc:none -Xlint:all,-path -Werror -d "$classes" -cp "$jars/*"
        touch "$classes/built"
    fi
}

kazoo() {
    local venv=$built/kazoo
    if stale "$venv/fetched" "$peers/kazoo/requirements.txt"; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$peers/kazoo/requirements.txt"
        touch "$venv/fetched"
    fi
}

# Debian's package is of the library's former name, has no go.mod, and its lock writes no data into its node, by which the
# runner knows whose it is: it is given that here, as later versions have it.
go_from_debian() { # FOLDER
    missing golang-github-samuel-go-zookeeper-dev || return 1
    mkdir -p "$1/zk"
    cp /usr/share/gocode/src/github.com/samuel/go-zookeeper/zk/*.go "$1/zk"
    rm -f "$1"/zk/*_test.go
    sed -i -e 's/^func (l \*Lock) Lock() error {$/&\n\treturn l.LockWithData([]byte{})\n}\n\nfunc (l *Lock) LockWithData(data []byte) error {/' \
        -e 's/Sequential(prefix, \[\]byte{}, l\.acl)/Sequential(prefix, data, l.acl)/' "$1/zk/lock.go"
    printf 'module github.com/go-zookeeper/zk\n\ngo 1.19\n' >"$1/zk/go.mod"
    {
        cat "$peers/go/go.mod"
        printf '\nreplace github.com/go-zookeeper/zk => %s\n' "$1/zk"
    } >"$1/go.mod"
    : >"$1/go.sum"
}

go_peer() {
    local folder=$built/go
    command -v go >/dev/null || missing golang-go
    # No other tool chain is fetched.
    export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
    if fetched_by_another_rule "$folder" || stale "$folder/built" "$peers/go"; then
        rm -rf "$folder"
        mkdir -p "$folder/bin"
        echo "$asked" >"$folder/asked"
        local mode=(-mod=readonly) from=proxy
        if [ "$asked" = debian ] || ! (cd "$peers/go" && go mod download); then
            echo "go-zookeeper as Debian has it, which is older: the module proxy was not asked, or did not answer"
            go_from_debian "$folder/debian"
            mode=(-mod=mod "-modfile=$folder/debian/go.mod")
            from=debian
        fi
        (cd "$peers/go" && go vet "${mode[@]}" ./... && go build "${mode[@]}" -o "$folder/bin/" ./cmd/...)
        echo "$from" >"$folder/fetched"
        touch "$folder/built"
    fi
}

for peer in "${@:-curator kazoo go}"; do
    for name in $peer; do
        case $name in
        curator) curator ;;
        kazoo) kazoo ;;
        go) go_peer ;;
        *)
            echo "There is no peer $name"
            exit 1
            ;;
        esac
    done
done
