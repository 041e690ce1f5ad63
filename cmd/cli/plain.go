package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router/client"
)

// Most commands are one operation of a service, and are made of what is said of that beside the service (see package
// operation). This is all of `skillrouter tasks block`:
//
//	{use: "block TASK REASON...", do: operational.TaskService.Block}
//
// The method is what is called. The words of use fill what it takes: the first one its id, others the members of their
// names. Every other member is a flag, whose help, bounds, choices and defaults its tags say. The answer is shown as a
// sentence if says has one, else by its type: a list or a page as a table, one thing as a row of its kind's table, or
// with all that is known of it where it is shown.

// does makes the command of an operation.
func (s *shell) does(of command) *cobra.Command {
	op := operation.Find(of.do)
	types, returns := op.Types()
	p := &plainCommand{s: s, of: of, op: op, returns: returns}
	for _, t := range types {
		takes := reflect.New(t).Interface()
		if of.in != nil && reflect.TypeOf(of.in).Elem() == t {
			takes = of.in
		}
		p.takes = append(p.takes, takes)
	}
	if of.one != nil {
		p.one = &plainCommand{op: operation.Find(of.one)}
		var id string
		p.one.takes = append([]any{&id}, p.takes...) // of more than an id, what the others take too
		types, returns := p.one.op.Types()
		p.one.takes, p.one.returns = p.one.takes[:len(types)], returns
	}
	p.fields = op.Fields(p.takes)
	p.listing = op.Verb == "GET" && returns != nil && returns.Kind() == reflect.Slice && p.member("limit") != nil
	of.short = cmp.Or(of.short, op.Summary)
	if of.into == nil {
		p.words()
		of.places = p.places
	}
	if of.says != "" {
		noted(of.says, p.named(reflect.Zero(p.answers())).Type())
	}
	of.flags = append(of.flags, p.flags()...)
	of.before = p.complete
	of.lists = op.Verb == "GET" && pageOf(reflect.Zero(p.answers())).IsValid() && (len(p.places) == 0 || of.one != nil)
	cmd := s.calls(of, p.run)
	if len(p.places) > 0 && of.things != nil && p.namesOne() {
		var second []string
		if len(p.places) > 1 {
			second = p.places[1].field.Choices
		}
		cmd.ValidArgsFunction = s.suggest(*of.things, second)
	} else if len(p.places) > 0 {
		cmd.ValidArgsFunction = among(slices.Concat(p.places[0].field.Choices, of.choices))
	}
	return cmd
}

// namesOne tells whether the first word names a thing that is there.
func (p *plainCommand) namesOne() bool {
	_, number := p.takes[0].(*int64)
	return p.one != nil || number || p.id() != nil || p.member("key") != nil && p.op.Verb != "PUT"
}

// plainCommand is the command of an operation while it is made and run.
type plainCommand struct {
	s       *shell
	of      command
	op      *operation.Op
	takes   []any // pointers to what the method takes
	fields  []operation.Field
	places  []word
	flagged map[string]operation.Field
	one     *plainCommand // what is asked instead where a word names one
	patches bool          // a flag was given that changes something
	returns reflect.Type
	listing bool // it is a plain list, which can be longer than what is shown of it
}

func (p *plainCommand) member(name string) *operation.Field {
	at := slices.IndexFunc(p.fields, func(f operation.Field) bool { return f.Name == name })
	if at < 0 {
		return nil
	}
	return &p.fields[at]
}

// words binds the line of use.
func (p *plainCommand) words() {
	p.places = wordsOf(p.of.use)
	for i := range p.places {
		at := &p.places[i]
		name := strings.ToLower(at.name)
		if i < len(p.of.words) {
			name = p.of.words[i]
		}
		field := p.member(name)
		if i == 0 && p.one != nil {
			field = &operation.Field{Name: name, Value: reflect.ValueOf(p.one.takes[0]).Elem()}
		}
		if field == nil && i == 0 {
			field = &p.fields[0] // the id
		}
		if field == nil {
			panic(fmt.Sprintf("%s: nothing is called %s", p.of.use, name))
		}
		at.field = *field
	}
}

// flags are those of the members that no word fills and no other flag is called like.
func (p *plainCommand) flags() (list options) {
	p.flagged = map[string]operation.Field{}
	for name := range strings.FieldsSeq(p.of.hides) {
		if p.member(name) == nil {
			panic(fmt.Sprintf("%s: nothing is called %s", p.of.use, name))
		}
	}
	for i, name := range flagNames(p.fields) {
		f := p.fields[i]
		if p.of.became != "" && strings.HasPrefix(name, "note") {
			name = "reason"
		}
		isWord := slices.ContainsFunc(p.places, func(at word) bool { return at.field.Name == f.Name })
		isOther := slices.ContainsFunc(p.of.flags, func(o boundFlag) bool { return o.name == name })
		if isWord || isOther || slices.Contains(strings.Fields(p.of.hides), f.Name) || !flaggable(f.Value.Type()) {
			continue
		}
		p.flagged[name] = f
		flag := p.s.flag(name, f)
		if p.of.as != nil && name == "agent" {
			flag = who(name, f.Value.Addr().Interface().(*string), p.of.as, "who does it (SKILLROUTER_AGENT, else you)")
		}
		if name == "agent" && f.Name != "agent_id" {
			flag.former = append(flag.former, "by")
		}
		if name == "time-range" {
			flag.former = append(flag.former, "range")
		}
		after := flag.after
		flag.after = func(flags *pflag.FlagSet) {
			if after != nil {
				after(flags)
			}
			if name == "time-range" { // a day is a day of whoever asks
				f.Value.SetString(learning.LocalTimeRange(f.Value.String(), p.s.now()))
			}
			p.patches = p.patches || !f.Actor && flags.Changed(name) && reflect.TypeOf(p.takes[len(p.takes)-1]).Elem().Kind() == reflect.Struct
		}
		list = append(list, flag)
	}
	for _, name := range []string{"reason", "agent"} {
		if _, there := p.flagged[name]; p.of.became != "" && !there {
			list = append(list, option(name, new(string), "taken, since other kinds keep it with what becomes of a thing"))
		}
	}
	return list
}

// complete fills what is sent with standard input, and sees that nothing is missing.
func (p *plainCommand) complete() error {
	if p.one != nil && *p.one.takes[0].(*string) != "" {
		p.op, p.takes, p.returns, p.listing = p.one.op, p.one.takes, p.one.returns, false
	}
	for i, at := range p.places {
		p.patches = p.patches || i > 0 && !at.field.Value.IsZero()
	}
	for _, f := range p.fields {
		if err := p.s.longText(f); err != nil {
			return err
		}
	}
	if p.of.before != nil {
		if err := p.of.before(); err != nil {
			return err
		}
	}
	if strings.HasPrefix(p.of.use, "edit ") && !p.patches {
		return usagef("say what to change")
	}
	return nil
}

// longText reads a longer text from standard input where it is given as "-", and makes JSON of what must be.
func (s *shell) longText(f operation.Field) error {
	value := reflect.Indirect(f.Value)
	if !value.IsValid() || value.IsZero() || !f.Long {
		return nil
	}
	isJSON := value.Type() == reflect.TypeFor[json.RawMessage]()
	text := ""
	if isJSON {
		text = string(value.Bytes())
	} else {
		text = value.String()
	}
	const most = 4 << 20 // longer than any text that the router takes
	if err := s.text(&text, most); err != nil {
		return err
	}
	if isJSON {
		value.SetBytes(asJSON(text))
	} else {
		value.SetString(text)
	}
	return nil
}

// id is the id that the method takes; nil: it takes none, or a number.
func (p *plainCommand) id() *string {
	if len(p.takes) == 0 {
		return nil
	}
	id, named := p.takes[0].(*string)
	if !named && len(p.places) > 0 && strings.HasSuffix(p.places[0].field.Name, "_id") {
		id, _ = p.places[0].field.Value.Addr().Interface().(*string)
	}
	return id
}

// run calls the operation and shows its answer.
func (p *plainCommand) run(ctx context.Context, c *client.Client) (err error) {
	if id := p.id(); id != nil && p.of.kind != "" {
		if *id, err = fullID(ctx, c, p.of.kind, *id); err != nil {
			return err
		}
	}
	limit, wanted, most := (*int)(nil), 0, 0
	if p.listing {
		f := p.member("limit")
		limit, most = f.Value.Addr().Interface().(*int), f.Most
		wanted = cmp.Or(*limit, f.Usual)
		if *limit = wanted + 1; wanted < 0 || wanted >= most {
			*limit = wanted // the router refuses what is beyond
		}
	}
	arguments := make([]any, len(p.takes))
	for i, one := range p.takes {
		arguments[i] = reflect.ValueOf(one).Elem().Interface()
	}
	answer := reflect.New(p.answers())
	if err := c.Do(ctx, p.op, answer.Interface(), arguments...); err != nil {
		return err
	}
	if p.of.became != "" {
		p.s.deletedShared(ctx, c)
	}
	answer = answer.Elem()
	more := ""
	switch {
	case p.listing && answer.Len() > wanted:
		answer, more = answer.Slice(0, wanted), fmt.Sprintf("There are more: --limit %d\n", min(2*wanted, most))
	case p.listing && wanted == most && answer.Len() == wanted:
		more = "There may be more: narrow the list by the flags of --help\n"
	}
	if total := reflect.Indirect(member(answer, "total")); total.CanInt() && pageOf(answer).IsValid() {
		more = p.moreThan(pageOf(answer).Len(), total.Int())
	}
	answer = p.named(answer)
	page := pageOf(answer)
	bad := (p.of.finds || p.of.found != "") && page.IsValid() && page.Len() == 0
	err = p.s.printOr(bad, answer.Interface(), func(w io.Writer) { p.of.shown(w, answer) })
	if more == "" || err != nil {
		return err
	}
	to := p.s.out
	if p.s.json {
		to = p.s.err
	}
	_, err = io.WriteString(to, more)
	return err
}

// answers is the type of what the operation answers.
func (p *plainCommand) answers() reflect.Type { return cmp.Or(p.returns, reflect.TypeFor[struct{}]()) }

// named is an answer with names: that of what was meant where there is none else, and of a figure that of the operation.
func (p *plainCommand) named(answer reflect.Value) reflect.Value {
	switch {
	case p.of.became != "":
		return reflect.ValueOf(removed{fmt.Sprint(p.places[0].field.Value), p.of.became})
	case p.returns == nil:
		return reflect.ValueOf(struct {
			ID string `json:"id"`
		}{fmt.Sprint(p.places[0].field.Value)})
	case answer.CanInt():
		named := reflect.New(p.op.Output()).Elem()
		named.Field(0).Set(answer)
		return named
	}
	return answer
}

// moreThan says how the rest of a page is seen, of so many that there are.
func (p *plainCommand) moreThan(shown int, total int64) string {
	seen, most := int64(shown), min(total, int64(learning.MaxLimit))
	if offset := p.member("offset"); offset != nil {
		if seen += offset.Value.Int(); seen < total {
			return fmt.Sprintf("There are more: --offset %d\n", seen)
		}
	} else if seen < most {
		return fmt.Sprintf("There are more: --limit %d\n", most)
	}
	return ""
}

// flagNames are what the flags of fields are called: agent is who acts, where no other agent is meant.
func flagNames(fields []operation.Field) (list []string) {
	another := slices.ContainsFunc(fields, func(f operation.Field) bool { return f.Name == "agent_id" && !f.Actor })
	for _, f := range fields {
		name, _ := flagName(f.Name)
		if f.Actor && !another {
			name = "agent"
		}
		list = append(list, name)
	}
	return list
}

// flagName is what the flag of a member is called, and whether each text of a list is given by itself, since it may hold commas.
func flagName(member string) (name string, whole bool) {
	whole = slices.Contains([]string{"alternatives", "related_commands", "related_files", "prevention_steps"}, member)
	return cmp.Or(otherwise[member], strings.ReplaceAll(strings.TrimSuffix(member, "_id"), "_", "-")), whole
}

// otherwise are the flags that are not called like their members.
var otherwise = map[string]string{
	"alternatives": "instead", "related_commands": "command", "related_files": "related-file", "prevention_steps": "prevention",
	"lesson_type": "type", "pattern_type": "type", "event_type": "type", "pattern_name": "name", "trigger_pattern": "trigger",
	"by": "agent", "validated_by": "agent", "source_agent": "agent", "source_case_ids": "source",
	"block_action": "block", "recommended_action": "action", "action_taken": "action",
	"ttl_seconds": "ttl", "quality_score": "quality", "max_results": "limit", "idempotency_key": "key",
	"tags": "tag", "kinds": "kind", "scopes": "scope", "projects": "project",
}

// shorthands are flags that have one letter too.
func shorthand(name string) string {
	switch name {
	case "category", "type", "domain", "severity":
		return name[:1]
	case "limit":
		return "n"
	}
	return ""
}

// flaggable tells whether a flag can say it.
func flaggable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return flaggable(t.Elem())
	case reflect.Slice:
		return t == reflect.TypeFor[json.RawMessage]() || t.Elem().Kind() == reflect.String
	case reflect.Struct, reflect.Map, reflect.Interface:
		return false
	}
	return true
}
