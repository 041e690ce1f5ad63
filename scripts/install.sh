#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs skillrouter for the current user: from this checkout, from the unpacked package that
# this script lies in, or from a package's archive. It downloads nothing but what Go needs to build.
#
#   install.sh [--prefix DIR] [--service] [--archive FILE [--sha256 SUM]]
#
# --prefix DIR    install into DIR/bin and DIR/share (default: ~/.local)
# --service       also start it with the session: a systemd user service, or a launchd agent
# --archive FILE  install this package; its SHA-256 must stand in the SHA256SUMS beside it
# --sha256 SUM    what the archive's SHA-256 must be, instead
set -eu

fail() {
	echo "install.sh: $1" >&2
	exit "${2:-1}"
}

usage() {
	sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
	exit 64
}

prefix=${HOME:?HOME is not set}/.local
service=no
archive=
want=
while [ $# -gt 0 ]; do
	case $1 in
	--prefix | --archive | --sha256)
		[ $# -ge 2 ] || fail "$1 needs a value" 64
		case $1 in
		--prefix) prefix=$2 ;;
		--archive) archive=$2 ;;
		--sha256) want=$2 ;;
		esac
		shift 2
		;;
	--service)
		service=yes
		shift
		;;
	*) usage ;;
	esac
done
[ -z "$want" ] || [ -n "$archive" ] || fail "--sha256 is for an --archive" 64

sum() {
	if command -v sha256sum >/dev/null; then
		sha256sum <"$1" | cut -d' ' -f1
	elif command -v shasum >/dev/null; then
		shasum -a 256 <"$1" | cut -d' ' -f1
	else
		fail "neither sha256sum nor shasum is here, and what is not checked is not installed"
	fi
}

# The source: a folder with a program in it, or this checkout.
here=$(cd "$(dirname "$0")" && pwd)
source=
temporary=
trap '[ -z "$temporary" ] || rm -rf "$temporary"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ -n "$archive" ]; then
	echo "checking and unpacking $archive"
	[ -f "$archive" ] || fail "there is no $archive"
	if [ -z "$want" ]; then
		sums=$(dirname "$archive")/SHA256SUMS
		[ -f "$sums" ] || fail "there is no SHA256SUMS beside the archive; give its sum by --sha256"
		want=$(awk -v name="$(basename "$archive")" '$2 == name || $2 == "*" name { print $1; exit }' "$sums")
		[ -n "$want" ] || fail "$sums does not name $(basename "$archive")"
	fi
	got=$(sum "$archive")
	[ "$got" = "$(printf %s "$want" | tr 'A-F' 'a-f')" ] || fail "the archive is not what its checksum says: it has $got, and should have $want"
	temporary=$(mktemp -d)
	tar -xzf "$archive" -C "$temporary"
	for dir in "$temporary"/*/; do source=${dir%/}; done
	[ -f "$source/skillrouter" ] || fail "the archive holds no skillrouter"
elif [ -f "$here/skillrouter" ]; then
	source=$here
fi

mkdir -p "$prefix/bin"
prefix=$(cd "$prefix" && pwd)
target=$prefix/bin/skillrouter
# Put beside its place and moved there, so that a running program is not overwritten.
if [ -n "$source" ]; then
	cp "$source/skillrouter" "$target.new"
	chmod 755 "$target.new"
	[ ! -f "$source/skillrouter-hook" ] || cp "$source/skillrouter-hook" "$target-hook.new"
	"$target.new" version >/dev/null || { rm -f "$target.new" "$target-hook.new"; fail "the program does not run here: is the package for this platform ($(uname -sm))?"; }
else
	command -v go >/dev/null || fail "Go is needed to build: https://go.dev/dl/ (or install a package by --archive)"
	release=$("$here/version.sh")
	echo "building skillrouter ${release:-without a version (there is no git checkout)} with $(go env GOVERSION): a first build takes two to five minutes, a further one some seconds"
	begun=$(date +%s)
	(cd "$here/.." && CGO_ENABLED=0 go build -tags nomsgpack -trimpath -ldflags="-s -w -X github.com/skillrouter/skillrouter/cmd/cli.release=$release" -o "$target.new" ./cmd/skillrouter &&
		CGO_ENABLED=0 go build -tags nomsgpack -trimpath -ldflags='-s -w' -o "$target-hook.new" ./cmd/skillrouter-hook)
	echo "built in $(($(date +%s) - begun)) s"
fi
mv "$target.new" "$target"
if [ -f "$target-hook.new" ]; then # what hooks run; packages of before had none
	chmod 755 "$target-hook.new"
	mv "$target-hook.new" "$target-hook"
fi
"$target" version
echo "installed $target"

# put SHELL FILE: the completion of a shell, where it looks for such.
put() {
	mkdir -p "$(dirname "$prefix/share/$2")"
	"$target" completion "$1" >"$prefix/share/$2"
}
echo "writing the completions for bash, zsh and fish below $prefix/share"
put bash bash-completion/completions/skillrouter
put zsh zsh/site-functions/_skillrouter
put fish fish/vendor_completions.d/skillrouter.fish
if [ -n "$source" ] && [ -d "$source/man" ]; then
	mkdir -p "$prefix/share/man/man1"
	cp "$source"/man/man1/*.1 "$prefix/share/man/man1/"
fi
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "note: $prefix/bin is not in your PATH" ;;
esac

if [ "$service" = no ]; then
	echo "start it with: $target serve"
	exit
fi
package=${source:-$here/package}
quoted=$(printf %s "$target" | sed 's/[\\&|]/\\&/g') # for the right side of s|…|…|
case $(uname -s) in
Darwin)
	agents=$HOME/Library/LaunchAgents
	mkdir -p "$agents" "$HOME/Library/Logs"
	logs=$(printf %s "$HOME/Library/Logs/skillrouter.log" | sed 's/[\\&|]/\\&/g')
	# In XML & and < have other names; in sed's right side & is another's.
	quoted=$(printf %s "$target" | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/[\\&|]/\\&/g')
	sed -e "s|/usr/local/bin/skillrouter|$quoted|" -e "s|/tmp/skillrouter.log|$logs|" \
		"$package/launchd/dev.skillrouter.plist" >"$agents/dev.skillrouter.plist"
	launchctl bootout "gui/$(id -u)/dev.skillrouter" 2>/dev/null || true # it is there when this is an upgrade
	launchctl bootstrap "gui/$(id -u)" "$agents/dev.skillrouter.plist"
	echo "started; its log: $HOME/Library/Logs/skillrouter.log"
	;;
*)
	command -v systemctl >/dev/null || fail "--service needs systemd, or a Mac's launchd"
	systemctl --user show-environment >/dev/null 2>&1 || fail "--service needs your systemd session, which ssh, WSL and containers may lack: loginctl enable-linger, log in again and repeat, or start it with: $target serve"
	units=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
	mkdir -p "$units"
	sed "s|^ExecStart=.*|ExecStart=\"$quoted\" serve|" "$package/systemd/user/skillrouter.service" >"$units/skillrouter.service"
	systemctl --user daemon-reload
	systemctl --user enable skillrouter.service
	systemctl --user restart skillrouter.service # an upgrade replaces the one that runs
	echo "started; its log: journalctl --user -u skillrouter"
	;;
esac
