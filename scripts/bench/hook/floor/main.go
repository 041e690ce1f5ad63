// Command floor is the least that a hook could be: a process that asks the
// router's guard once, by net/http, and ends. Its arguments are the router's
// address and a token.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	r, err := http.NewRequest(http.MethodPost, os.Args[1]+"/check/anti-pattern", strings.NewReader(`{"tool":"Bash","args":{"command":"go test ./learning -run Guard"}}`))
	if err != nil {
		fail(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+os.Args[2])
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		fail(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		fail(fmt.Errorf("%s: %w", response.Status, err))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
