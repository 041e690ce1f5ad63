package skillrouter_test

import (
	"errors"
	"fmt"
	"testing"

	"skillrouter"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	refused := skillrouter.InvalidField("title", "is required")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":      {nil, ""},
		"no code":      {errors.New("open x: no such file"), "open x: no such file"},
		"a field":      {refused, "title is required"},
		"behind words": {fmt.Errorf("line 3: %w", refused), "title is required"},
		"no field":     {skillrouter.Errorf(skillrouter.NotFound, "there is none"), "there is none"},
	} {
		if got := skillrouter.Explain(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
