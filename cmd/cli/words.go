package cli

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// One grammar: every kind alone lists, and what other programs call a verb is understood. Where a word is not,
// the right one is named.

// synonyms are what other programs call a verb.
var synonyms = map[string][]string{
	"add": {"new", "create", "store", "put"}, "list": {"ls", "all"}, "show": {"get", "view", "cat", "read"},
	"edit": {"update", "change", "modify"}, "delete": {"rm", "remove", "del"}, "search": {"find"},
	"complete": {"done", "finish", "close"}, "cancel": {"delete", "rm", "remove", "del"}, "revoke": {"delete", "rm", "remove", "del"},
	"dismiss": {"delete", "rm", "remove", "del"}, "create": {"add", "new", "issue"}, "start": {"begin"},
}

// understood gives each command the names by which it is understood, but for those that are others'. They are shown nowhere.
func understood(below []*cobra.Command) {
	taken := map[string]bool{}
	for _, cmd := range below {
		taken[cmd.Name()] = true
		for _, name := range cmd.Aliases {
			taken[name] = true
		}
	}
	for _, cmd := range below {
		for _, name := range synonyms[cmd.Name()] {
			if !taken[name] {
				taken[name] = true
				cmd.Aliases = append(cmd.Aliases, name)
			}
		}
	}
}

// alsoCalled are other names by which a command is understood: a kind's in the other number, too. They are shown nowhere.
func alsoCalled(name string) []string {
	kind, plural := strings.CutSuffix(name, "s")
	switch {
	case name == "ui":
		return []string{"dashboard", "web"}
	case name == "token":
		return []string{"tokens"}
	case plural && name != "status":
		return []string{kind}
	}
	return nil
}

// group makes a command that holds others. Alone it does what its list does, with the list's flags.
func (s *shell) group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	understood(below)
	at := slices.IndexFunc(below, func(cmd *cobra.Command) bool { return cmd.Name() == "list" || cmd.HasAlias("list") })
	if at < 0 { // of settings and states, which are one
		at = slices.IndexFunc(below, func(cmd *cobra.Command) bool {
			return cmd.Name() == "status" || cmd.Name() == "show" && len(wordsOf(cmd.Use)) == 0
		})
		if at >= 0 {
			below[at].Aliases = append(below[at].Aliases, "list")
		}
	}
	if at >= 0 {
		cmd.Flags().AddFlagSet(below[at].Flags())
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return noCommand(cmd, args[0])
		case at < 0:
			return errors.New("this needs a command")
		}
		below[at].SetContext(cmd.Context())
		return below[at].RunE(below[at], nil)
	}
	cmd.AddCommand(below...)
	return cmd
}

// instead is what to type in the place of words that are no command.
var instead = map[string]string{
	"forget delete rm remove":     "a kind says what is deleted, such as: skillrouter knowledge delete ID",
	"incidents incident":          "skillrouter brief shows what fails in a project again and again, skillrouter learn finds it",
	"install init start":          "skillrouter setup AGENT sets an agent up, skillrouter serve starts the router",
	"uninstall":                   "skillrouter setup AGENT --remove takes back what setup wrote",
	"update upgrade":              "install it again as you did the first time; skillrouter version says which this is",
	"list ls":                     "a kind says what is listed, such as: skillrouter knowledge",
	"add new note save store put": "skillrouter remember TITLE TEXT, or a kind, such as: skillrouter tasks add TITLE",
	"get recall cat":              "skillrouter show HANDLE shows a text, skillrouter facts get KEY a value",
	"find ask":                    "skillrouter search TEXT, or skillrouter query QUESTION",
	"send msg tell message mail":  "skillrouter signal AGENT TEXT sends, skillrouter messages shows",
	"inbox":                       "skillrouter messages",
	"kill halt":                   "skillrouter stop AGENT asks an agent to stop; Ctrl-C ends the router",
	"pause resume":                "skillrouter signal AGENT pause, skillrouter signal AGENT resume",
	"who ps heartbeat":            "skillrouter agents",
	"log logs tail history":       "skillrouter events shows what happened, skillrouter watch what happens",
	"allow":                       "skillrouter check approve ID",
	"lock claim release":          "skillrouter leases for files, skillrouter tasks for work",
	"settings":                    "skillrouter config",
	"embeddings":                  "skillrouter doctor says how many entries have vectors",
	"quit exit bye":               "each command ends by itself; skillrouter watch is left by q",
}

// insteadOfFlag is the same for a flag.
var insteadOfFlag = map[string]string{
	"port": "--listen 127.0.0.1:PORT says where the router listens", "host": "--listen HOST:PORT says where the router listens",
	"url": "--server URL names a router", "since": "--after SEQ says from where on", "fix": "each line that fails says what mends it", "force": "nothing asks before it acts; leave it out",
}

// noCommand refuses a word where a command's name is needed, and says what was probably meant.
func noCommand(of *cobra.Command, word string) error {
	for words, hint := range instead {
		if slices.Contains(strings.Fields(words), word) && !of.HasParent() {
			return fmt.Errorf("there is no command %q: %s", word, hint)
		}
	}
	here := ""
	if of.HasParent() {
		here = " here"
	} else if below := commandNamed(word); below != "" {
		return fmt.Errorf("there is no command %q: it stands below another one, %s", word, below)
	}
	var names []string
	for _, cmd := range of.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cmd.Name())
		}
	}
	return fmt.Errorf("there is no command %q%s%s", word, here, didYouMean(word, names))
}

// commandNamed finds a command of that name below another one, by its path; empty: there is none, or several.
func commandNamed(word string) (path string) {
	for _, kind := range Commands().Commands() {
		for _, cmd := range kind.Commands() {
			if cmd.Name() == word && cmd.IsAvailableCommand() {
				if path != "" {
					return ""
				}
				path = cmd.CommandPath()
			}
		}
	}
	return path
}

// wrongFlag explains what is wrong with a flag: its value, or its name.
func wrongFlag(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s takes %w, and not %q", wrong.GetFlag().Name, wrong.Unwrap(), wrong.GetValue())
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("%w; what is no flag stands behind --: skillrouter %s -- …", err, strings.TrimPrefix(cmd.CommandPath(), "skillrouter "))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	if hint := insteadOfFlag[unknown.GetSpecifiedName()]; hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return fmt.Errorf("%w%s", err, didYouMean("--"+unknown.GetSpecifiedName(), names))
}

// address is a router's URL as a person writes it: a host and a port alone are plain HTTP.
func address(server string) string {
	if _, _, err := net.SplitHostPort(server); err == nil {
		return "http://" + server
	}
	return server
}
