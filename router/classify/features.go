package classify

import (
	"math/bits"
	"strings"
)

// The kinds of features, for the reasons and for the training, which drops
// those that hang on single words now and then so that others carry weight.
const (
	featureBias uint8 = iota
	featureWord
	featureStem
	featureBigram
	featureSkip
	featureTrigram
	featureLetters
	featureOrder
	featureRoles
	featureClass
	featureClassPair
	featureFrame
	featureForm
)

const (
	tableBits = 17
	tableSize = 1 << tableBits
	// maxFeatures bounds the features of one question; maxTokens give at most 25 each, beside the pairs.
	maxFeatures = 4096
	maxLetters  = 24 // letters of an unknown word that are looked at
)

// feature is one hashed feature and the tokens it was seen on.
type feature struct {
	bucket   uint32
	kind     uint8
	from, to uint8
}

// orderSymbol is a word, or several, in an order of words.
type orderSymbol struct {
	hash     uint32
	from, to uint8
}

// The tenses that a question can be in, as far as its verbs tell.
const (
	tenseNone uint8 = iota
	tensePast
	tensePerfect
	tenseProgressive
	tensePresent
	tenseModal
)

// The persons that a question can ask about.
const (
	personNone uint8 = iota
	personFirst
	personSecond
	personAnyone
	personName
)

// feature notes a feature, once: a question that says a word ten times is not ten times as clear.
func (r *reading) feature(kind uint8, hash uint32, from, to int) {
	bucket := mix(hash, uint32(kind)+0x51ed) >> (32 - tableBits)
	if !r.seen[bucket] && len(r.features) < maxFeatures {
		r.seen[bucket] = true
		r.features = append(r.features, feature{bucket: bucket, kind: kind, from: uint8(from), to: uint8(to)})
	}
}

// What function words of a role show.
var (
	tenses = [numRoles]uint8{
		roleBePast: tensePast, roleDoPast: tensePast, roleHavePast: tensePast, roleBePresent: tensePresent, roleDoPresent: tensePresent,
		roleHavePresent: tensePerfect, roleModal: tenseModal,
	}
	persons = [numRoles]uint8{roleFirst: personFirst, roleSecond: personSecond, roleAnyone: personAnyone}
)

// Marks of the ends of a question in word-order features.
const (
	hashStart   = 0x0a11ce
	hashEnd     = 0x0e4d
	hashUnknown = 0x0ddba11
)

// read reads a query and its features.
func (c *Classifier) read(query string, mentions []Mention) *reading {
	r := &reading{of: c, seen: map[uint32]bool{}}
	r.read(query)
	r.markMentions(mentions)
	r.feature(featureBias, 1, 0, 0)
	if len(r.tokens) > 0 {
		r.wordFeatures()
		r.runs(featureOrder, r.order(orderName))
		r.runs(featureRoles, r.order(roleName))
		r.frameFeatures()
		r.classFeatures()
		r.formFeatures()
	}
	return r
}

// wordFeatures are the words, pairs and triples, and the letters of unknown words.
func (r *reading) wordFeatures() {
	tokens := r.tokens
	n := len(tokens)
	for i := range tokens {
		t := &tokens[i]
		r.feature(featureWord, t.hash, i, i+1)
		r.feature(featureStem, t.stem, i, i+1)
		if !t.known || t.corrected {
			r.letterFeatures(t, i)
		}
		before := uint32(hashStart)
		if i > 0 {
			before = tokens[i-1].stem
		}
		r.feature(featureBigram, mix(before, t.stem), max(i-1, 0), i+1)
		if i+1 < n {
			r.feature(featureTrigram, mix(mix(before, t.stem), tokens[i+1].stem), max(i-1, 0), i+2)
		} else {
			r.feature(featureBigram, mix(t.stem, hashEnd), i, i+1)
		}
		if i+2 < n {
			r.feature(featureSkip, mix(t.stem, tokens[i+2].stem), i, i+3)
		}
	}
}

// letterFeatures are the runs of three and four letters of an unknown word,
// with marks at its ends: they see through typing slips and endings.
func (r *reading) letterFeatures(t *token, i int) {
	w := strings.ToLower("<" + r.text[t.start:t.end] + ">")
	w = w[:min(len(w), maxLetters)]
	for k := 0; k+3 <= len(w); k++ {
		r.feature(featureLetters, hash(w[k:k+3]), i, i+1)
		if k+4 <= len(w) {
			r.feature(featureLetters, hash(w[k:k+4]), i, i+1)
		}
	}
}

// orderName calls content words by their word class and a function word by itself: "is the login page broken" is
// "is · past-verb".
func orderName(t *token) uint32 {
	switch t.symbol {
	case symFunction:
		return t.hash
	case symNone, symTech:
		return hashUnknown
	}
	return shapeHash(t.symbol)
}

// roleName is coarser: it calls function words by their roles, verbs by their tense, and all else is one.
func roleName(t *token) uint32 {
	switch {
	case t.role != roleNone:
		return mix(0x401e, uint32(t.role))
	case t.past:
		return shapeHash(symPastVerb)
	case t.gerund:
		return shapeHash(symGerund)
	case t.classes&(1<<symBaseVerb) != 0:
		return shapeHash(symBaseVerb)
	}
	return hashUnknown
}

// order puts what name calls the words into a list. Articles are left out, and a run of what is unknown is one.
func (r *reading) order(name func(*token) uint32) (order []orderSymbol) {
	for i := range r.tokens {
		t := &r.tokens[i]
		if t.role == roleArticle || t.role == rolePolite {
			continue
		}
		h := name(t)
		if k := len(order); h == hashUnknown && k > 0 && order[k-1].hash == hashUnknown {
			order[k-1].to = uint8(i + 1)
			continue
		}
		order = append(order, orderSymbol{h, uint8(i), uint8(i + 1)})
	}
	return order
}

// runs adds the pairs, triples and quadruples of a word order.
func (r *reading) runs(kind uint8, order []orderSymbol) {
	n := len(order)
	if n == 0 {
		return // nothing but articles
	}
	at := func(i int) uint32 {
		switch {
		case i < 0:
			return hashStart
		case i >= n:
			return hashEnd
		}
		return order[i].hash
	}
	for i := -1; i < n; i++ {
		from := int(order[max(i, 0)].from)
		two := mix(at(i), at(i+1))
		r.feature(kind, two, from, int(order[min(i+1, n-1)].to))
		if i+2 <= n {
			three := mix(two, at(i+2))
			r.feature(kind, three, from, int(order[min(i+2, n-1)].to))
			if i+3 <= n {
				r.feature(kind, mix(three, at(i+3)), from, int(order[min(i+3, n-1)].to))
			}
		}
	}
}

// frameFeatures are the question word, tense and person, alone and together.
func (r *reading) frameFeatures() {
	var whAt, tenseAt, personAt int
	past := false
	for i := range r.tokens {
		t := &r.tokens[i]
		if tense := tenses[t.role]; tense != tenseNone && (r.tense == tenseNone || tense == tensePast && r.tense == tenseModal) {
			r.tense, tenseAt = tense, i
		}
		if person := persons[t.role]; person != personNone && r.person == personNone {
			r.person, personAt = person, i
		}
		if (t.role == roleWh || t.role == roleHow) && r.wh == 0 {
			r.wh, whAt = t.hash, i
		}
		if t.symbol == symAgentName && r.person == personNone {
			r.person, personAt = personName, i
		}
		if t.gerund && r.tense == tensePresent {
			r.tense = tenseProgressive
		}
		if t.past && t.classes&(1<<symState) == 0 && !past {
			past = true
			if r.tense == tenseNone {
				r.tense, tenseAt = tensePast, i
			}
		}
	}
	tense, person := uint32(r.tense), uint32(r.person)
	r.feature(featureFrame, mix(1, tense), tenseAt, tenseAt+1)
	r.feature(featureFrame, mix(2, person), personAt, personAt+1)
	r.feature(featureFrame, mix(3, mix(tense, person)), min(tenseAt, personAt), max(tenseAt, personAt)+1)
	r.feature(featureFrame, mix(4, mix(r.wh, tense)), min(whAt, tenseAt), max(whAt, tenseAt)+1)
	r.feature(featureFrame, mix(5, mix(r.wh, mix(tense, person))), min(whAt, tenseAt, personAt), max(whAt, tenseAt, personAt)+1)
	for i := range r.tokens {
		if t := &r.tokens[i]; t.symbol != symFunction && t.symbol != symNone {
			r.feature(featureFrame, mix(6, mix(r.wh, mix(tense, uint32(t.symbol)))), i, i+1)
		}
	}
}

// inPast says that the verbs or a time put the question in the past.
func (r *reading) inPast() bool {
	return r.tense == tensePast || r.present&(1<<symPastTime) != 0
}

// classFeatures are which word classes there are, alone and in pairs.
func (r *reading) classFeatures() {
	var where [numSymbols]uint8
	for i := range r.tokens {
		t := &r.tokens[i]
		for set := t.classes &^ r.present; set != 0; set &= set - 1 {
			where[bits.TrailingZeros64(set)] = uint8(i)
		}
		r.present |= t.classes
	}
	for a := r.present; a != 0; a &= a - 1 {
		i := bits.TrailingZeros64(a)
		at := int(where[i])
		r.feature(featureClass, uint32(i), at, at+1)
		if t := &r.tokens[0]; at > 0 {
			r.feature(featureClassPair, mix(t.hash, uint32(i)), at, at+1)
		}
		for b := a & (a - 1); b != 0; b &= b - 1 {
			j := bits.TrailingZeros64(b)
			r.feature(featureClassPair, mix(0xc1a55, uint32(i)<<8|uint32(j)), min(at, int(where[j])), max(at, int(where[j]))+1)
		}
	}
}

// formFeatures are the question's length, ending and marks.
func (r *reading) formFeatures() {
	n := len(r.tokens)
	size := uint32(min(n, 6))
	if n > 6 {
		size = 6 + uint32(bits.Len(uint(n-6)))
	}
	r.feature(featureForm, mix(1, size), 0, n)
	content := 0
	for i := range r.tokens {
		if r.tokens[i].symbol != symFunction {
			content++
		}
	}
	if content == n {
		r.feature(featureForm, mix(2, size), 0, n) // a noun phrase, a command or an error message
	}
	if r.questionMark {
		r.feature(featureForm, 3, n-1, n)
	}
	if r.quoted {
		r.feature(featureForm, 4, 0, n)
	}
}
