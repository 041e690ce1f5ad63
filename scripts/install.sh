#!/bin/sh
# Builds skillrouter from this checkout and installs it for the current user.
#
#   scripts/install.sh [--prefix DIR] [--service]
#
# --prefix DIR   install DIR/bin/skillrouter (default: ~/.local)
# --service      also start it with the session, as a systemd user service
set -eu

prefix=${HOME:?HOME is not set}/.local
service=no
while [ $# -gt 0 ]; do
	case $1 in
	--prefix)
		[ $# -ge 2 ] || { echo "install.sh: --prefix needs a folder" >&2; exit 64; }
		prefix=$2
		shift 2
		;;
	--service)
		service=yes
		shift
		;;
	*)
		sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
		exit 64
		;;
	esac
done

cd "$(dirname "$0")/.."
command -v go >/dev/null || { echo "install.sh: Go is needed to build: https://go.dev/dl/" >&2; exit 1; }

mkdir -p "$prefix/bin"
prefix=$(cd "$prefix" && pwd)
target=$prefix/bin/skillrouter
# Built beside its place and moved there, so that a running program is not overwritten.
CGO_ENABLED=0 go build -tags nomsgpack -trimpath -o "$target.new" ./cmd/skillrouter
mv "$target.new" "$target"
"$target" version
echo "installed $target"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "note: $prefix/bin is not in your PATH" ;;
esac

if [ "$service" = yes ]; then
	command -v systemctl >/dev/null || { echo "install.sh: --service needs systemd" >&2; exit 1; }
	units=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
	mkdir -p "$units"
	cat >"$units/skillrouter.service" <<UNIT
[Unit]
Description=Skill Router

[Service]
ExecStart="$target" serve
Restart=on-failure
NoNewPrivileges=yes

[Install]
WantedBy=default.target
UNIT
	systemctl --user daemon-reload
	systemctl --user enable --now skillrouter.service
	echo "started; its log: journalctl --user -u skillrouter"
else
	echo "start it with: $target serve"
fi
