package cli

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/pflag"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router/search"
)

// contentLines bounds what is shown of one text; the rest is a --json away.
const contentLines = 6

// printFound shows what a search found, of whatever kinds: which words were read as others, each hit, and what finds
// something where nothing was found. about are members of a hit that are said below its text.
func printFound(w io.Writer, kind, about string, answer reflect.Value) {
	corrected := memberAs[map[string]string](answer, "corrected")
	for _, word := range sorted(corrected) {
		fmt.Fprintf(w, "Nothing matches %q; searched for %q.\n", clean(word), clean(corrected[word]))
	}
	noticed(w, shownText("notice", member(answer, "notice")))
	list := member(answer, "results")
	printHits(w, kind, about, list)
	for _, kind := range memberAs[[]search.SearchedKind](answer, "kinds") {
		printIf(w, "Not searched: %s.\n", kind.LeftOut)
	}
	if more := shownText("", member(answer, "left_out")); more != "0" {
		printIf(w, "\n%s more were too long to add.\n", more)
	}
	if list.Len() > 0 {
		return
	}
	fmt.Fprintln(w, nothingMatches)
	for _, repair := range memberAs[[]learning.Repair](answer, "tried") {
		if repair.Found > 0 {
			noticed(w, fmt.Sprintf("%s: %d found", repair.Detail, repair.Found))
		}
	}
}

const nothingMatches = "Nothing matches. Try other words, or fewer."

// printHits shows hits: the place of each and its title, in brackets which it is and how relevant, and its text.
func printHits(w io.Writer, kind, about string, list reflect.Value) {
	folds := learning.FoldAlike(list.Len(), func(at int) learning.Saying {
		if hit, ok := list.Index(at).Addr().Interface().(interface{ Says() learning.Saying }); ok {
			return hit.Says()
		}
		return learning.Saying{}
	})
	for place, one := range folds {
		if place > 0 {
			fmt.Fprintln(w)
		}
		hit := list.Index(one.At)
		how := ""
		if relevance := member(hit, "relevance").Float(); relevance < 1 { // what was asked for by its state is just that
			how = fmt.Sprintf(", %.0f %%", 100*relevance)
		}
		fmt.Fprintf(w, "%d. %s  [%s %s%s]\n", place+1, clean(cellOf(hit, "title|name")), clean(first(cellOf(hit, "kind"), kind)), clean(cellOf(hit, "number|id|name")), how)
		printIf(w, "    superseded by %s\n", cellOf(hit, "superseded_by"))
		indented(w, shortened(cellOf(hit, "snippet|text|solution|outcome|content|context|description")))
		var said []string
		for _, name := range strings.Fields(about) {
			if text := cellOf(hit, name); text != "" {
				said = append(said, label(name)+": "+text)
			}
		}
		more := memberAs[map[string]any](hit, "fields")
		for _, name := range sorted(more) {
			if text := fmt.Sprint(more[name]); text != "" && text != "[]" && text != "0" {
				said = append(said, name+": "+text)
			}
		}
		indented(w, strings.Join(said, ", "))
		printIf(w, "    %s\n", one.Like())
		for _, other := range memberAs[[]search.Ref](hit, "also") {
			fmt.Fprintf(w, "    also the %s %s\n", clean(other.Kind), clean(other.Title))
		}
		for _, part := range memberAs[[]learning.Reason](hit, "why") {
			fmt.Fprintf(w, "    %s\n", strings.TrimSpace(fmt.Sprintf("%+.3f  %s %s", part.Weight, clean(part.Lane), clean(part.Term))))
		}
	}
}

// noticed prints what should be known of how it was searched, as a sentence.
func noticed(w io.Writer, notice string) {
	if notice != "" && notice[0] >= 'a' && notice[0] <= 'z' {
		notice = strings.ToUpper(notice[:1]) + notice[1:]
	}
	printIf(w, "%s.\n", notice)
}

func shortened(text string) string {
	lines := strings.SplitAfterN(strings.TrimSpace(text), "\n", contentLines+1)
	if len(lines) > contentLines {
		return strings.Join(lines[:contentLines], "") + "…"
	}
	return text
}

// minRelevance is the flag that says from which relevance on something is shown. If nothing is said, people are shown what
// people are shown, and programs, which read JSON, all.
func (s *shell) minRelevance(p *float64, shown *bool) boundFlag {
	o := option("min-relevance", p, "least relevance that is shown, 0 to 1 (default 0.03 if anything reaches 0.1; 0 with --json)")
	o.after = func(flags *pflag.FlagSet) { *shown = !s.json && !flags.Changed("min-relevance") }
	return o
}
