package shelf

import "skillrouter/tfidf"

// vain tells whether a search by words found nothing that its asker can have
// meant: no hit, or more than half of the question's words, two at least, stand
// in nothing that is remembered, so that what was found shares only the others.
func vain(found tfidf.Result, hits int, question string) bool {
	if hits == 0 {
		return true
	}
	if len(found.Unknown) < 2 {
		return false
	}
	stems, _ := tfidf.QueryTerms(question)
	return 2*len(found.Unknown) > len(stems)
}
