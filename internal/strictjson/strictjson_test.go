package strictjson_test

import (
	"bufio"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

type jsonHead struct {
	Kind string `json:"kind"`
}

type jsonDraft struct {
	jsonHead
	AgentID  string              `json:"agent_id"`
	At       *time.Time          `json:"at,omitempty"`
	Context  json.RawMessage     `json:"context,omitempty"`
	Metadata *jsonHead           `json:"metadata,omitempty"`
	Value    json.RawMessage     `json:"value,omitempty"`
	Parts    []jsonDraft         `json:"parts,omitempty"`
	ByName   map[string]jsonHead `json:"by_name,omitempty"`
	Secret   string              `json:"-"`
}

// TestDecodeJSON: what two readers of a text can understand differently is
// refused where a schema names it, and nowhere else. S9b, S9c.
func TestDecodeJSON(t *testing.T) {
	for text, want := range map[string]string{ // the field and the message; "": it is read
		`{}`: "",
		` {"kind":"k", "agent_id" : "a","value":{"x":1,"x":2,"X":3}, "parts":[{"kind":"x"},{}]} `: "",
		`{"agent_id":"a","AGENT_ID":"b"}`:                      "AGENT_ID is written agent_id: case counts",
		`{"Agent_Id":"b"}`:                                     "Agent_Id is written agent_id: case counts",
		`{"\u212Aind":"b"}`:                                    "\u212aind is written kind: case counts", // the Kelvin sign folds to k
		`{"agent_id":"a","agent_id":"b"}`:                      "agent_id is there twice",
		`{"agent_id":"a","agent_\u0069d":"b"}`:                 "agent_id is there twice",
		`{"parts":[{},{"parts":[{"kind":"a","kind":"b"}]}]}`:   "parts[1].parts[0].kind is there twice",
		`{"by_name":{"x":{"KIND":"a"}}}`:                       "by_name.x.KIND is written kind: case counts",
		`{"by_name":{"x":{},"x":{},"X":{}}}`:                   "", // no schema names these
		`{"more":1}`:                                           "more is no field of this request",
		`{"Secret":"x"}`:                                       "Secret is no field of this request",
		`{"agent_id":"\ud800"}`:                                "agent_id half",
		`{"agent_id":"\udc00x"}`:                               "agent_id half",
		`{"agent_id":"\ud83d\u0041"}`:                          "agent_id half",
		`{"agent_id":"\ud83d\ude00 \\ud800 \u00e4"}`:           "",
		`{"value":["a",{"b":"\uDFFF"}]}`:                       "value[1].b half",
		`{"value":{"\ud800":1}}`:                               "value half",
		`{"context":{"a":"\ud800","a":1,"A":2,"\udc00":[]}}`:   "",
		`{"metadata":{"kind":"\ud800","KIND":"x","kind":"y"}}`: "",
		`{"context":{},"value":"\ud800"}`:                      "value half", // what is free ends
		`{"at":"2026-01-02T03:04:05Z"}`:                        "",
		`{"at":1}`:                                             " could not be read",
		`{"agent_id":1}`:                                       "agent_id may not be of the type number",
		`[]`:                                                   " must be an object",
		`{"agent_id":"a"} {}`:                                  " something follows",
		`{"agent_id":`:                                         " not valid JSON",
		``:                                                     " not valid JSON",
		"{\"agent_id\":\"\xff\"}":                              " not valid UTF-8",
		`{"a\u200bgent":1}`:                                    "a⟨U+200B⟩gent is no field of this request",
	} {
		var draft jsonDraft
		err := strictjson.Decode([]byte(text), &draft)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		field, message, _ := strings.Cut(want, " ")
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != field || !strings.Contains(errs.MessageOf(err), message) {
			t.Errorf("%s: field %q, %v; want %q", text, errs.FieldOf(err), err, want)
		}
	}
}

// FuzzCheckJSON: every valid text is gone over to its end.
func FuzzCheckJSON(f *testing.F) {
	f.Add(`{"agent_id":"\ud83d\ude00\"","parts":[{"kind":[1,null,true,-1e9]}],"value":{"a":[[]]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var draft jsonDraft
		if !json.Valid([]byte(text)) {
			t.Skip()
		}
		err := strictjson.Check([]byte(text), reflect.TypeOf(draft))
		if err != nil && errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestLine reads lines to their end, and passes over one that is too long.
func TestLine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("a\n"+strings.Repeat("x", 100)+"\n\n"+strings.Repeat("y", 40)), 16)
	for _, want := range []string{"a\n", "too long", "\n", strings.Repeat("y", 40)} {
		line, tooLong, err := strictjson.Line(in, 50)
		got := string(line)
		if tooLong {
			got = "too long"
		}
		if got != want || (err != nil) != (got[0] == 'y') {
			t.Errorf("%q, want %q; %v", got, want, err)
		}
	}
}

// TestDecodeBeside: one member more may stand in the outermost object, once; what a tag frees may hold anything.
func TestDecodeBeside(t *testing.T) {
	type memory struct {
		Title string          `json:"title"`
		Inner struct{ A int } `json:"inner"`
		Free  json.RawMessage `json:"free" opaque:"true"`
	}
	for text, want := range map[string]bool{
		`{"kind":"k","title":"t","free":"\ud800"}`: true, `{"title":"t"}`: true, `{"kind":1,"kind":2}`: false,
		`{"kind":"k","inner":{"kind":"k"}}`: false, `{"king":1}`: false, `{"title":"\ud800"}`: false, `{"title":"\ud83d\ude00 \\ud800"}`: true, `{"title":"\ude00\ud83d"}`: false,
	} {
		if err := strictjson.DecodeBeside([]byte(text), new(memory), "kind"); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
