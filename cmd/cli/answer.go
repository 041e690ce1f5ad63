package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// An answer is shown by its type, whose members are named as in JSON. What a command says of it are three lines at most:
//
//	rows   the columns of a table, such as "number=NO title status+progress agent_id|created_by=AGENT": members, what else
//	       stands in the same cell, what stands in for one that is empty, and a heading where the member's own name is none
//	says   a page, see page.go
//	show   a function that prints the answer, for one that says more than its members do

// shown prints an answer for people.
func (of command) shown(w io.Writer, answer reflect.Value) {
	page := pageOf(answer)
	switch {
	case of.show != nil:
		reflect.ValueOf(of.show).Call([]reflect.Value{reflect.ValueOf(w), answer})
	case of.found != "":
		printFound(w, strings.TrimSuffix(of.kind, "s"), of.found, answer)
	case of.says != "":
		render(w, of.says, answer.Interface())
		if of.full {
			details(w, answer, of.rows)
		}
	case page.IsValid():
		of.rowsOf(w, page)
		for _, one := range strictjson.Members(reflect.Indirect(answer).Type()) { // what else is listed
			list := member(answer, one.Name)
			if list.Kind() == reflect.Slice && list.Type().Elem() != page.Type().Elem() && list.Type().Elem().Kind() == reflect.Struct {
				sections(w, section{strings.ToUpper(label(one.Name)), lines(list)})
			}
		}
		if next := member(answer, "next"); next.IsValid() && !next.IsZero() {
			fmt.Fprintf(w, "There are more: --cursor %s\n", clean(shownText("next", next)))
		}
	case of.rows != "" && !of.full && !strings.HasPrefix(of.use, "show"):
		row := reflect.MakeSlice(reflect.SliceOf(answer.Type()), 0, 1)
		of.rowsOf(w, reflect.Append(row, answer))
	default:
		details(w, answer, of.rows)
	}
}

// inFull prints all that an answer has.
func inFull[Answer any](w io.Writer, answer Answer) { details(w, reflect.ValueOf(answer), "") }

// tableOf prints a table of things, for a command that shows more than that.
func tableOf(w io.Writer, rows, none string, list any) {
	command{rows: rows, none: none}.rowsOf(w, reflect.ValueOf(list))
}

// pageOf is the list that an answer is, or has beside what is said of it; otherwise there is none.
func pageOf(answer reflect.Value) reflect.Value {
	if answer.Kind() == reflect.Slice {
		return answer
	}
	if answer.Kind() != reflect.Struct || !member(answer, "count").IsValid() {
		return reflect.Value{}
	}
	for i := range answer.NumField() {
		if list := answer.Field(i); list.Kind() == reflect.Slice && list.Type().Elem().Kind() == reflect.Struct {
			return list
		}
	}
	return reflect.Value{}
}

// rowsOf prints a table of a list. A type that has not the first column of its kind is another, and shown with all that it has.
func (of command) rowsOf(w io.Writer, list reflect.Value) {
	if list.Len() == 0 {
		fmt.Fprintln(w, first(of.none, "No "+of.kind+"."))
		return
	}
	columns := strings.Fields(of.rows)
	for i, column := range columns {
		names, _, _ := strings.Cut(column, "=")
		name := strings.FieldsFunc(names, func(r rune) bool { return strings.ContainsRune("|+.", r) })[0]
		if _, there := strictjson.MemberOf(list.Type().Elem(), name); there || name == "says" || name == "short" {
			continue
		}
		if i > 0 {
			panic(fmt.Sprintf("%s has no member %s", list.Type().Elem(), name))
		}
		columns = nil // they are another type's
		break
	}
	if columns == nil {
		for _, one := range strictjson.Members(list.Type().Elem()) {
			columns = append(columns, one.Name)
		}
	}
	heads, rows := make([]string, len(columns)), make([][]string, list.Len())
	for at, column := range columns {
		names, head, named := strings.Cut(column, "=")
		if !named {
			head = strings.ToUpper(label(names))
		}
		heads[at] = strings.ReplaceAll(head, "_", " ")
		for i := range rows {
			rows[i] = append(rows[i], cellOf(list.Index(i), names))
		}
	}
	table(w, heads, rows)
}

// cellOf is a cell: the first member of several with | between that says something, and the members with + between together.
func cellOf(row reflect.Value, names string) string {
	for names := range strings.SplitSeq(names, "|") {
		var said []string
		for i, name := range strings.Split(names, "+") {
			text := columnText(row, name)
			switch {
			case i > 0 && text == "yes":
				text = label(name)
			case i > 0 && name == "progress" && text != "0":
				text += "%"
			case i > 0 && name == "waits_for" && text != "":
				text = "waits for " + text
			case i > 0 && text == "0":
				text = ""
			}
			if text != "" {
				said = append(said, text)
			}
		}
		if text := strings.Join(said, ", "); text != "" {
			return text
		}
	}
	return ""
}

// columnText is what a member says. Beside its members a row has what it says, and its id in short, if it is one that can be said so.
func columnText(row reflect.Value, name string) string {
	if name == "short" {
		for _, id := range []string{"id", "rule_id", "check_id"} {
			if value := member(row, id); value.IsValid() {
				return shortID(value.String())
			}
		}
	}
	if says, ok := row.Addr().Interface().(interface{ Says() string }); ok && name == "says" {
		return says.Says()
	}
	return shownText(name, member(row, name))
}

// label is a member's name as words.
func label(name string) string {
	name, _, _ = strings.Cut(name, "|")
	name, _, _ = strings.Cut(name, "+")
	name = strings.TrimSuffix(strings.TrimSuffix(strings.Trim(name, "_"), "_id"), "_at")
	return strings.ReplaceAll(name, "_", " ")
}

// member is a value by its name in JSON; one of a value below it stands behind a dot.
func member(of reflect.Value, name string) reflect.Value {
	of = reflect.Indirect(of)
	if of.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	name, below, deeper := strings.Cut(name, ".")
	field, there := strictjson.MemberOf(of.Type(), name)
	if !there {
		return reflect.Value{}
	}
	value, err := of.FieldByIndexErr(field.Index)
	switch {
	case err != nil: // of something embedded that is not there
		return reflect.Value{}
	case deeper:
		return member(value, below)
	}
	return value
}

// memberAs is a member's value as it is; the zero value if there is none.
func memberAs[T any](of reflect.Value, name string) (value T) {
	if found := member(of, name); found.IsValid() {
		value, _ = found.Interface().(T)
	}
	return value
}

// withZone is how a time that lies ahead is shown: by this machine's clock, whose zone it names.
const withZone = time.DateTime + " MST"

// shownText is a value on one line: an end is "until" then and other times are so long ago, several are joined by commas and a
// list of larger things counts them. Empty: there is nothing to show.
func shownText(name string, value reflect.Value) string {
	value = reflect.Indirect(value)
	if !value.IsValid() && strings.HasPrefix(name, "expires") {
		return "for ever"
	}
	if !value.IsValid() {
		return ""
	}
	switch v := value.Interface().(type) {
	case time.Time:
		switch {
		case v.IsZero():
			return ""
		case strings.HasPrefix(name, "expires"):
			return "until " + v.Local().Format(withZone)
		case v.After(time.Now().Add(time.Minute)):
			return v.Local().Format(withZone)
		}
		return ago(time.Now(), v)
	case json.RawMessage:
		return string(v)
	}
	if name == "timestamp" { // Unix milliseconds
		return ago(time.Now(), time.UnixMilli(value.Int()))
	}
	switch value.Kind() {
	case reflect.Bool:
		if value.Bool() {
			return "yes"
		}
		return ""
	case reflect.Float64:
		return fmt.Sprintf("%.2f", value.Float())
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Struct {
			return fmt.Sprint(value.Len())
		}
		var parts []string
		for i := range value.Len() {
			parts = append(parts, shownText("", value.Index(i)))
		}
		return strings.Join(parts, ", ")
	case reflect.Struct, reflect.Map:
		if value.IsZero() || value.Kind() == reflect.Map && value.Len() == 0 {
			return ""
		}
		text, _ := json.Marshal(value.Interface())
		return string(text)
	}
	return fmt.Sprint(value.Interface())
}

// details prints all that an answer has: what is short in two columns, and below each longer text, list and part.
// They are called as they are in a table of rows.
func details(w io.Writer, answer reflect.Value, rows string) {
	answer = reflect.Indirect(answer)
	heads := map[string]string{}
	for column := range strings.FieldsSeq(rows) {
		names, head, _ := strings.Cut(column, "=")
		if !strings.ContainsAny(names, "|+") {
			heads[names] = strings.ToLower(head)
		}
	}
	var short, long []section
	for _, one := range strictjson.Members(answer.Type()) {
		name, value := one.Name, reflect.Indirect(member(answer, one.Name))
		head := first(heads[name], strings.TrimSpace(label(name)))
		head = strings.ToUpper(head[:1]) + head[1:]
		if !value.IsValid() && strings.HasPrefix(name, "expires") { // that there is no end is said, too
			short = append(short, section{head, shownText(name, value)})
		}
		if !value.IsValid() || value.IsZero() && strings.Contains(one.Options, "omit") {
			continue
		}
		text := shownText(name, value)
		isTime := value.Type() == reflect.TypeFor[time.Time]()
		switch kind := value.Kind(); {
		case kind == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct:
			long = append(long, section{head, lines(value)})
		case kind == reflect.Slice && value.Type().Elem().Kind() == reflect.String && len([]rune(text)) > cellWidth:
			var parts []string
			for i := range value.Len() {
				parts = append(parts, value.Index(i).String())
			}
			long = append(long, section{head, strings.Join(parts, "\n")})
		case kind == reflect.Struct && !isTime:
			var part strings.Builder
			details(&part, value, "")
			long = append(long, section{head, part.String()})
		case isLong(name, text):
			long = append(long, section{head, text})
		default:
			short = append(short, section{head, text})
		}
	}
	fields(w, short...)
	sections(w, long...)
}

// isLong tells whether a text stands below its name: because of its length, or because such texts do.
func isLong(name, text string) bool {
	switch name {
	case "content", "description", "value", "context", "learned":
		return true
	}
	return strings.Contains(text, "\n") || len([]rune(text)) > cellWidth
}

// lines are things one a line, each by its members that say something.
func lines(list reflect.Value) string {
	var b strings.Builder
	for i := range list.Len() {
		var said []string
		for _, one := range strictjson.Members(list.Index(i).Type()) {
			name, value := one.Name, member(list.Index(i), one.Name)
			switch {
			case !value.IsValid() || value.IsZero():
			case len(said) == 0:
				said = append(said, cell(shownText(name, value)))
			default:
				said = append(said, label(name)+": "+cell(shownText(name, value)))
			}
		}
		fmt.Fprintln(&b, strings.Join(said, "  "))
	}
	return b.String()
}
