package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
)

// PreCommit is the name of git's hook before a commit, and preCommitOwn of the one that was there, which ours calls.
const (
	PreCommit    = "pre-commit"
	preCommitOwn = "pre-commit.before-skillrouter"
)

// gitMark is in each hook that GitHook writes.
const gitMark = "# Written by skillrouter setup git: asks who works on the staged files. `skillrouter setup git --remove` takes it out."

// gitHook is the hook of a program. Only a lease stops a commit: a program or a router that is away does not.
func gitHook(program string) (string, error) {
	quoted, err := syntax.Quote(filepath.ToSlash(program), syntax.LangPOSIX)
	if err != nil {
		return "", errs.InvalidField("program", "can stand in no shell script")
	}
	return fmt.Sprintf(`#!/bin/sh
%[1]s
own=$(dirname "$0")/%[2]s
if [ -x "$own" ]; then
	"$own" "$@" || exit $?
fi
if command -v %[3]s >/dev/null 2>&1; then
	%[3]s leases check --staged >&2
	[ $? -ne 2 ] || exit 1
else
	echo "skillrouter is not there: nobody was asked who works on these files" >&2
fi
exit 0
`, gitMark, preCommitOwn, quoted), nil
}

// GitHook writes the pre-commit hook into a repository's folder of hooks, or takes it out, and says what it did. A hook
// that is there is kept beside it, and put back. It is an error where both are there already and ours is neither.
func GitHook(folder, program string, remove bool) (said string, err error) {
	hook, own := filepath.Join(folder, PreCommit), filepath.Join(folder, preCommitOwn)
	text, err := os.ReadFile(hook)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	there, ours := err == nil, bytes.Contains(text, []byte(gitMark))
	_, kept := os.Lstat(own)
	if remove {
		switch {
		case !ours:
			return "there was none of ours", nil
		case kept == nil:
			return "taken out; what was there is back", os.Rename(own, hook)
		}
		return "taken out", os.Remove(hook)
	}
	wanted, err := gitHook(program)
	if err != nil {
		return "", err
	}
	if ours && string(text) == wanted {
		return "is there already", nil
	}
	said = "written"
	if there && !ours {
		if kept == nil {
			return "", errs.Errorf(errs.Conflict, "%s is there from an earlier setup, and %s is none of ours: join them, and set up again", own, hook)
		}
		if err := os.Rename(hook, own); err != nil {
			return "", err
		}
		said = "written; the hook that was there is called first, as " + preCommitOwn
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return said, file.Replace(hook, []byte(wanted), 0o755) // git never runs half of it
}
