package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/router/value"
)

// valueRows is how many items people are shown.
const valueRows = 20

func (s *shell) valueCommand() *cobra.Command {
	var query value.Query
	var since string
	return s.does(command{
		use: "value", do: value.Service.Value, in: &query, hides: "days", says: valuePage, short: "Show what agents were told, what they used of it, and what is proposed for retirement",
		long: `Shows what agents were told, what they used of it, which mistakes happened again, and
what it cost in tokens.

An item is used if its command was run afterwards and went well, or if somebody said
that it helped. A warning is used if it was heeded. A mistake is prevented if it was
told and not made where its program ran. An item that was told 20 times and never used
is proposed for retirement, with the command that does it.`,
		flags: options{
			option("since", &since, "how far back, in whole days, such as 7d or 168h (7d)"),
		},
		before: func() (err error) {
			query.Days, err = daysOf(since)
			return err
		},
	})
}

// daysOf reads a length of time in days, or in hours that are rounded up.
func daysOf(text string) (int, error) {
	if text == "" {
		return value.DefaultDays, nil
	}
	back, err := lengthOf(text)
	return int((back + day - 1) / day), err
}

const day = 24 * time.Hour

// lengthOf reads what --since is given: a length of time as Go writes it, or whole days, such as 7d.
func lengthOf(text string) (time.Duration, error) {
	if number, is := strings.CutSuffix(text, "d"); is {
		if days, err := strconv.Atoi(number); err == nil && days > 0 && days <= maxDays {
			return time.Duration(days) * day, nil
		}
	}
	back, err := time.ParseDuration(text)
	if err != nil || back <= 0 {
		return 0, usagef("--since must be a length of time, such as 7d or 168h")
	}
	return back, nil
}

// maxDays bounds what --since may say in days: more than any record is old, and less than a length of time can be.
const maxDays = 36500

const valuePage = `Told from {{day .Since}} to {{day (.Until.AddDate 0 0 -1)}}: {{count .Total.Shown "item"}} in {{count .Sessions "session"}}, {{count .Total.Tokens "token"}}.
{{- if .Total.Shown}}
{{if .Total.Judged}}Outcomes are known of {{.Total.Judged}}: {{.Total.Used}} used, {{.Total.Prevented}} mistakes prevented, {{.Total.Repeated}} made again.{{else}}No outcomes recorded yet.{{end}}
{{- $figures := "shown=TOLD judged=KNOWN used prevented repeated tokens"}}

{{table (printf "moment=WHEN %s" $figures) .Moments}}

{{table (printf "kind id %s title" $figures) .Items}}
{{- if gt .Count (len .Items)}}
There are more: --json lists them
{{- end}}
{{- if .Retire}}

Told often, and never used:
{{- range .Items}}{{if .Retire}}
  {{.Title}}
    {{.Command}}
{{- end}}{{end}}
{{- end}}
{{- end}}`
