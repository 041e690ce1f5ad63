package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// MaxLine bounds a line, in bytes: the largest memory with JSON's escapes, and
// room for the rest. A longer one is passed over without being held.
const MaxLine = 8 << 20

// ndjson visits the lines of a stream that are objects, and refuses the others.
func ndjson(r io.Reader, yield func(Item) bool, visit func(place string, text json.RawMessage) bool) error {
	in := bufio.NewReaderSize(withoutMark(r), 64<<10)
	for number, more := 1, true; more; number++ {
		place := fmt.Sprintf("line %d", number)
		text, tooLong, err := strictjson.Line(in, MaxLine)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", place, err)
		}
		switch text = bytes.TrimSpace(text); {
		case tooLong:
			more = yield(Item{Place: place, Refused: fmt.Sprintf("is longer than %d MiB", MaxLine>>20)})
		case len(text) == 0:
		case !utf8.Valid(text):
			more = yield(Item{Place: place, Refused: "is not valid UTF-8"})
		case text[0] != '{' || !json.Valid(text):
			more = yield(Item{Place: place, Refused: notObject(text)})
		default:
			more = visit(place, text)
		}
		more = more && err == nil
	}
	return nil
}

// notObject says what is wrong with a line that should be an object.
func notObject(text []byte) string {
	if text[0] == '[' {
		return "is a JSON array; each line has one object (jq -c '.[]' writes them so)"
	}
	var any json.RawMessage
	err := json.Unmarshal(text, &any)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		if wrong.Offset >= int64(len(text)) {
			return "is truncated: it is not finished JSON"
		}
		return fmt.Sprintf("is not valid JSON at byte %d", wrong.Offset)
	}
	return "is no JSON object"
}

// entry is a line of knowledge, under the names that collections out there use too.
type entry struct {
	Kind string `json:"kind"`
	knowledge.Knowledge
	Text  string `json:"text"`  // instead of content
	Body  string `json:"body"`  // instead of content
	Scope string `json:"scope"` // instead of project
}

// readLines reads what a router exports, and lines of knowledge without a kind.
func readLines(r io.Reader, o Options, yield func(Item) bool) error {
	return ndjson(r, yield, func(place string, text json.RawMessage) bool {
		var head struct {
			Kind string `json:"kind"`
		}
		_ = json.Unmarshal(text, &head) // a kind that is no text is refused below
		if head.Kind == "end" {
			return true // an export's last line
		}
		if IsSabre(text) {
			return each(yield, func(place string, t thing) Item { return sabreItem(place, t, o) })(place, text)
		}
		item, err := lineItem(place, head.Kind, text, o)
		if err != nil {
			if again, changed := withOurTimes(text); changed {
				item, err = lineItem(place, head.Kind, again, o)
			}
		}
		if err != nil {
			return yield(refusal(place, err))
		}
		return yield(item)
	})
}

// lineItem is what a line of a kind holds; knowledge, if it names none.
func lineItem(place, kind string, text json.RawMessage, o Options) (Item, error) {
	if kind != "" && kind != router.KindKnowledge {
		record, err := transfer.DecodeRecord(kind, text)
		return Item{Place: place, Record: record}, err
	}
	var e entry
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return Item{}, explained(err)
	}
	e.Content = first(e.Content, e.Text, e.Body, e.Title)
	e.Project = first(e.Project, e.Scope)
	if kind != "" { // an export says everything: what it leaves out is empty
		return Item{Place: place, Record: transfer.Record{Kind: router.KindKnowledge, Memory: &e.Knowledge}}, nil
	}
	return knowledgeLine(place, e.Knowledge, o), nil
}

// withOurTimes writes the times of a line that another system wrote as we do. What stands within its values is theirs.
func withOurTimes(text json.RawMessage) (again json.RawMessage, changed bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil, false
	}
	for name, value := range members {
		if !strings.HasSuffix(name, "_at") {
			continue
		}
		var said string
		if json.Unmarshal(value, &said) != nil { // a number
			said = string(value)
		}
		if at := moment(said); !at.IsZero() {
			members[name], changed = json.RawMessage(strconv.Quote(at.Format(time.RFC3339Nano))), true
		}
	}
	again, err := json.Marshal(members)
	return again, changed && err == nil
}

func refusal(place string, err error) Item {
	return Item{Place: place, Refused: errs.MessageOf(err), Field: errs.FieldOf(err)}
}

// explained gives an error of the decoder words for people.
func explained(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		return errs.InvalidField(field, "may not be of the type %s", wrong.Value)
	}
	return errs.Errorf(errs.Invalid, "cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
}
