package mcpserver

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

// order is a draft as a domain could have it.
type order struct {
	Title  string          `json:"title" doc:"What it is"`
	Amount *int64          `json:"amount" range:"1,9"`
	Tags   []string        `json:"tags"`
	Data   json.RawMessage `json:"data" object:"true"`
	Rush   bool            `json:"rush"`
	Agent  string          `json:"agent_id" actor:"true"`
	Secret string          `json:"secret"` // is no parameter
}

func takesOrder() *params {
	return newParams([]reflect.Type{reflect.TypeFor[order]()}, "title! amount tags data rush agent_id", words{"tags": "red|blue"})
}

func TestParametersAreReadIntoTheirFields(t *testing.T) {
	takes := takesOrder()
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
			arguments, _, err := takes.read(t.Context(), new(Server), json.RawMessage(c.arguments), true)
			if errs.FieldOf(err) != c.field {
				t.Fatalf("error %v, want one of %q", err, c.field)
			}
			if c.field != "" {
				return
			}
			if diff := cmp.Diff(c.want, arguments[0].Interface()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemaOfParameters(t *testing.T) {
	got, err := json.Marshal(takesOrder().schema)
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

// TestParametersAreDeclaredOnce holds that a name that is there twice, and one that no field has, are found at the start.
func TestParametersAreDeclaredOnce(t *testing.T) {
	for name, names := range map[string]string{"twice": "title title", "no field": "title price", "twice by another name": "title title=rush"} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was not found")
				}
			}()
			newParams([]reflect.Type{reflect.TypeFor[order]()}, names, nil)
		})
	}
}

// TestWhatIsNoStructIsAParameter reads an id, and what is to be changed of it by another name.
func TestWhatIsNoStructIsAParameter(t *testing.T) {
	takes := newParams([]reflect.Type{reflect.TypeFor[int64](), reflect.TypeFor[order]()}, "order_id! line!=title", words{"order_id": "Its number"})
	arguments, passed, err := takes.read(t.Context(), new(Server), json.RawMessage(`{"order_id":"7","line":"t","more":1}`), false)
	if err != nil || passed == "" || arguments[0].Int() != 7 || arguments[1].Interface().(order).Title != "t" {
		t.Errorf("%v, %q, %v", arguments, passed, err)
	}
	if raw, _ := json.Marshal(takes.schema); string(raw) != `{"type":"object","properties":{"order_id":{"type":"integer","description":"Its number"},"line":{"type":"string","description":"What it is"}},"required":["order_id","line"]}` {
		t.Errorf("%s", raw)
	}
}

// TestListsAreNeverNull holds that programs read a list of nothing as a list.
func TestListsAreNeverNull(t *testing.T) {
	if raw, _ := json.Marshal(owned[string](nil)); string(raw) != "[]" {
		t.Errorf("%s", raw)
	}
	for _, found := range []any{[]string(nil), []operational.Task(nil)} {
		fields, _, err := (&tool{as: "list"}).answer(reflect.ValueOf(found))
		if err != nil {
			t.Fatal(err)
		}
		if raw, _ := json.Marshal(fields); string(raw) != `{"list":[]}` {
			t.Errorf("%s", raw)
		}
	}
}
