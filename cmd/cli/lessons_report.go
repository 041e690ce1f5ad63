package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

// maxLessonFile bounds a file of lessons, in bytes: what the router takes in one call.
const maxLessonFile = 32 << 20

func (s *shell) lessonsReport() *cobra.Command {
	var draft learning.LessonDraft
	var kind, severity, file string
	var confidence float64
	var cmd *cobra.Command
	cmd = s.remote(s.command(&cobra.Command{
		Use: "report TITLE --type TYPE --domain DOMAIN | report --file FILE", Short: "Report a lesson, or a file of them", Args: cobra.MaximumNArgs(1),
		Long: `Reports what was learned. The same lesson again counts as another occurrence.

  skillrouter lessons report "Never prune volumes on prod" --type anti_pattern --domain docker \
      --severity critical --command "docker volume prune" --instead "docker volume rm NAME"

With --file, reports every lesson of a file: a JSON array, or one JSON object a
line, with the names that POST /lessons/report has; "-" reads standard input.
Lessons that are refused are listed by their place and stop nothing; the exit
code is then 1.`,
	}, func(ctx context.Context, args []string) error {
		if file != "" {
			if len(args) > 0 {
				return usagef("give a TITLE or --file, not both")
			}
			return s.reportFile(ctx, file, draft)
		}
		if len(args) == 0 {
			return usagef("a TITLE is needed, or --file")
		}
		draft.Title, draft.Type, draft.Severity = args[0], learning.LessonType(kind), learning.Severity(severity)
		draft.Category = first(draft.Category, draft.Domain)
		draft.SourceAgent = s.agent(draft.SourceAgent)
		if cmd.Flags().Changed("confidence") {
			draft.Confidence = &confidence
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		reported, err := c.Lessons.Report(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(reported, func(w io.Writer) { reportedText(w, reported) })
	}))
	flags := cmd.Flags()
	flags.StringVarP(&file, "file", "f", "", "file of lessons; - is standard input")
	flags.StringVarP(&kind, "type", "t", "", names(learning.LessonTypes()))
	flags.StringVarP(&draft.Domain, "domain", "d", "", "such as docker, security, infrastructure")
	flags.StringVarP(&draft.Category, "category", "c", "", "more closely; the domain if you say none")
	flags.StringVar(&draft.Context, "context", "", "what was happening")
	flags.StringVar(&draft.Action, "action", "", "what was done")
	flags.StringVar(&draft.Outcome, "outcome", "", "what came of it")
	flags.StringVar(&draft.RootCause, "root-cause", "", "why it happened")
	flags.StringVar(&draft.Solution, "solution", "", "how to mend or avoid it")
	flags.StringArrayVar(&draft.Alternatives, "instead", nil, "what to do instead; may be repeated")
	flags.StringVarP(&severity, "severity", "s", "", names(learning.Severities())+" (medium)")
	flags.StringSliceVar(&draft.Tags, "tag", nil, "tag; may be repeated")
	flags.StringArrayVar(&draft.RelatedCommands, "command", nil, "command that it is about; of an anti_pattern: what to stop; may be repeated")
	flags.StringArrayVar(&draft.RelatedFiles, "related-file", nil, "file that it is about; may be repeated")
	flags.StringVar(&draft.TriggerPattern, "trigger", "", "of an anti_pattern: an RE2 expression over each command")
	flags.BoolVar(&draft.Proposed, "proposed", false, "of an anti_pattern: no rule of the guard until somebody confirms it")
	flags.BoolVar(&draft.BlockAction, "block", false, "of an anti_pattern: block whatever the severity")
	flags.BoolVar(&draft.Force, "force", false, "keep a rule that fits nearly every command")
	flags.StringVar(&draft.Project, "project", "", "project that it is about")
	flags.Float64Var(&confidence, "confidence", learning.DefaultConfidence, "how sure you are, 0 to 1")
	flags.StringVar(&draft.SourceAgent, "agent", "", "who learned it (SKILLROUTER_AGENT)")
	flags.StringVar(&draft.ID, "id", "", "your own id for it")
	return cmd
}

func reportedText(w io.Writer, r learning.Reported) {
	if r.Duplicate {
		fmt.Fprintf(w, "lesson %d (%s) was known; seen %d times now\n", r.Number, clean(r.LessonID), r.Occurrences)
	} else {
		fmt.Fprintf(w, "lesson %d (%s) recorded\n", r.Number, clean(r.LessonID))
	}
	if r.Patterns > 0 {
		fmt.Fprintf(w, "it belongs to %s\n", plural(r.Patterns, "pattern"))
	}
	if len(r.EscalatedTo) > 0 {
		fmt.Fprintf(w, "escalated to %s\n", clean(strings.Join(r.EscalatedTo, ", ")))
	}
	if len(r.Redacted) > 0 {
		fmt.Fprintf(w, "cut out before it was stored: %s\n", clean(strings.Join(r.Redacted, ", ")))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", clean(note))
	}
}

// reportFile reports the lessons of a file. What says no agent gets the one that speaks.
func (s *shell) reportFile(ctx context.Context, name string, defaults learning.LessonDraft) error {
	file, _, err := s.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxLessonFile+1))
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
		d.SourceAgent = first(d.SourceAgent, s.agent(defaults.SourceAgent))
		d.Domain, d.Project = first(d.Domain, defaults.Domain), first(d.Project, defaults.Project)
		d.Category = first(d.Category, defaults.Category, d.Domain)
	}
	c, err := s.client()
	if err != nil {
		return err
	}
	result, err := c.Lessons.ReportAll(ctx, drafts)
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
	if err := s.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "%d recorded, %d known already, %d refused\n", result.Processed-result.Duplicates, result.Duplicates, result.RefusedCount)
		for i, r := range result.Refused {
			if i == maxListed {
				fmt.Fprintf(w, "… and %d more\n", result.RefusedCount-maxListed)
				break
			}
			fmt.Fprintf(w, "lesson at place %d: %s\n", r.Index, clean(r.Error))
		}
	}); err != nil {
		return err
	}
	if result.RefusedCount > 0 {
		return exitError(exitFailed)
	}
	return nil
}

// readLessons reads a JSON array of lessons, or lessons one after another.
// Those that are no lessons are refused by their place, counted from 0; text
// that is no JSON ends it all.
func readLessons(text []byte) (drafts []learning.LessonDraft, places []int, refused []learning.Refusal, err error) {
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
		var draft learning.LessonDraft
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
