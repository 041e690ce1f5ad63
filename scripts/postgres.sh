#!/bin/sh
# Runs a command with a PostgreSQL server for tests:
#
#     scripts/postgres.sh COMMAND…
#
# The server is that of SKILLROUTER_TEST_POSTGRES, or a private one in a temporary folder, which is stopped
# and removed at the end. Where there is none and none can be started, it says so and runs nothing;
# SKILLROUTER_TEST_REQUIRE=postgres makes that a failure. SKILLROUTER_TEST_POSTGRES_RESTART, which the command gets,
# stops a private server at once and starts it again.
set -eu

if [ -z "${SKILLROUTER_TEST_POSTGRES:-}" ]; then
    bin=$(ls -d /usr/lib/postgresql/*/bin /usr/local/pgsql/bin /opt/homebrew/opt/postgresql*/bin 2>/dev/null | sort -V | tail -n 1)
    command -v initdb >/dev/null && bin=$(dirname "$(readlink -f "$(command -v initdb)")")
    as=
    if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=postgres --regid=postgres --clear-groups"; fi # it refuses to run as root
    none() {
        echo "no PostgreSQL server is named, and none can be started (Debian: apt install postgresql): nothing was run"
        case ",${SKILLROUTER_TEST_REQUIRE:-}," in *,postgres,*) exit 1 ;; esac
        exit 0
    }
    if [ -z "$bin" ] || ! { [ -z "$as" ] || id postgres >/dev/null 2>&1; }; then none; fi
    base=/dev/shm # the tests make hundreds of schemas: in memory that takes a third of the time
    [ -w "$base" ] || base=${TMPDIR:-/tmp}
    folder=$(mktemp -d "$base/skillrouter-postgres.XXXXXX")
    [ -z "$as" ] || chown postgres "$folder"
    trap 'cd /; $as "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM
    (cd / && $as "$bin/initdb" -D "$folder/data" -A trust -U postgres --locale=C.UTF-8 >"$folder.log" 2>&1 &&
        $as "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -o "-c listen_addresses='' -c unix_socket_directories='$folder' -c max_connections=300" start >>"$folder.log" 2>&1) ||
        { tail -n 20 "$folder.log"; rm -f "$folder.log"; none; }
    rm -f "$folder.log"
    SKILLROUTER_TEST_POSTGRES="postgres://postgres@/postgres?host=$folder"
    SKILLROUTER_TEST_POSTGRES_RESTART="cd / && $as $bin/pg_ctl -D $folder/data -l $folder/log -m immediate -w restart"
    export SKILLROUTER_TEST_POSTGRES SKILLROUTER_TEST_POSTGRES_RESTART
fi
SKILLROUTER_TEST_STORE=postgres
export SKILLROUTER_TEST_STORE
"$@"
