#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Answers an event of Claude Code for the plugin: hook.sh EVENT, with the event's message on standard input.
#
# Where `skillrouter setup claude-code` wrote its hooks for this user or this project, those answer, and the plugin
# says nothing: each event is answered once.
event=$1
settings=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json
project=${CLAUDE_PROJECT_DIR:-.}/.claude
if grep -qs 'hook session-start --for claude-code' "$settings" "$project/settings.json" "$project/settings.local.json"; then
	exit 0
fi

set -- hook "$event" --for claude-code
[ "$event" != session-start ] || set -- "$@" --start

if command -v skillrouter-hook >/dev/null; then
	exec skillrouter-hook "$@"
fi
program=$(command -v skillrouter)
if [ -n "$program" ]; then
	# npm puts only a launcher into PATH. The program for hooks lies in the package of this platform.
	launcher=$(readlink -f "$program" 2>/dev/null)
	package=${launcher%/bin/*}
	for small in "${program%/*}/skillrouter-hook" "$package"/node_modules/@skillrouter/*/bin/skillrouter-hook "$package"/../@skillrouter/*/bin/skillrouter-hook; do
		[ ! -x "$small" ] || exec "$small" "$@"
	done
	exec "$program" "$@"
fi

# There is no program. That is said once in each session: at its start or, where the plugin came later, at the first event.
if [ "$event" != session-start ]; then
	[ -d "${CLAUDE_PLUGIN_DATA-}" ] || exit 0
	session=$(sed -n 's/.*"session_id" *: *"\([A-Za-z0-9-]*\)".*/\1/p' | head -n 1)
	grep -qsx "$session" "$CLAUDE_PLUGIN_DATA/told" && exit 0
	echo "$session" >"$CLAUDE_PLUGIN_DATA/told"
else
	[ ! -d "${CLAUDE_PLUGIN_DATA-}" ] || sed -n 's/.*"session_id" *: *"\([A-Za-z0-9-]*\)".*/\1/p' | head -n 1 >"$CLAUDE_PLUGIN_DATA/told"
fi
cat <<'END'
{"systemMessage":"Skill Router: the program skillrouter is not in the PATH of Claude Code. Nothing is remembered, and no command is checked by the guard. Install it (npm install -g skillrouter), then start a new session."}
END
