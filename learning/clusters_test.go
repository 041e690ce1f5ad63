package learning_test

import (
	"os"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// clusters reads reports of lessons that agents wrote in their own words, each with the name of its cluster.
func clusters(t *testing.T, file string) (names []string, drafts []lesson.Draft) {
	t.Helper()
	text, err := os.ReadFile("testdata/clusters/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(file, "errors") { // as on_failure of seed 000 reports them
			agent := []string{"HADES", "CHIRON", "ATLAS"}[len(drafts)%3]
			drafts = append(drafts, lesson.Draft{
				Type: learning.LessonFailure, Domain: []string{"infrastructure", "development", "general"}[len(drafts)%3], Category: "error", Title: f[1], Context: f[2], Action: f[3], Outcome: f[1],
				Tags: []string{"error", "automatic"}, SourceAgent: agent,
			})
		} else {
			drafts = append(drafts, lesson.Draft{
				Type: learning.LessonType(f[1]), Domain: f[2], Category: "general", SourceAgent: f[3], Title: f[4], Context: f[5], Action: f[6], Outcome: f[7],
				RootCause: strings.TrimSpace(strings.Join(f[8:min(len(f), 9)], "")), Solution: strings.TrimSpace(strings.Join(f[min(len(f), 9):], "")),
			})
		}
		names = append(names, f[0])
	}
	return names, drafts
}

// TestClusters holds how many problems that several agents report in their own words become patterns.
func TestClusters(t *testing.T) {
	for _, c := range []struct {
		file                 string
		least, mixed, unlike int
	}{
		{"first.txt", 10, 0, 0}, {"second.txt", 10, 0, 0}, {"third.txt", 9, 1, 0}, {"errors.txt", 10, 0, 0}, {"errors2.txt", 9, 0, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			s := openSchool(t)
			names, drafts := clusters(t, c.file)
			of, all := map[string]string{}, map[string]bool{}
			for i, d := range drafts {
				of[s.report(t, d).LessonID] = names[i]
				all[names[i]] = true
			}
			delete(all, "-")
			found, mixed, unlike := map[string]bool{}, 0, 0
			for _, p := range s.list(t, lesson.PatternFilter{Limit: 200}) {
				full, err := s.patterns.Pattern(principal.With(t.Context(), principal.Open()), p.ID)
				if err != nil {
					t.Fatal(err)
				}
				in := map[string]int{}
				for _, id := range full.LessonIDs {
					in[of[id]]++
				}
				if len(in) > 1 {
					mixed++
					t.Logf("mixed: %s: %v", p.Name, in)
				}
				if in["-"] > 0 {
					unlike++
				}
				for name, n := range in {
					if name != "-" && n > 1 {
						found[name] = true
					}
				}
			}
			for name := range all {
				if !found[name] {
					t.Logf("no pattern: %s", name)
				}
			}
			t.Logf("%d of %d clusters, %d mixed, %d with a report of no cluster", len(found), len(all), mixed, unlike)
			if len(found) < c.least || mixed > c.mixed || unlike > c.unlike {
				t.Errorf("wanted at least %d clusters, and at most %d mixed patterns, %d with a report of no cluster", c.least, c.mixed, c.unlike)
			}
		})
	}
}
