package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// together sends forms at once, and returns how each was answered.
func (s site) together(action string, forms ...url.Values) (codes map[int]int) {
	s.t.Helper()
	token := tokenOfForm.FindStringSubmatch(s.get("/ui/settings", http.StatusOK))
	codes = map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	start := make(chan struct{})
	for _, form := range forms {
		form.Set("token_of_form", html.UnescapeString(token[1]))
		all.Go(func() {
			<-start
			w := s.do(http.MethodPost, action, "application/x-www-form-urlencoded", form.Encode())
			mu.Lock()
			codes[w.Code]++
			mu.Unlock()
		})
	}
	close(start)
	all.Wait()
	return codes
}

// TestTwoWhoChangeTheSame: of several who saw the same and change it at once, one does, and the others are told; none writes over another.
func TestTwoWhoChangeTheSame(t *testing.T) {
	s := openSite(t)
	pages := s.remembered()
	lesson := s.api(http.MethodPost, "/lessons/report", map[string]any{
		"lesson_type": "discovery", "category": "ci", "domain": "ci", "title": "Keep the cache", "context": "builds were slow", "action_taken": "kept it", "outcome": "fast builds",
	})["lesson_id"].(string)
	pages["lesson"] = "/ui/memory?" + url.Values{"kind": {"lesson"}, "id": {lesson}}.Encode()
	mark := regexp.MustCompile(`name="mark" value="([^"]+)"`)
	const rounds, writers = 10, 4
	for kind, change := range map[string]struct{ member, text string }{
		"knowledge": {"content", "text %d of %d"}, "fact": {"value", `"%d-%d"`}, "procedure": {"description", "steps %d of %d"}, "episode": {"learned", "round %d by %d"}, "lesson": {"solution", "round %d by %d"},
	} {
		edit := strings.Replace(pages[kind], "/ui/memory?", "/ui/memory/edit?", 1)
		for round := range rounds {
			seen := mark.FindStringSubmatch(s.get(edit, http.StatusOK))
			forms := make([]url.Values, writers)
			for i := range forms {
				forms[i] = url.Values{"kind": {kind}, "id": {s.query(edit).Get("id")}, "mark": {seen[1]}, change.member: {fmt.Sprintf(change.text, round, i)}}
			}
			if codes := s.together("/ui/memory/edit", forms...); codes[http.StatusSeeOther] != 1 || codes[http.StatusConflict] != writers-1 {
				t.Fatalf("%s: %d who change the same are answered %v", kind, writers, codes)
			}
		}
	}
}

// TestTwoWhoMergeTheSame: an episode that is merged into two others at once goes into one of them, and leaves nothing in the other.
func TestTwoWhoMergeTheSame(t *testing.T) {
	s := openSite(t)
	episode := func(content string) string {
		return s.api(http.MethodPost, "/api/episodes", map[string]any{"event_type": "error", "title": "The gateway fell over", "content": content})["episode_id"].(string)
	}
	for round := range 10 {
		secret := fmt.Sprintf("only this tells of %d", round)
		from, one, other := episode(secret), episode("one"), episode("other")
		codes := s.together("/ui/memory/merge",
			url.Values{"kind": {"episode"}, "id": {one}, "from": {from}, "sure": {"yes"}}, url.Values{"kind": {"episode"}, "id": {other}, "from": {from}, "sure": {"yes"}})
		if codes[http.StatusSeeOther] != 1 || codes[http.StatusNotFound] != 1 {
			t.Fatalf("the two are answered %v", codes)
		}
		gained := 0
		for _, id := range []string{one, other} {
			if says, _, _ := strings.Cut(s.get(memoryPage("episode", id), http.StatusOK), "May say the same"); strings.Contains(says, secret) {
				gained++
			}
		}
		if gained != 1 {
			t.Errorf("%d of the two say what it said", gained)
		}
	}
}
