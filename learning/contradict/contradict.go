// Package contradict tells by words alone whether a text that was written later stands in the place of an earlier one,
// or may contradict it. It knows no kind of memory and no store.
package contradict

import (
	"slices"
	"strings"
)

// Verdict is what a later text does to an earlier one, from the least to the most.
type Verdict int

// The verdicts.
const (
	Unrelated   Verdict = iota // both may be true
	Contradicts                // one of them is probably not true any more
	Replaces                   // the later says in its own words that the earlier is not true any more
)

// Text is what is compared of an entry.
type Text struct{ Title, Content string }

// Finding is a verdict and why, in words for a person.
type Finding struct {
	Verdict Verdict
	Reason  string
}

// Bounds of one comparison, so that its cost is that of some paragraphs.
const (
	textBytes     = 4 << 10 // of each text
	sentences     = 12      // of each text: what an entry is about stands in its first ones
	sentenceWords = 48      // of each sentence
	// few is how many sentences an earlier text may have that one sentence of the later can replace as a whole.
	few = 3
	// alikeTitles is how much of their words two titles share that are about one thing, and alikeRest how much two
	// sentences share besides the things of one family that they name.
	alikeTitles, alikeRest = 0.5, 0.6
	// replaced is how many words one changed place may have.
	replaced = 4
	// strangers is how many words two sentences must share whose titles are not alike.
	strangers = 3
)

// Compare says what the later text does to the earlier one. Both are of one project.
func Compare(earlier, later Reading) Finding {
	before, after := earlier.sentences, later.sentences
	titled := before[0].title && after[0].title
	if titled && inSeries(&before[0], &after[0]) {
		return Finding{}
	}
	elsewhere := titled && !samePlace(before[0].place, after[0].place)
	one := titled && before[0].says(&after[0]) // two entries under one title are about one thing
	alike := !before[0].title || !after[0].title || share(before[0].stems, after[0].stems) >= alikeTitles
	var best Finding
	for i := range after {
		for j := range before {
			if after[i].title != before[j].title && alike && len(before) > 1 && len(after) > 1 {
				continue // a title is compared with a title
			}
			if !alike && (after[i].title || before[j].title || common(before[j].stems, after[i].stems) < strangers) && after[i].title != before[j].title {
				continue
			}
			found := compare(&before[j], &after[i])
			if found.Verdict == Unrelated && one && !after[i].title && !before[j].title && samePlace(before[j].place, after[i].place) {
				if word := before[j].names(after[i].past); word != "" {
					found = Finding{Contradicts, "the later says that " + quote(word) + " is not so any more"}
				}
			}
			if elsewhere && found.Verdict == Contradicts {
				continue
			}
			if found.Verdict == Replaces && (len(before) > few+1 || elsewhere) {
				found.Verdict = Contradicts
			}
			if found.Verdict > best.Verdict {
				best = found
			}
		}
	}
	return best
}

// compare compares two sentences.
func compare(a, b *sentence) Finding {
	if a.says(b) {
		return Finding{}
	}
	if len(a.place) == 0 || len(b.place) == 0 || samePlace(a.place, b.place) {
		if word := a.takes(b.past, b); word != "" {
			return Finding{Replaces, "the later says that " + quote(word) + " is not so any more"}
		}
	}
	if !samePlace(a.place, b.place) {
		return Finding{}
	}
	if word := a.takes(b.denied, b); word != "" {
		return Finding{Contradicts, "the later says not " + quote(word)}
	}
	for _, later := range []*sentence{b, b.head()} {
		if later == nil {
			continue
		}
		if reason := contradicts(a, later); reason != "" {
			return Finding{Contradicts, reason}
		}
		if earlier := a.head(); earlier != nil {
			if reason := contradicts(earlier, later); reason != "" {
				return Finding{Contradicts, reason}
			}
		}
	}
	return Finding{}
}

// contradicts says why a later sentence may contradict an earlier one; empty: it does not.
func contradicts(a, b *sentence) string {
	if a.negated != b.negated {
		if len(a.words) > 0 && sameSet(a.stems, b.stems) {
			return "one says that it is so, the other that it is not"
		}
		return ""
	}
	if old, now := family(a, b); old != "" {
		return "one names " + quote(old) + ", the other " + quote(now)
	}
	old, now, ok := oneChange(a.words, b.words)
	if !ok {
		return ""
	}
	valued := sameKinds(old, now)
	if valued && !(values(old) && values(now)) {
		return "" // a value and what it is of differ: two things
	}
	last := old[len(old)-1].stem == a.words[len(a.words)-1].stem && now[len(now)-1].stem == b.words[len(b.words)-1].stem
	if valued && !a.clause && (!last || len(a.words)-len(old) < 2 && !strings.Contains(old[0].raw, ".")) {
		return "" // a number in a name tells two names apart
	}
	if valued || old[0].intro && now[0].intro || last && len(a.words)-len(old) > 1 {
		return "one says " + quote(phrase(old)) + ", the other " + quote(phrase(now))
	}
	return ""
}

// inSeries tells whether two titles differ in the number behind a thing of which there are many, such as notes of a day or a
// sprint: what stands there was another time, and both may be true.
func inSeries(a, b *sentence) bool {
	old, now, ok := oneChange(a.words, b.words)
	numbered := func(words []word) bool { return len(words) == 1 && words[0].kind == number }
	if !ok || !numbered(old) || !numbered(now) {
		return false
	}
	place := slices.IndexFunc(a.words, func(w word) bool { return w.at == old[0].at })
	return place > 0 && classes()[a.words[place-1].raw]&series != 0
}

// oneChange is the one place where two sentences differ, if there is one alone and each has words there.
func oneChange(a, b []word) (old, now []word, ok bool) {
	from := 0
	for from < len(a) && from < len(b) && a[from].stem == b[from].stem {
		from++
	}
	endA, endB := len(a), len(b)
	for endA > from && endB > from && a[endA-1].stem == b[endB-1].stem {
		endA, endB = endA-1, endB-1
	}
	old, now = a[from:endA], b[from:endB]
	if len(old) == 0 || len(now) == 0 || len(old) > replaced || len(now) > replaced || len(old) == len(a) || len(now) == len(b) {
		return nil, nil, false
	}
	// a word that both have there tells of two places
	return old, now, common(stems(old), stems(now)) == 0
}

// family returns things of one family that two sentences name in one another's place.
func family(a, b *sentence) (old, now string) {
	for _, x := range a.words {
		families := kin()[x.raw]
		if families == nil || b.has(x.stem) {
			continue
		}
		for _, y := range b.words {
			if a.has(y.stem) || !slices.ContainsFunc(kin()[y.raw], func(f string) bool { return slices.Contains(families, f) }) {
				continue
			}
			restA, restB := without(a.stems, x.stem), without(b.stems, y.stem)
			if len(restA)+len(restB) == 0 || share(restA, restB) >= alikeRest {
				return x.raw, y.raw
			}
		}
	}
	return "", ""
}

// says tells whether two sentences have the same words and say as much.
func (s *sentence) says(o *sentence) bool {
	return s.negated == o.negated && sameSet(s.stems, o.stems)
}

// names returns what a sentence says of things that are not so any more; empty: nothing.
func (s *sentence) names(past []word) string {
	for _, w := range past {
		if s.has(w.stem) && !s.negated {
			return w.raw
		}
	}
	return ""
}

// takes returns what an earlier sentence says of what a later one takes back; empty: nothing.
func (s *sentence) takes(back []word, later *sentence) string {
	for _, w := range back {
		is := func(o word) bool { return o.stem == w.stem }
		if !s.has(w.stem) || s.negated || slices.ContainsFunc(s.past, is) || slices.ContainsFunc(s.denied, is) {
			continue
		}
		rest := without(s.stems, w.stem)
		if len(rest) < 2 || w.kind == path || common(rest, later.stems) > 0 {
			return w.raw
		}
	}
	return ""
}

// values tells whether all words are values.
func values(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return w.kind == plain })
}

// sameKinds tells whether two lists have a value of one kind.
func sameKinds(a, b []word) bool {
	return slices.ContainsFunc(a, func(w word) bool {
		return w.kind != plain && slices.ContainsFunc(b, func(o word) bool { return o.kind == w.kind })
	})
}

func phrase(words []word) string {
	list := make([]string, len(words))
	for i := range words {
		list[i] = words[i].raw
	}
	return strings.Join(list, " ")
}

func quote(text string) string { return "“" + text + "”" }

func without(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == one })
}

// common is how many distinct words of one list are in the other.
func common(a, b []string) (n int) {
	for i, s := range a {
		if slices.Contains(b, s) && !slices.Contains(a[:i], s) {
			n++
		}
	}
	return n
}

// share is how much of all their words two lists have in common, from 0 to 1.
func share(a, b []string) float64 {
	both := common(a, b)
	if all := common(a, a) + common(b, b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// sameSet tells whether each word of one list is in the other. Most lists differ in their first word.
func sameSet(a, b []string) bool { return within(a, b) && within(b, a) }

func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

func samePlace(a, b []string) bool { return sameSet(a, b) }
