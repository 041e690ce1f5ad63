package act

import (
	"slices"
	"strings"
	"sync"
)

// option is what the table says of one spelling.
type option struct {
	name          string
	takes, joined bool // takes a value: the next word, or only one joined by "="
}

// options holds one command's spellings.
type options map[string]option

// OptionsOf are the options of the commands whose spelling the guard knows, as "command" or
// "command subcommand" → options. A command that has none yields nil.
var OptionsOf = sync.OnceValue(func() map[string]options {
	all := map[string]options{}
	for name, row := range programs().rows {
		if row.has("options") {
			all[name] = parseOptions(row["options"])
		} else if row.has("runs") && row.has("before") {
			all[name] = parseOptions(row["before"])
		}
	}
	return all
})

// ownOptions are the options of a program that the shell follows by itself.
func ownOptions(name string) options { return parseOptions(programOf(name)["own"]) }

// parseOptions reads a list of options; programs.txt says how they are written.
func parseOptions(list []string) options {
	options := options{}
	for _, entry := range list {
		takes := strings.HasSuffix(entry, ":")
		joined := strings.HasSuffix(entry, "?")
		spellings := strings.Split(strings.TrimRight(entry, ":?"), "=")
		o := option{name: spellings[len(spellings)-1], takes: takes, joined: joined}
		for _, s := range spellings {
			options[s] = o
		}
	}
	return options
}

// read is a command line split into its parts.
type read struct {
	options  map[string][]string
	operands []string
	rest     int // index in the arguments of the first operand
}

// readOptions splits arguments by the options known for the command.
// With stop, everything from the first operand on belongs to the operands,
// as with programs that run another program.
func readOptions(command string, known options, args []string, stop bool) read {
	r := read{options: map[string][]string{}, rest: len(args)}
	name, _, _ := strings.Cut(command, " ")
	dash := programOf(name).has("dash")
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			if r.rest > i+1 {
				r.rest = i + 1
			}
			r.operands = append(r.operands, args[i+1:]...)
			return r
		case len(arg) < 2 || arg[0] != '-':
			if r.rest > i {
				r.rest = i
			}
			if stop {
				r.operands = append(r.operands, args[i:]...)
				return r
			}
			r.operands = append(r.operands, arg)
		case strings.HasPrefix(arg, "--") || dash:
			long, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			o := known.long(long)
			if o.takes && !has && i+1 < len(args) {
				i++
				value, has = args[i], true
			}
			r.set(o.name, value)
		default:
			for k := 1; k < len(arg); {
				letter := string(arg[k])
				o, listed := known[letter]
				if !listed {
					o = option{name: letter}
				}
				k++
				if o.joined && k < len(arg) {
					r.set(o.name, arg[k:])
					break
				}
				if !o.takes {
					r.set(o.name, "")
					continue
				}
				value := arg[k:]
				if value == "" && i+1 < len(args) {
					i++
					value = args[i]
				}
				r.set(o.name, strings.TrimPrefix(value, "="))
				break
			}
		}
	}
	return r
}

func (r read) set(name, value string) { r.options[name] = append(r.options[name], value) }

// long finds a long option by its name or by a beginning that no other shares.
func (o options) long(name string) option {
	if found, ok := o[name]; ok {
		return found
	}
	var found []string
	if len(name) >= 3 {
		for spelling, option := range o {
			if len(spelling) > len(name) && strings.HasPrefix(spelling, name) && !slices.Contains(found, option.name) {
				found = append(found, option.name)
			}
		}
	}
	if len(found) == 1 {
		return o[found[0]]
	}
	return option{name: name}
}
