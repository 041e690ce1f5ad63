#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the version of this checkout. The file VERSION names the release that is made or prepared: a clean checkout of
# its tag, v1.0.0, prints 1.0.0, any other one a version that sorts before it: 1.0.0-dev.2345+g0123abc, with the number
# of commits and the last commit. Where there is no git or no checkout it prints 1.0.0-dev.
#
#   version.sh --release   fails, and says why, unless this checkout may be released as what VERSION names
set -eu
cd "$(dirname "$0")/.."
version=$(cat VERSION)
commit=
if [ -e .git ]; then
	commit=$(git rev-parse --short=7 HEAD 2>/dev/null) || commit=
fi
tags=
changed=
if [ -n "$commit" ]; then
	tags=$(git tag --points-at HEAD --list 'v[0-9]*')
	git diff --quiet HEAD 2>/dev/null || changed=.changed
fi

if [ "${1-}" = --release ]; then
	fail() {
		echo "version.sh: $1" >&2
		exit 1
	}
	[ -n "$commit" ] || fail "a release is made of a commit, and this is no checkout"
	[ -z "$changed" ] || fail "a release is made of a commit, and there are changes beside it: git status shows them"
	[ "$tags" = "v$version" ] || fail "VERSION names $version, and this commit has the tag '$(echo $tags)': git tag v$version, or correct VERSION"
	grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version'"
elif [ "$tags" = "v$version" ] && [ -z "$changed" ]; then
	:
elif [ -n "$commit" ]; then
	version=$version-dev.$(git rev-list --count HEAD)+g$commit$changed
else
	version=$version-dev
fi
echo "$version"
