package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/cli"
	"github.com/skillrouter/skillrouter/cmd/locate"
)

// TestOwnersTokenGoesToTheOwnersRouterAlone: the secret in the data folder is sent over the socket of the router that
// holds that folder, and to nobody who merely listens at an address.
func TestOwnersTokenGoesToTheOwnersRouterAlone(t *testing.T) {
	const nobody, socket, address = "nobody was called", "socket: ", "address: "
	got := nobody
	answers := func(door string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = door + r.Header.Get("Authorization")
			fmt.Fprint(w, `{"agents":[]}`)
		})
	}
	router := httptest.NewServer(answers(address))
	defer router.Close()
	port := router.URL[strings.LastIndex(router.URL, ":"):]
	data := t.TempDir()
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"SKILLROUTER_DATA": data, "SKILLROUTER_SERVER": "", "SKILLROUTER_TOKEN": "", "SKILLROUTER_CONFIG": "", "XDG_CONFIG_HOME": t.TempDir(), "SKILLROUTER_LISTEN": "127.0.0.1" + port,
	} {
		t.Setenv(name, value)
	}
	owner, err := app.OwnerToken(data)
	if err != nil {
		t.Fatal(err)
	}
	const held = 1 // a process that holds the folder
	tests := []struct {
		name   string
		holder locate.Holder
		dead   bool // nobody serves the socket
		closed bool // the folder is open to others
		args   []string
		env    string
		want   string
	}{
		{name: "the holder", holder: locate.Holder{PID: held, Listen: router.URL}, want: socket + "Bearer " + owner},
		{name: "no lock file yet", want: socket + "Bearer " + owner},
		{name: "the holder by its address", holder: locate.Holder{PID: held, Listen: router.URL}, args: []string{"--server", router.URL + "/"}, want: socket + "Bearer " + owner},
		{name: "the holder by another name", holder: locate.Holder{PID: held, Listen: router.URL}, args: []string{"--server", "http://localhost" + port}, want: socket + "Bearer " + owner},
		{name: "a token that was named", holder: locate.Holder{PID: held, Listen: router.URL}, args: []string{"--token", "mine"}, want: socket + "Bearer mine"},
		{name: "a token in the environment", holder: locate.Holder{PID: held, Listen: router.URL}, args: []string{"--server", router.URL}, env: "hers", want: socket + "Bearer hers"},
		{name: "another program on loopback", holder: locate.Holder{PID: held, Listen: "http://127.0.0.1:1"}, args: []string{"--server", router.URL}, want: address},
		{name: "another program, and a token for it", holder: locate.Holder{PID: held, Listen: "http://127.0.0.1:1"}, args: []string{"--server", router.URL, "--token", "mine"}, want: address + "Bearer mine"},
		{name: "nobody ever held the folder", args: []string{"--server", router.URL}, want: address},
		{name: "the holder was killed", holder: locate.Holder{PID: held, Listen: router.URL, Socket: locate.SocketName}, dead: true, want: nobody},
		{name: "the holder was killed, and is named", holder: locate.Holder{PID: held, Listen: router.URL, Socket: locate.SocketName}, dead: true, args: []string{"--server", router.URL, "--token", "mine"}, want: nobody},
		{name: "the holder has no socket", holder: locate.Holder{PID: held, Listen: router.URL}, dead: true, want: nobody},
		{name: "the holder was stopped", holder: locate.Holder{Listen: router.URL}, dead: true, args: []string{"--server", router.URL}, want: nobody},
		{name: "the holder was stopped, and another is named with a token", holder: locate.Holder{Listen: router.URL}, dead: true, args: []string{"--server", router.URL, "--token", "mine"}, want: address + "Bearer mine"},
		{name: "nobody holds the folder, and the settings have the address", dead: true, want: nobody},
		{name: "the folder is open to others", holder: locate.Holder{PID: held, Listen: router.URL}, closed: true, want: nobody},
		{name: "it is, and a person named address and token", holder: locate.Holder{PID: held, Listen: router.URL}, closed: true, args: []string{"--server", router.URL, "--token", "mine"}, want: address + "Bearer mine"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("SKILLROUTER_TOKEN", test.env)
			text, err := json.Marshal(test.holder)
			if err != nil {
				t.Fatal(err)
			}
			if test.holder.Listen == "" {
				text = nil
			}
			if err := os.WriteFile(filepath.Join(data, locate.LockName), text, 0o600); err != nil {
				t.Fatal(err)
			}
			if !test.dead {
				listener, err := net.Listen("unix", filepath.Join(data, locate.SocketName))
				if err != nil {
					t.Fatal(err)
				}
				server := &http.Server{Handler: answers(socket)}
				go func() { _ = server.Serve(listener) }() // until it is closed
				defer server.Close()
				defer listener.Close() // the server has not got it yet, perhaps
			}
			if test.closed {
				if err := os.Chmod(data, 0o711); err != nil {
					t.Fatal(err)
				}
				defer os.Chmod(data, 0o700) //nolint:errcheck // the next test would say so
			}
			got = nobody
			var out, errs bytes.Buffer
			code := cli.Run(t.Context(), append([]string{"status"}, test.args...), strings.NewReader(""), &out, &errs)
			if code != 0 && test.want != nobody {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
			if got != test.want {
				t.Errorf("%q, want %q (%s)", got, test.want, errs.String())
			}
		})
	}
}
