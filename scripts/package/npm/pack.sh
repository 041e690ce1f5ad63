#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the npm packages of a release from the unpacked programs of its platforms:
#
#   pack.sh VERSION OUT PLATFORM=FOLDER...
#
# PLATFORM is as npm names it (linux-x64, darwin-arm64, win32-x64), FOLDER has its two programs. In OUT come a package
# for each platform and the main one, whose optionalDependencies they are. It needs npm and no network.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
[ $# -ge 3 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 64; }
version=${1%%+*} # npm knows no build metadata
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pack FOLDER: prints the name of the file that npm makes of it.
pack() {
	(cd "$work" && npm pack --silent --ignore-scripts --pack-destination "$out" "./$1")
}

# The version is in the manifests already when a release is made; a build in between has its own.
versioned() {
	node -e '
const fs = require("node:fs"), [from, to, version, repository] = process.argv.slice(1);
const manifest = JSON.parse(fs.readFileSync(from, "utf8"));
manifest.version = version;
for (const name in manifest.optionalDependencies) manifest.optionalDependencies[name] = version;
if (repository) manifest.repository = { type: "git", url: `git+https://github.com/${repository}.git` };
fs.writeFileSync(to, JSON.stringify(manifest, null, 2) + "\n");' "$1" "$2" "$version" "${GITHUB_REPOSITORY-}"
}

for pair in "$@"; do
	platform=${pair%%=*}
	folder=${pair#*=}
	mkdir -p "$work/$platform/bin"
	suffix=
	[ "${platform%%-*}" != win32 ] || suffix=.exe
	for program in skillrouter skillrouter-hook; do
		cp "$folder/$program$suffix" "$work/$platform/bin/"
		chmod 755 "$work/$platform/bin/$program$suffix"
	done
	cp "$root/LICENSE" "$work/$platform/"
	echo "The programs of [skillrouter](https://www.npmjs.com/package/skillrouter) for $platform." >"$work/$platform/README.md"
	cat >"$work/$platform/manifest" <<END
{
  "name": "@skillrouter/$platform",
  "version": "$version",
  "description": "The programs of skillrouter for $platform",
  "license": "Apache-2.0",
  "os": ["${platform%%-*}"],
  "cpu": ["${platform#*-}"],
  "preferUnplugged": true
}
END
	versioned "$work/$platform/manifest" "$work/$platform/package.json"
	rm "$work/$platform/manifest"
	pack "$platform"
done
mkdir "$work/main"
cp -R "$here/bin" "$here/README.md" "$root/LICENSE" "$work/main/"
versioned "$here/package.json" "$work/main/package.json"
pack main
