#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the version of this checkout: what `git describe` makes of the last tag such as v1.2.0, and before the first
# tag v0.0.0 with the number of commits. It prints nothing where there is no git or no checkout: the program then says
# what Go knows of it.
cd "$(dirname "$0")/.." && [ -e .git ] || exit 0
git describe --tags --match 'v[0-9]*' --dirty=-changed 2>/dev/null && exit
commit=$(git rev-parse --short HEAD 2>/dev/null) || exit 0
git diff --quiet HEAD 2>/dev/null && changed= || changed=-changed
echo "v0.0.0-$(git rev-list --count HEAD)-g$commit$changed"
