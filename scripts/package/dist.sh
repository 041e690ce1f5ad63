#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the packages of the commit that is checked out, in dist/: archives, checksums, Debian packages, a Homebrew
# formula and npm packages. They are made by GoReleaser in a clone, so that nothing beside the commit gets into them.
#
#   dist.sh [PLATFORM...]              such as linux/amd64; default: all
#   dist.sh --check [PLATFORM...]      makes them twice in different places and compares the bytes; keeps none
#
# GoReleaser is the program in PATH, or is built once into bin/tools. Building it takes minutes and Go's module proxy.
set -eu
cd "$(dirname "$0")/../.."
root=$(pwd)
fail() {
	echo "dist.sh: $1" >&2
	exit 1
}
check=
[ "${1-}" != --check ] || { check=yes && shift; }
[ -z "$(git status --porcelain)" ] || fail "packages are made of a commit, and there are changes beside it: git status shows them"

tool=$(command -v goreleaser || echo "$root/bin/tools/goreleaser")
if [ ! -x "$tool" ]; then
	echo "building GoReleaser, once"
	CGO_ENABLED=0 GOFLAGS= GOBIN=$root/bin/tools go install github.com/goreleaser/goreleaser/v2@v2.15.1
fi

SKILLROUTER_VERSION=$(sh scripts/version.sh)
export SKILLROUTER_VERSION
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# quoted LIST: the words of a list as YAML has them, each once.
quoted() { printf '%s\n' $1 | sort -u | paste -sd, - | sed 's/.*/[&]/'; }

# make CLONE PLATFORM...: the packages, in CLONE/dist.
make() {
	clone=$1
	shift
	mkdir -p "$(dirname "$clone")"
	git clone -q --no-hardlinks "$root" "$clone"
	git -C "$clone" checkout -q --detach "$(git rev-parse HEAD)"
	cp "$clone/.goreleaser.yaml" "$work/config.yaml"
	if [ $# -gt 0 ]; then # every pair of the systems and the architectures that are named
		systems=$(for platform; do echo "${platform%/*}"; done)
		machines=$(for platform; do echo "${platform#*/}"; done)
		sed -i.was -e "s|^    goos: .*|    goos: $(quoted "$systems")|" -e "s|^    goarch: .*|    goarch: $(quoted "$machines")|" "$work/config.yaml"
	fi
	(cd "$clone" && "$tool" release --snapshot --clean --config "$work/config.yaml" >"$work/log" 2>&1) || { cat "$work/log" >&2 && exit 1; }
	if command -v npm >/dev/null; then
		set --
		for program in "$clone"/dist/skillrouter_*/skillrouter*; do
			target=$(basename "$(dirname "$program")") # skillrouter_linux_amd64_v1
			target=$(echo "${target#skillrouter_}" | sed -e 's/_/-/' -e 's/_.*//' -e 's/^windows/win32/' -e 's/amd64$/x64/')
			mkdir -p "$work/programs/$target"
			cp "$program" "$(dirname "$program" | sed 's|/skillrouter_\([^/]*\)$|/skillrouter-hook_\1|')"/skillrouter-hook* "$work/programs/$target/"
			set -- "$@" "$target=$work/programs/$target"
		done
		sh "$clone/scripts/package/npm/pack.sh" "$SKILLROUTER_VERSION" "$clone/dist/npm" "$@" >/dev/null
	else
		echo "npm is not here: no npm packages are made"
	fi
}

# sums FOLDER: what lies in dist and is published.
sums() { (cd "$1/dist" && find . -type f \( -name '*.tar.gz' -o -name '*.zip' -o -name '*.deb' -o -name '*.rb' -o -name '*.tgz' -o -name SHA256SUMS \) | sort | xargs sha256sum); }

if [ -n "$check" ]; then
	make "$work/a" "$@"
	make "$work/another/place" "$@"
	sums "$work/a" >"$work/first"
	sums "$work/another/place" >"$work/second"
	cat "$work/first"
	cmp "$work/first" "$work/second" || { diff "$work/first" "$work/second" && exit 1; fail "two builds of one commit differ"; }
	for program in "$work"/a/dist/skillrouter*_*/skillrouter*; do
		! grep -q -a -F -e "$work" -e "$root" "$program" || fail "$program holds a path of this machine"
	done
	echo "Both are the same, byte for byte."
	exit
fi
make "$work/a" "$@"
rm -rf dist
cp -R "$work/a/dist" dist
sums . | sed 's|  \./|  dist/|'
