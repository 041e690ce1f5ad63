package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter/learning/fact"
)

func (s *shell) factsCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "facts", short: "Values under keys: add, list, show, edit, delete", of: "KEY", persona: true,
		add: named(s.factsSet(), "add"), list: s.factsList("list [PATTERN]", "List facts", 0), show: s.factsShow(), edit: s.factsEdit(),
		remove: removeFact, gone: "Delete a fact",
		more: []*cobra.Command{s.factsGet(), s.factsList("search PATTERN", "Find facts by their keys: * ? [a-z] [!a-z]", 1), s.factsCategories()},
	})
}

func (s *shell) factsShow() *cobra.Command {
	var ref fact.Ref
	return asks(s, command{
		use: "show KEY", short: "Show a fact with where it comes from and how long it is true", args: exactly(&ref.Key),
		flags: options{persona(&ref.Persona), option("stale-ok", &ref.StaleOK, "an expired fact too, while it is kept")},
	}, sends(fact.Service.Recall, &ref), func(w io.Writer, f fact.Fact) {
		fields(w, section{"Key", f.Key}, section{"Persona", f.Persona}, section{"Category", f.Category}, section{"True", lives(f.ExpiresAt)},
			section{"Stored", ago(s.now(), f.CachedAt) + " by " + first(f.Author, "nobody")}, section{"Source", f.Source}, section{"Probe", f.Probe},
			section{"Version", fmt.Sprint(f.Version)}, section{"Used", fmt.Sprint(f.AccessCount)})
		sections(w, section{"Value", string(f.Value)})
	})
}

func (s *shell) factsEdit() *cobra.Command {
	var ref fact.Ref
	var patch fact.Patch
	var value *string
	var ttl time.Duration
	var given bool
	life := lifetime("ttl", &ttl, "how long it is true from now on; 0: for ever")
	life.after = func(flags *pflag.FlagSet) { given = flags.Changed("ttl") }
	return asks(s, command{
		use: "edit KEY [VALUE] --FIELD TEXT...", short: "Change a fact; its time to live begins anew", args: arguments{cobra.RangeArgs(1, 2), func(args []string) {
			if ref.Key = args[0]; len(args) > 1 {
				value = &args[1]
			}
		}},
		flags: append(s.flags(&patch, "probe", "source", "agent"),
			life,
			persona(&ref.Persona),
			optional("category,c", &patch.Category, "", "category"),
		),
		before: func() error {
			if value != nil {
				patch.Value = asJSON(*value)
			}
			if given {
				seconds, err := seconds(ttl)
				if err != nil {
					return err
				}
				patch.TTL = &seconds
			}
			if patch.Value == nil && patch.Category == nil && patch.Probe == nil && patch.Source == nil && patch.TTL == nil {
				return usagef("say what to change")
			}
			return nil
		},
	}, sendsTo(fact.Service.Update, &ref, &patch), factTable.one)
}

func (s *shell) factsGet() *cobra.Command {
	var ref fact.Ref
	return asks(s, command{
		use: "get KEY", short: "Print the value under a key, as JSON", args: exactly(&ref.Key),
		long: `Prints the value under a key; with --json, all that is known of the fact.
Exits with 1 if there is none or it has expired.`,
		flags: options{persona(&ref.Persona), option("stale-ok", &ref.StaleOK, "an expired fact too, while it is kept")},
	}, sends(fact.Service.Recall, &ref), func(w io.Writer, fact fact.Fact) {
		if fact.Expired {
			fmt.Fprintf(s.err, "expired %s\n", ago(s.now(), *fact.ExpiresAt))
		}
		fmt.Fprintln(w, clean(string(fact.Value)))
	})
}

func (s *shell) factsSet() *cobra.Command {
	var draft fact.Draft
	value, ttl, ifVersion := "-", time.Duration(0), int64(-1) // what a person writes down does not become untrue by itself
	return asks(s, command{
		use: "set KEY [VALUE]", short: "Store a value under a key", args: between(1, &draft.Key, &value),
		long: `Stores a value under a key, over what is there. VALUE is JSON; what is no JSON
is stored as a text. Without VALUE, or with "-", it is read from standard input.`,
		flags: append(s.flags(&draft, "persona", "probe", "source", "agent"),
			lifetime("ttl", &ttl, "how long it is true, such as 90 (seconds) or 12h (default: for ever)"),
			option("category,c", &draft.Category, "category (default \"general\")"),
			option("if-version", &ifVersion, "store only over this version; 0: only if nothing is there"),
		),
		before: func() error {
			ttl, err := seconds(ttl)
			if err != nil {
				return err
			}
			if value == "-" {
				if err := s.text(&value, 2*fact.MaxValue); err != nil {
					return err
				}
				value = strings.TrimSuffix(value, "\n")
			}
			draft.Value, draft.TTL = asJSON(value), &ttl
			if ifVersion >= 0 {
				draft.IfVersion = &ifVersion
			}
			return nil
		},
	}, sends(fact.Service.Remember, &draft), func(w io.Writer, stored fact.Stored) {
		fmt.Fprintf(w, "%s stored as version %d, %s\n", clean(stored.Key), stored.Version, lives(stored.ExpiresAt))
		secretsCut(w, stored.Redacted)
	})
}

// secretsCut tells which kinds of secrets were cut out of what was stored.
func secretsCut(w io.Writer, kinds []string) {
	printIf(w, "secrets were cut out of it: %s\n", strings.Join(kinds, ", "))
}

func lives(expires *time.Time) string {
	if expires == nil {
		return "for ever"
	}
	return "until " + expires.Local().Format(time.DateTime)
}

var factTable = columns[fact.Fact]{
	heads: []string{"KEY", "VALUE", "CATEGORY", "AGENT", "USED", "STORED", "TRUE"},
	cells: func(f fact.Fact) cells {
		return cells{f.Key, string(f.Value), f.Category, f.Author, f.AccessCount, f.CachedAt, lives(f.ExpiresAt)}
	},
}

// factsList lists facts; a search is a listing that needs its pattern, and looks for something.
func (s *shell) factsList(use, short string, least int) *cobra.Command {
	var query fact.Query
	return finds(s, command{use: use, short: short, args: between(least, &query.Pattern), flags: append(s.flags(&query, "persona", "cursor", "limit"),
		option("category,c", &query.Category, "only facts of this category"),
	)}, sends(fact.Service.Search, &query), func(page fact.Page) int { return max(len(page.Facts), 1-least) }, func(w io.Writer, page fact.Page) {
		if len(page.Facts) == 0 && page.Next == "" {
			fmt.Fprintln(w, "No facts.")
			if least > 0 {
				fmt.Fprintln(w, "Keys were compared with the pattern; for words of a value: skillrouter search --kind fact WORDS")
			}
			return
		}
		factTable.list(w, page.Facts)
		printIf(w, "More with --cursor %q.\n", page.Next)
	})
}

func (s *shell) factsCategories() *cobra.Command {
	var of string
	return asks(s, command{
		use: "categories", short: "List the categories of facts", flags: options{persona(&of)},
	}, sends(fact.Service.Categories, &of), columns[fact.Category]{
		heads: []string{"CATEGORY", "FACTS"},
		cells: func(f fact.Category) cells { return cells{f.Category, f.Facts} },
	}.list)
}
