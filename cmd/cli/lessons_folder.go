package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/internal/check"
	"skillrouter/learning/folder"
	"skillrouter/learning/lesson"
	"skillrouter/router/client"
)

// lessonsFolder is the commands on a lessons folder and on files of notes.
func (s *shell) lessonsFolder() []*cobra.Command {
	return []*cobra.Command{
		s.lessonsSync("export DIR", folder.ToFolder, "Write the router's lessons to a folder of Markdown files",
			`Writes each lesson to its file in DIR/cases, DIR/patterns or DIR/principles, and
the index beside them. A file that was changed since both sides last agreed is
left as it is, and named. A file that was deleted is written again.`),
		s.lessonsImport(),
		s.lessonsSync("sync DIR", folder.Both, "Bring a folder of lessons and the router together, both ways",
			`Takes what changed in the folder to the router, and what changed in the router to
the folder. What changed on both sides is named, and neither side is touched,
unless --prefer says which one holds. A deleted file deletes no lesson: it is
named, and with --retire the lesson is retired. What both sides agreed on is
remembered in DIR/.skillrouter-sync.json. The exit code is 1 if anything was
refused or is in conflict.`),
		s.lessonsIndex(),
	}
}

// syncFlags are the flags that exporting, importing and syncing share.
func syncFlags(settings *folder.Settings) options {
	flags := options{
		option("prefer", (*string)(&settings.Prefer), "which side holds where both changed: "+names(folder.Preferences())),
		option("dry-run", &settings.DryRun, "say what would be done, and do nothing"),
	}
	if settings.Direction != folder.ToFolder {
		flags = append(flags,
			option("retire", &settings.Retire, "retire lessons whose file was deleted, or says retired"),
			option("domain", &settings.Domain, "domain of lessons that say none (default: that of the last time, else "+folder.DefaultDomain+")"))
	}
	return flags
}

func checkPreference(prefer folder.Preference) error {
	if prefer == "" {
		return nil
	}
	if err := check.OneOf("--prefer", prefer, folder.Preferences()); err != nil {
		return usagef("%s", explain(err))
	}
	return nil
}

// syncFolder brings the folder and the router together, and prints what came of it.
func (s *shell) syncFolder(ctx context.Context, c *client.Client, name string, settings folder.Settings) error {
	dir, err := folder.Open(name, settings.Direction == folder.ToFolder && !settings.DryRun)
	if err != nil {
		return err
	}
	defer dir.Close()
	result, err := folder.Sync(ctx, dir, c.Lessons, settings, s.now())
	if err != nil && len(result.Counts) == 0 {
		return err
	}
	printed := s.printOr(err == nil && result.Open(), result, func(w io.Writer) { printSynced(w, result) })
	if err != nil {
		return saying(err, "it broke off; what was done remains, and it can be repeated")
	}
	return printed
}

func (s *shell) lessonsSync(use string, direction folder.Direction, short, long string) *cobra.Command {
	settings := folder.Settings{Direction: direction}
	var name string
	return s.calls(command{
		use: use, short: short, long: long, args: exactly(&name), flags: syncFlags(&settings),
		before: func() error { return checkPreference(settings.Prefer) },
	}, func(ctx context.Context, c *client.Client) error { return s.syncFolder(ctx, c, name, settings) })
}

func (s *shell) lessonsImport() *cobra.Command {
	settings := folder.Settings{Direction: folder.ToRouter}
	var name string
	var update bool
	return s.calls(command{
		use: "import DIR|NOTES.md", short: "Take a folder of lessons, or a file of free notes, to the router", args: exactly(&name),
		long: `Takes the lessons of a folder to the router as "sync" does, and changes nothing
in the folder but what it remembers of the agreement.

A file is read as free Markdown notes: a heading with text below it is a lesson,
and labels such as Symptom, Cause, Fix and Prevention say what its parts are. What
could not be read is listed with its line. "-" reads standard input. Importing
the same notes again makes no doubles; --update takes changed texts. The exit
code is 1 if anything was refused or is in conflict.`,
		flags: append(syncFlags(&settings), option("update", &update, "of notes: take their text where the router's differs")),
	}, func(ctx context.Context, c *client.Client) error {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			if err := checkPreference(settings.Prefer); err != nil {
				return err
			}
			return s.syncFolder(ctx, c, name, settings)
		}
		return s.importNotes(ctx, c, name, settings, update)
	})
}

func (s *shell) importNotes(ctx context.Context, c *client.Client, name string, settings folder.Settings, update bool) error {
	text, err := s.read(name, folder.MaxNotes)
	if err != nil {
		return err
	}
	notes, err := folder.ReadNotes(text, settings.Domain)
	if err != nil {
		return err
	}
	result, err := folder.ImportNotes(ctx, c.Lessons, notes, update, settings.DryRun)
	if err != nil {
		return saying(err, "it broke off; what was stored remains, and it can be repeated")
	}
	bad := result.Counts[folder.ActionRefused]+result.Counts[folder.ActionConflict] > 0
	return s.printOr(bad, result, func(w io.Writer) { printNotes(w, result) })
}

func (s *shell) lessonsIndex() *cobra.Command {
	type indexed struct {
		folder.Stats
		Written bool             `json:"written"`
		Refused []folder.Trouble `json:"refused"`
	}
	var name string
	return s.local(command{
		use: "index DIR", short: "Write the index of a folder of lessons anew", args: exactly(&name),
		long: `Reads every lesson's file of DIR and writes DIR/index.json, unless it says the
same already. It needs no router.`,
	}, func(context.Context) error {
		dir, err := folder.Open(name, false)
		if err != nil {
			return err
		}
		defer dir.Close()
		scan, err := dir.Scan("")
		if err != nil {
			return err
		}
		index := dir.Index(scan.Files, s.now())
		written, err := dir.WriteIndex(index)
		if err != nil {
			return err
		}
		return s.printOr(len(scan.Refused) > 0, indexed{index.Stats, written, scan.Refused}, func(w io.Writer) {
			of := index.Stats.ByLevel
			fmt.Fprintf(w, "%s: %s, %s, %s", plural(index.Stats.Total, "lesson"), plural(of.Case, "case"), plural(of.Pattern, "pattern"), plural(of.Principle, "principle"))
			if !written {
				fmt.Fprint(w, "; the index said so already")
			}
			fmt.Fprintln(w)
			for _, r := range scan.Refused {
				fmt.Fprintf(w, "refused   %s: %s\n", clean(r.Path), clean(r.Why))
			}
		})
	})
}

// actionWords says what became, or would become, of so many lessons.
var actionWords = []struct {
	action      folder.Action
	done, would string
}{
	{folder.ActionReport, "taken to the router", "would be taken to the router"},
	{folder.ActionEdit, "changed in the router", "would be changed in the router"},
	{folder.ActionWrite, "written to the folder", "would be written to the folder"},
	{folder.ActionRetire, "retired", "would be retired"},
	{folder.ActionAgreed, "the same on both sides", "the same on both sides"},
	{folder.ActionLeft, "left as they are", "left as they are"},
	{folder.ActionDeleted, "without their file", "without their file"},
	{folder.ActionConflict, "in conflict", "in conflict"},
	{folder.ActionRefused, "refused", "refused"},
}

// tally is the counts of actions in one line.
func tally(counts map[folder.Action]int, dryRun bool) string {
	var parts []string
	for _, a := range actionWords {
		if n := counts[a.action]; n > 0 {
			words := a.done
			if dryRun {
				words = a.would
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	if len(parts) == 0 {
		return "there are no lessons"
	}
	return strings.Join(parts, ", ")
}

func printSynced(w io.Writer, result folder.Result) {
	fmt.Fprintln(w, tally(result.Counts, result.DryRun))
	listed := map[folder.Action]int{}
	for _, step := range result.Steps {
		routine := step.Action == folder.ActionReport || step.Action == folder.ActionWrite
		if listed[step.Action]++; routine && len(step.Notes) == 0 && listed[step.Action] > maxListed {
			continue
		}
		name := first(step.Path, step.ID)
		if step.Path != "" && step.ID != "" && !strings.Contains(step.Path, step.ID) {
			name += " (" + step.ID + ")"
		}
		fmt.Fprintf(w, "%-9s %s", step.Action, clean(name))
		printIf(w, ": %s", step.Why)
		fmt.Fprintln(w)
		for _, note := range step.Notes {
			fmt.Fprintf(w, "          %s\n", clean(note))
		}
	}
	for _, action := range []folder.Action{folder.ActionReport, folder.ActionWrite} {
		if more := listed[action] - maxListed; more > 0 {
			fmt.Fprintf(w, "… and %d more to %s; --json lists them all\n", more, action)
		}
	}
	for _, skipped := range result.Skipped {
		fmt.Fprintf(w, "skipped   %s: %s\n", clean(skipped.Path), clean(skipped.Why))
	}
	for _, note := range result.Notes {
		fmt.Fprintln(w, clean(note))
	}
}

func printNotes(w io.Writer, result folder.NotesResult) {
	fmt.Fprintln(w, tally(result.Counts, result.DryRun))
	for _, step := range result.Steps {
		fmt.Fprintf(w, "%-9s lines %d–%d: %s", step.Action, step.Line, step.Last, clean(step.Title))
		printIf(w, " (%s)", step.Why)
		fmt.Fprintln(w)
		for _, note := range step.Notes {
			fmt.Fprintf(w, "          %s\n", clean(note))
		}
	}
	if len(result.Unread) > 0 {
		fmt.Fprintf(w, "\n%s in no lesson:\n", plural(len(result.Unread), "line"))
	}
	for _, u := range result.Unread {
		fmt.Fprintf(w, "line %d %s: %s\n", u.Line, clean(u.Why), clean(u.Text))
	}
}

// asker is the router's lessons, for a shortlist that may do without: nil if
// not even its address is known.
func (s *shell) asker() lesson.Service {
	c, err := s.client()
	if err != nil {
		return nil
	}
	return c.Lessons
}
