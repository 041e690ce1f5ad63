package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/learning/share"
	"github.com/skillrouter/skillrouter/router/client"
)

// sharing is what `skillrouter share` did, without a word of what waits: agents read it.
type sharing struct {
	Files   []string `json:"files"`   // that were written
	Retired []string `json:"retired"` // in which it now stands that their entry is retired
	Waiting int      `json:"waiting"` // for a person's review
	Refused int      `json:"refused"` // files that cannot be taken
}

// sharedAt is a project's shared memory, and what the router knows of it.
type sharedAt struct {
	dir     *folder.Dir
	project string
	present folder.Shared
	known   map[string]share.Known
}

// waiting is an entry that a person has not seen as it is.
type waiting struct {
	News share.News
	File folder.SharedFile
}

// shownWaiting is what the person is shown of it.
type shownWaiting struct {
	waiting
	Place  string
	Known  share.Known
	Origin folder.Origin
}

func (s *shell) shareCommand() *cobra.Command {
	var ids []string
	cmd := s.calls(command{
		use: "share [ID...]", short: "Share entries, decisions and lessons by the project's git", into: []any{&ids},
		long: `Writes entries, decisions and lessons of this project to ` + folder.SharedPlace + `, a file
for each, for you to commit. Whoever pulls them reviews them with "share review".

Without an ID it brings the files in step: of an entry that was deleted here, the
file says so from then on. It tells how many entries of others wait for a review.`,
	}, func(ctx context.Context, c *client.Client) error {
		at, err := s.sharedHere(ctx, c)
		if err != nil {
			return err
		}
		defer at.dir.Close()
		done := sharing{Files: []string{}}
		if len(ids) > 0 {
			if done.Files, err = s.share(ctx, c, at, ids); err != nil {
				return err
			}
			if at, err = s.sharedHere(ctx, c); err != nil {
				return err
			}
			defer at.dir.Close()
		}
		if done.Retired, err = s.retireShared(at); err != nil {
			return err
		}
		done.Waiting, done.Refused = len(at.waiting(len(ids) == 0)), len(at.present.Refused)
		return printed(s, done, nil, printSharing)
	})
	cmd.AddCommand(s.shareReview())
	return cmd
}

var printSharing = page[sharing](`
{{- range .Files}}
written  {{.}}
{{- end}}
{{- range .Retired}}
retired  {{.}}
{{- end}}
{{- if or .Files .Retired}}
Commit them: git add ` + folder.SharedPlace + ` && git commit
{{- end}}
{{- if .Waiting}}
{{count .Waiting "change"}} of others: skillrouter share review, in your own terminal
{{- end}}
{{- if .Refused}}
{{count .Refused "file"}} cannot be taken: skillrouter share review names them
{{- end}}
{{- if not (or .Files .Retired .Waiting .Refused)}}Nothing is new. Share an entry with: skillrouter share ID{{end}}`)

// sharedHere opens the shared memory of the repository that is worked in.
func (s *shell) sharedHere(ctx context.Context, c *client.Client) (*sharedAt, error) {
	root := locate.RepositoryOf(workingFolder())
	if root == "" {
		return nil, errs.Errorf(errs.Invalid, "this folder is in no git repository, and memory is shared by one: git init, or go to the project's folder")
	}
	dir, err := folder.Open(root, false)
	if err != nil {
		return nil, err
	}
	at := &sharedAt{dir: dir, project: s.project(), known: map[string]share.Known{}}
	if at.present, err = dir.ReadShared(); err == nil {
		err = at.know(ctx, c)
	}
	if err != nil {
		dir.Close()
	}
	return at, err
}

// know asks the router what it knows of the project's shared entries.
func (at *sharedAt) know(ctx context.Context, c *client.Client) error {
	rows, err := client.Send(ctx, c, share.Service.Known, at.project)
	for _, row := range rows {
		at.known[row.ID] = row
	}
	return err
}

// share writes the files of entries.
func (s *shell) share(ctx context.Context, c *client.Client, at *sharedAt, ids []string) (files []string, err error) {
	for i, id := range ids {
		for _, kind := range []string{"knowledge", "lessons", "episodes"} {
			if ids[i] == id {
				if ids[i], err = fullID(ctx, c, kind, id); err != nil {
					return nil, err
				}
			}
		}
	}
	entries, err := client.Send(ctx, c, share.Service.Share, share.Request{IDs: ids, Project: at.project})
	for _, e := range entries {
		name, err := at.dir.WriteShared(e, at.present)
		if err != nil {
			return files, err
		}
		files = append(files, name)
	}
	return files, err
}

// retireShared writes into the files of entries that were deleted here that they are retired. A file that others changed
// meanwhile stays as it is, and waits for a person.
func (s *shell) retireShared(at *sharedAt) (files []string, err error) {
	files = []string{}
	for i, f := range at.present.Files {
		if known := at.known[f.Entry.ID]; !known.Held || !known.Gone || known.Hash != f.Entry.Hash() || f.Entry.Retired != nil {
			continue
		}
		e := f.Entry
		e.Retired = new(s.now().UTC().Truncate(time.Second))
		if _, err := at.dir.WriteShared(e, at.present); err != nil {
			return files, err
		}
		at.present.Files[i].Entry = e
		files = append(files, f.Path)
	}
	return files, nil
}

// deletedShared brings the shared files in step after something was deleted, where the project has any. Its failure is no
// failure of the deletion.
func (s *shell) deletedShared(ctx context.Context, c *client.Client) {
	if _, err := os.Stat(filepath.Join(locate.RepositoryOf(workingFolder()), folder.SharedPlace)); err != nil {
		return // it is no project that shares
	}
	at, err := s.sharedHere(ctx, c)
	if err != nil {
		return // the next `skillrouter share` says what is wrong
	}
	defer at.dir.Close()
	if files, err := s.retireShared(at); err != nil {
		fmt.Fprintf(s.err, "skillrouter: its shared file was not changed: %s\n", harmless(explain(err)))
	} else {
		for _, name := range files {
			fmt.Fprintf(s.err, "skillrouter: %s says now that it is retired; commit it\n", clean(name))
		}
	}
}

// waiting lists what a person has not seen, the entries whose file is gone last.
func (at *sharedAt) waiting(missing bool) (list []waiting) {
	for _, f := range at.present.Files {
		known := at.known[f.Entry.ID]
		if news := known.NewsOf(&f.Entry); news != "" {
			list = append(list, waiting{news, f})
		}
	}
	for _, id := range sorted(at.known) {
		known := at.known[id]
		if news := known.NewsOf(nil); missing && news != "" && known.Held && at.present.Missing(id) {
			list = append(list, waiting{news, folder.SharedFile{Path: known.Path, Entry: share.Entry{ID: id, Kind: known.Kind}}})
		}
	}
	return list
}

func (s *shell) shareReview() *cobra.Command {
	var branch string
	var all bool
	return s.calls(command{
		use: "review", short: "Read what others shared, and accept or decline it; in your own terminal",
		long: `Shows each entry that others shared or changed, with its commit and that commit's
author, and asks whether agents may be told of it. An answer holds for what the
entry says: whoever changes it has you asked again.

An accepted entry counts as imported. An accepted lesson is a candidate, which
nothing is built on until somebody confirms it. Nothing of it becomes a rule.

It reads the files of the working tree, or with --branch NAME what that branch has
committed. With --all it asks once for all of them, which needs a branch: the
files of a fork or of a pull request that you looked at are none of it.`,
		flags: options{
			option("branch", &branch, "read what this branch has committed, and not the working tree; such as main or origin/main"),
			option("all", &all, "ask once for all that the branch has"),
		},
		before: func() error {
			if all && branch == "" {
				return usagef("--all needs --branch NAME: of the working tree you accept each entry by itself")
			}
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		if s.json || !isTerminal(s.in) || !isTerminal(s.out) || s.env("SKILLROUTER_AGENT") != "" || s.place().SessionHere() != "" {
			return errs.Errorf(errs.Forbidden, "only a person reviews what others shared: give the command in a terminal of your own")
		}
		if _, err := client.Send(ctx, c, share.Service.Decide, share.Decision{}); err != nil { // before anything is read
			return err
		}
		at, err := s.sharedHere(ctx, c)
		if err != nil {
			return err
		}
		defer at.dir.Close()
		if branch != "" {
			if at.present, err = at.dir.ReadBranch(ctx, branch); err != nil {
				return err
			}
		} else if at.present.Commit, err = at.dir.SharedHead(ctx); err != nil {
			return err
		}
		return s.review(ctx, c, at, all)
	})
}

// review shows what waits, and does as the person says.
func (s *shell) review(ctx context.Context, c *client.Client, at *sharedAt, all bool) error {
	list := at.waiting(true)
	refused := "{{range .}}refused   {{.Path}}: {{.Why}}\n{{end}}"
	if len(list) == 0 {
		refused += "Nothing waits for you."
	}
	if err := printed(s, at.present.Refused, nil, page[[]folder.Trouble](refused)); err != nil {
		return err
	}
	answers := bufio.NewReader(s.in)
	var accepted []share.Answer
	for i, one := range list {
		origin, err := at.dir.SharedOrigin(ctx, at.present.Commit, one.File)
		if err != nil {
			return err
		}
		answer := share.Answer{Entry: one.File.Entry, Path: one.File.Path, Commit: origin.Commit, Author: clean(origin.Author), Gone: one.News == share.NewsMissing}
		shown := shownWaiting{one, fmt.Sprintf("%d of %d", i+1, len(list)), at.known[one.File.Entry.ID], origin}
		if err := s.print(nil, func(w io.Writer) { fmt.Fprintln(w); printWaiting(w, shown) }); err != nil {
			return err
		}
		if all {
			accepted = append(accepted, answer)
			continue
		}
		question := "Accept it"
		if answer.Gone || answer.Entry.Retired != nil {
			question = "Delete it here too"
		}
		switch said, err := s.askWord(answers, question+"? [y]es, [n]o and do not ask again, [s]kip, [q]uit: "); {
		case err != nil || said == "q":
			return err
		case said == "y" || said == "n":
			answer.Accept = said == "y"
			if err := s.decide(ctx, c, at.project, answer); err != nil {
				return err
			}
		}
	}
	if len(accepted) == 0 {
		return nil
	}
	said, err := s.askWord(answers, fmt.Sprintf("Accept all %d, as commit %.12s has them? [y/N] ", len(accepted), at.present.Commit))
	if err != nil || said != "y" {
		return err
	}
	for part := range slices.Chunk(accepted, 20) { // some megabytes at the most
		for i := range part {
			part[i].Accept = true
		}
		if err := s.decide(ctx, c, at.project, part...); err != nil {
			return err
		}
	}
	return nil
}

// askWord asks a person, and returns the first letter of the answer; "q" at the end of input.
func (s *shell) askWord(from *bufio.Reader, question string) (string, error) {
	fmt.Fprint(s.err, question)
	line, err := from.ReadString('\n')
	if err == io.EOF {
		return "q", nil
	}
	line = strings.ToLower(strings.TrimSpace(line))
	return line[:min(len(line), 1)], err
}

func (s *shell) decide(ctx context.Context, c *client.Client, project string, answers ...share.Answer) error {
	outcomes, err := client.Send(ctx, c, share.Service.Decide, share.Decision{Project: project, Answers: answers})
	return printed(s, outcomes, err, page[[]share.Outcome]("{{range .}}{{.Became}}  {{.ID}}{{with .Reason}}: {{.}}{{end}}\n{{end}}"))
}

// printWaiting shows an entry whole. Every line of the text is indented: none can imitate what stands around it.
var printWaiting = page[shownWaiting](`
{{.Place}}: {{.News}} {{.File.Entry.Kind}}, {{or .File.Path .File.Entry.ID}}
{{- with .File.Entry}}
{{- with .Title}}
title: {{.}}
{{- end}}
commit: {{with $.Origin}}{{if .Commit}}{{printf "%.12s" .Commit}} of {{date .At}} by {{.Author}}{{else}}not committed as it is here{{end}}{{end}}
{{- with .Author}}
author, as it says: {{.}}
{{- end}}
{{- with .Supersedes}}
in place of: {{.}}
{{- end}}
{{- if not .Created.IsZero}}
created: {{date .Created}}
{{- end}}
{{- with .Retired}}
retired: {{date .}}
{{- end}}
{{- end}}
{{- if .Known.Hash}}
you have: what it said on {{date .Known.At}}
{{- end}}
{{- if eq .News "missing"}}
Its file is not there any more.
{{- end}}
{{indent .File.Entry.Text}}`)
