package tfidf

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"skillrouter/tfidf/wordlist"
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

// relative is a word of the thesaurus.
type relative struct{ text, stem string }

// related maps the stem of each word of the thesaurus to the words it stands with.
var related = sync.OnceValue(func() map[string][]relative { return relatives(thesaurus) })

// relatedEveryday is related for the words of everyday.
var relatedEveryday = sync.OnceValue(func() map[string][]relative { return relatives(everyday) })

// relatives reads groups of words, a group a line.
func relatives(groups string) map[string][]relative {
	m := map[string][]relative{}
	for _, line := range wordlist.Lines(groups, "") {
		var group []relative
		for w := range strings.FieldsSeq(line) {
			group = append(group, relative{w, stem(w)})
		}
		for _, a := range group {
			for _, b := range group {
				if a.stem != b.stem && !slices.ContainsFunc(m[a.stem], func(r relative) bool { return r.stem == b.stem }) {
					m[a.stem] = append(m[a.stem], b)
				}
			}
		}
	}
	return m
}

// members maps the stem of a kind's name to its members.
var members = sync.OnceValue(func() map[string][]relative {
	m := map[string][]relative{}
	for kind, words := range wordlist.Pairs(kinds, "") {
		for w := range strings.FieldsSeq(words) {
			m[stem(kind)] = append(m[stem(kind)], relative{w, stem(w)})
		}
	}
	return m
})

// way is one way to ask for what a tool does.
type way struct {
	tool  relative
	stems []string // all of them
}

// ways maps a stem to the ways that begin with it.
var ways = sync.OnceValue(func() map[string][]way {
	m := map[string][]way{}
	for name, texts := range wordlist.Pairs(tools, "") {
		tool := relative{name, stem(name)}
		for text := range strings.SplitSeq(texts, ",") {
			var stems []string
			for w := range strings.FieldsSeq(text) {
				if s := stem(w); !slices.Contains(stems, s) {
					stems = append(stems, s)
				}
			}
			m[stems[0]] = append(m[stems[0]], way{tool, stems})
		}
	}
	return m
})
