package router_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/router"
)

// TestHandles: a handle is read back, however people type it, and what is none is told apart.
func TestHandles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{router.KindKnowledge, router.KindFact, router.KindEpisode, router.KindProcedure, router.KindLesson}).Draw(t, "kind")
		number := rapid.Int64Range(1, 1<<62).Draw(t, "number")
		handle := router.HandleOf(kind, number)
		for _, typed := range []string{handle, strings.ToUpper(handle), " " + handle + "\n", handle[:1] + strings.NewReplacer("0", "O", "1", "l").Replace(handle[1:]), handle[:1] + strings.NewReplacer("0", "o", "1", "I").Replace(handle[1:])} {
			if k, n, ok := router.ParseHandle(typed); !ok || k != kind || n != number {
				t.Fatalf("%q of %s %d is read as %s %d", typed, kind, number, k, n)
			}
		}
		if strings.ContainsAny(handle, "ilou") {
			t.Fatalf("%q has a letter that looks like another", handle)
		}
	})
	for _, text := range []string{"", "k", "7f3", "x7", "k!", "ku", "kü", "k-1", "k0", "kzzzzzzzzzzzzzzzz", "k 1", "01a2216b-047f-78cc-ae89-0069e2089525"} {
		if kind, number, ok := router.ParseHandle(text); ok {
			t.Errorf("%q is read as %s %d", text, kind, number)
		}
	}
	if a, b := router.HandleOf(router.KindLesson, 9), router.HandleOf(router.KindGuard, 9); a != "r9" || b != a {
		t.Errorf("a lesson is %s, and as a rule %s", a, b)
	}
	for _, kind := range []string{router.KindTask, router.KindSession, ""} {
		if handle := router.HandleOf(kind, 3); handle != "" {
			t.Errorf("%s has the handle %s", kind, handle)
		}
	}
	if handle := router.HandleOf(router.KindKnowledge, 0); handle != "" {
		t.Errorf("no number has the handle %s", handle)
	}
}
