package mcpserver

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning"
)

// A tool answers what its operation answers. Programs get that, but for members that no model needs and texts that together are
// too long. A model reads the same within a fence, a member a line. Of the tools that every agent has, some show what they
// found in words of their own.

// answerType is what a tool answers whose method returns found: that, or an object that holds it.
func (t *tool) answerType(found reflect.Type) reflect.Type {
	if t.as == "" {
		return found
	}
	return reflect.StructOf([]reflect.StructField{{Name: "Found", Type: found, Tag: reflect.StructTag(fmt.Sprintf("json:%q", t.as))}})
}

// answer puts what a method returned before a program and a model.
func (t *tool) answer(found reflect.Value) (record, string, error) {
	whole := reflect.New(t.answerType(found.Type())).Elem()
	own := whole
	if t.as != "" {
		own = whole.Field(0)
	}
	own.Set(found)
	operation.FillLists(whole, operation.Lists(whole.Type())) // a list of nothing is a list
	var list []entry
	var folds []learning.Folded
	if t.entries != nil {
		list = reflect.ValueOf(t.entries).Call([]reflect.Value{own.Addr()})[0].Interface().([]entry)
		folds = fitEntries(list)
	}
	fields, err := newRecord(whole.Interface(), strings.Fields(t.without))
	if err != nil {
		return nil, "", err
	}
	isCut := t.entries == nil && fields.fit()
	f, text := newFence("%s", t.lead(found, fields)), folded(own, fields).text()
	for _, one := range append(fields.things(), &fields) {
		if kinds := one.member("redacted"); kinds != nil { // this program's words, as JSON
			f.WriteString(" Secrets were cut out of it before it was stored: " + strings.Trim(strings.ReplaceAll(kinds.said(), `","`, ", "), `["]`) + ".")
		}
	}
	switch {
	case t.said != nil && t.effect != reads, t.effect == reads && fields.found() == 0 && (t.said != nil || t.none+t.as != ""):
		return fields, f.String(), nil // these words are all
	case t.entries != nil:
		f.entries(list, folds)
		for i, one := range fields.listed() {
			one.cut(list[i].left)
		}
	case text != "" && t.effect != reads && fields.harmless(): // mostly the caller's own words
		f.WriteString("\n" + text)
		return fields, f.String(), nil
	case text != "":
		f.explain()
		f.add("", text)
	}
	if isCut {
		f.say("Texts are cut where cut_bytes says so: ask for fewer results to see more.")
	}
	if fields.member("next") != nil && t.further != "" {
		f.say("There are more: ask again with next as %s.", t.further)
	}
	return append(fields, &member{name: "notice", value: encoded(notice)}), f.String(), nil
}

// folded is an answer as its text shows it: what says nearly the same as a likelier one is named beneath that.
func folded(found reflect.Value, fields record) record {
	shown := slices.Clone(fields)
	for i := 0; found.Kind() == reflect.Struct && i < found.NumField(); i++ {
		rows, of := found.Field(i), found.Type().Field(i)
		name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
		at := slices.IndexFunc(shown, func(m *member) bool { return m.name == name })
		if at < 0 || of.Type.Kind() != reflect.Slice || !reflect.PointerTo(of.Type.Elem()).Implements(reflect.TypeFor[sayer]()) {
			continue
		}
		whole, once := shown[at], *shown[at]
		once.things = nil
		for _, fold := range learning.FoldAlike(len(whole.things), func(row int) learning.Saying { return rows.Index(row).Addr().Interface().(sayer).Says() }) {
			thing := slices.Clone(whole.things[fold.At])
			if like := fold.Like(); like != "" {
				thing = append(thing, &member{name: "alike", value: encoded(like)})
			}
			once.things = append(once.things, thing)
		}
		shown[at] = &once
	}
	return shown
}

// sayer is a thing that says what is compared with what others say.
type sayer interface{ Says() learning.Saying }

// lead is how the text begins.
func (t *tool) lead(found reflect.Value, fields record) string {
	var counts []string
	for _, m := range fields {
		if m.list && len(m.things) > 0 {
			counts = append(counts, count(len(m.things), singular(m.name), inWords(m.name)))
		}
	}
	switch {
	case t.said != nil:
		return reflect.ValueOf(t.said).Call([]reflect.Value{found})[0].String()
	case t.effect != reads:
		return "Done."
	case len(counts) > 0:
		return "Found " + strings.Join(counts, " and ") + "."
	case fields.found() == 0 && t.none+t.as != "":
		return cmp.Or(t.none, "There are none") + "."
	}
	return "Found."
}

// inWords is a member's name as people write it.
func inWords(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "_"), "_", " ")
}

// singular is the name of one thing of a list of that name.
func singular(name string) string {
	name = inWords(name)
	if stem, ok := strings.CutSuffix(name, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(name, "s")
}

// errorMeta is the key in a failed result's _meta under which programs find
// the code and the field; models read the text.
const errorMeta = "skillrouter/error"

// advice is the one table from codes to MCP: what a model should do next.
var advice = map[errs.Code]string{
	errs.Invalid:          "Correct it and call the tool again.",
	errs.NotFound:         "Do not guess ids: search for what you need and use the id that is returned.",
	errs.Conflict:         "Things changed meanwhile: look at the present state before you decide whether to try again.",
	errs.Unauthenticated:  "Do not retry: tell your user that the router needs a valid token (SKILLROUTER_TOKEN, or the Authorization header of the MCP connection).",
	errs.Forbidden:        "Do not retry: act as your own agent, or ask your captain to do this.",
	errs.PassphraseNeeded: "Do not retry, and do not look for the passphrase: tell your user what you need, who decides it in a terminal of their own.",
	errs.TooLarge:         "Shorten it to what matters, or store the text in a file and store its path; then call again.",
	errs.RateLimited:      "Wait some seconds, then call once more.",
	errs.StorageFull:      "The router's disk is full and nothing was stored: tell your user. Searching still works.",
	errs.Unavailable:      "Wait some seconds and call again; if it fails still, go on without it and say so.",
	errs.OutcomeUnknown:   "It may have been done, or not: look at the present state before you call again.",
	errs.Internal:         "This is not your mistake: try once more at most, then go on without it and say so.",
}

// Advice returns what a model is told to do after a failure with the code.
func Advice(code errs.Code) string {
	if next, ok := advice[code]; ok {
		return next
	}
	return advice[errs.Internal]
}

// failure puts an error before a model: what went wrong, in which field, and
// what to do next. The cause is for the log and is not shown.
func failure(tool string, err error) *mcp.CallToolResult {
	code, field := errs.CodeOf(err), errs.FieldOf(err)
	message := strings.TrimSuffix(errs.MessageOf(err), ".")
	if field != "" {
		message = field + " " + message
	}
	detail := map[string]any{"code": code, "message": errs.MessageOf(err)}
	if field != "" {
		detail["field"] = field
	}
	return &mcp.CallToolResult{
		Meta:    mcp.Meta{errorMeta: detail},
		Content: []mcp.Content{&mcp.TextContent{Text: tool + " failed (" + string(code) + "): " + message + ". " + Advice(code)}},
		IsError: true,
	}
}
