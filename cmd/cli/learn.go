package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter/cmd/locate"
	"skillrouter/cmd/records"
	"skillrouter/internal/database"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/history"
	"skillrouter/learning/store"
	"skillrouter/router/client"
)

// learnOptions is what `skillrouter learn` is told.
type learnOptions struct {
	paths      []string
	project    string
	named      bool
	agent      string
	since      string
	dry        bool
	accept     []string
	seen       int
	undo       []string
	forget     bool
	everything bool
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
	project := option("project", &o.project, "project that all of it belongs to (default: by the folder that each session worked in)")
	project.after = func(flags *pflag.FlagSet) { o.named = flags.Changed("project") }
	return s.remote(s.made(command{
		use: "learn [PATH...]", short: "Learn from agents' records of their sessions: what failed again and again, and what worked",
		long: `Reads the records that agents keep of their sessions, and learns from the commands in them.
It learns which failed, how often, in how many sessions, and what worked then. Without PATH it
reads what Claude Code, Codex, Gemini CLI and opencode keep for this user, and only what is new.

Agents are told of it at a start and after a failure. Before a command it warns once it is
accepted. Nothing an assistant said counts, and secrets are cut out.`,
		args: listed(cobra.ArbitraryArgs, &o.paths),
		flags: options{
			project,
			who("agent", &o.agent, s.agent, "who learns (SKILLROUTER_AGENT)"),
			option("since", &o.since, "only records that were changed in this time, such as 30d or 720h"),
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
	var incidents recordedFailures
	if o.dry { // needs no router, and starts none
		scratch, drop, err := scratchStore(ctx)
		if err != nil {
			return err
		}
		defer drop()
		incidents = history.New(scratch, learning.Options{})
		ctx = principal.With(ctx, principal.System())
	} else {
		var err error
		if c, err = s.connect(ctx); err != nil {
			return err
		}
		incidents = c.Incidents
	}
	if o.forget {
		gone, err := incidents.Forget(ctx, o.project)
		return printed(s, gone, err, func(w io.Writer, gone history.Forgotten) {
			fmt.Fprintf(w, "Forgot %d failures and %d steps.\n", gone.Incidents, gone.Steps)
		})
	}
	out := learnedHistory{Projects: []learnedProject{}}
	reader, err := s.readHistory(ctx, incidents, o, &out)
	if err != nil {
		return err
	}
	for _, ids := range [][]string{o.undo, o.accept} {
		if c == nil {
			break // a dry run knows full ids only
		}
		if err := fullIDs(ctx, c, "incidents", ids); err != nil {
			return err
		}
	}
	if len(o.undo) > 0 {
		done, err := incidents.Accept(ctx, history.Decision{IDs: o.undo, Undo: true})
		if err != nil {
			return err
		}
		out.Undone = done.Changed
	}
	if len(o.accept) > 0 {
		done, err := incidents.Accept(ctx, history.Decision{IDs: o.accept})
		if err != nil {
			return err
		}
		out.Accepted += done.Changed
	}
	for _, project := range slices.Sorted(maps.Keys(reader.Projects)) {
		if o.seen > 0 {
			done, err := incidents.Accept(ctx, history.Decision{Project: project, Seen: o.seen})
			if err != nil {
				return err
			}
			out.Accepted += done.Changed
		}
		filter := history.Filter{Project: project, Sessions: 2, Limit: shownIncidents}
		if o.everything {
			filter.Sessions, filter.Limit = 0, history.MaxLimit
		}
		page, err := incidents.List(ctx, filter)
		if err != nil {
			return err
		}
		if page.Sessions > 0 {
			out.Projects = append(out.Projects, learnedProject{project, page})
		}
	}
	out.Seconds = time.Since(begin).Seconds()
	return s.print(out, func(w io.Writer) { printLearned(w, &out) })
}

// recordedFailures is what learning asks of a router's history.Service, or of one of its own.
type recordedFailures interface {
	Learn(ctx context.Context, draft history.Draft) (history.Learned, error)
	Sources(ctx context.Context, filter history.SourceFilter) (history.SourcePage, error)
	List(ctx context.Context, filter history.Filter) (history.Page, error)
	Accept(ctx context.Context, decision history.Decision) (history.Decided, error)
	Forget(ctx context.Context, project string) (history.Forgotten, error)
}

// readHistory finds records and has them learned.
func (s *shell) readHistory(ctx context.Context, incidents recordedFailures, o *learnOptions, out *learnedHistory) (*records.Learner, error) {
	l := &records.Learner{
		Learn: incidents.Learn, Known: map[string]history.Source{}, Project: o.project, Named: o.named, AgentID: o.agent, ProjectOf: s.projectOf(),
	}
	known, err := incidents.Sources(ctx, history.SourceFilter{})
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
	if o.since != "" {
		back, err := lengthOf(o.since)
		if err != nil {
			return 0, err
		}
		since = s.now().Add(-back)
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
	project := option("project", &o.project, "project that all of it belongs to (default: by the folder that each session worked in)")
	project.after = func(flags *pflag.FlagSet) { o.named = flags.Changed("project") }
	return s.remote(s.made(command{
		use: "replay [PATH...]", short: "Measure on your own records what would have been told before and after the mistakes in them",
		long: `Goes through the records of past sessions, the oldest first. Before each session it has learned
from the earlier ones. It counts which mistakes came back, and which of them memory would
have prevented at the start, after a failure, or by a warning. It also counts warnings before
commands that went well.

Without PATH it reads what agents keep for this user. It needs no router, and stores nothing.
It exits with 1 where no mistake came back, or where warnings bother more often than --max-false.`,
		args: listed(cobra.ArbitraryArgs, &o.paths),
		flags: options{
			project,
			option("since", &o.since, "only records that were changed in this time, such as 30d or 720h"),
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
		return s.printOr(out.Total.Repeats == 0 || out.PerMille > most, out, func(w io.Writer) { printReplayed(w, &out, each) })
	}))
}

func printReplayed(w io.Writer, out *replayedHistory, each bool) {
	t := &out.Total
	fmt.Fprintf(w, "Replayed %d sessions of %d records: %d commands, %d mistakes, %d of them made in an earlier session too.\n", out.Sessions, out.Files, t.Commands, t.Mistakes, t.Repeats)
	if t.Repeats == 0 {
		return
	}
	fmt.Fprintln(w)
	var shares [][]string
	for _, share := range t.Shares() {
		shares = append(shares, []string{share.Name, fmt.Sprintf("%d of %d", share.Part, share.Of), fmt.Sprintf("%.3g %%", 100*share.Share)})
	}
	shares[len(shares)-1][2] = fmt.Sprintf("%.3g of 1,000", out.PerMille)
	table(w, []string{"would have been", "", ""}, shares)
	fmt.Fprintf(w, "\nCalls between these failures and what mended them again: %d. The start has %.1f lines.\n", t.Saved, float64(out.Lines)/float64(max(1, out.Sessions)))
	if !each {
		return
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, r := range out.Each {
		if r.Repeats > 0 {
			rows = append(rows, []string{r.Session, r.Project, strconv.Itoa(r.Repeats), strconv.Itoa(r.Named), strconv.Itoa(r.Answered), strconv.Itoa(r.Warned), strconv.Itoa(r.False), strconv.Itoa(r.Saved)})
		}
	}
	table(w, []string{"session", "project", "came back", "named", "answered", "warned", "false", "calls"}, rows)
}

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

func printLearned(w io.Writer, out *learnedHistory) {
	fmt.Fprintf(w, "Read %d of %d records: %d commands, %d mistakes, %d of them made in an earlier session too.\n", out.Read, out.Files, out.Steps, out.Failures, out.Repeats)
	if n := out.Skipped.Links + out.Skipped.Foreign + out.Skipped.Unread; n > 0 {
		fmt.Fprintf(w, "Passed over: %d links, %d files of other users, %d that cannot be read.\n", out.Skipped.Links, out.Skipped.Foreign, out.Skipped.Unread)
	}
	for _, p := range out.Projects {
		fmt.Fprintf(w, "\n%s: %d sessions: %d failures came back, %d times in all.\n", clean(cmp.Or(p.Project, "(no project)")), p.Sessions, p.Recurring, p.Times)
		for _, i := range p.Incidents {
			printIncident(w, &i)
		}
	}
	if out.Accepted > 0 {
		fmt.Fprintf(w, "\n%d may warn before a command now.\n", out.Accepted)
	}
	if out.Undone > 0 {
		fmt.Fprintf(w, "\n%d warn no more.\n", out.Undone)
	}
}

func printIncident(w io.Writer, i *history.Incident) {
	mark := ""
	if i.Accepted {
		mark = ", warns"
	}
	fmt.Fprintf(w, "- %s: %s\n  %s: %d times in %d sessions%s\n", clean(i.Program), clean(i.Example), shortID(i.ID), i.Count, i.Sessions, mark)
	for k, f := range i.Fixes {
		if k == 2 {
			break
		}
		worked := fmt.Sprintf("worked %d times", f.Worked)
		if f.Failed > 0 {
			worked += fmt.Sprintf(", failed %d", f.Failed)
		}
		if f.Risky {
			worked += ", never offered: it deletes or forces"
		} else if f.Foreign != "" && !f.Person {
			worked += ", offered after a person accepts this id: it " + f.Foreign
		}
		if len(f.By) > 0 {
			worked += ", learned of " + clean(strings.Join(f.By, ", "))
		}
		for _, step := range f.Steps {
			fmt.Fprintf(w, "    before: %s\n", clean(step))
		}
		fmt.Fprintf(w, "    %s: %s\n", worked, clean(f.Command))
	}
	if i.Edits > 0 {
		fmt.Fprintf(w, "    went through %d times after edits\n", i.Edits)
	}
	for k, a := range i.Others {
		if k == 2 {
			break
		}
		fmt.Fprintf(w, "    failed too (%d times): %s\n", a.Count, clean(a.Command))
	}
}

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
		show: func(w io.Writer, brief history.Brief) {
			for line := range strings.Lines(brief.Text) {
				fmt.Fprintln(w, clean(strings.TrimSuffix(line, "\n")))
			}
		},
	})
}
