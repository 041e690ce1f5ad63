package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/router/value"
)

func (s *shell) valueCommand() *cobra.Command {
	var query value.Query
	since := value.DefaultDays * day
	return s.does(command{
		use: "value", do: value.Service.Value, in: &query, hides: "days", says: valuePage, short: "Show what agents were told, what they used of it, and what is proposed for retirement",
		long: `Shows what agents were told, what they used of it, which mistakes happened again, and
what it cost in tokens.

An item is used if its command was run afterwards and went well, or if somebody said
that it helped. A warning is used if it was heeded. A mistake is prevented if it was
told and not made where its program ran. An item that was told 20 times and never used
is proposed for retirement, with the command that does it.`,
		flags: options{
			option("since", &since, "how far back, in whole days, such as 7d or 2w"),
		},
		before: func() error {
			query.Days = int((since + day - 1) / day)
			return nil
		},
	})
}

const day = 24 * time.Hour

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
