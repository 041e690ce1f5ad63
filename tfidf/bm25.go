package tfidf

import "math"

// saturation is BM25's treatment of a document's length, for one average length:
// impact = tf·(k1+1) / (tf + k1·(1−b+b·length/average)) (Robertson and Zaragoza,
// "The Probabilistic Relevance Framework", 2009).
type saturation struct{ gain, base, slope float64 }

func newSaturation(w Weights, average float64) saturation {
	return saturation{gain: w.K1 + 1, base: w.K1 * (1 - w.B), slope: w.K1 * w.B / max(average, 1)}
}

func (n saturation) impact(tf, length uint32) float64 {
	f := float64(tf)
	return f * n.gain / (f + n.base + n.slope*float64(length))
}

// idf is ln(1 + (N−df+½)/(df+½)), which is never negative.
func idf(docs, df int) float64 {
	df = min(df, docs)
	return math.Log(1 + (float64(docs-df)+0.5)/(float64(df)+0.5))
}
