#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Answers an event of Gemini CLI for the extension, whose folder holds the programs: hook.sh EVENT.
# Where `skillrouter setup gemini` wrote its hooks for this user or this project, those answer, and the extension says nothing.
if grep -qs 'hook session-start --for gemini' "$HOME/.gemini/settings.json" "${GEMINI_PROJECT_DIR:-.}/.gemini/settings.json"; then
	echo '{}'
	exit 0
fi
event=$1
set -- hook "$event" --for gemini
[ "$event" != session-start ] || set -- "$@" --start
exec "${0%/*}/skillrouter-hook" "$@"
