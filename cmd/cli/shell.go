package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

// shell is what every command works with: where it reads and writes, and how
// it finds the router.
type shell struct {
	in        io.Reader
	out, err  io.Writer
	lookupEnv func(string) (string, bool)
	began     bool     // a command's own work has begun
	words     []string // of the command line; none: all commands are made

	dialled *client.Client // the client that is used; nil: one is made
	environ []string       // of what is started; nil: this process's own
	started startedRouter  // the router that was started for this command, if one was

	server, token string
	data          string // the folder of the router that is meant; empty: the settings say it
	json          bool

	passphraseFile string // that has a person's passphrase; empty: it is asked for
	asPerson       bool   // the passphrase is asked for before anything is done
	asked          string // what is said to whoever is asked for it; empty: the usual
	screen         bool   // nobody can be asked here: the terminal is taken, or an agent's
}

// remote gives cmd the flags of a command that talks to the router.
func (s *shell) remote(cmd *cobra.Command) *cobra.Command {
	flags := cmd.Flags()
	flags.StringVar(&s.server, "server", "", "URL of the router (SKILLROUTER_SERVER)")
	flags.StringVar(&s.token, "token", "", "token to send (SKILLROUTER_TOKEN)")
	flags.BoolVar(&s.json, "json", false, "print JSON, for programs")
	return cmd
}

// env is a variable of the environment, or empty.
func (s *shell) env(name string) string {
	value, _ := s.lookupEnv(name)
	return value
}

// place is what this command was told of its router.
func (s *shell) place() locate.Place {
	return locate.Place{Server: address(s.server), Token: s.token, Data: s.data, LookupEnv: s.lookupEnv}
}

// settings reads the router's settings as `serve` would without flags.
func (s *shell) settings() (config.Loaded, error) { return s.place().Settings() }

// client makes a client of the router.
func (s *shell) client() (*client.Client, error) {
	if s.dialled != nil {
		return s.dialled, nil
	}
	to, err := s.place().Router()
	if err != nil {
		return nil, err
	}
	return s.dial(to, client.Options{UserAgent: "github.com/skillrouter/skillrouter/" + version().Version, Passphrase: s.passphrase, Trace: s.env("TRACEPARENT")})
}

// dial makes a client of a router, which believes whom the settings do.
func (s *shell) dial(to locate.Router, options client.Options) (*client.Client, error) {
	if to.Local() {
		options.Connect = to.Connect
	}
	options.Token = to.Token
	options.Trust = func() (client.Trust, error) {
		settings, err := s.settings()
		return client.Trust{CA: settings.TLSCA}, err
	}
	return client.New(to.URL, options)
}

// agent is who the command speaks as: the flag, else the agent whose wrapper
// started this shell, else the session of the agent that runs it, else nobody.
func (s *shell) agent(flag string) string {
	if flag != "" {
		return flag
	}
	if named := s.env("SKILLROUTER_AGENT"); named != "" {
		return named
	}
	return s.session()
}

// session is the session of the agent that runs this command, if one does and the
// token, if there is one, may speak as it.
func (s *shell) session() string {
	name := s.place().SessionHere()
	if name == "" || s.token == "" && s.env("SKILLROUTER_TOKEN") == "" {
		return name
	}
	if holder, err := s.holder(); err != nil || holder != "" && holder != principal.KindOf(name) {
		return ""
	}
	return name
}

// holder is the agent that the token was issued to, empty for who may act as any.
func (s *shell) holder() (string, error) {
	c, err := s.client()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	self, err := client.Ask(ctx, c, operational.TokenService.Self)
	return principal.Principal{AgentID: self.AgentID, Scopes: self.Scopes}.Bound(), err
}

// askTime bounds the question who a token belongs to.
const askTime = 2 * time.Second

// project is the one that the working folder belongs to, or empty.
func (s *shell) project() string { return s.place().Project(workingFolder()) }

// workProject is the project of an agent that works in the working folder.
func (s *shell) workProject() string { return s.place().WorkProject(workingFolder()) }

// workTree is the folder of the repository that is worked in, or the working folder outside of any.
func workTree() string {
	dir := workingFolder()
	return cmp.Or(locate.RepositoryOf(dir), dir)
}

// workingFolder is empty if nobody can say which it is: such a folder has no project.
func workingFolder() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// now is the time, for what is printed as an age.
func (s *shell) now() time.Time { return time.Now() }
