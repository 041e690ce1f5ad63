package check_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

func TestHoldsSecretNamesTheField(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2c3", 6) // made up
	err := check.NoSecret("thread_id", token)
	if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "thread_id" || strings.Contains(err.Error(), token[4:]) {
		t.Errorf("got %v", err)
	}
	if err := check.NoSecret("thread_id", "build-2026-11-22"); err != nil {
		t.Error(err)
	}
}
