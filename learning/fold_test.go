package learning_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
)

// TestFoldAlike folds what says nearly the same, and nothing else.
func TestFoldAlike(t *testing.T) {
	const note = "Deploy the shop to staging first, then run the smoke tests and promote it to production"
	for name, c := range map[string]struct {
		a, b  learning.Saying
		folds bool
	}{
		"the same":              {learning.Saying{Text: note}, learning.Saying{Text: strings.ToUpper(note) + "."}, true},
		"one says more":         {learning.Saying{Text: note}, learning.Saying{Text: note + " by hand"}, true},
		"another number":        {learning.Saying{Text: note + " on port 80"}, learning.Saying{Text: note + " on port 81"}, false},
		"a number more":         {learning.Saying{Text: note}, learning.Saying{Text: note + " 3"}, false},
		"a negation":            {learning.Saying{Text: note}, learning.Saying{Text: "Never " + note}, false},
		"a contraction":         {learning.Saying{Text: note + " if it works"}, learning.Saying{Text: note + " if it doesn’t work"}, false},
		"a word instead":        {learning.Saying{Text: "Run the migration before the deploy"}, learning.Saying{Text: "Run the migration after the deploy"}, false},
		"another project":       {learning.Saying{Text: note, Where: "shop"}, learning.Saying{Text: note, Where: "web"}, false},
		"another trust":         {learning.Saying{Text: note, Trust: learning.TrustAgent}, learning.Saying{Text: note + " by hand", Trust: learning.TrustImported}, false},
		"a task is its own":     {learning.Saying{Kind: "task", Text: note}, learning.Saying{Kind: "task", Text: note}, false},
		"too short to tell":     {learning.Saying{Text: "use pnpm"}, learning.Saying{Text: "use pnpm"}, false},
		"what is cut":           {learning.Saying{Text: note + "…"}, learning.Saying{Text: note + "…"}, false},
		"too long to be read":   {learning.Saying{Text: strings.Repeat(note+" ", 60)}, learning.Saying{Text: strings.Repeat(note+" ", 60)}, false},
		"two different matters": {learning.Saying{Text: note}, learning.Saying{Text: "The gateway certificate is renewed by certbot each month"}, false},
	} {
		rows := []learning.Saying{c.a, c.b}
		for i, id := range []string{"a", "b"} {
			if rows[i].ID = id; rows[i].Kind == "" {
				rows[i].Kind = "knowledge"
			}
		}
		for range 2 {
			folds := learning.FoldAlike(len(rows), func(i int) learning.Saying { return rows[i] })
			if got := len(folds) == 1; got != c.folds || got && folds[0].Like() != "and 1 more like it: "+rows[1].ID {
				t.Errorf("%s: %+v", name, folds)
			}
			slices.Reverse(rows)
		}
	}
}
