//go:build unix

package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// shown is a command of a page, and what the page says that it prints.
type shown struct {
	command string
	output  []string
}

var (
	consoles = regexp.MustCompile("(?ms)^```console\n(.*?)^```")
	// elsewhere are commands of a page that a script does not run: they build, set the shell up, never end, or only take their time.
	elsewhere = regexp.MustCompile(`^(make |export |curl -sN|time )`)
	named     = regexp.MustCompile(`--agent (\S+)`)
	fullUUID  = `[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`
	endOfID   = `\b[0-9a-f]{8}\b` // as lists show it
	uuids     = regexp.MustCompile(fullUUID + `|` + endOfID)
	// passing is what differs from one run to the next: moments, ages, marks, secrets, sizes, what
	// identifiers and marks cost in tokens, and dots for what is left out.
	passing = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?|\d{4}-\d\d-\d\d|(\d+[hm])*\d+s ago|\bnow\b|memory-[0-9a-f]{8}|skr_\w+|\b\d{6,}\b|\d+ of \d+ tokens|\d+ +-$|//127\.0\.0\.1:\d+|…| +`)
)

// readPage returns the commands of a page, in order.
func readPage(text string) (list []shown) {
	for _, block := range consoles.FindAllStringSubmatch(text, -1) {
		var current *shown
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			switch command, is := strings.CutPrefix(line, "$ "); {
			case is:
				list = append(list, shown{command: command})
				current = &list[len(list)-1]
			case len(current.output) == 0 && strings.HasSuffix(current.command, `\`):
				current.command += "\n" + line
			default:
				current.output = append(current.output, line)
			}
		}
	}
	return list
}

// fits returns an expression for a line as it is shown. ids are those of this run for the page's.
func fits(line string, ids map[string]string) *regexp.Regexp {
	var b strings.Builder
	last := 0
	for _, at := range passing.FindAllStringIndex(line, -1) {
		b.WriteString(regexp.QuoteMeta(line[last:at[0]]))
		switch found := line[at[0]:at[1]]; {
		case strings.HasPrefix(found, " "):
			b.WriteString(` +`)
		case found == "…":
			b.WriteString(`.*?`)
		case found == "now", strings.HasSuffix(found, " ago"):
			b.WriteString(`((\d+[hm])*\d+s ago|now)`)
		case strings.Contains(found, " "): // of several words
			b.WriteString(`\S+( +\S+)*`)
		default:
			b.WriteString(`\S*?`)
		}
		last = at[1]
	}
	b.WriteString(regexp.QuoteMeta(line[last:]))
	pattern := uuids.ReplaceAllStringFunc(b.String(), func(id string) string {
		if known, ok := ids[id]; ok {
			return known
		}
		if len(id) == 8 {
			return endOfID
		}
		return fullUUID
	})
	return regexp.MustCompile("^" + pattern + ` *$`)
}

// sections leaves of a page its second-level sections with one of the headings, or, where the
// headings begin with "-", all others.
func sections(ts *testscript.TestScript, text string, headings []string) string {
	out, found := strings.HasPrefix(headings[0], "-"), 0
	parts := slices.DeleteFunc(strings.SplitAfter(text, "\n## "), func(part string) bool {
		heading, _, _ := strings.Cut(part, "\n")
		named := slices.Contains(headings, heading) || slices.Contains(headings, "-"+heading)
		if named {
			found++
		}
		return named == out
	})
	if found != len(headings) {
		ts.Fatalf("the page has %d of the sections %q", found, headings)
	}
	return strings.Join(parts, "")
}

// page runs the commands of a page one after the other against the script's router, and holds
// what they print to what the page shows. An id that is shown stands for the one of this run from then on.
//
//	page FILE [HEADING…]
func page(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.ReadFile(args[0])
	ts.Check(err)
	text := string(file)
	if len(args) > 1 {
		text = sections(ts, text, args[1:])
	}
	ids := map[string]string{}
	for _, one := range readPage(text) {
		if elsewhere.MatchString(one.command) {
			continue
		}
		command := uuids.ReplaceAllStringFunc(strings.ReplaceAll(one.command, "localhost:8025", hostOf(holder(ts))), func(shown string) string {
			return cmp.Or(ids[shown], shown)
		})
		if before, background := strings.CutSuffix(command, "&"); background {
			aside(ts, before)
			continue
		}
		got := paged(ts, command)
		for i, line := range one.output {
			if line == "…" || line == "" && i == len(one.output)-1 {
				break // the rest is left out, or a blank line parts two commands
			}
			if i >= len(got) {
				ts.Fatalf("$ %s\nprints no line %d, where %s shows %q", command, i+1, args[0], line)
			}
			if !fits(line, ids).MatchString(got[i]) {
				ts.Fatalf("$ %s\nprints\n%s\nwhere %s shows\n%s", command, got[i], args[0], line)
			}
			for at, id := range uuids.FindAllString(line, -1) {
				if real := uuids.FindAllString(got[i], -1); at < len(real) {
					ids[id] = real[at]
					ids[id[len(id)-8:]] = real[at][len(real[at])-8:]
				}
			}
		}
	}
}

// paged runs a command and returns what it prints on both of its outputs.
func paged(ts *testscript.TestScript, command string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", command)
	var out bytes.Buffer
	c.Env, c.Dir, c.Stdout, c.Stderr = environ(ts), ts.MkAbs("."), &out, &out
	err := c.Run()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		ts.Fatalf("$ %s\n%v", command, err)
	}
	ts.Logf("$ %s\n%s", command, out.String())
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// aside runs a command beside the others, until the script ends, and waits until questions
// know its agent by name.
func aside(ts *testscript.TestScript, command string) {
	c := exec.Command("sh", "-c", command)
	c.Env, c.Dir, c.SysProcAttr = environ(ts), ts.MkAbs("."), &syscall.SysProcAttr{Setpgid: true}
	ts.Check(c.Start())
	ts.Defer(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) // it ends what it runs, which is in a group of its own
		_ = c.Wait()
	})
	agent := named.FindStringSubmatch(command)
	if agent == nil {
		ts.Fatalf("$ %s &\nis no agent's: how long is it to be waited for?", command)
	}
	until(ts, "the router to know the agent of "+command, func() bool {
		return strings.Contains(strings.Join(paged(ts, "skillrouter query 'what is "+agent[1]+" working on?'"), "\n"), "names the agent "+agent[1])
	})
}
