package classify

import "math/bits"

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

// scratch is what one classification works in. It is pooled.
type scratch struct {
	text         []byte
	tailAt       int
	low          []byte
	tokens       []token
	features     []feature
	seen         [tableSize / 64]uint64 // buckets of features
	order        []orderSymbol          // word order with runs of unknown words made one
	roles        []orderSymbol          // word order with function words made their roles
	quoted       bool
	questionMark bool
	present      uint64 // all word classes seen
	tense        uint8
	person       uint8
	wh           uint32
}

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

// add notes a feature, once: a question that says a word ten times is not ten times as clear.
func (s *scratch) add(kind uint8, hash uint32, from, to int) {
	if len(s.features) >= maxFeatures {
		return
	}
	bucket := mix(hash, uint32(kind)+0x51ed) >> (32 - tableBits)
	if s.seen[bucket/64]&(1<<(bucket%64)) != 0 {
		return
	}
	s.seen[bucket/64] |= 1 << (bucket % 64)
	s.features = append(s.features, feature{bucket: bucket, kind: kind, from: uint8(from), to: uint8(to)})
}

// Marks of the ends of a question in word-order features.
const (
	hashStart   = 0x0a11ce
	hashEnd     = 0x0e4d
	hashUnknown = 0x0ddba11
)

// extract reads query and fills the scratch with its features.
func (s *scratch) extract(c *Classifier, query string, mentions []Mention) {
	s.readText(query)
	s.tokenize(c)
	s.markMentions(mentions)
	for _, f := range s.features {
		s.seen[f.bucket/64] = 0
	}
	s.features = s.features[:0]
	s.add(featureBias, 1, 0, 0)
	if len(s.tokens) == 0 {
		return
	}
	s.wordFeatures()
	s.orderFeatures()
	s.roleFeatures()
	s.frameFeatures()
	s.classFeatures()
	s.formFeatures()
}

// wordFeatures are the words, pairs and triples, and the letters of unknown words.
func (s *scratch) wordFeatures() {
	tokens := s.tokens
	n := len(tokens)
	for i := range tokens {
		t := &tokens[i]
		s.add(featureWord, t.hash, i, i+1)
		s.add(featureStem, t.stem, i, i+1)
		if !t.known || t.corrected {
			s.letterFeatures(t, i)
		}
		before := uint32(hashStart)
		if i > 0 {
			before = tokens[i-1].stem
		}
		s.add(featureBigram, mix(before, t.stem), max(i-1, 0), i+1)
		if i+1 < n {
			s.add(featureTrigram, mix(mix(before, t.stem), tokens[i+1].stem), max(i-1, 0), i+2)
		} else {
			s.add(featureBigram, mix(t.stem, hashEnd), i, i+1)
		}
		if i+2 < n {
			s.add(featureSkip, mix(t.stem, tokens[i+2].stem), i, i+3)
		}
	}
}

// letterFeatures are the runs of three and four letters of an unknown word,
// with marks at its ends: they see through typing slips and endings.
func (s *scratch) letterFeatures(t *token, i int) {
	s.low = append(append(append(s.low[:0], '<'), s.text[t.start:t.end]...), '>')
	w := lower(s.low)
	if len(w) > maxLetters {
		w = w[:maxLetters]
	}
	for k := 0; k+3 <= len(w); k++ {
		s.add(featureLetters, hashBytes(w[k:k+3]), i, i+1)
		if k+4 <= len(w) {
			s.add(featureLetters, hashBytes(w[k:k+4]), i, i+1)
		}
	}
}

// orderFeatures are runs of two to four in a word order where content words
// are their word class, runs of words without one are one, and articles are
// left out: "is the login page broken" is "is · past-verb".
func (s *scratch) orderFeatures() {
	s.order = s.wordOrder(s.order, func(t *token) uint32 {
		switch t.symbol {
		case symFunction:
			return t.hash
		case symNone, symTech:
			return hashUnknown
		}
		return shapeHash(t.symbol)
	})
	s.runs(featureOrder, s.order)
}

// wordOrder puts what name calls the words into a list. Articles are left out, and a run of what is unknown is one.
func (s *scratch) wordOrder(into []orderSymbol, name func(*token) uint32) []orderSymbol {
	into = into[:0]
	for i := range s.tokens {
		t := &s.tokens[i]
		if t.role == roleArticle || t.role == rolePolite {
			continue
		}
		h := name(t)
		if k := len(into); h == hashUnknown && k > 0 && into[k-1].hash == hashUnknown {
			into[k-1].to = uint8(i + 1)
			continue
		}
		into = append(into, orderSymbol{h, uint8(i), uint8(i + 1)})
	}
	return into
}

// runs adds the pairs, triples and quadruples of a word order.
func (s *scratch) runs(kind uint8, order []orderSymbol) {
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
		s.add(kind, two, from, int(order[min(i+1, n-1)].to))
		if i+2 <= n {
			three := mix(two, at(i+2))
			s.add(kind, three, from, int(order[min(i+2, n-1)].to))
			if i+3 <= n {
				s.add(kind, mix(three, at(i+3)), from, int(order[min(i+3, n-1)].to))
			}
		}
	}
}

// roleFeatures are runs in a coarser word order: function words are their
// roles, verbs their tense, and all else is one.
func (s *scratch) roleFeatures() {
	s.roles = s.wordOrder(s.roles, func(t *token) uint32 {
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
	})
	s.runs(featureRoles, s.roles)
}

// frameFeatures are the question word, tense and person, alone and together.
func (s *scratch) frameFeatures() {
	s.tense, s.person, s.wh = tenseNone, personNone, 0
	var whAt, tenseAt, personAt int
	past := false
	for i := range s.tokens {
		t := &s.tokens[i]
		switch t.role {
		case roleWh, roleHow:
			if s.wh == 0 {
				s.wh, whAt = t.hash, i
			}
		case roleBePast, roleDoPast, roleHavePast:
			if s.tense == tenseNone || s.tense == tenseModal {
				s.tense, tenseAt = tensePast, i
			}
		case roleBePresent, roleDoPresent:
			if s.tense == tenseNone {
				s.tense, tenseAt = tensePresent, i
			}
		case roleHavePresent:
			if s.tense == tenseNone {
				s.tense, tenseAt = tensePerfect, i
			}
		case roleModal:
			if s.tense == tenseNone {
				s.tense, tenseAt = tenseModal, i
			}
		case roleFirst:
			if s.person == personNone {
				s.person, personAt = personFirst, i
			}
		case roleSecond:
			if s.person == personNone {
				s.person, personAt = personSecond, i
			}
		case roleAnyone:
			if s.person == personNone {
				s.person, personAt = personAnyone, i
			}
		}
		if t.symbol == symAgentName && s.person == personNone {
			s.person, personAt = personName, i
		}
		if t.gerund && s.tense == tensePresent {
			s.tense = tenseProgressive
		}
		if t.past && t.classes&(1<<symState) == 0 && !past {
			past = true
			if s.tense == tenseNone {
				s.tense, tenseAt = tensePast, i
			}
		}
	}
	tense, person := uint32(s.tense), uint32(s.person)
	s.add(featureFrame, mix(1, tense), tenseAt, tenseAt+1)
	s.add(featureFrame, mix(2, person), personAt, personAt+1)
	s.add(featureFrame, mix(3, mix(tense, person)), min(tenseAt, personAt), max(tenseAt, personAt)+1)
	s.add(featureFrame, mix(4, mix(s.wh, tense)), min(whAt, tenseAt), max(whAt, tenseAt)+1)
	s.add(featureFrame, mix(5, mix(s.wh, mix(tense, person))), min(whAt, tenseAt, personAt), max(whAt, tenseAt, personAt)+1)
	for i := range s.tokens {
		if t := &s.tokens[i]; t.symbol != symFunction && t.symbol != symNone {
			s.add(featureFrame, mix(6, mix(s.wh, mix(tense, uint32(t.symbol)))), i, i+1)
		}
	}
}

// inPast says that the verbs or a time put the question in the past.
func (s *scratch) inPast() bool {
	return s.tense == tensePast || s.present&(1<<symPastTime) != 0
}

// classFeatures are which word classes there are, alone and in pairs.
func (s *scratch) classFeatures() {
	s.present = 0
	var where [numSymbols]uint8
	for i := range s.tokens {
		t := &s.tokens[i]
		for set := t.classes &^ s.present; set != 0; set &= set - 1 {
			where[bits.TrailingZeros64(set)] = uint8(i)
		}
		s.present |= t.classes
	}
	for a := s.present; a != 0; a &= a - 1 {
		i := bits.TrailingZeros64(a)
		at := int(where[i])
		s.add(featureClass, uint32(i), at, at+1)
		if t := &s.tokens[0]; at > 0 {
			s.add(featureClassPair, mix(t.hash, uint32(i)), at, at+1)
		}
		for b := a & (a - 1); b != 0; b &= b - 1 {
			j := bits.TrailingZeros64(b)
			s.add(featureClassPair, mix(0xc1a55, uint32(i)<<8|uint32(j)), min(at, int(where[j])), max(at, int(where[j]))+1)
		}
	}
}

// formFeatures are the question's length, ending and marks.
func (s *scratch) formFeatures() {
	n := len(s.tokens)
	size := uint32(min(n, 6))
	if n > 6 {
		size = 6 + uint32(bits.Len(uint(n-6)))
	}
	s.add(featureForm, mix(1, size), 0, n)
	content := 0
	for i := range s.tokens {
		if s.tokens[i].symbol != symFunction {
			content++
		}
	}
	if content == n {
		s.add(featureForm, mix(2, size), 0, n) // a noun phrase, a command or an error message
	}
	if s.questionMark {
		s.add(featureForm, 3, n-1, n)
	}
	if s.quoted {
		s.add(featureForm, 4, 0, n)
	}
}
