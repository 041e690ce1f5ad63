package likeness

import (
	"math"
	"slices"
)

// How the parts of a likeness count. They were set on the pairs of
// testdata/likeness and must hold on them; see TestLikenessTellsPairsApart.
const (
	// Duplicate is the Text from which two lessons say the same. It is high: to miss
	// a duplicate costs a second row that a pattern gathers; to see one that is none loses a lesson.
	Duplicate = 0.85

	// The parts of Score. Where the two lessons do not both have a part, the others share its weight.
	textPart  = 0.55
	tagsPart  = 0.15
	causePart = 0.30

	exactWeight = 1.5 // a number, path, code or command, beside a word
	titleWeight = 2.0 // a term of the title, beside one of the text

	// A number, path or command that only the one has where the other has another, or a title
	// that says not: they are not the same, however much else is.
	contradiction = 0.5
	// A word of the one title in whose place the other has another takes twice its share of
	// the title, at most half: "restart nginx" is not "restart redis".
	substitution = 2.0
)

// The least Score of lessons that are taken to be about one problem: with a
// root cause in common, and without one, when the words must say it all.
const (
	recurs          = 0.47
	recursCauseless = 0.65
	sharedCause     = 0.4 // the least Cause that two lessons have in common: at 0.25 lessons of one template were about one problem
)

// Recurs tells whether two lessons are about one problem.
func Recurs(hit LikeHit) bool {
	return hit.Score >= recursCauseless || hit.Cause >= sharedCause && hit.Score >= recurs
}

// What a hit must be like to be about a lesson's problem although people put it in other words. Each figure was chosen on
// learning/testdata/clusters/first.txt, and tried on second.txt afterwards; see docs/decisions/0108-a-report-joins-the-lessons-it-stands-out-with.md.
const (
	near       = 0.275 // the least Score
	contrast   = 2.8   // its Score over that of the background
	background = 3     // the background is the hit of that rank among those outside the group
	groupShare = 0.6   // the mean Score over the group, as a share of near
	groupMost  = 8     // members of a group over which the mean is taken: more need not be among the hits
)

// Near returns the hits, best first, that may be about a lesson's problem.
func Near(hits []LikeHit) []LikeHit {
	n := slices.IndexFunc(hits, func(h LikeHit) bool { return h.Score < near })
	if n < 0 {
		return hits
	}
	return hits[:n]
}

// Related tells whether a lesson is like the representative of a group enough to be in it, if it is like the others too.
// Lessons of which each is like the next are not one group.
func Related(hit LikeHit) bool { return hit.Score >= groupShare*near }

// OfGroup tells whether a lesson with these hits, best first, belongs to a group: its best member among the hits, which is at
// best, stands out against what is outside the group, and the lesson is like the whole of it. size is how many members the group has.
func OfGroup(hits []LikeHit, member func(i int) bool, best, size int) bool {
	outside, sum := 0, 0.0
	behind := 0.0
	for i, h := range hits {
		if member(i) {
			sum += h.Score
			continue
		}
		if outside++; outside == background {
			behind = h.Score
		}
	}
	return hits[best].Score >= max(near, contrast*behind) && sum >= groupShare*near*float64(min(size, groupMost))
}

// alone is what the terms weigh that one lesson has, and of its title and cause those that the other may have too.
type alone struct {
	all, title, only, cause float64 // only: of the title, what the other lesson has not
	exact                   bool    // it has an exact term that the other has not
}

// add counts a term that the other lesson has not.
func (s *alone) add(term uint32, rarity float64) {
	w := flagged(rarity, term)
	s.all += w
	if term&likenessTitle != 0 {
		s.title += w
		s.only += w
	}
	if term&likenessCause != 0 {
		s.cause += flagged(rarity, term&^likenessTitle)
	}
	s.exact = s.exact || term&likenessExact != 0
}

// share counts a term that the other lesson has too, and that weighs w for both.
func (s *alone) share(term uint32, rarity, w, plain float64) {
	s.all += w
	if term&likenessTitle != 0 {
		s.title += flagged(rarity, term)
	}
	if term&likenessCause != 0 {
		s.cause += plain
	}
}

// compare says how alike two prepared lessons are. The caller holds the lock.
func (l *Likeness) compare(a, b *Of) LikeHit {
	var both, causeBoth float64
	var ofA, ofB alone
	i, j := 0, 0
	for i < len(a.terms) || j < len(b.terms) {
		switch {
		case j == len(b.terms) || i < len(a.terms) && a.terms[i]>>flagBits < b.terms[j]>>flagBits:
			ofA.add(a.terms[i], l.rarity(a.terms[i]))
			i++
		case i == len(a.terms) || a.terms[i]>>flagBits > b.terms[j]>>flagBits:
			ofB.add(b.terms[j], l.rarity(b.terms[j]))
			j++
		default:
			ta, tb := a.terms[i], b.terms[j]
			rarity := l.rarity(ta)
			w, plain := flagged(rarity, ta|tb), flagged(rarity, ta&^likenessTitle)
			both += w
			ofA.share(ta, rarity, w, plain)
			ofB.share(tb, rarity, w, plain)
			if ta&tb&likenessCause != 0 {
				causeBoth += plain
			}
			i, j = i+1, j+1
		}
	}
	return l.weighed(a, b, both, causeBoth, &ofA, &ofB)
}

// weighed says how alike two lessons are by what they share and what each has. The less b has alone, the more alike they are.
func (l *Likeness) weighed(a, b *Of, both, causeBoth float64, ofA, ofB *alone) LikeHit {
	hit := LikeHit{Words: share(both, ofA.all, ofB.all), Cause: share(causeBoth, ofA.cause, ofB.cause)}
	hit.Text = hit.Words
	if ofA.exact && ofB.exact || a.negated != b.negated {
		hit.Text *= contradiction
	}
	if shorter := min(ofA.title, ofB.title); shorter > 0 {
		hit.Text *= 1 - min(0.5, substitution*min(ofA.only, ofB.only)/shorter)
	}
	tagged := l.tags(a, b, &hit)
	score, parts := textPart*hit.Words, textPart
	if tagged {
		score, parts = score+tagsPart*hit.Tags, parts+tagsPart
	}
	if ofA.cause > 0 && ofB.cause > 0 {
		score, parts = score+causePart*hit.Cause, parts+causePart
	}
	hit.Score = score / parts
	return hit
}

// share is the cosine of two sets of weighted terms (the Ochiai coefficient):
// of the weight of what both have, the share of the geometric mean of what each has.
func share(both, a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return min(both/math.Sqrt(a*b), 1)
}

// tags fills hit.Tags, and tells whether both have tags that say something.
func (l *Likeness) tags(a, b *Of, hit *LikeHit) bool {
	var both, wa, wb float64
	for _, t := range a.tags {
		w := l.weight(t)
		wa += w
		for _, u := range b.tags {
			if t == u {
				both += w
			}
		}
	}
	for _, t := range b.tags {
		wb += l.weight(t)
	}
	hit.Tags = share(both, wa, wb)
	return wa > 0 && wb > 0
}
