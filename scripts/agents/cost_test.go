package agents

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// costCalls is how many shell calls a session of TestCost makes.
const costCalls = 50

// setting is a way in which an agent is set up for TestCost.
type setting struct {
	name  string
	place *place
	setUp func(p *place, a agent)
	gaps  []time.Duration // from the model's answer to the next question, for each shell call
}

// TestCost measures what the hooks add to a shell call (`true N`): the time from the model's
// answer to the agent's next question, in sessions without and with the hooks that follow
// each other, in alternating order. Call i of a session is compared with call i of its
// partner; the median of the differences is printed with its 95 % interval by order
// statistics. SKILLROUTER_COST says how many sessions of each (4 are 200 calls).
func TestCost(t *testing.T) {
	npm, rounds := os.Getenv("SKILLROUTER_REAL_AGENTS"), 0
	if text := os.Getenv("SKILLROUTER_COST"); npm != "" && text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil || rounds < 1 {
			t.Fatalf("SKILLROUTER_COST is %q and no number of sessions", text)
		}
	} else {
		t.Skip("SKILLROUTER_COST says no number of sessions: make hook-cost")
	}
	for _, a := range agents() {
		t.Run(a.named(), func(t *testing.T) {
			if _, err := os.Stat(a.installed(npm)); err != nil {
				t.Skipf("%s is not installed", a.name)
			}
			settings := []*setting{
				{name: "no hooks", setUp: func(*place, agent) {}},
				{name: "hooks", setUp: func(p *place, a agent) { p.router("setup", a.name, "--yes") }},
			}
			if a.name != "opencode" { // its plugin runs no program
				settings = append(settings, &setting{name: "hooks that do nothing", setUp: idle})
			}
			for _, s := range settings {
				s.place = newShop(t, npm)
				a.prepare(s.place)
				if a.trust != nil {
					a.trust(s.place)
				}
				s.setUp(s.place, a)
				s.measure(t, a, "Warm up") // the first session of an agent unpacks and indexes
				s.gaps = nil
			}
			before := load()
			for round := range rounds {
				order := slices.Clone(settings)
				if round%2 == 1 {
					slices.Reverse(order)
				}
				for _, s := range order {
					s.measure(t, a, fmt.Sprintf("Measure round %d", round))
				}
			}
			if t.Failed() {
				return
			}
			for _, s := range settings[1:] {
				added, low, high := compare(settings[0].gaps, s.gaps)
				fmt.Printf("%-12s %-22s %6.1f ms against %6.1f ms without: median of %d differences %5.1f ms [%.1f, %.1f], load %s before, %s after\n",
					a.named(), s.name, middle(s.gaps), middle(settings[0].gaps), len(s.gaps), added, low, high, before, load())
			}
		})
	}
}

// idle sets the agent up with a program in the hooks' place that ends at once: what the agent itself takes for them.
func idle(p *place, a agent) {
	p.router("setup", a.name, "--yes")
	program := regexp.MustCompile(`[^\s"']*skillrouter(-hook)? hook `)
	changed := 0
	err := filepath.WalkDir(p.path("."), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) != ".json" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || !program.Match(text) || !strings.Contains(string(text), `"hooks"`) {
			return err
		}
		changed++
		return os.WriteFile(name, program.ReplaceAll(text, []byte("/bin/true hook ")), 0o600)
	})
	if err != nil || changed == 0 {
		p.t.Fatalf("%d files of hooks were changed: %v", changed, err)
	}
}

// measure runs a session of costCalls shell calls and keeps the times between them.
func (s *setting) measure(t *testing.T, a agent, prompt string) {
	t.Helper()
	steps := make([]step, costCalls, costCalls+1)
	for i := range steps {
		steps[i] = step{shell: fmt.Sprintf("true %d", i)} // Gemini CLI ends a session that calls the same thing again and again
	}
	session := s.place.model.begin(prompt, append(steps, step{text: "Done."})...)
	if out, err := a.session(s.place, "shop", prompt); err != nil {
		t.Errorf("%s: %v\n%s", s.name, err, tail(out))
		return
	}
	session.end()
	s.place.settle()
	if len(session.came) < costCalls+1 {
		t.Errorf("%s: of %d shell calls the agent made %d", s.name, costCalls, len(session.came)-1)
		return
	}
	for i := range costCalls {
		s.gaps = append(s.gaps, session.came[i+1].Sub(session.answered[i]))
	}
}

func middle(gaps []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(gaps))
	return float64(sorted[len(sorted)/2].Microseconds()) / 1000
}

// compare returns the median of the differences of pairs in milliseconds, and the order
// statistics between which the true one lies with at least 95 %.
func compare(without, with []time.Duration) (median, low, high float64) {
	differences := make([]float64, min(len(without), len(with)))
	for i := range differences {
		differences[i] = float64((with[i] - without[i]).Microseconds()) / 1000
	}
	slices.Sort(differences)
	n := float64(len(differences))
	around := 1.96 * math.Sqrt(n) / 2 // the normal approximation of the binomial distribution of how many lie below
	at := func(i float64) float64 { return differences[min(max(int(i), 0), len(differences)-1)] }
	return at(n / 2), at(math.Floor(n/2 - around)), at(math.Ceil(n/2 + around))
}

// load is the machine's load average of a minute.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg") // empty where there is none
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func TestCompare(t *testing.T) {
	without, with := make([]time.Duration, 200), make([]time.Duration, 200)
	for i := range with {
		with[i] = time.Duration(i+1) * time.Millisecond
	}
	if median, low, high := compare(without, with); median != 101 || low != 87 || high != 115 {
		t.Errorf("the median is %v [%v, %v]", median, low, high)
	}
}
