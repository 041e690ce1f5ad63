package errs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	refused := errs.InvalidField("title", "is required")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":      {nil, ""},
		"no code":      {errors.New("open x: no such file"), "open x: no such file"},
		"a field":      {refused, "title is required"},
		"behind words": {fmt.Errorf("line 3: %w", refused), "title is required"},
		"no field":     {errs.Errorf(errs.NotFound, "there is none"), "there is none"},
	} {
		if got := errs.Explain(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestErrorKeepsItsCauseFromTheCaller(t *testing.T) {
	cause := errors.New("row 7 of /var/secret")
	err := fmt.Errorf("while storing: %w", errs.Wrap(errs.StorageFull, cause, "the disk is full"))
	if errs.CodeOf(err) != errs.StorageFull || errs.MessageOf(err) != "the disk is full" || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if errs.CodeOf(cause) != errs.Internal || strings.Contains(errs.MessageOf(cause), "secret") {
		t.Error("a bare error shows its text")
	}
	if errs.Wrap(errs.Internal, nil, "x") != nil {
		t.Error("wrapping nil makes an error")
	}
}
