package process

import (
	"runtime"
	"testing"
)

// TestRests holds when memory is given back, and that what is measured is what is given back.
func TestRests(t *testing.T) {
	for name, c := range map[string]struct {
		before, now heap
		want        bool
	}{
		"something was over":          {heap{made: 100 << 20}, heap{101 << 20, 30 << 20, 20 << 20}, true},
		"it is busy":                  {heap{made: 100 << 20}, heap{120 << 20, 30 << 20, 20 << 20}, false},
		"there is little":             {heap{made: 100 << 20}, heap{101 << 20, 30 << 20, 7 << 20}, false},
		"little beside what there is": {heap{made: 100 << 20}, heap{101 << 20, 400 << 20, 20 << 20}, false},
		"much beside a lot":           {heap{made: 100 << 20}, heap{101 << 20, 400 << 20, 60 << 20}, true},
	} {
		if got := c.now.rests(c.before); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if quiet, busy := (heap{made: 300 << 20}).percent(heap{}), (heap{made: 400 << 20}).percent(heap{}); quiet >= busy {
		t.Errorf("of a router that makes little garbage is collected after %d %%, and of a busy one after %d", quiet, busy)
	}
	settle()
	before := readHeap()
	garbage := make([]byte, 64<<20)
	runtime.KeepAlive(garbage)
	made := readHeap()
	if made.made-before.made < 64<<20 || made.idle < 60<<20 && made.used < before.used+60<<20 {
		t.Errorf("64 MiB were made, seen is %+v after %+v", made, before)
	}
	if settle(); readHeap().idle > 16<<20 {
		t.Errorf("%d MiB are idle after they were given back", readHeap().idle>>20)
	}
}
