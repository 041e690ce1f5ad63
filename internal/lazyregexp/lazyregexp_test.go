package lazyregexp_test

import (
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

func TestLazily(t *testing.T) {
	t.Parallel()
	expression := lazyregexp.New(`(\w+)@(\w+)`)
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if got := expression.FindStringSubmatch("ann@example"); len(got) != 3 || got[2] != "example" {
				t.Errorf("found %q", got)
			}
		})
	}
	together.Wait()
	if first, again := expression.Compiled(), expression.Compiled(); first != again {
		t.Error("it is compiled more than once")
	}
	if got := expression.ReplaceAllString("ann@example", "$2"); got != "example" {
		t.Errorf("replaced to %q", got)
	}
	if expression.MatchString("nobody") || !expression.MatchString("a@b") {
		t.Error("matches what it should not, or not what it should")
	}
}

func TestLazilyPanicsLate(t *testing.T) {
	t.Parallel()
	wrong := lazyregexp.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression was used")
		}
	}()
	wrong.MatchString("")
}
