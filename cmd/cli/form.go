package cli

import (
	"cmp"
	"context"
	"encoding/csv"
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

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/router/client"
)

// Most commands are one operation of a service, and plain.go makes them. One that does more says what it does as a
// function: asks makes it of a call and the way its answer is shown, calls of what it does with the router, and local of
// what it does without one. What a flag or a word is bound to is filled before that, and what it holds when the command
// is made is the flag's default. cli.go lists all.

// command is what a command says of itself.
type command struct {
	use, short, long string
	aliases          []string
	into             []any // what the words of use fill, if it is no operation
	lacks            int   // how many of them may be missing: before says what is needed then
	flags            options
	all              string // of a list that shows what is open: help of its flag --all, without which unlessAll narrows it
	unlessAll        func()
	isAll            bool
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
	places  []word                   // the words of use
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
	cmd := &cobra.Command{Use: of.use, Short: of.short, Long: of.long, Aliases: of.aliases}
	if of.places == nil {
		of.places = filling(of.use, of.into)
	}
	if of.all != "" {
		of.flags = append(of.flags, option("all", &of.isAll, of.all))
	}
	cmd.Args = of.counted
	of.flags.add(cmd)
	return s.command(cmd, func(ctx context.Context, args []string) error {
		for _, flag := range of.flags {
			if flag.after != nil {
				flag.after(cmd.Flags())
			}
		}
		if !(of.lists && justList(args)) {
			if err := fill(of.places, args); err != nil {
				return err
			}
		}
		if of.unlessAll != nil && !of.isAll {
			of.unlessAll()
		}
		if of.before != nil {
			if err := of.before(); err != nil {
				return err
			}
		}
		return run(ctx)
	})
}

// counted says which words and flags are missing, or which word is one too many, by the command's own line of use.
func (of *command) counted(cmd *cobra.Command, args []string) error {
	if of.lists && justList(args) {
		return nil
	}
	var missing []string
	for _, at := range of.places[min(len(args), len(of.places)):] {
		if !at.optional {
			missing = append(missing, at.name)
		}
	}
	if len(missing) <= of.lacks {
		missing = nil
	}
	missing = append(missing, missingFlags(cmd)...)
	switch last := len(of.places) - 1; {
	case len(missing) == 1:
		return fmt.Errorf("%s is missing", missing[0])
	case len(missing) > 1:
		return fmt.Errorf("%s and %s are missing", strings.Join(missing[:len(missing)-1], ", "), missing[len(missing)-1])
	case len(args) > last+1 && (last < 0 || !of.places[last].rest):
		return fmt.Errorf("%q is a word too many", args[len(args)-1])
	}
	return nil
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

// word is a word of a command's line of use, such as KEY, [VALUE] or TEXT..., and what it fills.
type word struct {
	name           string
	optional, rest bool // rest: it takes all that is left
	field          operation.Field
}

// wordsOf are the words of a line of use, up to its flags.
func wordsOf(use string) (list []word) {
	line, _, _ := strings.Cut(use, "\n")
	texts := strings.Fields(line)[1:]
	if dashes := slices.Index(texts, "--"); dashes >= 0 {
		texts = texts[dashes+1:]
	} else if flags := slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, "[("), "-") }); flags >= 0 {
		texts = texts[:flags]
	}
	for _, text := range texts {
		list = append(list, word{name: strings.Trim(text, "[]."), optional: strings.HasPrefix(text, "["), rest: strings.Contains(text, "...")})
	}
	return list
}

// filling are the words of a line of use that fill what into points to. A list takes all that are left.
func filling(use string, into []any) []word {
	list := wordsOf(use)
	for i, p := range into {
		if i == len(list) {
			list = append(list, word{optional: true})
		}
		list[i].field.Value = reflect.ValueOf(p).Elem()
		list[i].rest = list[i].rest || list[i].field.Value.Kind() == reflect.Slice
	}
	return list[:len(into)]
}

// fill puts words in their places.
func fill(places []word, args []string) error {
	for i, at := range places[:min(len(places), len(args))] {
		texts := args[i : i+1]
		if at.rest {
			texts = args[i:]
		}
		if err := put(at.field, texts...); err != nil {
			return usagef("%s must be %w, not %q", strings.ReplaceAll(at.name, "on|off", "it"), err, strings.Join(texts, " "))
		}
	}
	return nil
}

// put puts what somebody typed into a field: each text into one that is a list, and into any other all with spaces between. An
// error says what it must be.
func put(f operation.Field, texts ...string) (err error) {
	to, text := f.Value, strings.Join(texts, " ")
	switch to.Kind() {
	case reflect.Pointer:
		if to.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
		}
		f.Value = to.Elem()
		return put(f, texts...)
	case reflect.String:
		to.SetString(chosen(text, f.Choices))
	case reflect.Bool:
		on, err := strconv.ParseBool(cmp.Or(map[string]string{"on": "true", "off": "false"}[text], text))
		if err != nil {
			return errors.New("on or off")
		}
		to.SetBool(on)
	case reflect.Float64:
		number, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || number-number != 0 { // which is so of what is infinite, or no number
			return errors.New("a number")
		}
		to.SetFloat(number)
	case reflect.Int, reflect.Int64:
		number, err := int64(0), error(nil)
		switch {
		case f.Seconds:
			number, err = lengthOf(text, time.Second)
		case to.Type() == reflect.TypeFor[time.Duration]():
			number, err = lengthOf(text, 1)
		default:
			if number, err = strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64); err != nil {
				err = errors.New("a whole number")
			}
		}
		if err != nil {
			return err
		}
		to.SetInt(number)
	case reflect.Slice:
		if to.Type() == reflect.TypeFor[json.RawMessage]() {
			to.SetBytes([]byte(text)) // it becomes JSON when it is known whether it stands on standard input
			return nil
		}
		if to.IsNil() {
			to.Set(reflect.MakeSlice(to.Type(), 0, len(texts)))
		}
		for _, text := range texts {
			f.Value = reflect.New(to.Type().Elem()).Elem()
			if err := put(f, text); err != nil {
				return err
			}
			to.Set(reflect.Append(to, f.Value))
		}
	}
	return nil
}

// lengthOf reads a length of time, wherever there is one: 1.5s, 12h, 7d or 2w. It counts units, of which a number alone is so
// many too if they are seconds.
func lengthOf(text string, unit time.Duration) (int64, error) {
	number := strings.TrimRight(text, "dw")
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		switch after := text[len(number):]; {
		case after == "" && unit == time.Second:
			text += "s"
		case n <= 36500 && after == "d":
			text = strconv.FormatInt(24*n, 10) + "h"
		case n <= 36500 && after == "w":
			text = strconv.FormatInt(7*24*n, 10) + "h"
		}
	}
	length, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errors.New("a length of time, such as 90s, 12h, 7d or 2w")
	case unit == time.Second && (length < 0 || length%unit != 0):
		return 0, errors.New("whole seconds, and not negative; 0 sets no end")
	}
	return int64(length / unit), nil
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

// options are a command's flags beside those that all have.
type options []boundFlag

// boundFlag is a flag, which is read as a word is.
type boundFlag struct {
	name, short, help string
	field             operation.Field // that it fills; what that holds before is the default
	verbatim          bool            // of a list: a text may hold commas
	given             bool
	after             func(flags *pflag.FlagSet) // runs when all flags are read and before the command does
	former            []string                   // names that it had: they go on working, and are shown nowhere
}

// option is a flag for what p points to. Its name may be followed by a comma and its shorthand. A list may be given several
// times, or separated by commas.
func option(name string, p any, help string) boundFlag {
	name, short, _ := strings.Cut(name, ",")
	return boundFlag{name: name, short: short, help: help, field: operation.Field{Value: reflect.ValueOf(p).Elem()}}
}

// choice is a flag for one of several names, or a list of them, which its help and completion tell.
func choice[Name ~string](name string, p any, all []Name, help string) boundFlag {
	o := option(name, p, help+": "+names(all))
	o.field.Choices = safetext.Strings(all)
	if o.isList() {
		o.help += "; may be repeated"
	}
	return o
}

// once is the flag with the names that it had.
func (f boundFlag) once(names ...string) boundFlag {
	f.former = names
	return f
}

// add adds flags to those of a command.
func (list options) add(cmd *cobra.Command) {
	former := map[string]string{}
	for i := range list {
		f := &list[i]
		flag := cmd.Flags().VarPF(f, f.name, f.short, f.help)
		if f.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
		for _, name := range f.former {
			former[name] = f.name
		}
		if len(f.field.Choices) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(f.name, among(f.field.Choices)) // fails only for a flag that is not there
		}
	}
	if len(former) > 0 {
		cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			return pflag.NormalizedName(first(former[name], name))
		})
	}
}

// among completes to one of several names.
func among(all []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

// kind is the type of what the flag fills.
func (f *boundFlag) kind() reflect.Type {
	kind := f.field.Value.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	return kind
}

func (f *boundFlag) isList() bool {
	return f.kind().Kind() == reflect.Slice && f.kind() != reflect.TypeFor[json.RawMessage]()
}

// Type implements pflag.Value, in pflag's own words, which help says otherwise.
func (f *boundFlag) Type() string {
	switch kind := f.kind(); {
	case kind == reflect.TypeFor[json.RawMessage]():
		return "JSON"
	case f.field.Seconds || kind == reflect.TypeFor[time.Duration]():
		return "duration"
	case f.verbatim:
		return "stringArray"
	case f.isList():
		return "stringSlice"
	default:
		return kind.Kind().String()
	}
}

// String implements pflag.Value.
func (f *boundFlag) String() string {
	value := reflect.Indirect(f.field.Value)
	switch {
	case !value.IsValid() || value.IsZero() && f.Type() == "duration":
		return ""
	case f.isList():
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
	case f.Type() == "duration":
		return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(fmt.Sprint(value))
	}
	return fmt.Sprint(value)
}

// Set implements pflag.Value.
func (f *boundFlag) Set(text string) (err error) {
	texts := []string{text}
	if f.isList() && !f.given {
		f.field.Value.SetZero() // what a list held is its default
	}
	f.given = true
	switch {
	case f.Type() == "JSON" && !json.Valid([]byte(text)):
		return errors.New("JSON")
	case f.isList() && text == "":
		texts = nil
	case f.isList() && !f.verbatim:
		if texts, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
			return errors.New("a list, separated by commas")
		}
	}
	return put(f.field, texts...)
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

// usualHelp is the help of flags that say the same of everything.
var usualHelp = map[string]string{
	"limit": "how many at most", "persona": "whose memory (default \"default\")", "cursor": "go on where a page ended", "explain": "show what each score is made of",
}

func (s *shell) flag(name string, f operation.Field) boundFlag {
	to, _ := f.Value.Addr().Interface().(*string)
	switch {
	case f.Actor:
		return who(name, to, s.agent, "who does it (SKILLROUTER_AGENT)")
	case f.Here == "project":
		return ofProject(to, s.project, `project that it belongs to; "" is none (default: the working folder's)`)
	}
	f.Choices = slices.Concat(f.Choices, f.Among)
	help := cmp.Or(usualHelp[name], f.Help, f.Doc, strings.ReplaceAll(f.Name, "_", " "))
	if second := strings.TrimLeft(help[1:2], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); second != "" { // it begins with no abbreviation
		help = strings.ToLower(help[:1]) + help[1:]
	}
	if choices := names(f.Choices); choices != "" && !strings.Contains(help, choices) {
		help += ": " + choices
	}
	_, verbatim := flagName(f.Name)
	flag := boundFlag{name: name, short: shorthand(name), help: help, field: f, verbatim: verbatim}
	if f.Here != "" {
		flag.after = func(flags *pflag.FlagSet) {
			if project := flags.Lookup("project"); !flags.Changed(name) && project.Value.String() == s.project() { // of another one nobody knows where in it this is
				folder, branch := locate.Within(workingFolder())
				f.Value.SetString(map[string]string{"folder": folder, "branch": branch}[f.Here])
			}
		}
	}
	return flag
}

// who binds a flag to somebody's name; find says who it is if none is given.
func who(name string, p *string, find func(flag string) string, help string) boundFlag {
	o := option(name, p, help)
	o.after = func(*pflag.FlagSet) { *p = find(*p) }
	return o
}

// ofProject binds the flag --project to where something belongs, which find says if none is given. An empty one is none.
func ofProject(p *string, find func() string, help string) boundFlag {
	o := option("project", p, help)
	o.after = func(flags *pflag.FlagSet) {
		if !flags.Changed("project") {
			*p = find()
		}
	}
	return o
}

// phrases is a flag for a list whose texts may hold commas.
func phrases(name string, p any, help string) boundFlag {
	o := option(name, p, help)
	o.verbatim = true
	return o
}
