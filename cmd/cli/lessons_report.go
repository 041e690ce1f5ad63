package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/client"
)

// maxLessonFile bounds a file of lessons, in bytes: what the router takes in one call.
const maxLessonFile = 32 << 20

func (s *shell) lessonsReport() *cobra.Command {
	var draft lesson.Draft
	var title *string
	var file string
	return s.calls(command{
		use: "add TITLE --type TYPE --domain DOMAIN | add --file FILE", aliases: []string{"report"}, short: "Report a lesson, or a file of them", into: []any{&title}, lacks: 1,
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

var printReported = page[lesson.Reported](`lesson {{.Number}} ({{.LessonID}}) {{if .Duplicate}}was known; seen {{.Occurrences}} times now{{else}}recorded{{end}}
{{- if .Patterns}}
it belongs to {{count .Patterns "pattern"}}
{{- end}}
{{- with .EscalatedTo}}
escalated to {{.}}
{{- end}}
{{- with .Redacted}}
cut out before it was stored: {{.}}
{{- end}}
{{- range .Notes}}
note: {{.}}
{{- end}}`)

// reportFile reports the lessons of a file. What one leaves open is as defaults has it.
func (s *shell) reportFile(ctx context.Context, c *client.Client, name string, defaults lesson.Draft) error {
	text, err := s.read(name, maxLessonFile)
	if err != nil {
		return err
	}
	if len(text) > maxLessonFile {
		return fmt.Errorf("%s is longer than %d bytes: send it in parts", name, maxLessonFile)
	}
	lessons, err := objectsOf(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	usual, _ := json.Marshal(defaults) // it is made of texts and numbers
	for i, text := range lessons {
		var said, given map[string]json.RawMessage
		if json.Unmarshal(text, &given) != nil || given == nil {
			continue // the router refuses it
		}
		_ = json.Unmarshal(usual, &said)
		for name, value := range said {
			switch {
			case given[name] != nil || slices.Contains([]string{`""`, "0", "false", "null", "[]"}, string(value)):
			case slices.Contains([]string{"proposed", "block_action", "force"}, name) && string(cmp.Or(string(given["lesson_type"]), string(said["lesson_type"]))) != `"anti_pattern"`:
			default:
				given[name] = value
			}
		}
		if given["category"] == nil && given["domain"] != nil {
			given["category"] = given["domain"]
		}
		lessons[i], _ = json.Marshal(given)
	}
	var result lesson.BulkReported
	if err := c.Call(ctx, http.MethodPost, "/lessons/bulk", lessons, &result); err != nil {
		return err
	}
	return s.printOr(result.RefusedCount > 0, result, func(w io.Writer) { printBulk(w, result) })
}

var printBulk = page[lesson.BulkReported](`{{.Processed}} taken, {{.Duplicates}} of them known already, {{.RefusedCount}} refused
{{- range .Refused}}
lesson at place {{.Index}}: {{with .Field}}{{.}} {{end}}{{.Error}}
{{- end}}`)

// objectsOf are the elements of a JSON array, or JSON values one after another.
func objectsOf(text []byte) (list []json.RawMessage, err error) {
	if !utf8.Valid(text) {
		return nil, errors.New("is not valid UTF-8")
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if bytes.HasPrefix(text, []byte("[")) {
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("is not valid JSON: %w", err)
		}
		return list, nil
	}
	for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
		var one json.RawMessage
		if err := decoder.Decode(&one); err != nil {
			return nil, fmt.Errorf("is not valid JSON at place %d: %w", len(list), err)
		}
		list = append(list, one)
	}
	return list, nil
}
