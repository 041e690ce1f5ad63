package act

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
)

// placeRow is a row of the table of harms that names places: what is done there does the harm, whatever program does it.
type placeRow struct {
	harm   Harm
	paths  []place
	but    []place
	has    []string // one of these stands in the text that is written
	keeps  []string // a change that keeps these words does no harm
	unless []string // one of these stands in the mode that is set
}

// place is a path of a row: one file, or with all that lies below it.
type place struct {
	path  string
	below bool
	key   string // a plain piece of it: whatever fits it holds it
}

func readPlace(harm Harm, fields []string) placeRow {
	row := placeRow{harm: harm}
	for _, f := range fields[1:] {
		to := &row.paths
		if not, negated := strings.CutPrefix(f, "!"); negated {
			to, f = &row.but, not
		}
		fact, words, _ := strings.Cut(f, ":")
		if list := map[string]*[]string{"has": &row.has, "keeps": &row.keeps, "unless": &row.unless}[fact]; list != nil {
			*list = strings.Split(words, "|")
			continue
		}
		for _, one := range alternatives(f) {
			p, below := strings.CutSuffix(one, "/**")
			at := place{path: activate(p), below: below}
			for piece := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '*' || r == '~' }) {
				if len(piece) > len(at.key) {
					at.key = piece
				}
			}
			*to = append(*to, at)
		}
	}
	return row
}

// alternatives are what a path with {a,b} in it stands for.
func alternatives(p string) (all []string) {
	head, rest, open := strings.Cut(p, "{")
	if !open {
		return []string{p}
	}
	names, tail, _ := strings.Cut(rest, "}")
	for name := range strings.SplitSeq(names, ",") {
		all = append(all, alternatives(head+name+tail)...)
	}
	return all
}

// VerbEmpty and others are what a write does with a file, beside writing it anew.
const (
	VerbEmpty  = "empty"
	verbAppend = "append"
	verbMove   = "move"
	deedEdit   = "edit"
)

// deeds are the names of effects in a row of places.
var deeds = [EffectKinds]string{
	EffectDelete: "delete", EffectWrite: "write", EffectDevice: "device", EffectPower: "power", EffectObjects: "objects", EffectHooks: "hooks",
	EffectForce: "force", EffectDownload: "download", EffectMode: "mode",
}

// deed is the effect's name in a row of places.
func (e *Effect) deed() string {
	switch e.Kind {
	case EffectWrite:
		if e.Verb == "" && e.Change != nil && !e.Change.complete {
			return deedEdit
		}
		return cmp.Or(e.Verb, deeds[e.Kind])
	case EffectHTTP, EffectService:
		return e.Verb
	case EffectDelete:
		if e.Soft {
			return ""
		}
	case EffectObjects:
		if e.Soft || !e.Recursive {
			return ""
		}
	}
	return deeds[e.Kind]
}

// done are the deeds of an effect in the rows of places, each with where it is done.
func (a *Act) done(e *Effect) map[string]string {
	deed, at := e.deed(), a.local(e.Path)
	done := map[string]string{deed: at}
	if deed != "delete" && deed != VerbEmpty || e.Word != "" {
		return done
	}
	whole := fullFolder(at)
	if deed == "delete" && (e.Recursive || whole != at) {
		done["tree"] = whole
	}
	if e.clears(at) {
		done["clear"] = at
	}
	return done
}

// placeHarms passes on the harms of the rows of places that an effect fits.
func (a *Act) placeHarms(e *Effect, add func(Harm)) {
	for deed, at := range a.done(e) {
		for _, row := range harms().places[deed] {
			if row.fits(e, deed, at) {
				add(row.harm)
			}
		}
	}
}

func (r placeRow) fits(e *Effect, deed, at string) bool {
	holds := func(in string) func(string) bool {
		return func(word string) bool { return strings.Contains(in, word) }
	}
	switch {
	case e.Made && deed == "delete", len(r.paths) > 0 && e.Path == "", len(r.paths) > 0 && !slices.ContainsFunc(r.paths, func(p place) bool { return p.holds(at) }), slices.ContainsFunc(r.but, func(p place) bool { return p.holds(at) }),
		r.has != nil && (e.Change == nil || !slices.ContainsFunc(r.has, holds(e.Change.text))),
		r.unless != nil && slices.ContainsFunc(r.unless, holds(e.Verb)),
		r.keeps != nil && (deed == "write" || deed == deedEdit || deed == verbAppend) && e.Change.keeps(r.keeps):
		return false
	}
	return true
}

// names reports whether a word, of at least six letters, is what a path of the row is known by.
func (r placeRow) names(word string) bool {
	return len(word) > 5 && slices.ContainsFunc(r.paths, func(p place) bool { return strings.Trim(p.key, ".-") == word })
}

// clears reports whether an effect deletes or empties much of a place at once that nothing makes again.
func (e *Effect) clears(at string) bool {
	if e.Narrow {
		return false
	}
	if Patterned(path.Base(at)) {
		return !scratch(path.Dir(at))
	}
	return e.Recursive && !scratch(at)
}

// holds reports whether a path is that of the row, or may be by its patterns.
func (p place) holds(at string) bool {
	if !strings.Contains(at, p.key) && !Patterned(at) {
		return false
	}
	rel := Relate(p.path, at)
	return rel == Same || rel == Inside && p.below
}

// keeps reports whether a change is seen to leave the words in a file as they are: a new text holds the first of them, and
// a part that is replaced has none of them more often than what takes its place.
func (e *edit) keeps(words []string) bool {
	switch {
	case e == nil || strings.ContainsRune(e.old, Unknown):
		return false
	case e.complete:
		return count(e.text, words[0]) > 0
	}
	return !slices.ContainsFunc(words, func(w string) bool { return count(e.text, w) < count(e.old, w) })
}

// count is how often a name stands in a text.
func count(text, name string) (n int) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if w == name {
			n++
		}
	}
	return n
}
