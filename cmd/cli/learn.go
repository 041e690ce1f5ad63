package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/router/client"
)

// learnOptions is what `skillrouter learn` is told.
type learnOptions struct {
	paths      []string
	project    string
	named      bool
	agent      string
	since      time.Duration // 0: all
	dry        bool
	accept     []string
	seen       int
	undo       []string
	forget     bool
	everything bool
}

// ofProject is the flag that says whose all of it is.
func (o *learnOptions) ofProject() boundFlag {
	flag := option("project", &o.project, "project that all of it belongs to (default: by the folder that each session worked in)")
	flag.after = func(flags *pflag.FlagSet) { o.named = flags.Changed("project") }
	return flag
}

// learnedHistory is the outcome of `skillrouter learn`.
type learnedHistory struct {
	Files    int   `json:"files"` // that were found
	Read     int   `json:"read"`  // of these, those with something new
	Bytes    int64 `json:"bytes"`
	Sessions int   `json:"sessions"` // that were read
	history.Learned
	Accepted int              `json:"accepted"`
	Undone   int              `json:"undone"`
	Skipped  records.Skipped  `json:"skipped"`
	Seconds  float64          `json:"seconds"`
	Projects []learnedProject `json:"projects"`
}

// learnedProject is what is known of a project's failures.
type learnedProject struct {
	Project string `json:"project"`
	history.Page
}

// shownIncidents is how many failures of a project are shown, unless all are asked for.
const shownIncidents = 10

func (s *shell) learnCommand() *cobra.Command {
	var o learnOptions
	return s.remote(s.made(command{
		use: "learn [PATH...]", short: "Learn from agents' records of their sessions: what failed again and again, and what worked",
		long: `Reads the records that agents keep of their sessions, and learns from the commands in them.
It learns which failed, how often, in how many sessions, and what worked then. Without PATH it
reads what Claude Code, Codex, Gemini CLI and opencode keep for this user, and only what is new.

Agents are told of it at a start and after a failure. Before a command it warns once it is
accepted. Nothing an assistant said counts, and secrets are cut out.`,
		into: []any{&o.paths},
		flags: options{
			o.ofProject(),
			who("agent", &o.agent, s.agent, "who learns (SKILLROUTER_AGENT)"),
			option("since", &o.since, "only records that were changed in this time, such as 30d or 2w"),
			option("dry-run", &o.dry, "store nothing, and show what would be learned"),
			option("accept", &o.accept, "let the incident of this id warn before a command; may be repeated"),
			option("accept-seen", &o.seen, "let every incident warn that was seen in at least so many sessions and was not declined"),
			option("undo", &o.undo, "take back that the incident of this id warns; may be repeated"),
			option("forget", &o.forget, "delete what was learned of the project, and read nothing"),
			option("all", &o.everything, "show every failure, also those of one session"),
		},
	}, func(ctx context.Context) error { return s.learn(ctx, &o) }))
}

func (s *shell) learn(ctx context.Context, o *learnOptions) error {
	begin := time.Now()
	if o.forget && !o.named {
		return usagef("--forget needs --project")
	}
	if o.seen < 0 {
		return usagef("--accept-seen must be a number of sessions")
	}
	var c *client.Client
	if o.dry { // needs no router, and starts none
		scratch, drop, err := scratchStore(ctx)
		if err != nil {
			return err
		}
		defer drop()
		c = client.Beside(history.New(scratch, learning.Options{}))
		ctx = principal.With(ctx, principal.System())
	} else {
		var err error
		if c, err = s.connect(ctx); err != nil {
			return err
		}
	}
	if o.forget {
		gone, err := client.Send(ctx, c, history.Service.Forget, o.project)
		return printed(s, gone, err, func(w io.Writer, gone history.Forgotten) {
			fmt.Fprintf(w, "Forgot %d failures and %d steps.\n", gone.Incidents, gone.Steps)
		})
	}
	out := learnedHistory{Projects: []learnedProject{}}
	reader, err := s.readHistory(ctx, c, o, &out)
	if err != nil {
		return err
	}
	decide := func(decision history.Decision, changed *int) error {
		if !o.dry { // a dry run knows full ids only
			if err := fullIDs(ctx, c, "incidents", decision.IDs); err != nil {
				return err
			}
		}
		if len(decision.IDs) == 0 && decision.Seen == 0 {
			return nil
		}
		done, err := client.Send(ctx, c, history.Service.Accept, decision)
		*changed += done.Changed
		return err
	}
	if err := decide(history.Decision{IDs: o.undo, Undo: true}, &out.Undone); err != nil {
		return err
	}
	if err := decide(history.Decision{IDs: o.accept}, &out.Accepted); err != nil {
		return err
	}
	for _, project := range slices.Sorted(maps.Keys(reader.Projects)) {
		if err := decide(history.Decision{Project: project, Seen: o.seen}, &out.Accepted); err != nil {
			return err
		}
		filter := history.Filter{Project: project, Sessions: 2, Limit: shownIncidents}
		if o.everything {
			filter.Sessions, filter.Limit = 0, history.MaxLimit
		}
		page, err := client.Send(ctx, c, history.Service.List, filter)
		if err != nil {
			return err
		}
		if page.Sessions > 0 {
			out.Projects = append(out.Projects, learnedProject{project, page})
		}
	}
	out.Seconds = time.Since(begin).Seconds()
	return printed(s, out, nil, printLearned)
}

// learnBy has a router learn, or a service beside it.
func learnBy(c *client.Client) func(ctx context.Context, draft history.Draft) (history.Learned, error) {
	return func(ctx context.Context, draft history.Draft) (history.Learned, error) {
		return client.Send(ctx, c, history.Service.Learn, draft)
	}
}

// readHistory finds records and has them learned.
func (s *shell) readHistory(ctx context.Context, c *client.Client, o *learnOptions, out *learnedHistory) (*records.Learner, error) {
	l := &records.Learner{
		Learn: learnBy(c), Known: map[string]history.Source{}, Project: o.project, Named: o.named, AgentID: o.agent, ProjectOf: s.projectOf(),
	}
	known, err := client.Send(ctx, c, history.Service.Sources, history.SourceFilter{})
	if err != nil {
		return nil, err
	}
	for _, source := range known.Sources {
		l.Known[source.ID] = source
	}
	files, err := s.readRecords(ctx, l, o)
	if err != nil {
		return nil, err
	}
	out.Files, out.Read, out.Bytes, out.Sessions, out.Learned, out.Skipped = files, l.Read, l.Bytes, len(l.Sessions), l.Total, l.Skipped
	return l, nil
}

// readRecords finds and reads records, and returns how many there are.
func (s *shell) readRecords(ctx context.Context, l *records.Learner, o *learnOptions) (files int, err error) {
	paths := o.paths
	if len(paths) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return 0, fmt.Errorf("the home folder is not known: %w", err)
		}
		paths = records.Places(home, s.env)
	}
	since := time.Time{}
	if o.since != 0 {
		since = s.now().Add(-o.since)
	}
	found, err := records.Find(paths, since, &l.Skipped)
	if err != nil {
		return 0, err
	}
	var size int64
	for _, f := range found {
		size += f.Size
	}
	bar := s.bar("reading", size)
	l.Progress = func(n int64) { _ = bar.Add64(n) }
	err = l.All(ctx, found)
	_ = bar.Exit() // a bar that cannot be drawn changes nothing
	if err != nil {
		return 0, saying(err, "the reading broke off; what was learned remains, and it can be run again")
	}
	return len(found), nil
}

// scratchStore is a store in a temporary folder, which drop removes: of a command that keeps nothing.
func scratchStore(ctx context.Context) (_ history.Store, drop func(), err error) {
	dir, err := os.MkdirTemp("", "skillrouter-learn-")
	if err != nil {
		return nil, nil, errs.Wrap(errs.Unavailable, err, "no temporary folder can be made, and what is read must be put somewhere for as long as this takes")
	}
	db, err := database.Open(ctx, dir, "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- db.Commit.Run(running) }()
	return store.New(db.Read, db.Commit), func() {
		stop()
		<-ended
		_ = db.Close()
		_ = os.RemoveAll(dir) // the system clears temporary folders
	}, nil
}

// maxFalse is how many of 1,000 commands that went well a warning may come before, unless somebody says otherwise.
const maxFalse = 1.1

// replayedHistory is the outcome of `skillrouter replay`.
type replayedHistory struct {
	Files    int             `json:"files"`
	PerMille float64         `json:"false_per_1000"` // of 1,000 commands that went well, those that a warning came before
	Skipped  records.Skipped `json:"skipped"`
	Seconds  float64         `json:"seconds"`
	history.Replayed
}

func (s *shell) replayCommand() *cobra.Command {
	var o learnOptions
	most, seen, each := maxFalse, 1, false
	return s.remote(s.made(command{
		use: "replay [PATH...]", short: "Measure on your own records what would have been told before and after the mistakes in them",
		long: `Goes through the records of past sessions, the oldest first. Before each session it has learned
from the earlier ones. It counts which mistakes came back, and which of them memory would
have prevented at the start, after a failure, or by a warning. It also counts warnings before
commands that went well.

Without PATH it reads what agents keep for this user. It needs no router, and stores nothing.
It exits with 1 where no mistake came back, or where warnings bother more often than --max-false.`,
		into: []any{&o.paths},
		flags: options{
			o.ofProject(),
			option("since", &o.since, "only records that were changed in this time, such as 30d or 2w"),
			option("accept-seen", &seen, "let every incident warn that was seen in at least so many sessions; 0: none"),
			option("max-false", &most, "how many of 1,000 commands that went well a warning may come before"),
			option("all", &each, "show every session in which a mistake came back"),
		},
	}, func(ctx context.Context) error {
		begin := time.Now()
		scratch, drop, err := scratchStore(ctx)
		if err != nil {
			return err
		}
		defer drop()
		replay := history.NewReplay(scratch, seen)
		l := &records.Learner{Learn: replay.Session, Complete: true, Known: map[string]history.Source{}, Project: o.project, Named: o.named, ProjectOf: s.projectOf()}
		files, err := s.readRecords(ctx, l, &o)
		if err != nil {
			return err
		}
		out := replayedHistory{Files: files, Skipped: l.Skipped, Seconds: time.Since(begin).Seconds(), Replayed: replay.Replayed}
		out.PerMille = 1000 * float64(out.Total.False) / float64(max(1, out.Total.Fine))
		return s.printOr(out.Total.Repeats == 0 || out.PerMille > most, out, func(w io.Writer) {
			printReplayed(w, out)
			if each {
				tableOf(w, "session_id project repeats=CAME_BACK named answered warned false saved=CALLS", "", out.Each)
			}
		})
	}))
}

var printReplayed = page[replayedHistory](`
{{- with .Total}}Replayed {{$.Sessions}} sessions of {{$.Files}} records: {{.Commands}} commands, {{.Mistakes}} mistakes, {{.Repeats}} of them made in an earlier session too.
{{- if .Repeats}}

Would have been:
{{- range .Shares}}
{{printf "%6d of %-6d" .Part .Of}} {{.Name}}
{{- end}}

Warnings before commands that went well: {{printf "%.3g" $.PerMille}} of 1,000. Calls between these failures and what mended them again: {{.Saved}}.
{{- end}}
{{- end}}`)

// projectOf is the project of a folder that an agent worked in, each folder looked at once.
func (s *shell) projectOf() func(dir string) string {
	known := map[string]string{}
	place := locate.Place{LookupEnv: s.lookupEnv}
	return func(dir string) string {
		project, found := known[dir]
		if !found && dir != "" {
			project = place.WorkProject(dir)
			known[dir] = project
		}
		return project
	}
}

var printLearned = page[learnedHistory](`Read {{.Read}} of {{.Files}} records: {{.Steps}} commands, {{.Failures}} mistakes, {{.Repeats}} of them made in an earlier session too.
{{- with .Skipped}}
{{- if or .Links .Foreign .Unread}}
Passed over: {{.Links}} links, {{.Foreign}} files of other users, {{.Unread}} that cannot be read.
{{- end}}
{{- end}}
{{- range .Projects}}

{{or .Project "(no project)"}}: {{.Sessions}} sessions: {{.Recurring}} failures came back, {{.Times}} times in all.
{{- range .Incidents}}
- {{.Program}}: {{.Example}}
  {{short .ID}}: {{.Count}} times in {{.Sessions}} sessions{{if .Accepted}}, warns{{end}}
{{- range head .Fixes}}
{{- range .Steps}}
    before: {{.}}
{{- end}}
    worked {{.Worked}} times
{{- if .Failed}}, failed {{.Failed}}{{end}}
{{- if .Risky}}, never offered: it deletes or forces
{{- else if and .Foreign (not .Person)}}, offered after a person accepts this id: it {{.Foreign}}
{{- end}}
{{- with .By}}, learned of {{.}}{{end}}: {{.Command}}
{{- end}}
{{- if .Edits}}
    went through {{.Edits}} times after edits
{{- end}}
{{- range head .Others}}
    failed too ({{.Count}} times): {{.Command}}
{{- end}}
{{- end}}
{{- end}}
{{- if .Accepted}}

{{.Accepted}} may warn before a command now.
{{- end}}
{{- if .Undone}}

{{.Undone}} warn no more.
{{- end}}`)

func (s *shell) briefCommand() *cobra.Command {
	var query history.BriefQuery
	return s.does(command{
		use: "brief", short: "Show in five lines what fails in a project again and again, and what works", do: history.Service.Brief, in: &query, hides: "folder",
		before: func() error {
			if query.Project == s.project() { // the working folder is not another project's
				query.Folder = workTree()
			}
			return nil
		},
		says: `{{lines "" .Text}}`,
	})
}
