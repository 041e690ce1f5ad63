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
