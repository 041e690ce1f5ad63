package respond

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/router/client/plain"
)

// Small is the program skillrouter-hook: it runs a hook that only asks a router
// on this machine, and hands anything else over to the program skillrouter
// beside it, before anything is read of its input. args begin with the program's
// name. It returns the exit code.
func Small(ctx context.Context, args []string) int {
	h, ok := Parse(Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, Connect: ConnectPlain, Program: beside}, args[1:])
	if ok && !h.now && h.Event != Offline && h.reaches(ctx) {
		return h.Run(ctx)
	}
	program, err := beside()
	if err == nil {
		code := 0
		if code, err = process.Replace(program, append([]string{program}, args[1:]...)); err == nil {
			return code
		}
	}
	fmt.Fprintf(os.Stderr, "skillrouter-hook: the program skillrouter, which must lie beside it, cannot be run: %s\n", safetext.Visible(err.Error()))
	if ok && h.strict && h.Event == hook.PreToolUse {
		return hook.ExitBlocked
	}
	return exitFailed
}

// reaches tells whether the hook can ask its router: by plain HTTP and, if it may
// start one, because it answers. Then Run does not ask again whether it does.
func (h *Hook) reaches(ctx context.Context) bool {
	c, err := h.connect()
	if err != nil {
		return false
	}
	if h.start && h.Event == hook.SessionStart {
		if errs.CodeOf(c.probe(ctx)) == errs.Unavailable && !h.alone.Load() {
			return false
		}
		h.start = false
	}
	return true
}

// ConnectPlain makes calls of a router on this machine, over its socket or by plain
// HTTP. Any other may be behind TLS or a proxy.
func ConnectPlain(to locate.Router, dial time.Duration) (Call, error) {
	options := plain.Options{Token: to.Token, UserAgent: UserAgent, Dial: dial, Trace: os.Getenv("TRACEPARENT")}
	if to.Local() {
		options.Connect = to.Connect
	} else if u, err := url.Parse(to.URL); err != nil || !locate.Loopback(u) {
		return nil, errors.New("the router is on another machine")
	}
	c, err := plain.New(to.URL, options)
	if err != nil {
		return nil, err
	}
	return c.Call, nil
}

// beside is the path of the program skillrouter in this program's folder.
func beside() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(own), FullName(runtime.GOOS)), nil
}

// FullName is the file name of the program skillrouter on an operating system.
func FullName(goos string) string { return "skillrouter" + suffix(goos) }

// SmallName is the file name of the program that Small is.
func SmallName(goos string) string { return "skillrouter-hook" + suffix(goos) }

func suffix(goos string) string {
	if goos == "windows" {
		return ".exe"
	}
	return ""
}
