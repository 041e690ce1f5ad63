package skillrouter_test

import (
	"strings"
	"testing"

	"skillrouter"
)

func TestHoldsSecretNamesTheField(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2c3", 6) // made up
	err := skillrouter.HoldsSecret("thread_id", token)
	if skillrouter.CodeOf(err) != skillrouter.Invalid || skillrouter.FieldOf(err) != "thread_id" || strings.Contains(err.Error(), token[4:]) {
		t.Errorf("got %v", err)
	}
	if err := skillrouter.HoldsSecret("thread_id", "build-2026-11-22"); err != nil {
		t.Error(err)
	}
}
