package strictjson_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/strictjson"
)

type inner struct {
	ID   string `json:"id"`
	Note string `json:"note,omitempty"`
}

type outer struct {
	inner
	Number int64  `json:"number"`
	Own    string `json:"id,omitempty"` // hides the embedded one's
	Hidden string `json:"-"`
	Bare   string
	untold string
}

// TestMembers reads members in their order, and of two of one name the one that encoding/json writes.
func TestMembers(t *testing.T) {
	_ = outer{untold: ""}
	var got []string
	for _, m := range strictjson.Members(reflect.TypeFor[outer]()) {
		got = append(got, m.Name+"/"+m.Options+"/"+m.StructField.Name)
	}
	if want := []string{"id/omitempty/Own", "note/omitempty/Note", "number//Number"}; !cmp.Equal(got, want) {
		t.Errorf("members %q, want %q", got, want)
	}
	if m, there := strictjson.MemberOf(reflect.TypeFor[outer](), "number"); !there || m.StructField.Name != "Number" {
		t.Errorf("number is %+v", m)
	}
	if _, there := strictjson.MemberOf(reflect.TypeFor[outer](), "bare"); there {
		t.Error("there is a member that has no tag")
	}
	if strictjson.Members(reflect.TypeFor[int]()) != nil {
		t.Error("a number has members")
	}
}
