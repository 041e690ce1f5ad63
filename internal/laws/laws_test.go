// Package laws_test holds what is true of the whole project: who imports whom, how large it is, how things are called.
package laws_test

import (
	"os"
	"testing"
)

// TestMain goes to the project's top, where all that these tests read begins.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
