package app_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/errs"
)

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
	cfg.Airgapped, cfg.LLM.BaseURL, cfg.Telemetry.Endpoint = true, "http://127.0.0.1:9/v1", "http://[::1]:9"
	if err := app.CheckAirgapped(cfg); err != nil {
		t.Errorf("what stays on this machine is refused: %v", err)
	}
}
