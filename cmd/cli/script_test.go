//go:build unix

package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/cli"
	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/process"
)

// patience bounds how long a script waits for something to come about.
// Nothing takes a second on a machine that is not overloaded.
const patience = time.Minute

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"skillrouter": func() {
			ctx, stop := process.Context()
			code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			stop()
			os.Exit(code)
		},
		"skillrouter-hook": func() {
			ctx, stop := process.Context()
			code := respond.Small(ctx, os.Args)
			stop()
			os.Exit(code)
		},
	})
}

// TestScripts runs testdata/script against the real program. Each script has
// data, settings and a router of its own. Beside testscript's commands it has:
//
//	router            start a router in the background and wait until it answers;
//	                  "router again" starts it at the address of the one before
//	kill-router SIG   send the router that holds the data folder a signal, and wait for its end
//	await RE CMD...   repeat a command until its output matches
//	await-file RE F   wait until a file matches
//	page FILE [HEADING…]  hold the commands of a page, or of these sections, to what it shows of them
//	session FILE      type a page's commands into one shell, and hold them to what it shows
func TestScripts(t *testing.T) {
	patterns := []string{"*"}
	if testing.Short() { // those in which commands live beside each other; to run all takes minutes
		patterns = []string{"comms", "events", "follow", "run*", "start"}
	}
	runScripts(t, "skillrouter", patterns...)
}

// TestHookScripts runs those of hooks against the small program.
func TestHookScripts(t *testing.T) { runScripts(t, "skillrouter-hook", "hook*") }

// runScripts runs the scripts of some names. hook is the program that $HOOK names.
func runScripts(t *testing.T, hook string, patterns ...string) {
	t.Helper()
	// A test run under nohup, or in a script's background, inherits that these are
	// ignored, and so would every command here. One that is caught is not inherited.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	scripts, err := filepath.Abs("../../scripts")
	if err != nil {
		t.Fatal(err)
	}
	reporter, err := filepath.Abs("testdata/reporter")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob("testdata/script/" + pattern + ".txtar")
		if err != nil || len(found) == 0 {
			t.Fatalf("there is no script %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SKILLROUTER_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("SKILLROUTER_LISTEN", "127.0.0.1:0")
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("PYTHON_CLIENT", filepath.Join(scripts, "python"))
			env.Setenv("SCRIPTS", scripts)
			env.Setenv("REPORTER", reporter)
			env.Setenv("HOOK", hook)
			env.Setenv("REPO", filepath.Dir(scripts))
			env.Defer(func() { // a command that found no router has started one
				if h, err := locate.ReadHolder(filepath.Join(env.WorkDir, "data")); err == nil && h.PID != 0 {
					_ = syscall.Kill(h.PID, syscall.SIGTERM)
				}
			})
			for _, name := range []string{"SKILLROUTER_SERVER", "SKILLROUTER_TOKEN", "SKILLROUTER_AGENT", "SKILLROUTER_CONFIG"} {
				env.Setenv(name, "")
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"router": startRouter, "kill-router": killRouter, "await": await, "await-file": awaitFile, "page": page, "session": session, "person": setPassphrase,
		},
	})
}

// holder is the router that the script's data folder is held by.
func holder(ts *testscript.TestScript) locate.Holder {
	h, err := locate.ReadHolder(ts.Getenv("SKILLROUTER_DATA"))
	if err != nil {
		return locate.Holder{}
	}
	return h
}

// hostOf is the host and port of a router.
func hostOf(h locate.Holder) string {
	_, host, _ := strings.Cut(h.URL(), "://")
	return host
}

func startRouter(ts *testscript.TestScript, _ bool, args []string) {
	before := holder(ts)
	program, err := exec.LookPath("skillrouter")
	ts.Check(err)
	log, err := os.OpenFile(ts.MkAbs("router.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer log.Close()
	if len(args) > 0 && args[0] == "again" {
		args = []string{"--listen", hostOf(before)}
	}
	cmd := exec.Command(program, append([]string{"serve"}, args...)...)
	cmd.Env = environ(ts)
	cmd.Stdout, cmd.Stderr = log, log
	ts.Check(cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
		}
	})
	until(ts, "the router to answer", func() bool {
		h := holder(ts)
		return h.URL() != "" && h.Started != before.Started && run(ts, "status") == nil
	})
}

// setPassphrase sets the router's first passphrase, as a person does in a terminal, and leaves it in $WORK/phrase.
func setPassphrase(ts *testscript.TestScript, _ bool, _ []string) {
	token, err := os.ReadFile(filepath.Join(ts.Getenv("SKILLROUTER_DATA"), "owner.token"))
	ts.Check(err)
	const phrase = "correct horse battery staple"
	r, err := http.NewRequest(http.MethodPut, holder(ts).URL()+"/api/passphrase", strings.NewReader(`{"passphrase":"`+phrase+`"}`))
	ts.Check(err)
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		ts.Fatalf("the passphrase is not set: %s", text)
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "phrase"), []byte(phrase+"\n"), 0o600))
}

func killRouter(ts *testscript.TestScript, _ bool, args []string) {
	h := holder(ts)
	if h.PID == 0 {
		ts.Fatalf("no router holds the data folder")
	}
	sig := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}[args[0]]
	ts.Check(syscall.Kill(h.PID, sig))
	until(ts, "the router to end", func() bool {
		lock, err := app.Acquire(ts.Getenv("SKILLROUTER_DATA"), locate.Holder{})
		if err != nil {
			return false
		}
		text, _ := json.Marshal(h) // a killed router leaves its name behind, and so does this look
		_ = lock.Release()
		return sig != syscall.SIGKILL || os.WriteFile(filepath.Join(ts.Getenv("SKILLROUTER_DATA"), locate.LockName), text, 0o600) == nil
	})
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	var last string
	until(ts, args[0], func() bool {
		out, _ := output(ts, args[1:]...)
		last = out
		return want.MatchString(out)
	}, &last)
}

func awaitFile(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	var last string
	until(ts, args[0]+" in "+args[1], func() bool {
		text, _ := os.ReadFile(ts.MkAbs(args[1]))
		last = string(text)
		return want.MatchString(last)
	}, &last)
}

// until waits for a condition, and says what there was instead if it does not come.
func until(ts *testscript.TestScript, what string, met func() bool, last ...*string) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	limit := time.After(patience)
	for !met() {
		select {
		case <-look.C:
		case <-limit:
			instead := ""
			for _, text := range last {
				instead += *text
			}
			ts.Fatalf("waited too long for %s; there is:\n%s", what, instead)
		}
	}
}

func environ(ts *testscript.TestScript) []string {
	env := []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"), "TMPDIR=" + ts.Getenv("TMPDIR")}
	for _, name := range []string{"SKILLROUTER_DATA", "SKILLROUTER_LISTEN", "SKILLROUTER_SERVER", "SKILLROUTER_TOKEN", "SKILLROUTER_TLS_CERT", "SKILLROUTER_TLS_KEY", "XDG_CONFIG_HOME"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

func output(ts *testscript.TestScript, args ...string) (string, error) {
	program, err := exec.LookPath("skillrouter")
	ts.Check(err)
	cmd := exec.Command(program, args...)
	cmd.Env = environ(ts)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func run(ts *testscript.TestScript, args ...string) error {
	_, err := output(ts, args...)
	return err
}
