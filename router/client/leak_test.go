package client_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the package if a goroutine is left when all tests have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
