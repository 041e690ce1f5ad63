package mcpserver

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/internal/errs"
)

// order is a draft as a domain could have it.
type order struct {
	Title  string
	Amount *int64
	Tags   []string
	Data   json.RawMessage
	Rush   bool
	Agent  string
	Secret string // is no parameter
}

func takesOrder(p *params, o *order) {
	p.must("title", &o.Title, "What it is")
	p.may("amount", &o.Amount, "", within(1, 9))
	p.may("tags", &o.Tags, "", among("red", "blue"))
	p.may("data", &o.Data, "", object)
	p.may("rush", &o.Rush, "")
	p.may("agent_id", &o.Agent, "Default: you")
	p.actor(&o.Agent)
}

func TestParametersAreReadIntoTheirFields(t *testing.T) {
	var declared params
	takesOrder(&declared, new(order))
	schema, record := declared.schema(), declared.record()
	five := int64(5)
	for name, c := range map[string]struct {
		arguments string
		want      order
		field     string // of the refusal
	}{
		"all":                 {`{"title":"t","amount":5,"tags":["red"],"data":{"a":1},"rush":true,"agent_id":"a"}`, order{Title: "t", Amount: &five, Tags: []string{"red"}, Data: json.RawMessage(`{"a":1}`), Rush: true, Agent: "a"}, ""},
		"only what is needed": {`{"title":"t"}`, order{Title: "t"}, ""},
		"null is nothing":     {`{"title":"t","amount":null,"tags":null}`, order{Title: "t"}, ""},
		"nothing":             {``, order{}, "title"},
		"no parameter":        {`{"title":"t","Secret":"x"}`, order{}, "Secret"},
		"a field's name":      {`{"Title":"t"}`, order{}, "Title"},
		"twice":               {`{"title":"t","title":"u"}`, order{}, "title"},
		"wrong type":          {`{"title":"t","amount":"five"}`, order{}, "amount"},
		"wrong item":          {`{"title":"t","tags":[1]}`, order{}, "tags"},
		"no object":           {`[]`, order{}, "arguments"},
		"texts for others":    {`{"title":"t","amount":"5","tags":"[\"red\"]","data":"{\"a\":1}","rush":"True"}`, order{Title: "t", Amount: &five, Tags: []string{"red"}, Data: json.RawMessage(`{"a":1}`), Rush: true}, ""},
		"words for nothing":   {`{"title":"null","amount":"","tags":"null","data":" ","rush":"undefined","agent_id":"None"}`, order{Title: "null"}, ""},
		"half a list":         {`{"title":"t","tags":"[\"red\""}`, order{}, "tags"},
	} {
		t.Run(name, func(t *testing.T) {
			var p params
			var got order
			takesOrder(&p, &got)
			_, err := p.read(json.RawMessage(c.arguments), schema, record, true)
			if errs.FieldOf(err) != c.field {
				t.Fatalf("error %v, want one of %q", err, c.field)
			}
			if diff := cmp.Diff(c.want, got); c.field == "" && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemaOfParameters(t *testing.T) {
	var declared params
	takesOrder(&declared, new(order))
	got, err := json.Marshal(declared.schema())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"title":{"type":"string","description":"What it is"},` +
		`"amount":{"type":"integer","minimum":1,"maximum":9},"tags":{"type":"array","items":{"type":"string","enum":["red","blue"]}},` +
		`"data":{"type":"object"},"rush":{"type":"boolean"},"agent_id":{"type":"string","description":"Default: you"}},"required":["title"]}`
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

// TestParametersAreDeclaredOnce holds that a name or a field that is bound a second time, and a struct that is
// bound in place of its field, are found at the start.
func TestParametersAreDeclaredOnce(t *testing.T) {
	for name, takes := range map[string]func(*params, *order){
		"name":  func(p *params, o *order) { p.may("title", &o.Title, ""); p.may("title", &o.Agent, "") },
		"field": func(p *params, o *order) { p.may("title", &o.Title, ""); p.may("agent_id", &o.Title, "") },
		"whole": func(p *params, o *order) { p.may("order", o, "") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was not found")
				}
			}()
			var p params
			takes(&p, new(order))
			p.record()
		})
	}
}

// TestListsAreNeverNull holds that programs read a list of nothing as a list.
func TestListsAreNeverNull(t *testing.T) {
	for _, list := range [][]string{owned[string](nil), views(nil, func(s string) string { return s })} {
		if raw, _ := json.Marshal(list); string(raw) != "[]" {
			t.Errorf("%s", raw)
		}
	}
	if got := owned([]string{"a"}); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v", got)
	}
}
