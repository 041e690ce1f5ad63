#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gathers in bin/package what the packages hold beside the programs: a folder for each operating system, one for the
# Debian package, and one for the extension of Gemini CLI. GoReleaser runs it before it builds.
#
#   tree.sh VERSION SECONDS     the release, and the commit's time
set -eu
cd "$(dirname "$0")/../.."
[ $# -eq 2 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 64; }
umask 022
out=bin/package
rm -rf "$out"
mkdir -p "$out"
CGO_ENABLED=0 GOFLAGS=-trimpath go run -tags nomsgpack ./scripts/manual "$1" "$2" "$out/made"

for system in linux darwin windows; do
	tree=$out/$system
	mkdir -p "$tree/scripts"
	cp -R docs README.md CHANGELOG.md LICENSE SECURITY.md CONTRIBUTING.md "$out/made/completions" "$tree/" # README's links work in the package
	cp scripts/lesson_reporter.py "$tree/scripts/"
	[ "$system" = windows ] || cp -R "$out/made/man" scripts/install.sh "$tree/"
done
cp -R scripts/package/systemd "$out/linux/"
cp -R scripts/package/launchd "$out/darwin/"

# Debian's programs lie in /usr/bin, and it has man pages and changes compressed.
debian=$out/debian
mkdir -p "$debian"
cp -R "$out/made/man" scripts/package/systemd "$debian/"
gzip -9n "$debian"/man/man1/*.1
for unit in "$debian"/systemd/*/*.service; do
	sed 's|^ExecStart=[^ ]*/skillrouter |ExecStart=/usr/bin/skillrouter |' "$unit" >"$unit.new" && mv "$unit.new" "$unit"
done
cat >"$debian/changelog" <<END
skillrouter ($(echo "$1" | sed 's/-/~/')) unstable; urgency=medium

  * See CHANGELOG.md of the release.

 -- ${SKILLROUTER_MAINTAINER:-Skill Router <maintainers@skillrouter.invalid>}  $(git log -1 --format=%cD)
END
gzip -9n "$debian/changelog"
cat >"$debian/copyright" <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: skillrouter

Files: *
Copyright: 2026 The authors of Skill Router
License: Apache-2.0
 On Debian systems the text of this license is in /usr/share/common-licenses/Apache-2.0.
END
# Go links its programs statically. The guard knows the paths of dpkg's database, to protect them.
cat >"$debian/overrides" <<'END'
skillrouter: statically-linked-binary [usr/bin/skillrouter]
skillrouter: statically-linked-binary [usr/bin/skillrouter-hook]
skillrouter: uses-dpkg-database-directly [usr/bin/skillrouter]
END

# Gemini CLI runs hooks by PowerShell on Windows, which may have no sh.
for system in linux darwin windows; do
	cp -R scripts/package/gemini "$out/gemini-$system"
	cp LICENSE "$out/gemini-$system/"
done
hooks=$out/gemini-windows/hooks/hooks.json
sed -e 's|sh \\"${extensionPath}/hook.sh\\" \([a-z-]*\)|\& \\"${extensionPath}/skillrouter-hook.exe\\" hook \1 --for gemini|' \
	-e 's|hook session-start --for gemini|& --start|' "$hooks" >"$hooks.new" && mv "$hooks.new" "$hooks"
rm "$out/gemini-windows/hook.sh"
