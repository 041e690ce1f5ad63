package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/spf13/cobra"
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

// group makes a command that holds others. Alone it does what its list does, with the list's flags.
func (s *shell) group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	understood(below)
	at := slices.IndexFunc(below, func(cmd *cobra.Command) bool { return cmd.Name() == "list" || cmd.HasAlias("list") })
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

// alsoList has a command that lists by itself understand the word list.
func alsoList(cmd *cobra.Command) *cobra.Command {
	list := &cobra.Command{Use: "list", Short: cmd.Short, Args: cobra.NoArgs, RunE: cmd.RunE, Hidden: true}
	list.Flags().AddFlagSet(cmd.Flags())
	cmd.AddCommand(list)
	return cmd
}

// instead is what to type in the place of a word that is no command.
var instead = map[string]string{
	"forget":    "a kind says what is forgotten, such as: skillrouter knowledge delete ID",
	"undo":      "skillrouter import undo ID takes an import back, skillrouter lessons restore ID a lesson that was retired",
	"dashboard": "skillrouter status shows the router's address; open it in a browser",
	"list":      "a kind says what is listed, such as: skillrouter knowledge",
	"delete":    "a kind says what is deleted, such as: skillrouter knowledge delete ID",
	"add":       "skillrouter remember TITLE TEXT, or a kind, such as: skillrouter tasks add TITLE",
}

// insteadOfFlag is the same for a flag.
var insteadOfFlag = map[string]string{
	"port": "--listen 127.0.0.1:PORT says where the router listens", "host": "--listen HOST:PORT says where the router listens",
	"url": "--server URL names a router", "force": "nothing asks before it acts; leave it out",
}

// noCommand refuses a word where a command's name is needed, and says what was probably meant.
func noCommand(of *cobra.Command, word string) error {
	if hint := instead[cmp.Or(map[string]string{"ui": "dashboard", "web": "dashboard", "rm": "delete", "remove": "delete", "ls": "list"}[word], word)]; hint != "" && !of.HasParent() {
		return fmt.Errorf("there is no command %q: %s", word, hint)
	}
	here := ""
	if of.HasParent() {
		here = " here"
	}
	var names []string
	for _, cmd := range of.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cmd.Name())
		}
	}
	return fmt.Errorf("there is no command %q%s%s", word, here, didYouMean(word, names))
}

// address is a router's URL as a person writes it: a host and a port alone are plain HTTP.
func address(server string) string {
	if _, _, err := net.SplitHostPort(server); err == nil {
		return "http://" + server
	}
	return server
}
