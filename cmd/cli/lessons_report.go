package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/learning/lesson"
	"skillrouter/router/client"
)

// maxLessonFile bounds a file of lessons, in bytes: what the router takes in one call.
const maxLessonFile = 32 << 20

func (s *shell) lessonsReport() *cobra.Command {
	var draft lesson.Draft
	var title *string
	var file string
	return s.calls(command{
		use: "add TITLE --type TYPE --domain DOMAIN | add --file FILE", aliases: []string{"report"}, short: "Report a lesson, or a file of them", args: perhaps(&title),
		long: `Reports what was learned. The same lesson again counts as another occurrence.

  skillrouter lessons add "Never prune volumes on prod" --type anti_pattern --domain docker \
      --severity critical --command "docker volume prune" --instead "docker volume rm NAME"

With --file, reports every lesson of a file: a JSON array, or one JSON object a line.
The names are those of POST /lessons/report; "-" reads standard input. Flags stand for
what a lesson there leaves out: --type, --domain, --category, --severity, --tag,
--project, --confidence and --agent. For each anti_pattern there are --proposed,
--block and --force.
Lessons that are refused are listed by their place and stop nothing; the exit
code is then 1.`,
		flags: append(s.flags(&draft, "id", "type", "domain", "category", "context", "action", "outcome", "root-cause", "solution", "instead", "severity", "tag", "agent",
			"related-file", "command", "trigger", "block", "proposed", "force", "project", "confidence"),
			option("file,f", &file, "file of lessons; - is standard input"),
		),
		before: func() error {
			switch {
			case file != "" && title != nil:
				return usagef("give a TITLE or --file, not both")
			case file == "" && title == nil:
				return usagef("a TITLE is needed, or --file")
			case file != "" && (first(draft.Context, draft.Action, draft.Outcome, draft.RootCause, draft.Solution, draft.TriggerPattern, draft.ID) != "" ||
				len(draft.Alternatives)+len(draft.RelatedCommands)+len(draft.RelatedFiles) > 0):
				return usagef("what one lesson alone can say (--context, --action, --outcome, --root-cause, --solution, --instead, --command, --related-file, --trigger, --id) stands in the file")
			}
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		if file != "" {
			return s.reportFile(ctx, c, file, draft)
		}
		draft.Title, draft.Category = *title, first(draft.Category, draft.Domain)
		reported, err := client.Send(ctx, c, lesson.Service.Report, draft)
		return printed(s, reported, err, printReported)
	})
}

func printReported(w io.Writer, r lesson.Reported) {
	if r.Duplicate {
		fmt.Fprintf(w, "lesson %d (%s) was known; seen %d times now\n", r.Number, clean(r.LessonID), r.Occurrences)
	} else {
		fmt.Fprintf(w, "lesson %d (%s) recorded\n", r.Number, clean(r.LessonID))
	}
	if r.Patterns > 0 {
		fmt.Fprintf(w, "it belongs to %s\n", plural(r.Patterns, "pattern"))
	}
	printIf(w, "escalated to %s\n", strings.Join(r.EscalatedTo, ", "))
	printIf(w, "cut out before it was stored: %s\n", strings.Join(r.Redacted, ", "))
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", clean(note))
	}
}

// reportFile reports the lessons of a file. What one leaves open is as defaults has it.
func (s *shell) reportFile(ctx context.Context, c *client.Client, name string, defaults lesson.Draft) error {
	text, err := s.read(name, maxLessonFile)
	if err != nil {
		return err
	}
	if len(text) > maxLessonFile {
		return fmt.Errorf("%s is longer than %d bytes: send it in parts", name, maxLessonFile)
	}
	drafts, places, refused, err := readLessons(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i := range drafts {
		d := &drafts[i]
		d.SourceAgent = first(d.SourceAgent, defaults.SourceAgent)
		d.Domain, d.Project = first(d.Domain, defaults.Domain), first(d.Project, defaults.Project)
		d.Category = first(d.Category, defaults.Category, d.Domain)
		d.Type, d.Severity, d.Confidence = cmp.Or(d.Type, defaults.Type), cmp.Or(d.Severity, defaults.Severity), cmp.Or(d.Confidence, defaults.Confidence)
		if len(d.Tags) == 0 {
			d.Tags = defaults.Tags
		}
		if d.Type == learning.LessonAntiPattern {
			d.Proposed, d.BlockAction, d.Force = d.Proposed || defaults.Proposed, d.BlockAction || defaults.BlockAction, d.Force || defaults.Force
		}
	}
	result, err := client.Send(ctx, c, lesson.Service.ReportAll, drafts)
	if err != nil {
		return err
	}
	for i := range result.Results {
		result.Results[i].Index = places[result.Results[i].Index]
	}
	for i := range result.Refused {
		result.Refused[i].Index = places[result.Refused[i].Index]
	}
	result.Refused = append(result.Refused, refused...)
	result.RefusedCount += len(refused)
	return s.printOr(result.RefusedCount > 0, result, func(w io.Writer) {
		fmt.Fprintf(w, "%d recorded, %d known already, %d refused\n", result.Processed-result.Duplicates, result.Duplicates, result.RefusedCount)
		for i, r := range result.Refused {
			if i == maxListed {
				fmt.Fprintf(w, "… and %d more\n", result.RefusedCount-maxListed)
				break
			}
			fmt.Fprintf(w, "lesson at place %d: %s\n", r.Index, clean(r.Error))
		}
	})
}

// readLessons reads a JSON array of lessons, or lessons one after another.
// Those that are no lessons are refused by their place, counted from 0; text
// that is no JSON ends it all.
func readLessons(text []byte) (drafts []lesson.Draft, places []int, refused []learning.Refusal, err error) {
	if !utf8.Valid(text) {
		return nil, nil, nil, errors.New("is not valid UTF-8")
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	decoder := json.NewDecoder(bytes.NewReader(text))
	array := bytes.HasPrefix(text, []byte("["))
	if array {
		_, _ = decoder.Token() // the bracket is there
	}
	for place := 0; decoder.More(); place++ {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, nil, nil, fmt.Errorf("is not valid JSON at place %d: %w", place, err)
		}
		var draft lesson.Draft
		one := json.NewDecoder(bytes.NewReader(raw))
		one.DisallowUnknownFields()
		if err := one.Decode(&draft); err != nil {
			refused = append(refused, learning.Refusal{Index: place, Error: "is no lesson: " + strings.TrimPrefix(err.Error(), "json: ")})
			continue
		}
		drafts, places = append(drafts, draft), append(places, place)
	}
	if array {
		if _, err := decoder.Token(); err != nil {
			return nil, nil, nil, fmt.Errorf("the array is not finished: %w", err)
		}
		if decoder.More() {
			return nil, nil, nil, errors.New("something follows the array")
		}
	}
	return drafts, places, refused, nil
}
