#!/bin/sh
# Runs a command with a NATS server, whose address is in SKILLROUTER_TEST_NATS:
#
#     scripts/nats.sh COMMAND…
#
# The server is that of SKILLROUTER_TEST_NATS, or a private one on a port of its own, which is stopped and removed at the end:
# nats-server of the path, or the one that the module in scripts/nats names, which is fetched and compiled the first time
# (a minute or two). Where there is none it says so and runs the command without; SKILLROUTER_TEST_REQUIRE=nats makes that a failure.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${SKILLROUTER_TEST_NATS:-}" ]; then
    server=$(command -v nats-server || { # compiled as the tests have it
        echo "looking for the nats-server of scripts/nats, which is compiled the first time" >&2
        cd "$here/nats" && CGO_ENABLED=0 GOFLAGS=-trimpath "${GO:-go}" tool -n github.com/nats-io/nats-server/v2 2>/dev/null
    } || true)
    folder=$(mktemp -d)
    pid=
    trap 'cd /; [ -z "$pid" ] || kill "$pid" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM
    if [ -n "$server" ]; then
        "$server" -a 127.0.0.1 -p -1 -js -sd "$folder/store" --ports_file_dir "$folder" >"$folder/log" 2>&1 &
        pid=$!
        for _ in $(seq 100); do # ten seconds
            SKILLROUTER_TEST_NATS=$(cat "$folder"/*.ports 2>/dev/null | tr -d ' \n' | sed -n 's/.*"nats":\["\([^"]*\)".*/\1/p')
            [ -z "$SKILLROUTER_TEST_NATS" ] || break
            sleep 0.1
        done
    fi
    if [ -z "${SKILLROUTER_TEST_NATS:-}" ]; then
        echo "no NATS server is named, and none can be started (scripts/nats wants the network once): going on without"
        case ",${SKILLROUTER_TEST_REQUIRE:-}," in *,nats,*) exit 1 ;; esac
    fi
    export SKILLROUTER_TEST_NATS
fi
"$@"
