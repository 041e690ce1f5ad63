//go:build unix

package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skillrouter/skillrouter/cmd/locate"
)

var (
	// again are commands that change nothing: they are repeated until they print what the page shows.
	again = regexp.MustCompile(`^(skillrouter (agents|messages|query|doctor)|wc|python3)\b`)
	// redirected is a command whose output goes elsewhere by itself.
	redirected = regexp.MustCompile(`>>? \S+ *$`)
	heredoc    = regexp.MustCompile(`<<'(\w+)'`)
	killedAt   = regexp.MustCompile(`# after (\d+) messages`)
	// measured is what a machine and a moment decide, beside what passing has.
	measured = regexp.MustCompile(`\d+(\.\d+)?( ?s|ms)\b|[\d.]+ [KMG]iB|schema \d+|go\d\S+ \w+/\w+|version \S+|took_ms=\d+|/home/you\S*|\b\d{3,}\b`)
)

// either finds what passes, and else what is measured.
var either = regexp.MustCompile(uuids.String() + "|" + passing.String() + "|" + measured.String())

// unmeasured is a line with dots for what is measured in it.
func unmeasured(line string) string {
	return either.ReplaceAllStringFunc(line, func(part string) string {
		if measured.FindString(part) == part {
			return "…"
		}
		return part
	})
}

// session runs the commands of a page as one person would type them into one shell, with real
// processes and a data folder of its own, and holds what they print to what the page shows.
// With "!" the page must be refused for the text that is named.
//
//	session FILE [TEXT]
func session(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	home, err := os.MkdirTemp(ts.Getenv("WORK"), "session")
	ts.Check(err)
	home = filepath.Join(home, "shop") // the project's name
	ts.Check(os.Mkdir(home, 0o700))
	err = typed(ts, home, typedCommands(string(text)))
	switch {
	case !neg:
		ts.Check(err)
	case err == nil:
		ts.Fatalf("%s holds, and should not", args[0])
	case !strings.Contains(err.Error(), args[1]):
		ts.Fatalf("%s is refused, but not for %q: %v", args[0], args[1], err)
	}
}

// typedCommands is readPage for a page whose commands may go over several lines: quoted text, and here-documents.
func typedCommands(text string) (list []shown) {
	for _, block := range consoles.FindAllStringSubmatch(text, -1) {
		lines, open := strings.Split(strings.TrimSuffix(block[1], "\n"), "\n"), false
		for _, line := range lines {
			switch command, is := strings.CutPrefix(line, "$ "); {
			case open:
				list[len(list)-1].command += "\n" + line
			case is:
				list = append(list, shown{command: command})
			case line != "":
				last := &list[len(list)-1]
				last.output = append(last.output, line)
				continue
			}
			if len(list) > 0 {
				command := list[len(list)-1].command
				end := heredoc.FindStringSubmatch(command)
				open = end != nil && !strings.HasSuffix(command, "\n"+end[1]) || end == nil && strings.Count(command, `"`)%2 == 1
			}
		}
	}
	return list
}

// shell is a shell that somebody types into.
type shell struct {
	in   io.Writer
	out  *bufio.Reader
	home string
	jobs int
}

// does types a command and returns what it prints.
func (s *shell) does(command string) ([]string, error) {
	const mark = "--end-of-command--"
	fmt.Fprintf(s.in, "%s\necho; echo %s\n", command, mark)
	var lines []string
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return lines, fmt.Errorf("$ %s\nthe shell ended: %w", command, err)
		}
		if line = strings.TrimSuffix(line, "\n"); line == mark {
			if n := len(lines); n > 0 && lines[n-1] == "" {
				lines = lines[:n-1]
			}
			return lines, nil
		}
		lines = append(lines, line)
	}
}

// typed types the commands of a page, one after the other.
func typed(ts *testscript.TestScript, home string, commands []shown) error {
	c := exec.Command("bash")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	listen := free.Addr().String()
	ts.Check(free.Close())
	c.Dir, c.Env, c.SysProcAttr = home, append(environ(ts), "SKILLROUTER_DATA="+filepath.Join(home, "data"), "SKILLROUTER_LISTEN="+listen), &syscall.SysProcAttr{Setpgid: true}
	in, err := c.StdinPipe()
	ts.Check(err)
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	defer func() {
		_ = in.Close()
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
		_ = c.Wait()
		if h, err := locate.ReadHolder(filepath.Join(home, "data")); err == nil && h.PID != 0 {
			_ = syscall.Kill(h.PID, syscall.SIGTERM)
		}
	}()
	s := &shell{in: in, out: bufio.NewReader(out), home: home}
	if _, err := s.does("exec 2>&1"); err != nil {
		return err
	}
	ids := map[string]string{}
	for _, one := range commands {
		if err := s.hold(ts, one, ids); err != nil {
			return err
		}
	}
	return nil
}

// hold types a command of the page, and compares.
func (s *shell) hold(ts *testscript.TestScript, one shown, ids map[string]string) error {
	command := one.command
	for shown, real := range ids {
		command = strings.ReplaceAll(command, shown, real)
	}
	if before, background := strings.CutSuffix(command, "&"); background {
		if err := s.aside(ts, before); err != nil {
			return err
		}
		return s.logged(ts, one, ids)
	}
	if at := killedAt.FindStringSubmatch(command); at != nil {
		s.await(ts, "[ $(wc -l <sent.jsonl) -ge "+at[1]+" ]")
		if _, err := s.does(command); err != nil {
			return err
		}
		return s.logged(ts, one, ids)
	}
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(patience); ; <-ticks.C {
		got, err := s.does(command)
		if err != nil {
			return err
		}
		wrong := compared(one, got, ids)
		if wrong == nil || !again.MatchString(command) || time.Now().After(deadline) {
			ts.Logf("$ %s\n%s", command, strings.Join(got, "\n"))
			return wrong
		}
	}
}

// aside types a command that runs beside the others, and waits until what it begins is there.
func (s *shell) aside(ts *testscript.TestScript, command string) error {
	s.jobs++
	log := fmt.Sprintf("job%d.log", s.jobs)
	if redirected.MatchString(command) {
		command += " 2>" + log + " &"
	} else {
		command += " >" + log + " 2>&1 &"
	}
	if _, err := s.does(command); err != nil {
		return err
	}
	switch agent := named.FindStringSubmatch(command); {
	case strings.HasPrefix(command, "skillrouter serve"):
		s.await(ts, "grep -q msg=listening "+log)
	case strings.HasPrefix(command, "skillrouter run"):
		s.await(ts, "skillrouter agents | grep -q '^"+agent[1]+" .* working '")
	case strings.HasPrefix(command, "for "):
		s.await(ts, "[ -s sent.jsonl ]")
	case agent != nil:
		s.await(ts, "skillrouter doctor --json | grep -q '1 streams open'")
	}
	return nil
}

// logged waits until what the page shows was printed by what runs aside.
func (s *shell) logged(ts *testscript.TestScript, one shown, ids map[string]string) error {
	for _, line := range one.output {
		wanted := fits(unmeasured(line), ids)
		until(ts, fmt.Sprintf("$ %s to print %q", one.command, line), func() bool {
			got, err := s.does("cat job*.log")
			return err != nil || slices.ContainsFunc(got, wanted.MatchString)
		})
	}
	return nil
}

// await waits until a command of the shell succeeds.
func (s *shell) await(ts *testscript.TestScript, command string) {
	until(ts, command, func() bool {
		got, err := s.does(command + " && echo it-is-so")
		return err != nil || len(got) > 0 && got[len(got)-1] == "it-is-so"
	})
}

// compared says where what was printed differs from what the page shows.
func compared(one shown, got []string, ids map[string]string) error {
	if len(one.output) == 0 {
		return nil
	}
	var said []string
	for _, line := range got {
		if line != "" {
			said = append(said, line)
		}
	}
	if shown := slices.Clone(one.output); one.command == "skillrouter agents" { // who was seen last stands first
		slices.Sort(shown[1:])
		slices.Sort(said[min(1, len(said)):])
		one.output = shown
	}
	for i, line := range one.output {
		if i >= len(said) {
			return fmt.Errorf("$ %s\nprints no line %q", one.command, line)
		}
		if !fits(unmeasured(line), ids).MatchString(said[i]) {
			return fmt.Errorf("$ %s\nprints\n%s\nwhere the page shows\n%s", one.command, said[i], line)
		}
		for at, id := range uuids.FindAllString(line, -1) {
			if real := uuids.FindAllString(said[i], -1); at < len(real) {
				ids[id] = real[at]
			}
		}
	}
	if len(said) > len(one.output) {
		return fmt.Errorf("$ %s\nprints %q too, which the page does not show", one.command, said[len(one.output)])
	}
	return nil
}
