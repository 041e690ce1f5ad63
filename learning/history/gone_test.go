package history_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/history"
)

// TestGone: a fix that runs what is no longer there in the working tree is not told, nor one of which nobody could see whether it is.
// It runs in virtual time, which stands still while the folder is read: how long that may take is no matter of this test.
func TestGone(t *testing.T) { synctest.Test(t, gone) }

func gone(t *testing.T) {
	tree := t.TempDir()
	if err := os.MkdirAll(filepath.Join(tree, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "bin", "check"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := principal.With(t.Context(), principal.System().FromNear())
	n := history.New(emptyStore(t), learning.Options{})
	const failed, said = "python -m pytest core/tests/test_a.py", "/opt/bin/python: No module named pytest"
	for _, session := range []struct{ id, fix string }{{"1", "bin/test core/tests/test_a.py"}, {"2", "bin/test core/tests/test_a.py"}, {"3", "bin/check core/tests/test_a.py pytest"}} {
		_, err := n.Learn(ctx, history.Draft{Project: "shop", Session: session.id, Begin: true, Steps: []history.Step{
			{Command: failed, Outcome: history.Failed, Output: said, Exit: 1, Digest: session.id}, {Command: session.fix, Outcome: history.Worked, Digest: session.id},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	answer := func(folder string) string {
		a, err := n.Answer(ctx, history.Failure{Project: "shop", Command: failed, Error: said, Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		b, err := n.Brief(ctx, history.BriefQuery{Project: "shop", Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		return a.Text + "\n" + b.Text
	}
	if told := answer(""); strings.Count(told, "bin/test") != 2 || strings.Contains(told, "no longer there") {
		t.Errorf("without a folder: %s", told)
	}
	if told := answer(tree); strings.Count(told, "bin/check") != 2 || strings.Contains(told, "no longer there") {
		t.Errorf("the fix that is there goes first: %s", told)
	}
	if err := os.Rename(filepath.Join(tree, "bin", "check"), filepath.Join(tree, "bin", "other")); err != nil {
		t.Fatal(err)
	}
	if told := answer(tree); strings.TrimSpace(told) != "" {
		t.Errorf("both are gone: %s", told)
	}
	busy := ctx
	ctx, cancel := context.WithCancel(busy)
	cancel()
	if a, err := n.Answer(ctx, history.Failure{Project: "shop", Command: failed, Error: said, Folder: tree}); err == nil && a.Text != "" {
		t.Errorf("nobody could look: %s", a.Text)
	}
}
