package principal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
)

// TestNames: another case and other blanks make no other project. Those that are two stay two, and a token finds its own projects alone.
func TestNames(t *testing.T) {
	there, read := []string{"Shop", "My  Garden", "API", "api", "Ärzte"}, 0
	names := principal.NewNames(func(_ context.Context, limit int) ([]string, error) {
		read++
		return there[:min(limit, len(there))], nil
	})
	p := principal.Open().Naming(t.Context(), names)
	for asked, want := range map[string]string{
		"shop": "Shop", "SHOP": "Shop", " Shop ": "Shop", "my garden": "My  Garden", "My  Garden": "My  Garden", "ärzte": "Ärzte",
		"API": "API", "api": "api", "Api": "api", "": "", "shop2": "shop2", "sh op": "sh op", "MyGarden": "MyGarden",
	} {
		into := asked
		if err := p.Into("project", &into); err != nil || p.Named(asked) != want || into != want {
			t.Errorf("%q is %q and written into %q (%v), not %q", asked, p.Named(asked), into, err, want)
		}
	}
	before := read
	if there = append(there, "Quay"); p.Named("quay") != "Quay" || p.Named("QUAY") != "Quay" || p.Named("shop") != "Shop" || read != before+1 {
		t.Errorf("a new project is %q, after %d readings", p.Named("quay"), read-before)
	}
	walled := p.Bind([]string{"shop", "pier"})
	for asked, want := range map[string]string{"shop": "shop", "SHOP": "shop", "Pier": "pier", "quay": "quay", "Quay": "Quay"} {
		if got := walled.Named(asked); got != want || read != before+1 {
			t.Errorf("for a token that is bound, %q is %q, not %q", asked, got, want)
		}
	}
	if got := principal.Open().Named("shop"); got != "shop" {
		t.Errorf("without names it is %q", got)
	}
	broken := principal.NewNames(func(context.Context, int) ([]string, error) { return nil, errors.New("no database") })
	if got := principal.Open().Naming(t.Context(), broken).Named("shop"); got != "shop" {
		t.Errorf("without a database it is %q", got)
	}
}

// TestKnownNamesDoNotWait: while the projects are read for one name, and the database hangs, the others are known.
func TestKnownNamesDoNotWait(t *testing.T) {
	hangs, ended := make(chan bool), make(chan string)
	names := principal.NewNames(func(ctx context.Context, _ int) ([]string, error) {
		if ctx.Value(t) != nil {
			hangs <- true
			<-hangs
		}
		return []string{"Shop"}, nil
	})
	if got := principal.Open().Naming(t.Context(), names).Named("shop"); got != "Shop" {
		t.Fatalf("it is %q", got)
	}
	go func() { ended <- principal.Open().Naming(context.WithValue(t.Context(), t, true), names).Named("quay") }()
	<-hangs
	known := make(chan string, 1)
	go func() { known <- principal.Open().Naming(t.Context(), names).Named("SHOP") }()
	select {
	case got := <-known:
		if got != "Shop" {
			t.Errorf("it is %q", got)
		}
	case <-time.After(5 * time.Second):
		t.Error("a name that is known waits for the list")
	}
	hangs <- true
	if got := <-ended; got != "quay" {
		t.Errorf("the new one is %q", got)
	}
}

// TestNamesAreBounded: of more projects than are read, each is called as it is written.
func TestNamesAreBounded(t *testing.T) {
	var many []string
	for i := range 10_010 {
		many = append(many, fmt.Sprintf("Project-%05d", i))
	}
	names := principal.NewNames(func(_ context.Context, limit int) ([]string, error) { return slices.Clone(many[:limit]), nil })
	p := principal.Open().Naming(t.Context(), names)
	if first, last := p.Named("project-00000"), p.Named("project-10009"); first != "Project-00000" || last != "project-10009" {
		t.Errorf("they are %q and %q", first, last)
	}
}
