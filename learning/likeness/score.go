package likeness

import "math"

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
	sharedCause     = 0.25 // the least Cause that two lessons have in common
)

// Recurs tells whether two lessons are about one problem.
func Recurs(hit LikeHit) bool {
	return hit.Score >= recursCauseless || hit.Cause >= sharedCause && hit.Score >= recurs
}

// compare says how alike two prepared lessons are. The caller holds the lock.
func (l *Likeness) compare(a, b Of) LikeHit {
	var both, wa, wb float64                 // weights of the terms of both, of a, of b
	var titleA, titleB, onlyA, onlyB float64 // of the titles, and of what only the one lesson has of them
	var causeBoth, causeA, causeB float64
	exactA, exactB := false, false // whether one has an exact term that the other has not

	one := func(term uint32, all, title, only, cause *float64, exact *bool) {
		w := l.weight(term)
		*all += w
		if term&likenessTitle != 0 {
			*title += w
			*only += w
		}
		if term&likenessCause != 0 {
			*cause += l.weight(term &^ likenessTitle)
		}
		*exact = *exact || term&likenessExact != 0
	}
	i, j := 0, 0
	for i < len(a.terms) || j < len(b.terms) {
		switch {
		case j == len(b.terms) || i < len(a.terms) && a.terms[i]>>flagBits < b.terms[j]>>flagBits:
			one(a.terms[i], &wa, &titleA, &onlyA, &causeA, &exactA)
			i++
		case i == len(a.terms) || a.terms[i]>>flagBits > b.terms[j]>>flagBits:
			one(b.terms[j], &wb, &titleB, &onlyB, &causeB, &exactB)
			j++
		default:
			ta, tb := a.terms[i], b.terms[j]
			w := l.weight(ta | tb)
			both, wa, wb = both+w, wa+w, wb+w
			if ta&likenessTitle != 0 {
				titleA += l.weight(ta)
			}
			if tb&likenessTitle != 0 {
				titleB += l.weight(tb)
			}
			plain := l.weight(ta &^ likenessTitle)
			if ta&likenessCause != 0 {
				causeA += plain
			}
			if tb&likenessCause != 0 {
				causeB += plain
			}
			if ta&tb&likenessCause != 0 {
				causeBoth += plain
			}
			i, j = i+1, j+1
		}
	}
	hit := LikeHit{Words: share(both, wa, wb), Cause: share(causeBoth, causeA, causeB)}
	hit.Text = hit.Words
	if exactA && exactB || a.negated != b.negated {
		hit.Text *= contradiction
	}
	if shorter := min(titleA, titleB); shorter > 0 {
		hit.Text *= 1 - min(0.5, substitution*min(onlyA, onlyB)/shorter)
	}
	tagged := l.tags(a, b, &hit)
	score, parts := textPart*hit.Words, textPart
	if tagged {
		score, parts = score+tagsPart*hit.Tags, parts+tagsPart
	}
	if causeA > 0 && causeB > 0 {
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
func (l *Likeness) tags(a, b Of, hit *LikeHit) bool {
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
