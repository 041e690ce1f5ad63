package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrouter/cmd/app"
	"skillrouter/cmd/cli"
	"skillrouter/cmd/locate"
)

// TestOwnersTokenGoesToTheOwnersRouterAlone: the secret in the data folder is
// sent to the router that holds that folder, and to nobody who merely listens.
func TestOwnersTokenGoesToTheOwnersRouterAlone(t *testing.T) {
	var got string
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		fmt.Fprint(w, `{"agents":[]}`)
	}))
	defer router.Close()
	port := router.URL[strings.LastIndex(router.URL, ":"):]
	data := t.TempDir()
	for name, value := range map[string]string{"SKILLROUTER_DATA": data, "SKILLROUTER_SERVER": "", "SKILLROUTER_TOKEN": "", "SKILLROUTER_CONFIG": "", "XDG_CONFIG_HOME": t.TempDir()} {
		t.Setenv(name, value)
	}
	owner, err := app.OwnerToken(data)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, holder string
		args         []string
		env          string
		want         string
	}{
		{name: "the holder", holder: router.URL, want: owner},
		{name: "the holder by another name", holder: router.URL, args: []string{"--server", "http://localhost" + port}, want: owner},
		{name: "another program on loopback", holder: "http://127.0.0.1:1", args: []string{"--server", router.URL}},
		{name: "the holder is not bound yet", holder: "127.0.0.1:0", args: []string{"--server", router.URL}},
		{name: "nobody holds the folder", args: []string{"--server", router.URL}},
		{name: "a token that was named", holder: router.URL, args: []string{"--token", "mine"}, want: "mine"},
		{name: "a token in the environment", holder: router.URL, env: "hers", want: "hers"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("SKILLROUTER_TOKEN", test.env)
			text, err := json.Marshal(locate.Holder{PID: 1, Listen: test.holder})
			if err != nil {
				t.Fatal(err)
			}
			if test.holder == "" {
				text = nil
			}
			if err := os.WriteFile(filepath.Join(data, locate.LockName), text, 0o600); err != nil {
				t.Fatal(err)
			}
			got = "nobody called"
			var out, errs bytes.Buffer
			if code := cli.Run(t.Context(), append([]string{"agents"}, test.args...), strings.NewReader(""), &out, &errs); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			want := ""
			if test.want != "" {
				want = "Bearer " + test.want
			}
			if got != want {
				t.Errorf("sent %q, want %q", got, want)
			}
		})
	}
}
