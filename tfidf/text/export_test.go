package text

// Words returns the folded words of a text before stemming, compounds in brackets.
func Words(text string) (words []string) {
	var s Scanner
	s.Scan(text)
	for i, t := range s.Tokens {
		w := string(s.Buf[t.Start:t.End])
		switch {
		case t.kind == compound:
			w = "[" + w + "]"
		case t.kind == single && inPair(s.Tokens, i):
			w = "(" + w + ")"
		}
		words = append(words, w)
	}
	return words
}
