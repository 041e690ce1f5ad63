package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFiguresPage counts what agents do, and finds it on the page: as plots of a table that is read without scripts, each with a way to what is behind it.
func TestFiguresPage(t *testing.T) {
	s := openSite(t)
	s.shows("/ui/figures", "Over time", "Agents online", "24 hours", "90 days")
	rule := s.lesson("anti_pattern", "Never "+hostile, map[string]any{"severity": "critical", "related_commands": []string{"DROP TABLE orders"}})
	for range 3 {
		s.api(http.MethodPost, "/check/anti-pattern", map[string]any{"proposed_action": "psql -c 'DROP TABLE orders'", "agent": "a", "project": "shop"})
	}
	s.api(http.MethodPost, "/check/anti-pattern", map[string]any{"proposed_action": "ls", "agent": "a", "project": hostile[:20] + ` "'x`})
	s.api(http.MethodPost, "/api/tools/search_all", map[string]any{"query": "orders"})
	s.api(http.MethodPost, "/heartbeat", map[string]any{"agent_id": "a"})

	page := s.shows("/ui/figures?days=1", "Rules that said something", "/ui/guard/ledger?rule="+rule, "search_all", "/ui/timeline?kind=block&range=1d", "/ui/gaps", "/ui/agents", "/ui/messages", "/ui/health", "/ui/value?days=1")
	if rows := strings.Count(page, "<tr><td data-x="); rows != 24 {
		t.Errorf("%d hours", rows)
	}
	columns := strings.Count(regexp.MustCompile(`(?s)<table id="over-table".*?</thead>`).FindString(page), "<th ")
	for _, plot := range regexp.MustCompile(`data-columns="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		for _, place := range strings.Fields(plot[1]) {
			if n, err := strconv.Atoi(place); err != nil || n < 1 || n >= columns {
				t.Errorf("a plot of column %q of %d", place, columns)
			}
		}
	}
	if last := regexp.MustCompile(`(?s)<tr><td data-x=[^\n]*\n    </tbody>`).FindString(page); !strings.Contains(last, `<td data-y="4">4</td><td data-y="3">3</td>`) {
		t.Errorf("the last hour has no four checks, three of them blocked: %s", last)
	}

	page = s.shows("/ui/figures?days=30&project=shop", "Of the project", "days=90&project=shop", "Checks", "project=shop")
	if strings.Contains(page, "Agents online") || strings.Contains(page, "Rules that said") || strings.Count(page, "<tr><td data-x=") != 30 {
		t.Error("a project's page has figures of the team")
	}
	s.shows("/ui/figures?project="+url.QueryEscape(hostile[:20]+` "'x`), "Of the project")
	if size := len(s.get("/ui/figures?days=7", http.StatusOK)); size > 150<<10 {
		t.Errorf("a week's page has %d bytes", size)
	}
	for path, status := range map[string]int{"/ui/figures?days=0": 400, "/ui/figures?days=91": 400, "/ui/figures?days=x": 400, "/ui/figures?project=a%0Ab": 400} {
		s.get(path, status)
	}
}
