package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// Bounds of what the wrapper does for an agent that has no hooks.
const (
	// contextEvery is how often the context's file is written anew: what is known
	// changes in minutes, not in seconds.
	contextEvery = time.Minute
	// contextTime bounds one building of it before the command starts.
	contextTime = 3 * time.Second
	// maxContextFile bounds the file that somebody else wrote there, in bytes.
	maxContextFile = 1 << 20
	// maxWatched bounds what is read of a watched file's end, and maxWatchedLines how many
	// lines with errors are told.
	maxWatched      = 256 << 10
	maxWatchedLines = 12
)

// contextMark divides a file: before it stands what was there, after it what is
// written anew while the command runs.
const contextMark = "<!-- skillrouter run: what follows is written anew while the agent runs, and goes with it -->"

// memoryFor gives a command without hooks what hooks would: a file with what is
// known, and an episode of how it went.
type memoryFor struct {
	wrapper *wrapper
	file    string // of the context; empty: none
	watch   string // file whose lines with errors are told at the end; empty: none
	record  bool
	proxy   bool

	command []string
	base    []byte // what the file held
	was     bool   // there was one
	size    int64  // of the watched file at the start
	began   time.Time
}

// begin writes the context's file before the command starts. A router that is
// away costs the context, not the command.
func (m *memoryFor) begin(ctx context.Context, command []string) error {
	m.command, m.began = command, m.wrapper.shell.now()
	if m.watch != "" {
		if info, err := os.Stat(m.watch); err == nil {
			m.size = info.Size()
		}
	}
	if m.file == "" {
		return nil
	}
	var err error
	switch m.base, err = file.ReadSmall(m.file, maxContextFile); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("--context-file: %w", err)
	default:
		m.was = true
		if at := bytes.Index(m.base, []byte(contextMark)); at >= 0 { // left by a run that was killed
			m.base = m.base[:at]
			m.was = len(m.base) > 0
		}
	}
	m.refresh(ctx)
	return nil
}

// stay writes the file anew until ctx ends.
func (m *memoryFor) stay(ctx context.Context) {
	if m.file == "" {
		return
	}
	for committer.Pause(ctx, contextEvery) == nil {
		m.refresh(ctx)
	}
}

func (m *memoryFor) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, contextTime)
	defer cancel()
	text, err := m.context(ctx)
	if err != nil {
		m.wrapper.log("no context: %s", explain(err))
		return
	}
	var whole bytes.Buffer
	whole.Write(m.base)
	if text != "" {
		whole.WriteString(contextMark + "\n" + text + "\n")
	}
	if whole.Len() == 0 {
		whole.WriteString(contextMark + "\n") // agents want the file they were told of
	}
	if err := os.WriteFile(m.file, whole.Bytes(), 0o644); err != nil {
		m.wrapper.log("%s cannot be written: %v", m.file, reason(err))
	}
}

func (m *memoryFor) context(ctx context.Context) (string, error) {
	c, err := m.wrapper.connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	agent, project := m.wrapper.beat.AgentID, m.wrapper.shell.place().WorkProject(m.wrapper.beat.ProjectPath)
	request := contexts.Request{Start: true, Budget: respond.StartBudget, AgentID: agent, Project: project, Folder: workTree()}
	request.SessionID = fmt.Sprintf("run-%d-%d", os.Getpid(), m.began.UnixMilli()) // a session is told nothing twice in one writing
	request.Task = strings.TrimSpace(first(m.wrapper.beat.CurrentTask, respond.BranchWords(m.wrapper.beat.ProjectPath)))
	request.Subfolder, request.Branch = locate.Within(workingFolder())
	known, err := client.Send(ctx, c, contexts.Service.Build, request)
	return strings.TrimSpace(known.Text), err
}

// end puts the file back and records how the command went.
func (m *memoryFor) end(ctx context.Context, code int) {
	if m.file != "" {
		var err error
		if m.was {
			err = os.WriteFile(m.file, m.base, 0o644)
		} else {
			err = os.Remove(m.file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.wrapper.log("%s is left: %v", m.file, reason(err))
		}
	}
	if !m.record {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewellTime)
	defer cancel()
	c, err := m.wrapper.shell.client()
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := client.Send(ctx, c, episode.Service.Record, m.episode(code)); err != nil {
		m.wrapper.log("not recorded: %s", explain(err))
	}
}

// episode is the run as an episode. The router cuts secrets out of it.
func (m *memoryFor) episode(code int) episode.Draft {
	name := filepath.Base(m.command[0])
	took := m.wrapper.shell.now().Sub(m.began).Round(time.Second)
	draft := episode.Draft{AgentID: m.wrapper.beat.AgentID, Project: m.wrapper.shell.place().WorkProject(m.wrapper.beat.ProjectPath), EventType: "outcome"}
	draft.Folder, draft.Branch = locate.Within(m.wrapper.beat.ProjectPath)
	draft.Title = respond.OneLine(fmt.Sprintf("%s ended with exit code %d", name, code), respond.MaxFailureTitle)
	content := fmt.Sprintf("%s\nexit code %d after %s", respond.OneLine(strings.Join(m.command, " "), respond.MaxFailureCommand), code, took)
	if m.wrapper.beat.CurrentTask != "" {
		content += "\ntask: " + respond.OneLine(m.wrapper.beat.CurrentTask, respond.MaxVerdictText)
	}
	if code != 0 {
		draft.EventType = "error"
	}
	if lines := m.errorLines(); len(lines) > 0 {
		content += "\n\nerrors in " + filepath.Base(m.watch) + ":\n" + strings.Join(lines, "\n")
	}
	draft.Content = content
	return draft
}

// errorLines are the last lines of the watched file that tell of errors and
// were written since the start.
func (m *memoryFor) errorLines() (lines []string) {
	if m.watch == "" {
		return nil
	}
	file, size, err := respond.OpenRegular(m.watch)
	if err != nil {
		return nil
	}
	defer file.Close()
	from := m.size
	if size < from { // begun anew
		from = 0
	}
	from = max(from, size-maxWatched)
	text, err := io.ReadAll(io.NewSectionReader(file, from, size-from))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "\ufffd")) {
		if tellsOfError.MatchString(line) {
			lines = append(lines, respond.OneLine(line, respond.MaxVerdictText))
		}
	}
	return lines[max(0, len(lines)-maxWatchedLines):]
}

// tellsOfError is how programs and agents say that something went wrong.
var tellsOfError = lazyregexp.New(`(?i)\b(?:error|exception|traceback|failed|failure|fatal|panic|cannot|denied|not found)\b`)
