package cli

import (
	"cmp"
	"context"
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

	"skillrouter/internal/operation"
	"skillrouter/internal/safetext"
	"skillrouter/router/client"
)

// Nearly every command has one form: words and flags fill what is sent, one call
// of the router answers, and the answer is printed for people or as JSON. Such a
// command says only what is its own. This is all of `skillrouter recon scan`:
//
//	func (s *shell) reconScan() *cobra.Command {
//		var draft operational.ScanDraft
//		return asks(s, command{
//			use: "scan ENVIRONMENT SCANNER", short: "Record that a scan began", args: exactly(&draft.Environment, &draft.Scanner),
//			flags: options{
//				option("summary", &draft.Summary, "what it is about"),
//				choice("status", &draft.Status, operational.ScanStatuses(), "how it stands; running if nothing is said"),
//				who("agent", &draft.AgentID, s.agent, "agent that scans (SKILLROUTER_AGENT)"),
//			},
//		}, sends(client.Recon.StartScan, &draft), printScan)
//	}
//
// What a flag or a word is bound to is filled before the call is made, and what
// it holds when the command is made is the flag's default. Then comes the call:
// a method of the client with what it takes, or a function where one method does
// not do. The last argument prints the answer for people: a function, or a
// table's list or one (see print.go). A command that prints in a way of its own
// is made by calls, and one that needs no router by local. cli.go lists all.

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
}

// starting says whether a command starts the router where none runs.
type starting int

const (
	whereNoneRuns starting = iota
	never                  // of a command that asks whether one runs, or wants something to end
)

// request is a call of the router.
type request[A any] func(ctx context.Context, c *client.Client) (A, error)

// gets is a request of a method that takes nothing.
func gets[S, A any](method func(service S, ctx context.Context) (A, error)) request[A] {
	return func(ctx context.Context, c *client.Client) (A, error) { return client.Ask(ctx, c, method) }
}

// sends is a request of a method that takes one thing, such as an id or a draft.
func sends[S, In, A any](method func(service S, ctx context.Context, in In) (A, error), in *In) request[A] {
	return func(ctx context.Context, c *client.Client) (A, error) { return client.Send(ctx, c, method, *in) }
}

// sendsTo is a request of a method that takes what a thing is named by, and what becomes of it.
func sendsTo[S, To, In, A any](method func(service S, ctx context.Context, to To, in In) (A, error), to *To, in *In) request[A] {
	return func(ctx context.Context, c *client.Client) (A, error) { return client.SendTo(ctx, c, method, *to, *in) }
}

// asks makes a command of a request and the way its answer is shown to people.
func asks[A any](s *shell, of command, ask request[A], show func(w io.Writer, answer A)) *cobra.Command {
	return s.calls(of, func(ctx context.Context, c *client.Client) error {
		answer, err := ask(ctx, c)
		return printed(s, answer, err, show)
	})
}

// lists is asks for a command whose answer is a plain list: of usual rows unless *limit says another number, and of most rows
// at the most. It asks for one row more, and says so where there is one: after the list, and beside JSON on the error output.
func lists[Row any](s *shell, of command, usual, most int, limit *int, ask request[[]Row], show func(w io.Writer, rows []Row)) *cobra.Command {
	return s.calls(of, func(ctx context.Context, c *client.Client) error {
		return printList(ctx, s, c, usual, most, limit, ask, show)
	})
}

// printList runs the command that lists makes.
func printList[Row any](ctx context.Context, s *shell, c *client.Client, usual, most int, limit *int, ask request[[]Row], show func(w io.Writer, rows []Row)) error {
	wanted := cmp.Or(*limit, usual)
	if *limit = wanted + 1; wanted < 0 || wanted >= most {
		*limit = wanted // the router refuses what is beyond
	}
	rows, err := ask(ctx, c)
	if err != nil {
		return err
	}
	more := ""
	switch {
	case len(rows) > wanted:
		rows, more = rows[:wanted], fmt.Sprintf("There are more: --limit %d\n", min(2*wanted, most))
	case wanted == most && len(rows) == wanted:
		more = "There may be more: narrow the list by the flags of --help\n"
	}
	if err := s.print(rows, func(w io.Writer) { show(w, rows) }); err != nil || more == "" {
		return err
	}
	to := s.out
	if s.json {
		to = s.err
	}
	_, err = io.WriteString(to, more)
	return err
}

// finds is asks for a command that looks for something: where it finds nothing, it exits with 1, as grep does.
func finds[A any](s *shell, of command, ask request[A], count func(answer A) int, show func(w io.Writer, answer A)) *cobra.Command {
	return s.calls(of, func(ctx context.Context, c *client.Client) error {
		answer, err := ask(ctx, c)
		return found(s, answer, err, count(answer), show)
	})
}

// found prints what was looked for and found.
func found[A any](s *shell, answer A, err error, count int, show func(w io.Writer, answer A)) error {
	if err != nil {
		return err
	}
	return s.printOr(count == 0, answer, func(w io.Writer) { show(w, answer) })
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
	return s.remote(s.made(of, func(ctx context.Context) error {
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
	cmd.Args = explainedWords(cmd.Args)
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
		if of.args.fill != nil {
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

// explainedWords says which word is missing or one too many, by the command's own line of use.
func explainedWords(count cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if count(cmd, args) == nil {
			return nil
		}
		var needed []string
		for _, word := range placeholders(cmd) {
			if !strings.HasPrefix(word, "[") {
				needed = append(needed, strings.TrimSuffix(word, "..."))
			}
		}
		switch {
		case len(args) == len(needed)-1:
			return fmt.Errorf("%s is missing", needed[len(args)])
		case len(args) < len(needed):
			return fmt.Errorf("%s are missing", strings.Join(needed[len(args):], " and "))
		case len(args) == 0:
			return errors.New("a word is missing")
		}
		return fmt.Errorf("%q is a word too many", args[len(args)-1])
	}
}

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
			flags.DurationVarP(p, name, short, *p, help)
		case *[]string:
			flags.StringSliceVarP(p, name, short, *p, help)
		}
	}}
}

// flags are those of the fields of what in points to that have these names as flags, as their tags describe them (see
// operation.Fields): a field's name without _id, with - for _, and agent for who acts, where no other agent is meant.
func (s *shell) flags(in any, names ...string) (list options) {
	fields := operation.Fields(in)
	another := slices.ContainsFunc(fields, func(f operation.Field) bool { return f.Name == "agent_id" && !f.Actor }) // than who acts
	for _, f := range fields {
		name := strings.ReplaceAll(strings.TrimSuffix(f.Name, "_id"), "_", "-")
		if f.Actor && !another {
			name = "agent"
		}
		if slices.Contains(names, name) {
			list = append(list, s.flag(name, f))
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
	case f.Here:
		return s.belongs(to)
	case name == "persona":
		return persona(to)
	case name == "cursor" && to != nil:
		return cursor(to)
	case name == "limit":
		return limit(f.Value.Addr().Interface().(*int))
	}
	help := cmp.Or(f.Doc, strings.ReplaceAll(f.Name, "_", " "))
	help = strings.ToLower(help[:1]) + help[1:]
	if choices := names(f.Choices); len(f.Choices) > 0 && !strings.Contains(help, choices) {
		help += ": " + choices
	}
	// A flag is read into a value of a plain type, and then set, as the field's own type.
	value, plain := f.Value, reflect.TypeFor[string]()
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
	flag := bound(name, read.Interface(), help)
	if len(f.Choices) > 0 {
		flag.values = among(f.Choices)
	}
	flag.after = func(flags *pflag.FlagSet) {
		switch set := flags.Changed(name); {
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
	}
	return flag
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

// lifetime binds a flag to a time, which may be given as seconds too.
func lifetime(name string, p *time.Duration, help string) boundFlag {
	o := option(name, p, help)
	add := o.add
	o.add = func(flags *pflag.FlagSet) {
		add(flags)
		f := flags.Lookup(name)
		f.Value = secondsValue{f.Value}
	}
	return o
}

// secondsValue is a time that takes a bare number as seconds.
type secondsValue struct{ pflag.Value }

// Set implements pflag.Value.
func (v secondsValue) Set(text string) error {
	number := strings.TrimRight(text, "dw")
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		switch unit := text[len(number):]; {
		case unit == "":
			text += "s"
		case n <= 36500 && unit == "d":
			text = strconv.FormatInt(24*n, 10) + "h"
		case n <= 36500 && unit == "w":
			text = strconv.FormatInt(7*24*n, 10) + "h"
		}
	}
	return v.Value.Set(text)
}

// phrases binds a flag to a list whose texts may hold commas.
func phrases(name string, p *[]string, help string) boundFlag {
	return boundFlag{name: name, add: func(flags *pflag.FlagSet) { flags.StringArrayVar(p, name, *p, help) }}
}

// optional binds a flag to what p points at, which stays nil if the flag is not
// given. standard is what is then meant, and shown as the default.
func optional[T string | bool | int | int64 | float64 | []string](name string, p **T, standard T, help string) boundFlag {
	return given(name, p, &standard, bound(name, &standard, help))
}

// given has p point at value once the flag of that name is given, which of reads into value.
func given[T any](name string, p **T, value *T, of boundFlag) boundFlag {
	name, _, _ = strings.Cut(name, ",")
	read := of.after
	of.after = func(flags *pflag.FlagSet) {
		if read != nil {
			read(flags)
		}
		if flags.Changed(name) {
			*p = value
		}
	}
	return of
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
func limit(p *int) boundFlag { return option("limit", p, "how many at most") }

// persona is the flag that says whose memory is meant.
func persona(p *string) boundFlag { return option("persona", p, "whose memory (default \"default\")") }

// cursor is the flag that goes on with the next page.
func cursor(p *string) boundFlag { return option("cursor", p, "go on where a page ended") }

// scores is the flag that shows what the scores of a search are made of.
func scores(p *bool) boundFlag { return option("explain", p, "show what each score is made of") }
