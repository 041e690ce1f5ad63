#!/bin/sh
# Starts a cluster of three nodes on this machine, for trying it out, and ends it with Ctrl-C. A folder may be named:
#
#     make build && scripts/cluster.sh
#
# Their folders are those of a temporary one, and the database is a private PostgreSQL server beside them, or the one that
# SKILLROUTER_DATABASE names. Beside them is a private NATS server (see nats.sh), or that of SKILLROUTER_NATS; it goes without. What happens to each node is in its log there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${SKILLROUTER_DATABASE:-}" ] && [ -z "${SKILLROUTER_TEST_POSTGRES:-}" ]; then
    exec "$here/postgres.sh" "$here/cluster.sh" "$@"
fi
if [ -z "${SKILLROUTER_NATS:-}" ] && [ -z "${SKILLROUTER_TEST_NATS+named}" ]; then
    exec "$here/nats.sh" "$here/cluster.sh" "$@"
fi
SKILLROUTER_NATS=${SKILLROUTER_NATS:-${SKILLROUTER_TEST_NATS:-}}
export SKILLROUTER_NATS
SKILLROUTER_DATABASE=${SKILLROUTER_DATABASE:-$SKILLROUTER_TEST_POSTGRES}
export SKILLROUTER_DATABASE
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
[ -s "$folder/secret" ] || (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$folder/secret")
pids=
trap 'kill $pids 2>/dev/null; wait' EXIT
trap 'exit 0' INT TERM
for n in 1 2 3; do
    "$here/../bin/skillrouter" serve --node "n$n" --listen "127.0.0.1:810$n" --data "$folder/n$n" --cluster-secret-file "$folder/secret" 2>"$folder/n$n.log" &
    pids="$pids $!"
    echo "n$n: http://127.0.0.1:810$n, process $!, log $folder/n$n.log"
done
echo "the owner's token is in $folder/n1/owner.token; Ctrl-C ends all"
wait
