package shelf

import (
	"math"

	"github.com/skillrouter/skillrouter/tfidf"
)

// Exact lets the weights of reasons add up, from the first to the last, to
// exactly the score. Parts that were scaled after they had been added are each
// rounded on their own, and their sum then misses the score by some units of its
// last place: the last part that can take the difference takes it, which nobody
// would see otherwise. Who checks an explanation must not be left wondering what
// was kept from them.
func Exact(score float64, why []tfidf.Reason) {
	for i := len(why) - 1; i >= 0; i-- {
		whole, before := why[i].Weight, 0.0
		for _, r := range why[:i] {
			before += r.Weight
		}
		rest := score - before
		for k := len(why) - 1; k > i; k-- {
			rest -= why[k].Weight
		}
		for _, w := range []float64{whole, rest, math.Nextafter(rest, math.Inf(1)), math.Nextafter(rest, math.Inf(-1))} {
			if why[i].Weight = w; added(why) == score {
				return
			}
		}
		why[i].Weight = whole
	}
}

func added(why []tfidf.Reason) float64 {
	sum := 0.0
	for _, r := range why {
		sum += r.Weight
	}
	return sum
}
