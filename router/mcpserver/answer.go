package mcpserver

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"skillrouter/internal/strictjson"
)

// answers is how what a method returns becomes the fields for programs and the text for models. It is worked out once a tool.
type answers struct {
	*tool
	out      reflect.Type
	members  []answered
	rest     *shape // what is said of the members of out that are no things
	notice   int    // the member of out that says that agents wrote the things; -1: nothing of it is one
	next     []int  // the member of out that is the cursor of what is behind; nil: there is none
	redacted []int  // the member of what the method returns for the kinds of secret that were cut out; nil: there is none
}

// answered is a member of what a method returns.
type answered struct {
	name  string
	index []int  // in what it returns; nil: all of it
	shape *shape // of a thing, or of each of a list; nil: it is passed on as it is
	list  bool
}

// newAnswers works out the answers of a tool whose method returns found. What has a view is a thing, or a list of such; a
// notice of the service's own is what its search could not do.
func newAnswers(t *tool, found reflect.Type) *answers {
	a := &answers{tool: t, out: found, notice: -1}
	var fields []reflect.StructField
	things := "found notice next left_out corrected degraded redacted"
	add := func(name, options string, of reflect.Type, index []int) {
		one := answered{name: name, index: index, list: of.Kind() == reflect.Slice}
		element := of
		if one.list || of.Kind() == reflect.Pointer {
			element = of.Elem()
		}
		if one.shape = shapeOf(element); one.shape != nil {
			things += " count " + name
			switch element = one.shape.out; of.Kind() {
			case reflect.Slice:
				of = reflect.SliceOf(element)
			case reflect.Pointer:
				of = reflect.PointerTo(element)
			default:
				of = element
			}
			a.notice = 0
		}
		if name == "notice" {
			name = "degraded"
		}
		a.members = append(a.members, one)
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprint("M", len(fields)), Type: of, Tag: reflect.StructTag(fmt.Sprintf("json:%q", strings.TrimSuffix(name+","+options, ","))),
		})
	}
	if t.as != "" {
		add(t.as, "", found, nil)
	} else {
		for _, f := range strictjson.Members(found) {
			if !slices.Contains(strings.Fields(t.without), f.Name) {
				add(f.Name, f.Options, f.Type, f.Index)
			}
		}
	}
	if a.notice == 0 {
		a.notice = len(fields)
		fields = append(fields, reflect.StructField{Name: "Notice", Type: reflect.TypeFor[string](), Tag: `json:"notice,omitempty"`})
	}
	if a.notice >= 0 || t.as != "" {
		a.out = reflect.StructOf(fields)
	} else {
		a.members = nil // programs get what the method returns
	}
	a.rest = newShape(a.out, view{hides: things, by: "-", zeros: true})
	next, _ := strictjson.MemberOf(a.out, "next")
	redacted, _ := strictjson.MemberOf(found, "redacted")
	a.next, a.redacted = next.Index, redacted.Index
	return a
}

// show puts what a method returned before a model.
func (a *answers) show(found reflect.Value) (fields any, text string) {
	out := found
	if a.members != nil {
		out = reflect.New(a.out).Elem()
	}
	var things []*thing
	var places []reflect.Value // in out, of the things
	var counts []string        // of each list
	for i, m := range a.members {
		v, into := found, out.Field(i)
		if m.index != nil {
			v = found.FieldByIndex(m.index)
		}
		if v.Kind() == reflect.Slice && v.Type() != rawJSON { // a list of nothing is a list
			into.Set(reflect.MakeSlice(into.Type(), v.Len(), v.Len()))
		}
		switch {
		case m.shape == nil && m.list && v.Type() != rawJSON:
			reflect.Copy(into, v)
		case m.shape == nil:
			into.Set(v)
		case m.list:
			for at := range v.Len() {
				things, places = append(things, m.shape.thing(v.Index(at))), append(places, into.Index(at))
			}
			if v.Len() > 0 {
				counts = append(counts, count(v.Len(), singular(m.name), inWords(m.name)))
			}
		case v.Kind() == reflect.Pointer && v.IsNil():
		default:
			if v.Kind() == reflect.Pointer {
				into.Set(reflect.New(m.shape.out))
				v, into = v.Elem(), into.Elem()
			}
			one := m.shape.thing(v)
			one.alone = m.name
			things, places = append(things, one), append(places, into)
		}
	}
	f := a.text(found, out, things, counts)
	for i, place := range places {
		place.Set(things[i].fields())
	}
	if len(things) > 0 {
		out.Field(a.notice).SetString(notice)
	}
	return out.Interface(), f
}

// text is what a model reads: what the tool says of the answer, what else is in it, and the things.
func (a *answers) text(found, out reflect.Value, things []*thing, counts []string) string {
	rest := a.rest.thing(out)
	folds := fitThings(things, rest)
	label, lines := rest.said(rest.left)
	if names := lines[0]; a.effect != reads && len(names) <= maxEcho { // the caller's own words
		label, lines[0] = strings.Trim(visible(names)+", "+label, ", "), ""
	}
	said := a.lead(found, counts, len(things))
	if len(things) == 0 && a.notice >= 0 && a.said == nil && a.effect == reads {
		return said + "." // what else is in the answer says so too
	}
	if said == "" || a.said == nil {
		said = strings.TrimSuffix(strings.Trim(cmp.Or(said, "The answer")+": "+label, ": "), ".") + "."
	}
	f := newFence("%s", said)
	if a.redacted != nil {
		f.WriteString(redacted(found.FieldByIndex(a.redacted).Interface().([]string)))
	}
	if strings.Join(lines, "") != "" && a.said == nil {
		f.explain()
		f.add("In full:", lines...)
	}
	f.things(things, folds)
	if a.next != nil && !out.FieldByIndex(a.next).IsZero() {
		f.explain()
		f.add("There are more: ask again with this as "+a.further+".", fmt.Sprint(out.FieldByIndex(a.next).Interface()))
	}
	return f.String()
}

// maxEcho bounds what the router repeats of what a caller wrote, in bytes.
const maxEcho = 300

// lead is how the text begins.
func (a *answers) lead(found reflect.Value, counts []string, things int) string {
	switch {
	case a.said != nil:
		return reflect.ValueOf(a.said).Call([]reflect.Value{found})[0].String()
	case len(counts) > 0:
		return "Found " + strings.Join(counts, " and ")
	case a.effect != reads:
		return "Done"
	case things > 0:
		return "Found"
	case a.notice >= 0:
		return cmp.Or(a.none, "There are none")
	}
	return ""
}

// singular is the name of one thing of a list of that name.
func singular(name string) string {
	name = inWords(name)
	if stem, ok := strings.CutSuffix(name, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(name, "s")
}
