package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/cmd/locate"
	"skillrouter/internal/errs"
	"skillrouter/learning/shelf"
	"skillrouter/router"
	"skillrouter/router/client"
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
		for _, check := range d.Checks {
			d.OK = d.OK && check.OK
		}
		return s.printOr(!d.OK, d, func(w io.Writer) { printDiagnosis(w, d) })
	}))
}

func printDiagnosis(w io.Writer, d diagnosis) {
	failed := 0
	for _, check := range d.Checks {
		mark := "ok  "
		if !check.OK {
			mark, failed = "FAIL", failed+1
		}
		fmt.Fprintf(w, "%s  %s: %s\n", mark, cell(check.Name), harmless(check.Detail))
	}
	if failed == 0 {
		fmt.Fprintf(w, "\n%s, all well.\n", plural(len(d.Checks), "check"))
		return
	}
	fmt.Fprintf(w, "\n%s, %d failed.\n", plural(len(d.Checks), "check"), failed)
}

func (s *shell) examine(ctx context.Context) (diagnosis, error) {
	d := diagnosis{OK: true}
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
		return d, s.offline(&d, settings.Config)
	}
	d.Up = true
	well := health.Status == router.StatusHealthy || health.Status == "ok" // a router of before this word still says ok
	d.add("router", well, "%s at %s, version %s, up for %s", health.Status, d.Server, health.Version, millis(health.UptimeMS).Round(time.Second))
	if skew := time.Since(health.Timestamp).Abs(); !health.Timestamp.IsZero() {
		d.add("clocks", skew < 5*time.Second, "the router's and this one are %s apart", skew.Round(time.Millisecond))
	}
	checks, err := c.System.Doctor(ctx)
	if err != nil {
		d.add("examination", false, "%s", explain(err))
	}
	d.Checks = append(d.Checks, checks...)
	return d, nil
}

// offline checks what can be checked without the router, and without opening
// what it may be about to open.
func (s *shell) offline(d *diagnosis, settings config.Config) error {
	if settings.Data == "" {
		return nil
	}
	info, err := os.Stat(settings.Data)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.add("data folder", true, "%s is not there yet; the first start makes it", settings.Data)
		return nil
	case err != nil:
		d.add("data folder", false, "%v", err)
		return nil
	case !info.IsDir():
		d.add("data folder", false, "%s is no folder", settings.Data)
		return nil
	}
	private := info.Mode().Perm()&0o077 == 0 || os.PathSeparator == '\\'
	d.add("data folder", private, "%s, mode %04o", settings.Data, info.Mode().Perm())
	_, traces := app.Missing(settings.Data)
	for _, name := range []string{"learning.db", "operational.db"} {
		path := filepath.Join(settings.Data, name)
		switch err := readable(path); {
		case errors.Is(err, os.ErrNotExist) && len(traces) > 0:
			d.add(name, false, "is missing, while %s is there: it was lost; restore a backup", strings.Join(traces, ", "))
		case errors.Is(err, os.ErrNotExist):
			d.add(name, true, "is not there yet")
		case err != nil:
			d.add(name, false, "%v", err)
		default:
			d.add(name, true, "begins as a SQLite database does; the router checks more of it")
		}
	}
	switch lost, err := app.Losses(settings.Data); {
	case err != nil:
		d.add("stored writes", false, "%v", err)
	case len(lost) > 0:
		d.add("stored writes", false, "%s", strings.Join(lost, "; "))
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

// readable tells whether a file can be read and begins as a SQLite database.
func readable(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	magic := make([]byte, 16) // https://www.sqlite.org/fileformat.html#magic_header_string
	if _, err := io.ReadFull(file, magic); err != nil || string(magic) != "SQLite format 3\x00" {
		return fmt.Errorf("%s does not begin as a SQLite database does", path)
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
	said, err := c.System.Outbounds(ctx)
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

func printProof(w io.Writer, proof offlineProof) {
	leaving := 0
	tableOf(w, "name=PLACE says=STATE setting=SWITCHED_ON_BY target=DIALS purpose=WHAT_FOR", "", proof.Places)
	for _, place := range proof.Places {
		if place.Leaves {
			leaving++
		}
	}
	from := "the running router says so"
	if !proof.Router {
		from = "by the settings; no router is running"
	}
	if leaving == 0 {
		fmt.Fprintf(w, "\nAirgapped: no connection leaves this machine (%s).\n", from)
		if proof.Enforced {
			fmt.Fprintln(w, "The setting airgapped is on: the router does not start with one that does.")
		}
		return
	}
	fmt.Fprintf(w, "\nNOT airgapped: %s may leave this machine (%s).\n", plural(leaving, "connection"), from)
}

func (s *shell) embeddingsCommand() *cobra.Command {
	return s.does(command{
		use: "embeddings", short: "Show progress of the embedding index", do: shelf.EmbeddingService.Embeddings,
		show: func(w io.Writer, status shelf.EmbeddingStatus) {
			if status.State == shelf.EmbeddingsOff {
				fmt.Fprintln(w, "No embedding model is configured (llm.embedding_model): search goes by words.")
				return
			}
			inFull(w, status)
		},
	})
}
