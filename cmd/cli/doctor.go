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

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
)

// doctorTime bounds the router's own examination, which reads whole databases.
const doctorTime = 2 * time.Minute

// diagnosis is what doctor prints.
type diagnosis struct {
	OK     bool                 `json:"ok"`
	Server string               `json:"server"`
	Up     bool                 `json:"up"` // the router answered
	Checks []router.SystemCheck `json:"checks"`
}

func (d *diagnosis) add(name string, ok bool, format string, args ...any) {
	d.Checks = append(d.Checks, router.SystemCheck{Name: name, OK: ok, Detail: fmt.Sprintf(format, args...)})
}

func (s *shell) doctorCommand() *cobra.Command {
	var offlineProof bool
	return s.remote(s.made(command{
		use: "doctor [--offline-proof]", short: "Check settings, databases, search index, disk and clock",
		long: `Has the running router examine itself, and checks from here what does not need
it. If no router answers, it says so and checks the rest. The exit code is 1 if
a check failed.

With --offline-proof it lists every place of the program that may open a
connection, and whether it is switched on; all are off unless configured. The
exit code is 1 if a connection may leave this machine.`,
		flags: options{option("offline-proof", &offlineProof, "list what may open a connection; exit code 1 if one may leave this machine")},
	}, func(ctx context.Context) error {
		if offlineProof {
			return s.proveOffline(ctx)
		}
		d, err := s.examine(ctx)
		if err != nil {
			return err
		}
		d.OK = d.Failed() == 0
		return s.printOr(!d.OK, d, func(w io.Writer) { printDiagnosis(w, d) })
	}))
}

var printDiagnosis = page[diagnosis](`
{{- range .Checks}}{{if .OK}}ok  {{else}}FAIL{{end}}  {{.Name}}: {{.Detail}}
{{end}}
{{count (len .Checks) "check"}}, {{if .OK}}all well{{else}}{{.Failed}} failed{{end}}.`)

// Failed is how many checks failed.
func (d diagnosis) Failed() (n int) {
	for _, check := range d.Checks {
		if !check.OK {
			n++
		}
	}
	return n
}

func (s *shell) examine(ctx context.Context) (diagnosis, error) {
	var d diagnosis
	settings, err := s.settings()
	if err != nil {
		d.add("configuration", false, "%s", explain(err))
	} else {
		from := "no configuration file"
		if settings.File != "" {
			from = "read from " + settings.File
		}
		d.add("configuration", true, "valid, %s", from)
	}
	to, err := s.place().Router()
	if err != nil {
		return d, nil // what is wrong with the configuration is said above
	}
	d.Server = to.URL
	c, err := s.dial(to, client.Options{Timeout: doctorTime})
	if err != nil {
		return d, usageError{errors.New(explain(err))}
	}
	health, err := c.System.Health(ctx)
	if err != nil {
		d.add("router", false, "%s", explain(err))
		return d, s.offline(ctx, &d, settings.Config)
	}
	d.Up = true
	well := health.Status == router.StatusHealthy || health.Status == "ok" // a router of before this word still says ok
	d.add("router", well, "%s at %s, version %s, up for %s", health.Status, d.Server, health.Version, millis(health.UptimeMS).Round(time.Second))
	if skew := time.Since(health.Timestamp).Abs(); !health.Timestamp.IsZero() {
		d.add("clocks", skew < 5*time.Second, "the router's and this one are %s apart", skew.Round(time.Millisecond))
	}
	examined, err := client.Ask(ctx, c, router.SystemService.Doctor)
	if err != nil {
		d.add("examination", false, "%s", explain(err))
	}
	d.Checks = append(d.Checks, examined.Checks...)
	return d, nil
}

// offline checks what can be checked without the router, and changes nothing.
func (s *shell) offline(ctx context.Context, d *diagnosis, settings config.Config) error {
	info, err := os.Stat(settings.Data)
	switch {
	case settings.Data == "" || errors.Is(err, os.ErrNotExist):
		d.add("data folder", true, "%s is not there yet; the first start makes it", settings.Data)
		return nil
	case err != nil:
		d.add("data folder", false, "%v", err)
		return nil
	}
	d.add("data folder", info.Mode().Perm()&0o077 == 0 || os.PathSeparator == '\\', "%s, mode %04o", settings.Data, info.Mode().Perm())
	switch missing, traces := app.Missing(ctx, settings.Data); {
	case len(missing) > 0 && len(traces) > 0:
		d.add("databases", false, "%s is missing, while %s is there: it was lost; restore a backup", strings.Join(missing, ", "), strings.Join(traces, ", "))
	case len(missing) > 0:
		d.add("databases", true, "not there yet")
	default:
		found, err := app.VerifyFolder(ctx, settings.Data)
		if err != nil {
			found.Problems = append(found.Problems, explain(err))
		}
		d.add("databases", len(found.Problems)+len(found.Altered) == 0, "%s", first(strings.Join(append(found.Problems, found.Altered...), "; "), "sound"))
	}
	lock, err := app.Acquire(settings.Data, locate.Holder{PID: os.Getpid(), Started: s.now()})
	switch {
	case errs.CodeOf(err) == errs.Conflict:
		d.add("lock", false, "%s, and yet no router answers at %s", explain(err), d.Server)
	case err != nil:
		d.add("lock", false, "%s", explain(err))
	default:
		d.add("lock", true, "free: no router holds the data folder")
		return lock.Release()
	}
	return nil
}

// offlineProof is what doctor --offline-proof prints.
type offlineProof struct {
	Airgapped bool              `json:"airgapped"` // no connection leaves this machine
	Enforced  bool              `json:"enforced"`  // by the setting airgapped: the router starts with no place that leaves this machine
	Router    bool              `json:"router"`    // the running router said so; else it is what the settings would make of one
	Places    []router.Outbound `json:"places"`
}

// proveOffline lists what may open a connection: in the router, and in the commands that call it.
func (s *shell) proveOffline(ctx context.Context) error {
	settings, err := s.settings()
	if err != nil {
		return err
	}
	to, err := s.place().Router()
	if err != nil {
		return err
	}
	c, err := s.dial(to, client.Options{})
	if err != nil {
		return usageError{errors.New(explain(err))}
	}
	proof := offlineProof{Airgapped: true, Router: true}
	said, err := client.Ask(ctx, c, router.SystemService.Outbound)
	proof.Places, proof.Enforced = said.Places, said.Enforced
	if errs.CodeOf(err) == errs.Unavailable {
		proof.Router, proof.Enforced = false, settings.Airgapped
		proof.Places = app.Outbounds(settings.Config)
	} else if err != nil {
		return err // a router that does not say is no proof
	}
	proof.Places = append(proof.Places, router.Outbound{
		Name: "commands", Purpose: "call the router", Setting: "--server", On: true, Target: to.URL, Leaves: !to.Local() && !app.OnThisMachine(to.URL),
	})
	for _, place := range proof.Places {
		proof.Airgapped = proof.Airgapped && !place.Leaves
	}
	return s.printOr(!proof.Airgapped, proof, func(w io.Writer) { printProof(w, proof) })
}

var printProof = page[offlineProof](`{{table "name=PLACE says=STATE setting=SWITCHED_ON_BY target=DIALS purpose=WHAT_FOR" .Places}}

{{if .Airgapped}}Airgapped: no connection leaves this machine{{else}}NOT airgapped: a connection may leave this machine{{end}}
{{- if .Router}} (the running router says so).{{else}} (by the settings; no router is running).{{end}}
{{- if and .Airgapped .Enforced}}
The setting airgapped is on: the router does not start with one that does.
{{- end}}`)
