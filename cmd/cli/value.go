package cli

import (
	"fmt"
	"io"
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
		use: "value", do: value.Service.Value, in: &query, hides: "days", show: printValue, short: "Show what agents were told, what they used of it, and what is proposed for retirement",
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

func printValue(w io.Writer, r value.Report) {
	fmt.Fprintf(w, "Told from %s to %s: %s in %s, %s.\n", r.Since.Format(time.DateOnly), r.Until.AddDate(0, 0, -1).Format(time.DateOnly),
		plural(r.Total.Shown, "item"), plural(r.Sessions, "session"), plural(r.Total.Tokens, "token"))
	if r.Total.Shown == 0 {
		return
	}
	fmt.Fprintf(w, "Of the %d of which it is known what came of them: %d used, %d mistakes prevented, %d made all the same.\n\n", r.Total.Judged, r.Total.Used, r.Total.Prevented, r.Total.Repeated)
	const figures = " shown=TOLD judged=KNOWN used prevented repeated tokens"
	tableOf(w, "moment=WHEN"+figures, "", r.Moments)
	fmt.Fprintln(w)
	tableOf(w, "kind id"+figures+" title", "", r.Items[:min(len(r.Items), valueRows)])
	if more := r.Count - valueRows; more > 0 {
		fmt.Fprintf(w, "and %d more: --json lists them\n", more)
	}
	if r.Retire == 0 {
		return
	}
	fmt.Fprintf(w, "\nTold %d times and more, and never used:\n", value.RetireAfter)
	for _, i := range r.Items {
		if i.Retire {
			fmt.Fprintf(w, "  %s\n    %s\n", clean(i.Title), clean(i.Command))
		}
	}
}
