package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter/cmd/locate"
	"skillrouter/internal/lazyregexp"
	"skillrouter/internal/operation"
	"skillrouter/internal/safetext"
	"skillrouter/router/client"
)

// Most commands are one operation of a service, and plain.go makes them. One that does more says what it does as a
// function: asks makes it of a call and the way its answer is shown, calls of what it does with the router, and local of
// what it does without one. What a flag or a word is bound to is filled before that, and what it holds when the command
// is made is the flag's default. cli.go lists all.

// command is what a command says of itself.
type command struct {
	use, short, long string
	aliases          []string
	args             arguments
	flags            options
	starts           starting
	// before completes what is sent, and finds wrong usage that no flag or word
	// shows alone. It runs before anybody looks for the router.
	before func() error

	// Of a command that is one operation, see plain.go.
	do      any                      // the service's method
	one     any                      // the method that is called instead where the first word names one, as in "runs [RUN_ID]"
	in      any                      // a pointer to what it takes, where before completes that, or other defaults are meant than the service's
	words   []string                 // the members that the words of use fill, where these are not called like them
	hides   string                   // members that are no flags
	as      func(flag string) string // who acts, if not just the agent
	things  *thing                   // what its first word can name
	choices []string                 // what its first word can be, where its type does not say it
	hidden  bool                     // it goes on working under a name of before, and is shown nowhere
	// What is shown, see answer.go.
	kind, rows, says string
	show             any
	found            string // of a search: the members that are said of a hit below its text
	none             string // what is said where there is nothing
	became           string // of one that takes something out of use: what becomes of it
	full             bool   // one thing is shown whole, and not as a row of its kind's table
	lists            bool   // it lists things: the word "list" is understood
	finds            bool   // it looks for something, as every search does: where it finds nothing, it exits with 1, as grep does
}

// starting says whether a command starts the router where none runs.
type starting int

const (
	whereNoneRuns starting = iota
	never                  // of a command that asks whether one runs, or wants something to end
)

// request is a call of the router.
type request[A any] func(ctx context.Context, c *client.Client) (A, error)

// asks makes a command of a request and the way its answer is shown to people.
func asks[A any](s *shell, of command, ask request[A], show func(w io.Writer, answer A)) *cobra.Command {
	return s.calls(of, func(ctx context.Context, c *client.Client) error {
		answer, err := ask(ctx, c)
		return printed(s, answer, err, show)
	})
}

// printed prints an answer, unless there was none.
func printed[A any](s *shell, answer A, err error, show func(w io.Writer, answer A)) error {
	if err != nil {
		return err
	}
	return s.print(answer, func(w io.Writer) { show(w, answer) })
}

// calls makes a command of what it does with the router.
func (s *shell) calls(of command, run func(ctx context.Context, c *client.Client) error) *cobra.Command {
	cmd := s.remote(s.made(of, func(ctx context.Context) error {
		connect := s.connect
		if of.starts == never {
			connect = func(context.Context) (*client.Client, error) { return s.client() }
		}
		c, err := connect(ctx)
		if err == nil && (s.asPerson || s.passphraseFile != "") {
			err = c.SignIn(ctx)
		}
		if err != nil {
			return err
		}
		return run(ctx, c)
	}))
	cmd.Hidden = of.hidden
	return cmd
}

// local makes a command that needs no router.
func (s *shell) local(of command, run func(ctx context.Context) error) *cobra.Command {
	cmd := s.made(of, run)
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON, for programs")
	return cmd
}

// made makes a command that has no other flags than its own.
func (s *shell) made(of command, run func(ctx context.Context) error) *cobra.Command {
	cmd := &cobra.Command{Use: of.use, Short: of.short, Long: of.long, Aliases: of.aliases, Args: cobra.NoArgs}
	if of.args.count != nil {
		cmd.Args = of.args.count
	}
	cmd.Args = explainedWords(cmd.Args, of.lists)
	former := map[string]string{}
	for _, flag := range of.flags {
		flag.add(cmd.Flags())
		for _, name := range flag.former {
			former[name] = flag.name
		}
		if flag.values != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag.name, flag.values) // fails only for a flag that is not there
		}
	}
	if len(former) > 0 {
		cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			return pflag.NormalizedName(first(former[name], name))
		})
	}
	return s.command(cmd, func(ctx context.Context, args []string) error {
		for _, flag := range of.flags {
			if flag.after != nil {
				flag.after(cmd.Flags())
			}
		}
		if of.args.fill != nil && !(of.lists && justList(args)) {
			of.args.fill(args)
		}
		if of.before != nil {
			if err := of.before(); err != nil {
				return err
			}
		}
		return run(ctx)
	})
}

// explainedWords says which words and flags are missing, or which word is one too many, by the command's own line of use.
func explainedWords(count cobra.PositionalArgs, lists bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if lists && justList(args) {
			return nil
		}
		wrong := count(cmd, args)
		var needed []string
		for _, word := range placeholders(cmd) {
			if !strings.HasPrefix(word, "[") {
				needed = append(needed, strings.TrimSuffix(word, "..."))
			}
		}
		needed = needed[min(len(args), len(needed)):]
		if wrong == nil {
			needed = nil
		}
		if file := cmd.Flags().Lookup("file"); file == nil || !file.Changed { // which has what flags say otherwise
			needed = append(needed, missingFlags(cmd)...)
		}
		switch {
		case len(needed) == 1:
			return fmt.Errorf("%s is missing", needed[0])
		case len(needed) > 1:
			return fmt.Errorf("%s and %s are missing", strings.Join(needed[:len(needed)-1], ", "), needed[len(needed)-1])
		case wrong == nil:
			return nil
		case len(args) == 0:
			return errors.New("a word is missing")
		}
		return fmt.Errorf("%q is a word too many", args[len(args)-1])
	}
}

func justList(args []string) bool { return len(args) == 1 && args[0] == "list" }

// missingFlags are the flags that a command's line of use asks for outside of brackets, and that say nothing.
func missingFlags(cmd *cobra.Command) (list []string) {
	line, _, _ := strings.Cut(inBrackets.Compiled().ReplaceAllString(cmd.Use, ""), "|")
	for word := range strings.FieldsSeq(line) {
		name, is := strings.CutPrefix(word, "--")
		if flag := cmd.Flags().Lookup(name); is && flag != nil && slices.Contains([]string{"", "[]"}, flag.Value.String()) {
			list = append(list, fmt.Sprintf("--%s (%s)", name, flag.Usage))
		}
	}
	return list
}

var inBrackets = lazyregexp.New(`\[[^\]]*\]|\n.*`)

// placeholders are the words of a command's line of use, such as KEY and [VALUE].
func placeholders(cmd *cobra.Command) (words []string) {
	line, _, _ := strings.Cut(cmd.Use, "\n")
	words = strings.Fields(line)[1:]
	if dashes := slices.Index(words, "--"); dashes >= 0 {
		return words[dashes+1:]
	}
	for i, word := range words {
		if strings.HasPrefix(strings.TrimLeft(word, "[("), "-") {
			return words[:i]
		}
	}
	return words
}

// arguments says how many words a command takes, and where they go. The zero value takes none.
type arguments struct {
	count cobra.PositionalArgs
	fill  func(args []string)
}

// exactly takes one word for each of into.
func exactly(into ...*string) arguments {
	return between(len(into), into...)
}

// between takes at least so many words, and at most one for each of into. What is
// not given is left as it is.
func between(least int, into ...*string) arguments {
	count := cobra.RangeArgs(least, len(into))
	switch least {
	case 0:
		count = cobra.MaximumNArgs(len(into))
	case len(into):
		count = cobra.ExactArgs(least)
	}
	return arguments{count, func(args []string) { fill(into, args) }}
}

// joined takes at least so many words; the last of into gets all that is left, with spaces between.
func joined(least int, into ...*string) arguments {
	last := len(into) - 1
	return arguments{cobra.MinimumNArgs(least), func(args []string) {
		fill(into[:last], args[:min(last, len(args))])
		if len(args) > last {
			*into[last] = strings.Join(args[last:], " ")
		}
	}}
}

// listed takes as many words as count allows, all into one list.
func listed(count cobra.PositionalArgs, into *[]string) arguments {
	return arguments{count, func(args []string) { *into = args }}
}

// perhaps takes one word or none; a word that is empty is one.
func perhaps(into **string) arguments {
	return arguments{cobra.MaximumNArgs(1), func(args []string) {
		if len(args) == 1 {
			*into = &args[0]
		}
	}}
}

func fill(into []*string, args []string) {
	for i, arg := range args {
		*into[i] = arg
	}
}

// options are a command's flags beside those that all have.
type options []boundFlag

// boundFlag is one flag. after runs when all flags are read and before the command does.
type boundFlag struct {
	name   string
	add    func(flags *pflag.FlagSet)
	after  func(flags *pflag.FlagSet)
	former []string             // names that it had: they go on working, and are shown nowhere
	values cobra.CompletionFunc // what it can be given, where that is known
}

// once is the flag with the names that it had.
func (f boundFlag) once(names ...string) boundFlag {
	f.former = names
	return f
}

// option binds a flag to what p points to, whose value is the default. Its name may
// be followed by a comma and its shorthand. A list may be given several times,
// or separated by commas.
func option[P *string | *bool | *int | *int64 | *float64 | *time.Duration | *[]string](name string, p P, help string) boundFlag {
	return bound(name, p, help)
}

// bound is option for a pointer whose type is known to be one of option's.
func bound(name string, p any, help string) boundFlag {
	name, short, _ := strings.Cut(name, ",")
	return boundFlag{name: name, add: func(flags *pflag.FlagSet) {
		switch p := p.(type) {
		case *string:
			flags.StringVarP(p, name, short, *p, help)
		case *bool:
			flags.BoolVarP(p, name, short, *p, help)
		case *int:
			flags.IntVarP(p, name, short, *p, help)
		case *int64:
			flags.Int64VarP(p, name, short, *p, help)
		case *float64:
			flags.Float64VarP(p, name, short, *p, help)
		case *time.Duration:
			flags.VarP(length(p), name, short, help)
		case *[]string:
			flags.StringSliceVarP(p, name, short, *p, help)
		}
	}}
}

// length is a flag's value that is read into p, whose value is the default.
func length(p *time.Duration) *lengthValue {
	v := &lengthValue{to: reflect.ValueOf(p).Elem(), unit: 1}
	if *p != 0 {
		v.text = p.String()
	}
	return v
}

// flags are those of the fields of what in points to that have these names as flags, as their tags describe them (see
// operation.Fields and flagNames).
func (s *shell) flags(in any, names ...string) (list options) {
	fields := operation.Fields(in)
	for i, name := range flagNames(fields) {
		if slices.Contains(names, name) {
			list = append(list, s.flag(name, fields[i]))
		}
	}
	if len(list) != len(names) {
		panic(fmt.Sprintf("%T has not the fields of the flags %q", in, names))
	}
	return list
}

func (s *shell) flag(name string, f operation.Field) boundFlag {
	to, _ := f.Value.Addr().Interface().(*string)
	switch {
	case f.Actor:
		return who(name, to, s.agent, "who does it (SKILLROUTER_AGENT)")
	case f.Here == "project":
		return s.belongs(to)
	case name == "persona":
		return persona(to)
	case name == "cursor" && to != nil:
		return cursor(to)
	case name == "explain":
		return scores(f.Value.Addr().Interface().(*bool))
	case name == "limit":
		return limit(f.Value.Addr().Interface().(*int))
	}
	f.Choices = append(slices.Clone(f.Choices), f.Among...)
	help := cmp.Or(f.Help, f.Doc, strings.ReplaceAll(f.Name, "_", " "))
	if second := strings.TrimLeft(help[1:2], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); second != "" { // it begins with no abbreviation
		help = strings.ToLower(help[:1]) + help[1:]
	}
	if choices := names(f.Choices); len(f.Choices) > 0 && !strings.Contains(help, choices) {
		help += ": " + choices
	}
	// A flag is read into a value of a plain type, and then set, as the field's own type.
	value, plain := f.Value, reflect.TypeFor[string]()
	_, whole := flagName(f.Name)
	if raw, is := value.Addr().Interface().(*json.RawMessage); is {
		return boundFlag{name: name, add: func(flags *pflag.FlagSet) { flags.Var(jsonValue{raw}, name, help) }}
	}
	if f.Seconds {
		return lifetime(name, value.Addr().Interface(), help)
	}
	optional := value.Kind() == reflect.Pointer
	kind := value.Type()
	if optional {
		kind = kind.Elem()
	}
	switch kind.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		plain = kind
	case reflect.Slice:
		plain = reflect.TypeFor[[]string]()
	}
	read := reflect.New(plain)
	if !optional && kind.Kind() != reflect.Slice {
		read.Elem().Set(value.Convert(plain))
	}
	flag := bound(name+","+shorthand(name), read.Interface(), help)
	if whole {
		flag = phrases(name, read.Interface().(*[]string), help)
	}
	if len(f.Choices) > 0 {
		flag.values = among(f.Choices)
	}
	flag.after = func(flags *pflag.FlagSet) {
		switch set := flags.Changed(name); {
		case !set && f.Here != "":
			if project := flags.Lookup("project"); project.Value.String() == s.project() { // of another one nobody knows where in it this is
				folder, branch := locate.Within(workingFolder())
				value.SetString(map[string]string{"folder": folder, "branch": branch}[f.Here])
			}
		case !set && (optional || kind.Kind() == reflect.Slice):
		case optional:
			value.Set(reflect.New(kind))
			value.Elem().Set(read.Elem().Convert(kind))
		case kind.Kind() == reflect.Slice:
			for _, text := range read.Elem().Interface().([]string) {
				value.Set(reflect.Append(value, reflect.ValueOf(text).Convert(kind.Elem())))
			}
		default:
			value.Set(read.Elem().Convert(kind))
		}
		switch plain := reflect.Indirect(value); {
		case plain.Kind() == reflect.String:
			plain.SetString(chosen(plain.String(), f.Choices))
		case plain.Kind() == reflect.Slice && len(f.Choices) > 0:
			for i := range plain.Len() {
				plain.Index(i).SetString(chosen(plain.Index(i).String(), f.Choices))
			}
		}
	}
	return flag
}

// otherStates are states as people also call them.
var otherStates = map[string]string{"done": "completed", "finished": "completed", "todo": "pending"}

// chosen returns the choice that a word means: anti-pattern is anti_pattern, and done is completed. Any other word stays as it is.
func chosen(word string, all []string) string {
	written := strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(word))
	for _, meant := range []string{written, otherStates[written]} {
		if slices.Contains(all, meant) {
			return meant
		}
	}
	return word
}

// choice binds a flag to one of several names, which its help and completion tell.
func choice[Name ~string](name string, p *Name, all []Name, help string) boundFlag {
	text := string(*p)
	o := option(name, &text, help+": "+names(all))
	o.values = among(all)
	o.after = func(*pflag.FlagSet) { *p = Name(text) }
	return o
}

// choices is choice for a list of such names.
func choices[Name ~string](name string, p *[]Name, all []Name, help string) boundFlag {
	var texts []string
	o := option(name, &texts, help+": "+names(all)+"; may be repeated")
	o.values = among(all)
	o.after = func(*pflag.FlagSet) {
		for _, text := range texts {
			*p = append(*p, Name(text))
		}
	}
	return o
}

// among completes to one of several names.
func among[Name ~string](all []Name) cobra.CompletionFunc {
	return cobra.FixedCompletions(safetext.Strings(all), cobra.ShellCompDirectiveNoFileComp)
}

// lifetime binds a flag to seconds, or a pointer to them, which may be given as a length of time too.
func lifetime(name string, to any, help string) boundFlag {
	return boundFlag{name: name, add: func(flags *pflag.FlagSet) {
		flags.Var(&lengthValue{to: reflect.ValueOf(to).Elem(), unit: time.Second}, name, help)
	}}
}

// lengthValue is a flag for a length of time, wherever there is one: 1.5s, 12h, 7d or 2w.
type lengthValue struct {
	to   reflect.Value // a number of units, or a pointer to one
	unit time.Duration // of a number alone too
	text string
}

func (v *lengthValue) String() string { return v.text }
func (v *lengthValue) Type() string   { return "duration" }

// Set implements pflag.Value.
func (v *lengthValue) Set(text string) error {
	v.text = text
	number := strings.TrimRight(text, "dw")
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		switch unit := text[len(number):]; {
		case unit == "" && v.unit == time.Second:
			text += "s"
		case n <= 36500 && unit == "d":
			text = strconv.FormatInt(24*n, 10) + "h"
		case n <= 36500 && unit == "w":
			text = strconv.FormatInt(7*24*n, 10) + "h"
		}
	}
	length, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errors.New("it is a length of time, such as 90s, 12h, 7d or 2w")
	case v.unit == time.Second && (length < 0 || length%time.Second != 0):
		return errors.New("it must be whole seconds, and not negative; 0 sets no end")
	}
	to := v.to
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	to.SetInt(int64(length / v.unit))
	return nil
}

// phrases binds a flag to a list whose texts may hold commas.
func phrases(name string, p *[]string, help string) boundFlag {
	return boundFlag{name: name, add: func(flags *pflag.FlagSet) { flags.StringArrayVar(p, name, *p, help) }}
}

// who binds a flag to somebody's name; find says who it is if none is given.
func who(name string, p *string, find func(flag string) string, help string) boundFlag {
	o := option(name, p, help)
	o.after = func(*pflag.FlagSet) { *p = find(*p) }
	return o
}

// belongs binds the flag --project to where something belongs, which is the working
// folder's project if none is given. An empty one is none.
func (s *shell) belongs(p *string) boundFlag {
	o := option("project", p, "project that it belongs to; \"\" is none (default: the working folder's)")
	o.after = func(flags *pflag.FlagSet) {
		if !flags.Changed("project") {
			*p = s.project()
		}
	}
	return o
}

// limit is the flag that bounds a list.
func limit(p *int) boundFlag { return option("limit,n", p, "how many at most") }

// persona is the flag that says whose memory is meant.
func persona(p *string) boundFlag { return option("persona", p, "whose memory (default \"default\")") }

// cursor is the flag that goes on with the next page.
func cursor(p *string) boundFlag { return option("cursor", p, "go on where a page ended") }

// scores is the flag that shows what the scores of a search are made of.
func scores(p *bool) boundFlag { return option("explain", p, "show what each score is made of") }
