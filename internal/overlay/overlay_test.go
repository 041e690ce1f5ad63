package overlay_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/overlay"
)

func TestOverlay(t *testing.T) {
	type thing struct {
		Name  string
		Tags  []string
		Share *float64
		Other int
	}
	type patch struct {
		Name  *string
		Tags  *[]string
		Share *float64
		Other *int
		By    string
		Alone *bool
	}
	name, tags, share, alone := " a ", []string{"x"}, 0.5, true
	p := patch{Name: &name, Tags: &tags, Share: &share, By: "b", Alone: &alone}
	of := thing{Name: "before", Other: 7}
	overlay.Put(&of, &p)
	if of.Name != " a " || of.Tags[0] != "x" || *of.Share != 0.5 || of.Other != 7 {
		t.Errorf("put: %+v", of)
	}
	of.Name, of.Tags = strings.TrimSpace(of.Name), nil
	overlay.Take(&p, &of)
	if *p.Name != "a" || len(*p.Tags) != 0 || p.Other != nil || !*p.Alone {
		t.Errorf("taken: %+v", p)
	}
	if name != " a " || len(tags) != 1 {
		t.Errorf("the caller's values became %q and %q", name, tags)
	}
}
