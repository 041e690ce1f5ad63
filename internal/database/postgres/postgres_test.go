package postgres_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
)

func TestParse(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://me:secret@db.example.com/team":              "postgres://db.example.com:5432/team skillrouter_learning",
		"postgresql://db.example.com:6432/team?sslmode=disable": "postgres://db.example.com:6432/team skillrouter_learning",
		"postgres://me@db/team?schema_prefix=shop_":             "postgres://db:5432/team shop_learning",
		"":                                   "database",
		"team":                               "database",
		"mysql://db/team":                    "database",
		"postgres://db:port/team":            "database",
		"postgres://db/team?sslmode=perhaps": "database",
		"postgres://db/team?schema_prefix=a;DROP SCHEMA b":            "database",
		"postgres://db/team?schema_prefix=" + strings.Repeat("a", 41): "schema_prefix",
		"postgres://me:secret@db/team?connect_timeout=soon":           "database",
		"postgres://me:secret@db/team?schema_prefix=A":                "schema_prefix",
		"postgres://me:secret@db/team?schema_prefix=\"":               "schema_prefix",
		"postgres:///team?host=/var/run/postgresql":                   "postgres:///var/run/postgresql:5432/team skillrouter_learning",
	} {
		s, err := postgres.Parse(address)
		if err != nil {
			if errs.CodeOf(err) != errs.Invalid || !strings.Contains(errs.MessageOf(err)+" database", want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", address, err)
			}
			continue
		}
		if got := s.String() + " " + s.Schema("learning"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
