package cli

import (
	"io"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/router/client"
)

// shell is what every command works with: where it reads and writes, and how
// it finds the router.
type shell struct {
	in        io.Reader
	out, err  io.Writer
	lookupEnv func(string) (string, bool)
	began     bool // a command's own work has begun

	server, token string
	json          bool
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

// settings reads the router's settings as `serve` would without flags.
func (s *shell) settings() (config.Loaded, error) {
	return config.Load(config.Sources{File: s.env("SKILLROUTER_CONFIG"), LookupEnv: s.lookupEnv})
}

// address is the router's URL: the one that was named, else that of whoever
// holds the data folder, else the one in the settings.
func (s *shell) address() (string, error) {
	if s.server != "" {
		return s.server, nil
	}
	if named := s.env("SKILLROUTER_SERVER"); named != "" {
		return named, nil
	}
	settings, err := s.settings()
	if err != nil {
		return "", err
	}
	if holder, err := app.ReadHolder(settings.Data); err == nil && holder.URL() != "" {
		return holder.URL(), nil
	}
	return urlOf(settings.Listen), nil
}

// urlOf is the URL under which a listener's address is reached from this machine.
func urlOf(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "http://" + listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// secret is the token to send to the router at address: the one that was
// given, else the owner's if the router that holds this user's data folder is
// the one at that address. It goes to nobody else.
func (s *shell) secret(address string) string {
	if s.token != "" {
		return s.token
	}
	if named := s.env("SKILLROUTER_TOKEN"); named != "" {
		return named
	}
	settings, err := s.settings()
	if err != nil {
		return ""
	}
	holder, err := app.ReadHolder(settings.Data)
	if err != nil || !sameLoopback(holder.URL(), address) {
		return ""
	}
	secret, err := app.ReadOwnerToken(settings.Data)
	if err != nil {
		return ""
	}
	return secret
}

// sameLoopback tells whether both URLs name the same port of this machine's loopback.
func sameLoopback(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Scheme == v.Scheme && u.Port() != "" && u.Port() == v.Port() && loopback(u) && loopback(v)
}

func loopback(u *url.URL) bool {
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

// client makes a client of the router.
func (s *shell) client() (*client.Client, error) {
	address, err := s.address()
	if err != nil {
		return nil, err
	}
	return client.New(address, client.Options{Token: s.secret(address), UserAgent: "skillrouter/" + version().Version})
}

// agent is who the command speaks as: the flag, else the agent whose wrapper
// started this shell, else nobody.
func (s *shell) agent(flag string) string {
	if flag != "" {
		return flag
	}
	return s.env("SKILLROUTER_AGENT")
}

// now is the time, for what is printed as an age.
func (s *shell) now() time.Time { return time.Now() }
