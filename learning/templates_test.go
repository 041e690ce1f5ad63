package learning_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// TestTemplates reports lessons that a program wrote from one template, each about a thing and a fault that no other is about.
// A template is no pattern. There were 8.
func TestTemplates(t *testing.T) {
	things := [...]string{
		"invoice", "ferry", "parser", "radar", "ticket", "gateway", "ledger", "camera", "printer", "mailer", "scheduler", "elevator", "catalogue", "beacon", "turbine",
		"scanner", "firewall", "thermostat", "archive", "telescope", "router", "library", "webhook", "dashboard", "compiler", "spooler", "crane", "freezer", "antenna", "pipeline",
		"balancer", "kiosk", "payroll", "lexer", "drone", "conveyor", "sandbox", "mirror", "harvester", "barrier", "projector", "buoy", "translator", "furnace", "escrow",
		"registry", "sampler", "winch", "notary", "greenhouse",
	}
	states := [...]string{
		"stale", "full", "wrong", "missing", "closed", "expired", "broken", "old", "slow", "bad", "empty", "double", "hidden", "locked", "torn", "wet", "hot", "cold", "loose", "blind", "short", "late", "early", "heavy", "quiet",
	}
	parts := [...]string{
		"token", "queue", "locale", "index", "socket", "key", "cable", "schema", "disk", "checksum", "header", "clock", "buffer", "filter", "driver", "valve", "lens", "signal", "badge", "counter",
		"pump", "label", "bracket", "motor", "hinge", "relay", "spring", "gauge", "switch", "plug", "rotor", "fuse", "grille", "pedal", "shaft", "ladder", "mast", "rope", "anchor", "hull",
	}
	s := openSchool(t)
	chosen, pairs := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	for i := 0; i < 500; {
		thing, state, part := things[chosen.IntN(len(things))], states[chosen.IntN(len(states))], parts[chosen.IntN(len(parts))]
		if pairs[thing+state] || pairs[thing+part] || pairs[state+part] {
			continue // no two lessons share two of their words
		}
		pairs[thing+state], pairs[thing+part], pairs[state+part] = true, true, true
		i++
		fault := "a " + state + " " + part
		s.report(t, lesson.Draft{
			Type: learning.LessonFailure, Domain: "operations", Category: "general", SourceAgent: fmt.Sprint("agent-", i%4),
			Title: fmt.Sprintf("The %s failed because of %s", thing, fault), Context: fmt.Sprintf("Run %d of the %s in the nightly job", i, thing),
			Action: fmt.Sprintf("Started the %s again", thing), Outcome: fmt.Sprintf("The %s did not come back", thing),
			RootCause: fmt.Sprintf("The %s had %s", thing, fault), Solution: fmt.Sprintf("Check the %s for %s before the job", thing, fault),
		})
	}
	found := s.list(t, lesson.PatternFilter{Limit: 200})
	for _, p := range found {
		t.Logf("%s: %d lessons", p.Name, p.Lessons)
	}
	if len(found) > 1 { // while there are few lessons every word is rare
		t.Errorf("%d patterns of 500 lessons of one template", len(found))
	}
}
