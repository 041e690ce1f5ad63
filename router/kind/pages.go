package kind

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"maps"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
)

// Pages is what people do with single rows of a kind; what is nil is not done with it. A kind of which List is nil has
// pages of its own.
type Pages struct {
	// List returns a page of the rows, each with the id that Undo.Read takes.
	List func(ctx context.Context, listing Listing) (Found, error)
	// Personas lists whose rows there are; nil: they are everybody's.
	Personas func(ctx context.Context) ([]string, error)
	// Versions returns what a row said before, the latest first.
	Versions func(ctx context.Context, ref string) ([]Version, error)
	// Fields are the members that a person may change, and Change does it: patch is an object of them.
	Fields []Field
	Change func(ctx context.Context, ref string, patch []byte) error
	// Restore takes back that a row was removed; the trash does it, for every kind that is deleted.
	Restore func(ctx context.Context, ref string) error
}

// Listing asks for a page of rows, whatever they say.
type Listing struct {
	Project, Persona, Category, Author string
	Cursor                             string // Found.Next of the page before
	Limit                              int
}

// hitsOf are rows as a page lists them.
func hitsOf[Row any](rows []Row, hit func(Row) Hit) (hits []Hit) {
	for _, row := range rows {
		hits = append(hits, hit(row))
	}
	return hits
}

// Version is what a row said until it was changed.
type Version struct {
	ID     string // tells it from the others of its row
	Author string // empty: it is not kept
	At     time.Time
	Row    any

	Differs []Difference // as Before finds them
}

// Difference is a member of a version, as people write it.
type Difference struct{ Member, Said string }

// Form is how a member is written down by people.
type Form string

// The forms.
const (
	Line   Form = ""       // a text on one line
	Text   Form = "text"   // a text
	List   Form = "list"   // texts, one a line
	Number Form = "number" // a number
	Raw    Form = "raw"    // JSON
)

// none is what a member of a form says that is not there.
func (f Form) none() json.RawMessage {
	return json.RawMessage(map[Form]string{Line: `""`, Text: `""`, List: "[]", Number: "0", Raw: "null"}[f])
}

// Write is a member as people write it.
func (f Form) Write(value json.RawMessage) string {
	var text string
	var list []string
	switch {
	case f == List && json.Unmarshal(value, &list) == nil:
		return strings.Join(list, "\n")
	case (f == Line || f == Text) && json.Unmarshal(value, &text) == nil:
		return text
	case f == Raw && string(value) == "null":
		return ""
	case f == Raw:
		var indented bytes.Buffer
		if json.Indent(&indented, value, "", "  ") == nil {
			return indented.String()
		}
	}
	return string(value)
}

// Read is what people wrote as a member.
func (f Field) Read(text string) (json.RawMessage, error) {
	var value any = text
	switch f.Form {
	case Line:
		value = strings.TrimSpace(text)
	case List:
		list := []string{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
		value = list
	case Number, Raw:
		if text = strings.TrimSpace(text); text == "" && f.Form == Raw {
			text = "null"
		}
		if !json.Valid([]byte(text)) {
			return nil, errs.InvalidField(f.Member, "must be a number or JSON, in which a text stands in quotes")
		}
		value = json.RawMessage(text)
	}
	return json.Marshal(value)
}

// Field is a member that a person may change.
type Field struct {
	Member string
	Form   Form
	Among  []string // what it may say; nil: anything
}

// Members are what a row says in the members that a person may change.
func (m Memory) Members(row any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(row)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	said := map[string]json.RawMessage{}
	for _, f := range m.Pages.Fields {
		if said[f.Member] = all[f.Member]; said[f.Member] == nil {
			said[f.Member] = f.Form.none()
		}
	}
	return said, nil
}

// Mark tells apart what a row said when it was read for a change, and says now. Being used changes nothing of it.
func (m Memory) Mark(row any) (string, error) {
	said, err := m.Members(row)
	sum := fnv.New64a()
	for _, f := range m.Pages.Fields {
		_, _ = sum.Write(append(said[f.Member], 0))
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Edit changes members of a row that still says what mark tells of. Of two who saw the same, one changes it.
func (m Memory) Edit(ctx context.Context, ref, mark string, members map[string]json.RawMessage) error {
	row, err := m.Undo.Read(ctx, ref)
	if err != nil {
		return err
	}
	still := m.still(mark)
	if err := still(row); err != nil || len(members) == 0 { // before what was typed is looked at: it was typed over something else
		return err
	}
	patch, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return m.Pages.Change(learning.IfStill(ctx, still), ref, patch)
}

// still refuses a row that does not say what mark tells of.
func (m Memory) still(mark string) func(row any) error {
	return func(row any) error {
		now, err := m.Mark(row)
		if err == nil && now != mark {
			err = errs.Errorf(errs.Conflict, "somebody changed it meanwhile: what it says now is shown")
		}
		return err
	}
}

// Before returns what a row said until it was changed, the latest first, each with the members in which what came after it
// says something else.
func (m Memory) Before(ctx context.Context, ref string, row any) (versions []Version, err error) {
	next, err := m.Members(row)
	if err != nil {
		return nil, err
	}
	if versions, err = m.Pages.Versions(ctx, ref); err != nil {
		return nil, err
	}
	for i := range versions {
		said, err := m.Members(versions[i].Row)
		if err != nil {
			return nil, err
		}
		for _, f := range m.Pages.Fields {
			if string(said[f.Member]) != string(next[f.Member]) {
				versions[i].Differs = append(versions[i].Differs, Difference{f.Member, f.Form.Write(said[f.Member])})
			}
		}
		next = said
	}
	return versions, nil
}

// Revert has a row say again what a version of it says.
func (m Memory) Revert(ctx context.Context, ref, version string) error {
	row, err := m.Undo.Read(ctx, ref)
	if err != nil {
		return err
	}
	now, err := m.Members(row)
	if err != nil {
		return err
	}
	versions, err := m.Pages.Versions(ctx, ref)
	if err != nil {
		return err
	}
	for _, v := range versions {
		if v.ID != version {
			continue
		}
		then, err := m.Members(v.Row)
		if err != nil {
			return err
		}
		maps.DeleteFunc(then, func(member string, value json.RawMessage) bool { return string(value) == string(now[member]) })
		mark, err := m.Mark(row)
		if err != nil {
			return err
		}
		return m.Edit(ctx, ref, mark, then)
	}
	return errs.Errorf(errs.NotFound, "this version is not kept, or never was")
}

// changing is the Change of a service that takes patches of a type, and answers what the row says then.
func changing[Patch, Row any](change func(ctx context.Context, ref string, patch Patch) (Row, error)) func(context.Context, string, []byte) error {
	return func(ctx context.Context, ref string, text []byte) error {
		var patch Patch
		if err := strictjson.Decode(text, &patch); err != nil {
			return err
		}
		_, err := change(ctx, ref, patch)
		return err
	}
}

// Page says where a page of Markdown has a record's members. What it does not name stands in the front matter.
type Page struct {
	Folder string
	Title  string   // the member that is the heading
	Key    []string // the members that the record is known by
	Text   string   // the member below the heading; empty: none
	Parts  []Part   // members under headings of their own, in this order
	Drop   []string // members that follow from others, or that another router numbers anew
	// StoreIDs is set where the store alone gives ids: a page that people wrote without one gets none.
	StoreIDs bool
}

// Part is a member under a heading of its own.
type Part struct{ Heading, Member string }

// exportPage is how many records are read at a time.
const exportPage = 200

// decoded reads the memory of a record, beside which its kind stands.
func decoded[T any](text []byte) (any, error) {
	memory := new(T)
	return memory, strictjson.DecodeBeside(text, memory, "kind")
}

// paged is an export that reads page by page, each behind the last record of the one before it.
func paged[T any](read func(ctx context.Context, project string, now time.Time, last T, limit int) ([]T, error)) func(context.Context, string, time.Time, func(any) error) error {
	return func(ctx context.Context, project string, now time.Time, visit func(record any) error) error {
		var last T
		for {
			page, err := read(ctx, project, now, last, exportPage)
			if err != nil || len(page) == 0 {
				return err
			}
			last = page[len(page)-1]
			for i := range page {
				if err := visit(&page[i]); err != nil {
					return err
				}
			}
		}
	}
}

// taken is an import by a service that takes records of one type.
func taken[T any](take func(ctx context.Context, records []T, taking learning.Taking) ([]learning.Taken, error)) func(context.Context, []any, learning.Taking) ([]learning.Taken, error) {
	return func(ctx context.Context, records []any, taking learning.Taking) ([]learning.Taken, error) {
		list := make([]T, len(records))
		for i, record := range records {
			if one, ok := record.(*T); ok && one != nil {
				list[i] = *one
			}
		}
		return take(ctx, list, taking)
	}
}
