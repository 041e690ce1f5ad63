package client_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/client"
)

// TestTrustIsAsked: who is believed is asked for https alone, so that no other start reads authorities; and what is wrong with it is told at once.
func TestTrustIsAsked(t *testing.T) {
	asked := 0
	trust := func() (client.Trust, error) {
		asked++
		return client.Trust{CA: filepath.Join(t.TempDir(), "none.crt")}, nil
	}
	if _, err := client.New("http://127.0.0.1:1", client.Options{Trust: trust}); err != nil || asked != 0 {
		t.Errorf("for http: %v, asked %d times", err, asked)
	}
	if _, err := client.New("https://127.0.0.1:1", client.Options{Trust: trust}); errs.CodeOf(err) != errs.Invalid || !strings.Contains(errs.MessageOf(err), "none.crt") || asked != 1 {
		t.Errorf("for https: %v, asked %d times", err, asked)
	}
	empty := filepath.Join(t.TempDir(), "empty.crt")
	if err := os.WriteFile(empty, []byte("-----BEGIN CERTIFICATE-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (client.Trust{CA: empty}).Config(); errs.CodeOf(err) != errs.Invalid || !strings.Contains(errs.MessageOf(err), "no certificate") {
		t.Errorf("a file without a certificate: %v", err)
	}
}
