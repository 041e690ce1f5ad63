package app_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/internal/errs"
)

// TestWebhook has a receiver of its own be told of a blocked command, without a word of it, once, whatever restarts; and has nothing told while the webhook is off.
func TestWebhook(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.Header.Get("webhook-signature") + " " + string(body)
	}))
	defer receiver.Close()
	cfg := settings(t)
	s := serveWith(t, cfg)
	s.issue()
	secrets := s.secrets
	first := s.asked(agentA, push("main"))
	if first.ApprovalID == "" {
		t.Fatalf("the check answers %+v", first)
	}
	s.stop()
	if _, err := os.Stat(filepath.Join(cfg.Data, "webhook.secret")); err == nil {
		t.Error("a secret was made while the webhook is off")
	}
	cfg.Webhook, cfg.Airgapped = receiver.URL+"/T0KEN", true // it does not leave this machine
	next := func() string {
		t.Helper()
		select {
		case body := <-bodies:
			return body
		case <-time.After(20 * time.Second):
			t.Fatal("nothing was told")
		}
		return ""
	}
	s = serveWith(t, cfg)
	s.secrets = secrets
	told := next()
	if !strings.HasPrefix(told, "v1,") || strings.Count(told, `"kind"`) != 1 || !strings.Contains(told, first.ApprovalID) || !strings.Contains(told, `"url":"http://127.0.0.1:`) || strings.Contains(told, "origin") {
		t.Errorf("it tells %s", told)
	}
	s.eventually(func() bool {
		_, raw := s.do(captain, http.MethodGet, "/api/doctor", "", nil)
		return strings.Contains(raw, "took 1 messages")
	})
	if _, raw := s.do(captain, http.MethodGet, "/api/doctor/outbound", "", nil); strings.Contains(raw, "T0KEN") || !strings.Contains(raw, `"enforced":true`) || !strings.Contains(raw, `"airgapped":true`) {
		t.Errorf("the router says %s", raw)
	}
	s.stop()
	for _, name := range []string{"webhook.secret", "webhook.json"} {
		if info, err := os.Stat(filepath.Join(cfg.Data, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	s = serveWith(t, cfg)
	s.secrets = secrets
	second := s.asked(agentA, push("release"))
	if told := next(); !strings.Contains(told, second.ApprovalID) || strings.Contains(told, first.ApprovalID) {
		t.Errorf("after a restart it tells %s", told)
	}
	s.stop()
	if err := os.WriteFile(filepath.Join(cfg.Data, "webhook.secret"), []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{}); errs.FieldOf(err) != "webhook_secret_file" {
		t.Errorf("with a secret that is none it starts with %v", err)
	}
}

// TestAirgappedRefuses: with airgapped no setting starts whose place leaves this machine, and none is told of without it.
func TestAirgappedRefuses(t *testing.T) {
	peers := filepath.Join(t.TempDir(), "interlock.json")
	text, _ := json.Marshal(map[string]any{"peers": []map[string]any{{"name": "x", "host": "192.0.2.1", "port": 3031, "key": "0123456789abcdef"}}})
	if err := os.WriteFile(peers, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for setting, change := range map[string]func(c *config.Config){
		"llm.base_url":        func(c *config.Config) { c.LLM.BaseURL = "https://model.example/v1" },
		"llm.embedding_model": func(c *config.Config) { c.LLM.EmbeddingModel, c.LLM.EmbeddingBaseURL = "m", "http://192.0.2.1/v1" },
		"telemetry.endpoint":  func(c *config.Config) { c.Telemetry.Endpoint = "http://192.0.2.1:4318" },
		"database":            func(c *config.Config) { c.Database = "postgres://me@localhost,db.example.com/team" },
		"webhook":             func(c *config.Config) { c.Webhook = "https://chat.example/hook" },
		"interlock.listen":    func(c *config.Config) { c.InterLock = config.InterLock{Listen: "127.0.0.1:0", Config: peers} },
	} {
		cfg := settings(t)
		change(&cfg)
		if leaves := app.CheckAirgapped(cfg); leaves != nil {
			t.Errorf("%s is refused without airgapped: %v", setting, leaves)
		}
		cfg.Airgapped = true
		_, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
		if errs.FieldOf(err) != "airgapped" || !strings.Contains(errs.MessageOf(err), setting+" (") {
			t.Errorf("with %s it starts with %v", setting, err)
		}
	}
	cfg := settings(t)
	cfg.Airgapped, cfg.LLM.BaseURL, cfg.Telemetry.Endpoint, cfg.Webhook = true, "http://127.0.0.1:9/v1", "http://[::1]:9", "http://localhost:9/hook"
	if err := app.CheckAirgapped(cfg); err != nil {
		t.Errorf("what stays on this machine is refused: %v", err)
	}
}
