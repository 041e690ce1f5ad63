package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational/person"
	"github.com/skillrouter/skillrouter/router/client"
)

// passphraseFlags gives all commands, by their root, the flags by which a person says who he is.
func (s *shell) passphraseFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&s.passphraseFile, "passphrase-file", "", "file that has a person's passphrase, for scripts")
	flags.BoolVar(&s.asPerson, "as-person", false, "ask for the passphrase first: what is stored counts as a person's word")
	for _, name := range []string{"passphrase-file", "as-person"} { // the help of passphrase tells of them: there are two hundred commands
		_ = flags.MarkHidden(name) // fails only for a flag that is not there
	}
}

func (s *shell) passphraseCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "passphrase", Short: "The passphrase by which you, and no agent, decide what only a person does",
		Long: `Where a passphrase is set, it alone allows what the guard blocked, and weakens packs and
rules. It alone issues and revokes tokens, restores backups and cuts out secrets. No
token stands in for it, not even the owner's. Commands ask for it on the terminal, and the
dashboard logs in with it.

Scripts name a file with --passphrase-file FILE, which every command takes: its
first line end is no part of the passphrase. With --as-person every command asks
first: what you then remember or import counts as a person's word.`,
	}, s.passphraseSet(), s.passphraseStops(), s.passphraseReset(),
		s.does(command{use: "status", short: "Say whether a passphrase is set", do: person.PersonService.State, show: s.printPassphrase}))
}

func (s *shell) passphraseSet() *cobra.Command {
	var former string
	return s.calls(command{
		use: "set [--former-file FILE]", short: "Set the passphrase, or change it; in your own terminal",
		long: `Asks for a passphrase of 8 characters or more, twice, and sets it. Changing it takes
the one that is set. The first one is set in a terminal alone: an agent has none.`,
		flags: options{option("former-file", &former, "file that has the one that is set, for scripts; with --passphrase-file for the new one")},
	}, func(ctx context.Context, c *client.Client) error {
		state, err := c.Persons.State(ctx)
		if err != nil {
			return err
		}
		return s.setPassphrase(ctx, c, state, former)
	})
}

// setPassphrase sets the passphrase, and says so.
func (s *shell) setPassphrase(ctx context.Context, c *client.Client, state person.PassphraseState, formerFile string) (err error) {
	var draft person.PassphraseDraft
	if !state.Set && !isTerminal(s.in) {
		return errs.Errorf(errs.PassphraseNeeded, "the first passphrase is set in a terminal of your own alone, and there is none here")
	}
	if state.Set {
		if draft.Former, err = s.secretOf(ctx, formerFile, "The passphrase that is set: "); err != nil {
			return err
		}
	}
	if draft.Passphrase, err = s.secretOf(ctx, s.passphraseFile, "The new passphrase: "); err != nil {
		return err
	}
	if s.passphraseFile == "" {
		again, err := s.secretOf(ctx, "", "Once more: ")
		if err != nil {
			return err
		}
		if again != draft.Passphrase {
			return errs.Errorf(errs.Invalid, "the two are not the same, and nothing was changed")
		}
	}
	if state, err = c.Persons.SetPassphrase(ctx, draft); err != nil {
		return err
	}
	return s.print(state, func(w io.Writer) {
		fmt.Fprintln(w, "The passphrase is set. From now on it alone allows what the guard blocks, and weakens what guards you.")
		if !state.MayStop {
			fmt.Fprintln(w, "If the setting agents_may_stop is on, it has no effect from the next start until you say: skillrouter passphrase agents-may-stop on")
		}
	})
}

func (s *shell) printPassphrase(w io.Writer, state person.PassphraseState) {
	if state.Set {
		fmt.Fprintf(w, "A passphrase is set, since %s. agents_may_stop: %s\n", state.SetAt.Local().Format(time.DateTime), map[bool]string{true: "allowed", false: "not allowed"}[state.MayStop])
	} else {
		fmt.Fprintln(w, "No passphrase is set: skillrouter passphrase set")
	}
	if state.ResetAt != nil {
		fmt.Fprintf(w, "NOTE: it was reset on %s, and every standing permission ended.\n", state.ResetAt.Local().Format(time.DateTime))
	}
}

func (s *shell) passphraseStops() *cobra.Command {
	return s.does(command{
		use: "agents-may-stop on|off", short: "Say whether the setting agents_may_stop has effect, from the router's next start on",
		do: person.PersonService.AllowStops, words: []string{"on"}, show: s.printPassphrase,
	})
}

func (s *shell) passphraseReset() *cobra.Command {
	return s.local(command{
		use: "reset", short: "Forget a passphrase that was lost, while no router runs",
		long: `Forgets the passphrase, and ends every standing permission at the router's next start.
No router may run on the data folder, or write into its PostgreSQL server. For a
week doctor, the dashboard and "check packs list" say that this was done.`,
	}, func(ctx context.Context) error {
		settings, err := s.settings()
		if err != nil {
			return err
		}
		was, err := app.ResetPassphrase(ctx, settings.Config)
		if err != nil {
			return err
		}
		if !was {
			return errs.Errorf(errs.NotFound, "no passphrase was set, and none is now")
		}
		fmt.Fprintln(s.out, "The passphrase is forgotten. Start the router, and set another: skillrouter passphrase set")
		return nil
	})
}

// errNothingTyped says that a person was asked, and gave nothing.
var errNothingTyped = errs.Errorf(errs.PassphraseNeeded, "no passphrase was given")

// passphrase asks for a person's passphrase, once the router wants it.
func (s *shell) passphrase(ctx context.Context) (string, error) {
	if s.screen {
		return "", errs.Errorf(errs.PassphraseNeeded, "only a person decides this, and cannot be asked here: use skillrouter check approve or deny in a terminal of your own")
	}
	return s.secretOf(ctx, s.passphraseFile, first(s.asked, "Passphrase: "))
}

// secretOf reads a passphrase from a file, or at the terminal, which does not show it.
func (s *shell) secretOf(ctx context.Context, file, prompt string) (string, error) {
	var text string
	if file != "" {
		read, err := s.read(file, person.MaxPassphrase+2) // and the end of its line
		if err != nil {
			return "", err
		}
		text = strings.TrimSuffix(strings.TrimSuffix(string(read), "\n"), "\r")
	} else {
		if !isTerminal(s.in) {
			return "", errs.Errorf(errs.PassphraseNeeded, "this takes a person's passphrase, and there is no terminal here to ask for it. Give the command in a terminal, or name a file with --passphrase-file")
		}
		typed, err := s.typed(ctx, prompt)
		if err != nil {
			return "", err
		}
		text = typed
	}
	if text == "" {
		return "", errNothingTyped
	}
	return text, nil
}

// typed reads a line that the terminal does not show: not what is typed ahead of the prompt either. Ctrl-C ends it.
func (s *shell) typed(ctx context.Context, prompt string) (string, error) {
	terminal, ok := s.in.(*os.File)
	if !ok {
		return "", errNothingTyped
	}
	fd := int(terminal.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{terminal, s.err}, "").ReadPassword(prompt)
		got <- answer{text, err}
	}()
	var a answer
	select {
	case a = <-got:
		if errors.Is(a.err, io.EOF) {
			a.err = errNothingTyped
		}
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if a.err != nil {
		fmt.Fprint(s.err, "\r\n")
	}
	return a.text, errors.Join(a.err, term.Restore(fd, before))
}
