package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/client"
)

// Times and bounds of starting a router that is not there.
const (
	// startTime is how long a started router may take to answer: it may have a
	// large index to rebuild.
	startTime = 20 * time.Second
	// probeTime bounds one look whether somebody answers.
	probeTime = 2 * time.Second
	// probeEvery is how long to wait between two looks.
	probeEvery = 25 * time.Millisecond
	// settleTime is how long a winner that took the folder may need to write its
	// name there, after its rival has already given up.
	settleTime = time.Second
	// logName is the file in the data folder that a started router logs to.
	logName = "serve.log"
	// maxLog is the size, in bytes, at which that file is begun anew at a start.
	maxLog = 8 << 20
	// logTail is how much of it is repeated when the start fails, in bytes.
	logTail = 2 << 10
)

// connect returns a client of the router. Where none runs it starts one, except where the
// router was named: another machine's, or one that somebody else starts.
func (s *shell) connect(ctx context.Context) (*client.Client, error) {
	c, err := s.client()
	if err != nil || s.dialled != nil || s.place().Named() != "" {
		return c, err
	}
	to, err := s.place().Router()
	if err != nil {
		return nil, err
	}
	knocking, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	knock, err := to.Connect(knocking)
	switch {
	case err == nil:
		return c, knock.Close()
	case errs.CodeOf(err) == errs.Conflict:
		return nil, err
	}
	if c, err = s.ensureRunning(ctx); err == nil {
		fmt.Fprintf(s.err, "skillrouter: started a router at %s\n", c.BaseURL())
	}
	return c, err
}

// ensureRunning returns a client of a router that answers. If none answers at
// the address, which must then be one of this machine's loopback, it starts
// one that outlives this process, and waits for it. When several processes do
// this at once, the data folder's lock decides whose router it is; all connect
// to that one.
func (s *shell) ensureRunning(ctx context.Context) (*client.Client, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	if err := probe(ctx, c); errs.CodeOf(err) != errs.Unavailable {
		return c, err
	}
	address, err := url.Parse(c.BaseURL())
	if err != nil || !locate.Loopback(address) {
		return nil, errs.Errorf(errs.Unavailable, "no router answers at %s, and one can be started on this machine's loopback only", c.BaseURL())
	}
	settings, err := s.settings()
	if err != nil {
		return nil, err
	}
	if address.Scheme != settings.Scheme() {
		return nil, errs.Errorf(errs.Unavailable, "no router answers at %s, and one that is started would speak %s by your settings (tls_cert)", c.BaseURL(), settings.Scheme())
	}
	if err := s.start(address.Host, settings.Config); err != nil {
		return nil, err
	}
	exited := s.started.gone
	limit := time.NewTimer(startTime)
	defer limit.Stop()
	look := time.NewTicker(probeEvery)
	defer look.Stop()
	// A router that exits has most likely lost the race; give the winner the time that is left.
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil, errs.Wrap(errs.Unavailable, ctx.Err(), "the start was given up")
		case <-exited:
			exited, settled = nil, time.After(settleTime)
		case <-settled:
			if release, err := app.Hold(settings.Data); err == nil { // nobody has it
				return nil, errors.Join(s.failedStart(settings.Data), release())
			}
		case <-limit.C:
			return nil, s.failedStart(settings.Data)
		case <-look.C:
			// The address is looked up again: whoever won may listen elsewhere.
			if c, err = s.client(); err != nil {
				return nil, err
			}
			if err := probe(ctx, c); err == nil {
				return c, nil
			}
		}
	}
}

// probe asks whether a router answers.
func probe(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := c.System.Health(ctx)
	return err
}

// startedRouter is a router that this process started. gone is closed when it has ended, if this process lives to see it.
type startedRouter struct {
	*os.Process
	gone chan struct{}
}

// start starts `serve` in a session of its own.
func (s *shell) start(listen string, settings config.Config) error {
	data := settings.Data
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program cannot tell where it lies: %w", err)
	}
	if err := app.MakeFolder(data); err != nil {
		return err
	}
	name := filepath.Join(data, logName)
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(name); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	log, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, "serve", "--listen", listen, "--data", data)
	if settings.TLSCert != "" { // a relative path in the environment would start from another folder
		cmd.Args = append(cmd.Args, "--tls-cert", settings.TLSCert, "--tls-key", settings.TLSKey)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = data // so that it keeps no other folder from being removed
	cmd.Env = s.environ
	cmd.SysProcAttr = process.Detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the router cannot be started: %w", err)
	}
	s.started = startedRouter{cmd.Process, make(chan struct{})}
	go func(gone chan struct{}) { // ends with the router, or with this process
		_ = cmd.Wait()
		close(gone)
	}(s.started.gone)
	return nil
}

// failedStart says that no router came up, and what the last one logged.
func (s *shell) failedStart(data string) error {
	name := filepath.Join(data, logName)
	tail := ""
	if file, err := os.Open(name); err == nil {
		defer file.Close()
		if info, err := file.Stat(); err == nil {
			text, _ := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-logTail), logTail))
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			tail = ": " + lines[len(lines)-1]
		}
	}
	return errs.Errorf(errs.Unavailable, "the router was started and does not answer; %s says why%s", name, tail)
}
