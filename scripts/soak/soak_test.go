package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
)

// programs is what all tests share: the router is built once.
var programs = sync.OnceValues(func() (*bench, error) {
	return newBench(context.Background(), programsDir, "", ".")
})

var programsDir string

func TestMain(m *testing.M) {
	var err error
	if programsDir, err = os.MkdirTemp("", "soak-test"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(programsDir)
	os.Exit(code)
}

// TestSoak runs each harness once, in its short form.
func TestSoak(t *testing.T) {
	b := benchOf(t)
	for _, h := range harnesses {
		t.Run(h.name, func(t *testing.T) {
			out := newResult()
			err := h.round(t.Context(), b, short, out)
			if errors.Is(err, errSkipped) {
				t.Skip(err)
			}
			if err != nil {
				t.Error(err)
			}
			t.Logf("%s\n%s", h.what, out)
			if out.faulty() {
				t.Fail()
			}
		})
	}
}

// TestSoakNotices holds that each harness catches what it is there to catch.
func TestSoakNotices(t *testing.T) {
	b := benchOf(t)
	for _, h := range harnesses {
		for _, c := range h.controls {
			t.Run(h.name+"/"+c.name, func(t *testing.T) {
				caught, err := c.caught(t.Context(), b)
				if errors.Is(err, errSkipped) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				if !caught {
					t.Error("it is not caught")
				}
			})
		}
	}
}

func benchOf(t *testing.T) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the real program")
	}
	b, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
