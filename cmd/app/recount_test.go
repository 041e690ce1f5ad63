package app

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRecount holds that a cheap count is always right, and that a dear one is
// made by one caller at a time, and takes a fiftieth of the time.
func TestRecount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes, there, made := time.Duration(0), 1, 0
		r := recount[int]{now: time.Now}
		get := func() int {
			n, err := r.get(func() (int, error) { made++; <-time.After(takes); return there, nil })
			if err != nil {
				t.Error(err)
			}
			return n
		}
		for want := 1; want < 4; want++ {
			if there = want; get() != want {
				t.Errorf("a cheap count of %d is not right", want)
			}
		}

		takes, made, there = 100*time.Millisecond, 0, 10
		for range 1000 { // 10 s
			get()
			<-time.After(10 * time.Millisecond)
		}
		if made < 2 || made > 3 {
			t.Errorf("a count of 100 ms was made %d times in 10 s, want every 5 s", made)
		}

		<-time.After(time.Minute)
		made, there = 0, 11
		var all sync.WaitGroup
		var mu sync.Mutex
		answers := map[int]int{}
		for range 20 {
			all.Go(func() {
				n := get()
				mu.Lock()
				defer mu.Unlock()
				answers[n]++
			})
		}
		all.Wait()
		if made != 1 || answers[10] != 19 || answers[11] != 1 {
			t.Errorf("20 asked at once: counted %d times, answers %v; want one that counts, and the last count for the others", made, answers)
		}
	})
}

// TestRecountFails holds that a count that failed is tried again by the next.
func TestRecountFails(t *testing.T) {
	r := recount[int]{now: time.Now}
	if _, err := r.get(func() (int, error) { return 0, errors.New("no disk") }); err == nil {
		t.Error("a count that failed was answered as one")
	}
	if n, err := r.get(func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("after a failure: %d, %v", n, err)
	}
}
