package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/locate"
)

// TestKillBetweenApprovalAndUse kills the router after a person allowed something, and while that is used: it may
// be used once, whatever was answered.
func TestKillBetweenApprovalAndUse(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes")
	}
	data := t.TempDir()
	binary := program(t, build)
	p := start(t, binary, data)
	secret := ""
	call := func(p *process, path string, body any) (int, string) {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+secret)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, ""
		}
		defer answer.Body.Close()
		var text bytes.Buffer
		if _, err := text.ReadFrom(answer.Body); err != nil {
			return 0, ""
		}
		return answer.StatusCode, text.String()
	}
	owner, err := locate.ReadOwnerToken(data)
	if err != nil {
		t.Fatal(err)
	}
	secret = owner
	var token struct {
		Secret string `json:"token"`
	}
	if status, raw := call(p, "/api/tokens", map[string]any{"person": "ada", "scopes": []string{"captain"}}); json.Unmarshal([]byte(raw), &token) != nil || token.Secret == "" {
		t.Fatalf("%d %s", status, raw)
	}
	secret = token.Secret
	const rounds = 3
	used := 0
	for round := range rounds {
		action := map[string]any{"proposed_action": fmt.Sprintf("git push --force origin x%d", round), "agent": "a", "folder": "/w"}
		var v verdict
		if _, raw := call(p, "/check/anti-pattern", action); json.Unmarshal([]byte(raw), &v) != nil || v.ApprovalID == "" {
			t.Fatalf("round %d: %s\n%s", round, raw, p.stderr)
		}
		if status, raw := call(p, "/check/approvals/"+v.ApprovalID+"/approve", map[string]any{}); status != http.StatusOK {
			t.Fatalf("round %d: %d %s", round, status, raw)
		}
		allowed := 0
		check := func() {
			if _, raw := call(p, "/check/anti-pattern", action); strings.Contains(raw, `"decision":"allow"`) {
				allowed++
			}
		}
		again := func() { p.kill(); p = start(t, binary, data) }
		switch round % 3 {
		case 0: // between the two
			again()
			check()
			again()
		case 1: // right after it was used
			check()
			again()
		case 2: // while it is used
			done := make(chan struct{})
			go func() { defer close(done); check() }()
			again()
			<-done
		}
		for range 3 {
			check()
		}
		again()
		check()
		if allowed > 1 || allowed == 0 && round%3 != 2 {
			t.Errorf("round %d: it was allowed %d times", round, allowed)
		}
		used += allowed
	}
	t.Logf("%d rounds, used %d times", rounds, used)
}
