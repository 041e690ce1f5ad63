package app_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoData puts the demo's data in and takes it out again: it is seen by the browser that asked for it, nothing of it is
// in this router, nothing is left, and only a captain's form does it.
func TestDemoData(t *testing.T) {
	b := browse(t)
	folder := filepath.Join(b.data, "demo")
	look := func(path string) string { return b.send(http.MethodGet, path, nil, nil).Body.String() }
	count := func() (agents, knowledge, lessons int) {
		t.Helper()
		var a struct{ Agents []any }
		var k struct{ Knowledge []any }
		var l struct{ Lessons []any }
		b.api(http.MethodGet, "/api/agents", "", &a)
		b.api(http.MethodGet, "/api/knowledge", "", &k)
		b.api(http.MethodGet, "/lessons", "", &l)
		return len(a.Agents), len(k.Knowledge), len(l.Lessons)
	}
	if page := look("/"); !strings.Contains(page, `action="/ui/demo/begin"`) {
		t.Fatal("an empty router offers no demo data")
	}
	if w := b.send(http.MethodPost, "/ui/demo/begin", url.Values{}, nil); w.Code != http.StatusForbidden {
		t.Errorf("a forged form: %d", w.Code)
	}
	own := func() string { // the token of a form of the page that is shown
		match := formToken.FindStringSubmatch(look("/ui/demo"))
		if match == nil {
			t.Fatal("the page has no form")
		}
		return match[1]
	}
	outside := own()
	if w := b.send(http.MethodPost, "/ui/demo/begin", url.Values{"token_of_form": {outside}}, nil); w.Code != http.StatusSeeOther {
		t.Fatalf("the demo data is not put in: %d %s", w.Code, w.Body)
	}
	for path, want := range map[string][]string{
		"/": {"Demo data.", "builder-1", "Blocked:", "Take it away"}, "/ui/messages?thread=driver": {"May I build one?"}, "/ui/lessons": {"Never empty a shared Redis"},
		"/ui/tasks?status=blocked": {"Upgrade the database driver"}, "/ui/agent?id=builder-1": {"Told at its start", "Use pnpm, not npm"},
	} {
		page := look(path)
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s of the demo lacks %q", path, text)
			}
		}
	}
	if agents, knowledge, lessons := count(); agents+knowledge+lessons != 0 {
		t.Errorf("the router's own: %d agents, %d entries, %d lessons", agents, knowledge, lessons)
	}
	cookies := b.cookies
	b.cookies = map[string]string{}
	if page := look("/"); strings.Contains(page, "builder-1") {
		t.Error("another browser sees the demo")
	}
	b.cookies = cookies
	inside := own()
	if w := b.send(http.MethodPost, "/ui/demo/end", url.Values{"token_of_form": {outside}}, nil); w.Code != http.StatusForbidden {
		t.Errorf("a form of the router's own pages ends the demo: %d", w.Code)
	}
	if w := b.send(http.MethodPost, "/ui/task/new", url.Values{"token_of_form": {inside}, "title": {"Made in the demo"}}, nil); w.Code != http.StatusSeeOther {
		t.Errorf("nothing can be tried in the demo: %d", w.Code)
	}
	w := b.send(http.MethodPost, "/ui/demo/end", url.Values{"token_of_form": {inside}}, nil)
	if w.Code != http.StatusSeeOther || b.cookies["skillrouter_demo_8025"] != "" {
		t.Fatalf("the demo data is not taken out: %d %v", w.Code, b.cookies)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("its folder is left: %v", err)
	}
	for _, path := range []string{"/?done=demo-ended", "/ui/tasks", "/ui/timeline", "/ui/lessons"} {
		if page := look(path); strings.Contains(page, "builder-1") || strings.Contains(page, "Made in the demo") || strings.Contains(page, "shared Redis") {
			t.Errorf("%s has something of the demo", path)
		}
	}

	_, reader := b.issue(`{"scopes":["read"]}`)
	b.submit("/ui/login", url.Values{"secret": {reader}})
	if w := b.submit("/ui/demo/begin", url.Values{}); w.Code != http.StatusForbidden {
		t.Errorf("who only reads puts the demo data in: %d", w.Code)
	}
	b.cookies["skillrouter_demo_8025"] = "on" // forged, of a demo that there is not
	if page := look("/"); strings.Contains(page, "Demo data.") {
		t.Error("a cookie alone shows a demo")
	}
}
