package process

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"skillrouter"
)

// What an idle router gives back.
const (
	// idleEvery is how often is looked whether the router is idle.
	idleEvery = 5 * time.Second
	// idleMakes is how many bytes an idle router makes at most in that time: a thousand
	// streams take 3 MB for their keep-alives, which come at once if they were opened at once.
	idleMakes = 8 << 20
	// idleGain is for how many bytes a collection of garbage is worth its while, and idleShare for which part
	// of what is in use: to look through that costs the more processor, the more it is.
	idleGain  = 8 << 20
	idleShare = 8
	// busyMakes is how many bytes a router makes in that time for which garbage is collected as seldom as usual. Below it the collector takes less than a
	// thirtieth of a core, and is run twice as often, for a third less memory.
	busyMakes = 320 << 20
	usualGC   = 100
	oftenGC   = 50
)

// heap is how much memory was made since the start, how much of it was in use
// when garbage was last collected, and what is garbage or free by now.
type heap struct{ made, used, idle uint64 }

func readHeap() heap {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	made, used, objects, free := samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64(), samples[3].Value.Uint64()
	return heap{made, used, max(objects, used) - used + free}
}

// rests tells whether nothing much was made since before, and whether there is enough to give back.
func (h heap) rests(before heap) bool {
	return h.made-before.made <= idleMakes && h.idle >= max(idleGain, h.used/idleShare)
}

// percent is the growth of the heap, in percent of what is in use, after which garbage is collected (debug.SetGCPercent).
func (h heap) percent(before heap) int {
	if h.made-before.made > busyMakes {
		return usualGC
	}
	return oftenGC
}

// Rest gives memory back until ctx ends: what only the start needed, after a while, and later what something
// that is over took, such as an import or a thousand streams that were opened.
// Garbage is otherwise collected when as much again was made, for which an idle router gives no reason. It returns nil.
func Rest(ctx context.Context, after time.Duration) error {
	before, percent := heap{}, usualGC
	_, given := os.LookupEnv("GOGC")
	for wait := after; skillrouter.Pause(ctx, wait) == nil; wait = idleEvery {
		now := readHeap()
		if before.made == 0 || now.rests(before) {
			settle()
		}
		if to := now.percent(before); to != percent && !given {
			debug.SetGCPercent(to)
			percent = to
		}
		before = now
	}
	return nil
}
