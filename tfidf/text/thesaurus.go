package text

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// What these lists hold is said in their files.
var (
	//go:embed thesaurus.txt
	thesaurus string
	//go:embed everyday.txt
	everyday string
	//go:embed tools.txt
	tools string
	//go:embed kinds.txt
	kinds string
)

// Relative is a word of the thesaurus, as it is written, and its stem.
type Relative struct{ Text, Stem string }

// Related maps the stem of each word of the thesaurus to the words it stands with.
var Related = sync.OnceValue(func() map[string][]Relative { return relatives(thesaurus) })

// Everyday is Related for the words that everybody uses.
var Everyday = sync.OnceValue(func() map[string][]Relative { return relatives(everyday) })

// relatives reads groups of words, a group a line.
func relatives(groups string) map[string][]Relative {
	m := map[string][]Relative{}
	for _, line := range wordlist.Lines(groups, "") {
		var group []Relative
		for w := range strings.FieldsSeq(line) {
			group = append(group, Relative{w, StemFolded(w)})
		}
		for _, a := range group {
			for _, b := range group {
				if a.Stem != b.Stem && !slices.ContainsFunc(m[a.Stem], func(r Relative) bool { return r.Stem == b.Stem }) {
					m[a.Stem] = append(m[a.Stem], b)
				}
			}
		}
	}
	return m
}

// Members maps the stem of a kind's name to its members.
var Members = sync.OnceValue(func() map[string][]Relative {
	m := map[string][]Relative{}
	for kind, words := range wordlist.Pairs(kinds, "") {
		for w := range strings.FieldsSeq(words) {
			m[StemFolded(kind)] = append(m[StemFolded(kind)], Relative{w, StemFolded(w)})
		}
	}
	return m
})

// Way is one way to ask for what a tool does.
type Way struct {
	Tool  Relative
	Stems []string // all of them
}

// Ways maps a stem to the ways that begin with it.
var Ways = sync.OnceValue(func() map[string][]Way {
	m := map[string][]Way{}
	for name, texts := range wordlist.Pairs(tools, "") {
		tool := Relative{name, StemFolded(name)}
		for text := range strings.SplitSeq(texts, ",") {
			var stems []string
			for w := range strings.FieldsSeq(text) {
				if s := StemFolded(w); !slices.Contains(stems, s) {
					stems = append(stems, s)
				}
			}
			m[stems[0]] = append(m[stems[0]], Way{tool, stems})
		}
	}
	return m
})
