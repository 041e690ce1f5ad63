#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the npm packages of this machine's platform into an empty home, without a network, and uses them as a person
# would:
#
#   try.sh [FOLDER]     FOLDER has the two programs (default: bin in the checkout, which make build fills)
#
# Without npm it says so and ends well.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
programs=$(cd "${1:-$root/bin}" && pwd)
command -v npm >/dev/null || { echo "skipped: npm is not here"; exit 0; }
platform=$(node -p 'process.platform + "-" + process.arch')
version=$(sh "$root/scripts/version.sh")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
fail() {
	echo "try.sh: $1" >&2
	exit 1
}
mkdir "$work/home" "$work/project"
export HOME="$work/home" npm_config_prefix="$work/prefix" npm_config_cache="$work/cache" npm_config_update_notifier=false npm_config_offline=true
unset XDG_DATA_HOME XDG_CONFIG_HOME SKILLROUTER_DATA SKILLROUTER_CONFIG CLAUDE_CONFIG_DIR || true
export PATH="$work/prefix/bin:$PATH"

sh "$here/pack.sh" "$version" "$work/packages" "$platform=$programs"
main=$(ls "$work"/packages/skillrouter-[0-9]*.tgz)
native=$(ls "$work"/packages/skillrouter-"$platform"-*.tgz)
sh "$here/pack.sh" "$version" "$work/again" "$platform=$programs" >/dev/null
for file in "$main" "$native"; do
	cmp "$file" "$work/again/$(basename "$file")" || fail "npm packs the same files as other bytes"
done

echo "== npm install -g"
npm install -g --offline --no-audit --no-fund "$main" "$native"
skillrouter version | grep -F "skillrouter $version" || fail "the launcher starts another version: $(skillrouter version)"
code=0
skillrouter no-such-command >/dev/null 2>&1 || code=$?
[ "$code" = 64 ] || fail "a wrong command ends with $code through the launcher, and should with 64"

echo "== setup writes the native program's path"
cd "$work/project"
skillrouter setup claude-code --yes >"$work/said" 2>&1 || { cat "$work/said"; fail "setup failed"; }
hook=$(sed -n 's/.*"command": *"\([^" ]*skillrouter-hook\) hook session-start.*/\1/p' .claude/settings.local.json)
case $hook in
"$work"/prefix/*"/bin/skillrouter-hook") [ -x "$hook" ] || fail "there is no $hook" ;;
*) fail "the hook is '$hook', and should be the native program: $(cat .claude/settings.local.json)" ;;
esac
grep -q "\"command\": *\"${hook%-hook}\"" "$HOME/.claude.json" || fail "the server is not the native program: $(cat "$HOME/.claude.json")"
skillrouter setup claude-code --remove --yes >/dev/null 2>&1
[ ! -e .claude/settings.local.json ] || fail "setup --remove left something: $(cat .claude/settings.local.json)"

echo "== npm uninstall -g"
npm uninstall -g skillrouter "@skillrouter/$platform" >/dev/null
! command -v "$work/prefix/bin/skillrouter" || fail "npm uninstall left the launcher"

echo "== npx, whose folder does not last"
mkdir "$work/home2" && HOME=$work/home2
npx --yes --offline --package "$main" --package "$native" -- skillrouter setup claude-code --yes >"$work/said" 2>&1 || { cat "$work/said"; fail "setup under npx failed"; }
hook=$(sed -n 's/.*"command": *"\([^"]*skillrouter-hook\) hook session-start.*/\1/p' .claude/settings.local.json)
case $hook in
*_npx* | "") fail "under npx the hook is '$hook', and should last" ;;
esac
rm -rf "$work/cache/_npx"
[ -x "$hook" ] || fail "there is no $hook any more"
"${hook%-hook}" version >/dev/null || fail "the copy does not run"
"${hook%-hook}" setup claude-code --remove --yes >/dev/null
echo "npm: installed, used and removed, without a network"
