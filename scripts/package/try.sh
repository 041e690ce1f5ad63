#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what dist/ has for this machine in every way that the machine has, each time into an empty home and without a
# network, uses it as a person would, and takes it away again:
#
#   try.sh [WAY...]     archive, npm, debian, formula, claude-code, gemini, go; default: all. DIST=FOLDER for another dist/
#
# A way whose tool is missing is skipped, and that is said.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dist=$(cd "${DIST:-$root/dist}" 2>/dev/null && pwd) || { echo "try.sh: there is no dist/: run make dist first" >&2; exit 1; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
fail() {
	echo "try.sh: $1" >&2
	exit 1
}
unset XDG_DATA_HOME XDG_CONFIG_HOME SKILLROUTER_DATA SKILLROUTER_CONFIG SKILLROUTER_SERVER CLAUDE_CONFIG_DIR CLAUDE_PROJECT_DIR CLAUDE_PLUGIN_DATA || true
[ -n "${DEBUG-}" ] || exec 3>"$work/log"
[ -z "${DEBUG-}" ] || exec 3>&2
ways=
fetched=$(go env GOMODCACHE 2>/dev/null || true) compiled=$(go env GOCACHE 2>/dev/null || true) # before HOME changes
# fresh NAME: an empty home, in which the next way is tried.
fresh() {
	echo "== $1"
	HOME=$work/home-$1
	mkdir "$HOME"
	export HOME
	cd "$HOME"
}
skip() { echo "skipped: $1"; }
# used PROGRAM: what a person does first.
used() {
	"$1" version | head -n 1
	SKILLROUTER_DATA=$HOME/data "$1" setup claude-code --user --yes >&3 2>&1 || fail "$1 setup failed"
	SKILLROUTER_DATA=$HOME/data "$1" setup claude-code --user --remove --yes >&3 2>&1 || fail "$1 setup --remove failed"
	[ ! -e "$HOME/.claude/settings.json" ] || fail "setup --remove left settings.json"
}

machine=$(uname -m | sed -e s/x86_64/amd64/ -e s/aarch64/arm64/)
system=$(uname -s | tr 'A-Z' 'a-z')
archive=$(ls "$dist"/skillrouter_*_"${system}_$machine".tar.gz) || fail "dist has no archive for $system on $machine: make dist PLATFORMS=$system/$machine"
mkdir "$work/unpacked"
tar -xzf "$archive" -C "$work/unpacked"
programs=$(echo "$work"/unpacked/*)

by_archive() {
	fresh archive
	sh "$root/scripts/install.sh" --archive "$archive" >&3 || fail "install.sh failed"
	used "$HOME/.local/bin/skillrouter"
	for file in README.md LICENSE CHANGELOG.md docs/install.md; do
		[ -f "$programs/$file" ] || fail "the archive has no $file"
	done
	"$HOME/.local/bin/skillrouter" demo >&3 2>&1 || fail "demo failed"
	ways="$ways archive"
}

by_npm() {
	fresh npm
	if command -v npm >/dev/null; then
		sh "$here/npm/try.sh" "$programs" >&3 2>&1 || { cat "$work/log" >&2 || true; fail "npm failed"; }
		ways="$ways npm"
	else
		skip "npm is not here"
	fi
}

by_debian() {
	fresh debian
	package=$(ls "$dist"/skillrouter_*_"$machine".deb 2>/dev/null || true)
	if [ -n "$package" ] && command -v dpkg >/dev/null && [ "$(id -u)" = 0 ]; then
		mkdir -p "$work/root/var/lib/dpkg/updates" "$work/root/var/lib/dpkg/info" && : >"$work/root/var/lib/dpkg/status"
		dpkg --root="$work/root" -i "$package" >&3 2>&1 || fail "dpkg -i failed"
		mkdir -p "$work/root/proc" "$work/root/tmp"
		chroot "$work/root" /usr/bin/skillrouter version >&3 || fail "the program does not run in a root that has nothing else"
		used "$work/root/usr/bin/skillrouter"
		dpkg --root="$work/root" -r skillrouter >&3 2>&1 || fail "dpkg -r failed"
		[ ! -e "$work/root/usr/bin/skillrouter" ] || fail "dpkg -r left the program"
		ways="$ways debian"
	else
		skip "no package for $machine, no dpkg, or not the superuser"
	fi
	if [ -n "$package" ] && command -v lintian >/dev/null; then
		lintian --allow-root --fail-on error "$package" || fail "lintian finds errors"
		ways="$ways lintian"
	else
		skip "lintian is not here"
	fi
}

by_formula() {
	echo "== formula"
	formula=$dist/homebrew/Formula/skillrouter.rb
	if [ -f "$formula" ] && command -v ruby >/dev/null; then
		ruby -c "$formula" >&3 || fail "the formula is no Ruby"
		ways="$ways formula"
	else
		skip "ruby is not here, or no formula was made"
	fi
}

by_claude_code() {
	fresh claude-code
	if command -v claude >/dev/null; then
		export PATH="$programs:$PATH"
		claude plugin validate --strict "$root" >&3 2>&1 || fail "the marketplace is refused: claude plugin validate --strict ."
		claude plugin validate --strict "$here/claude-code" >&3 2>&1 || fail "the plugin is refused"
		cd "$root"
		claude plugin marketplace add ./ >&3 2>&1 || fail "claude plugin marketplace add ./"
		claude plugin install skillrouter@skillrouter >&3 2>&1 || fail "claude plugin install"
		claude plugin details skillrouter >"$work/details"
		grep -q 'Skills (3)' "$work/details" && grep -q 'Hooks (8)' "$work/details" || { cat "$work/details"; fail "the plugin lost parts"; }
		hook=$(ls "$HOME"/.claude/plugins/cache/skillrouter/skillrouter/*/hook.sh)
		export SKILLROUTER_DATA="$HOME/data" SKILLROUTER_LISTEN=127.0.0.1:0
		event='{"session_id":"a","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push --force origin main"},"cwd":"'$HOME'"}'
		echo "$event" | sh "$hook" session-start >&3 2>&1 || fail "the plugin does not start a router"
		said=$(echo "$event" | sh "$hook" pre-tool-use)
		echo "$said" | grep -q '"permissionDecision":"deny"' || fail "the plugin's guard lets a force push through: $said"
		skillrouter setup claude-code --user --yes >&3 2>&1
		said=$(echo "$event" | sh "$hook" pre-tool-use)
		[ -z "$said" ] || fail "beside setup the plugin answers, too: $said"
		claude mcp list >"$work/servers" 2>&1 || true
		cat "$work/servers" >&3
		kill "$(sed -n 's/^{"pid":\([0-9]*\).*/\1/p' "$SKILLROUTER_DATA/skillrouter.lock")" # the router that was started above
		unset SKILLROUTER_DATA SKILLROUTER_LISTEN
		claude plugin uninstall skillrouter >&3 2>&1 || fail "claude plugin uninstall"
		ways="$ways claude-code"
	else
		skip "claude is not here"
	fi
}

by_gemini() {
	fresh gemini
	extension=$(ls "$dist/$system.$(echo "$machine" | sed s/amd64/x64/).skillrouter.tar.gz")
	mkdir extension
	tar -xzf "$extension" -C extension
	for file in gemini-extension.json GEMINI.md hook.sh hooks/hooks.json skillrouter skillrouter-hook; do
		[ -f "extension/$file" ] || fail "the extension has no $file"
	done
	if command -v gemini >/dev/null; then
		mkdir -p .gemini
		echo "{\"$HOME\": \"TRUST_FOLDER\"}" >.gemini/trustedFolders.json
		gemini extensions validate "$HOME/extension" >&3 2>&1 || fail "gemini extensions validate"
		gemini extensions install --consent "$HOME/extension" >&3 2>&1 || fail "gemini extensions install"
		gemini extensions list 2>&1 | grep -q skillrouter || fail "gemini extensions list"
		gemini extensions uninstall skillrouter >&3 2>&1 || fail "gemini extensions uninstall"
		ways="$ways gemini"
	else
		skip "gemini is not here"
	fi
}

# As `go install` gets the release from a module proxy. This one is a folder, and its other modules are those that were fetched already.
by_go() {
	fresh go
	if [ -z "$fetched" ]; then
		skip "Go is not here"
		return
	fi
	module=$(sed -n 's/^module //p' "$root/go.mod") release=v$(cat "$root/VERSION")
	proxy=$work/proxy/$module/@v
	mkdir -p "$proxy"
	echo "{\"Version\":\"$release\"}" >"$proxy/$release.info"
	echo "$release" >"$proxy/list"
	cp "$root/go.mod" "$proxy/$release.mod"
	# Folders with a go.mod of their own are other modules, and belong to no archive of this one.
	(cd "$root" && git archive --format=zip --prefix="$module@$release/" -o "$proxy/$release.zip" HEAD . \
		$(git ls-files '*/go.mod' | sed 's|\(.*\)/go.mod|:(exclude)\1|'))
	GOFLAGS=-trimpath GOPROXY="file://$work/proxy,file://$fetched/cache/download" GOSUMDB=off GOMODCACHE="$work/fetched" GOCACHE="$compiled" \
		GOBIN="$HOME/bin" CGO_ENABLED=0 go install "$module/cmd/skillrouter@$release" "$module/cmd/skillrouter-hook@$release" >&3 2>&1 ||
		{ tail -n 20 "$work/log" >&2; fail "go install failed"; }
	[ "$("$HOME/bin/skillrouter" version | head -n 1)" = "skillrouter ${release#v}" ] || fail "it does not say that it is $release"
	used "$HOME/bin/skillrouter"
	ways="$ways go"
}

[ $# -gt 0 ] || set -- archive npm debian formula claude-code gemini go
for way; do
	case $way in
	archive | npm | debian | formula | gemini | go) "by_$way" ;;
	claude-code) by_claude_code ;;
	*) fail "there is no way $way" ;;
	esac
done
echo "installed, used and removed:$ways"
