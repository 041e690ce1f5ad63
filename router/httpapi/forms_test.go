package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/router/httpapi"
)

// TestForms: what monitors, shells and clients write otherwise than the routes are written is understood.
func TestForms(t *testing.T) {
	s, recorder := lessonServer(nil)
	whole := fullLesson + `}`
	pack := func(text string) string {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return packed.String()
	}
	bomb := pack(strings.Repeat(" ", 17<<20) + whole)
	for _, c := range []struct {
		name, method, path, encoding, body string
		status                             int
		says                               string
	}{
		{"a byte order mark", "POST", "/lessons/report", "", "\ufeff" + whole, 200, "recorded"},
		{"gzip", "POST", "/lessons/report", "gzip", pack(whole), 200, "recorded"},
		{"gzip that is cut off", "POST", "/lessons/report", "gzip", pack(whole)[:40], 400, "gzip"},
		{"no gzip", "POST", "/lessons/report", "gzip", whole, 400, "gzip"},
		{"gzip that unpacks to seventeen million bytes", "POST", "/lessons/report", "gzip", bomb, 413, "too_large"},
		{"another encoding", "POST", "/lessons/report", "br", whole, 400, "Content-Encoding"},
	} {
		header := map[string]string{"Content-Type": "application/json", "Content-Encoding": c.encoding}
		w := call(s, c.method, c.path, header, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	probed := serve(t, nil, httpapi.Options{})
	for _, c := range [][2]string{{"HEAD", "/health"}, {"GET", "/health/"}} {
		if w := call(probed, c[0], c[1], nil, ""); w.Code != 200 {
			t.Errorf("%s: %d %s", c, w.Code, w.Body)
		}
	}
	if len(recorder.reported) != 2 {
		t.Errorf("%d lessons were reported, want 2", len(recorder.reported))
	}
}
