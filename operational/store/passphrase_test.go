package store_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational/person"
)

const phrase = "correct horse battery staple"

// opened is a service beside a real database, whose clock the test moves, and the context of the owner's calls.
func opened(t *testing.T) (persons *person.Persons, owner context.Context, pass func(d time.Duration)) {
	t.Helper()
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	tick := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	persons, err := person.OpenPersons(t.Context(), open(t), tick)
	if err != nil {
		t.Fatal(err)
	}
	return persons, principal.With(t.Context(), principal.Owner(false)), func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
}

func wants(t *testing.T, what string, err error, code errs.Code) {
	t.Helper()
	if got := errs.CodeOf(err); got != code {
		t.Errorf("%s: %v, want %q", what, err, code)
	}
	if err != nil && strings.Contains(err.Error(), phrase) {
		t.Errorf("%s: the error tells the passphrase: %v", what, err)
	}
}

func TestPassphrase(t *testing.T) {
	persons, owner, pass := opened(t)
	if _, err := persons.SignIn(owner, person.PersonDraft{Passphrase: phrase}); err == nil {
		t.Error("somebody signs in while no passphrase is set")
	}
	if p := persons.Mark(principal.Open(), "skp_made-up"); p.Guarded() || p.Proved() {
		t.Error("while none is set, somebody is marked")
	}
	for what, text := range map[string]string{
		"empty": "", "short": "seven77", "spaces": "       ", "1 MiB": strings.Repeat("x", 1<<20), "NUL": "with a \x00 in it", "invalid UTF-8": "with a \xff in it", "a control character": "with a \x1b[2J in it", "a line end": "two\nlines of it",
	} {
		_, err := persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: text})
		wants(t, what, err, errs.Invalid)
	}
	_, err := persons.SetPassphrase(principal.With(t.Context(), principal.Open()), person.PassphraseDraft{Passphrase: phrase})
	wants(t, "set by anybody", err, errs.Forbidden)
	if state, err := persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: phrase}); err != nil || !state.Set || state.SetAt == nil {
		t.Fatalf("%+v %v", state, err)
	}
	_, err = persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: "another passphrase"})
	wants(t, "changed without the former", err, errs.PassphraseNeeded)
	_, err = persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: "another passphrase", Former: "not this one at all"})
	wants(t, "changed with a wrong former", err, errs.Forbidden)
	_, err = persons.SignIn(owner, person.PersonDraft{Passphrase: phrase + " "})
	wants(t, "nearly right", err, errs.Forbidden)
	session, err := persons.SignIn(owner, person.PersonDraft{Passphrase: phrase})
	if err != nil {
		t.Fatal(err)
	}
	for _, marked := range []struct {
		p      principal.Principal
		secret string
		proved bool
	}{{principal.Owner(true), session.Secret, true}, {principal.Owner(true), "", false}, {principal.Owner(true), session.Secret + "x", false}, {principal.Owner(true), strings.Repeat("x", 1<<20), false}} {
		if p := persons.Mark(marked.p, marked.secret); !p.Guarded() || p.Proved() != marked.proved || (p.NeedPerson() == nil) != marked.proved {
			t.Errorf("with %.20q the caller is %+v", marked.secret, p)
		}
	}
	if by, err := persons.Mark(principal.Open(), session.Secret).AsPerson(); by != "owner" || err != nil {
		t.Errorf("a person without a token signs as %q, %v", by, err)
	}
	pass(person.PersonFor)
	if persons.Mark(principal.Owner(true), session.Secret).Proved() {
		t.Error("a session that has ended proves something")
	}
	session, err = persons.SignIn(owner, person.PersonDraft{Passphrase: phrase})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: "another passphrase", Former: phrase}); err != nil {
		t.Fatal(err)
	}
	if persons.Mark(principal.Owner(true), session.Secret).Proved() {
		t.Error("a session outlives its passphrase")
	}
	_, err = persons.SignIn(owner, person.PersonDraft{Passphrase: phrase})
	wants(t, "the former passphrase", err, errs.Forbidden)
}

// TestPassphraseForms: what another keyboard composes otherwise is the same passphrase, and nothing else is.
func TestPassphraseForms(t *testing.T) {
	persons, owner, _ := opened(t)
	const text = "Übergrößenträger é 안녕"
	if _, err := persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: norm.NFD.String(text)}); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{norm.NFC.String(text), norm.NFD.String(text), strings.ReplaceAll(text, " ", "\u00a0")} {
		if _, err := persons.SignIn(owner, person.PersonDraft{Passphrase: form}); err != nil {
			t.Errorf("%q: %v", form, err)
		}
	}
	_, err := persons.SignIn(owner, person.PersonDraft{Passphrase: strings.ToLower(text)})
	wants(t, "in small letters", err, errs.Forbidden)
}

// TestFirstPassphrase: of many who set the first one at once, one does.
func TestFirstPassphrase(t *testing.T) {
	persons, owner, _ := opened(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	var set []string
	for i := range 8 {
		all.Go(func() {
			text := fmt.Sprintf("the passphrase of number %d", i)
			_, err := persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: text})
			if code := errs.CodeOf(err); err != nil && code != errs.Conflict && code != errs.PassphraseNeeded {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				set = append(set, text)
			}
		})
	}
	all.Wait()
	if len(set) != 1 {
		t.Fatalf("set by %d", len(set))
	}
	if _, err := persons.SignIn(owner, person.PersonDraft{Passphrase: set[0]}); err != nil {
		t.Error(err)
	}
}

// TestGuessing: whoever guesses is slowed, is told so, and takes neither another source's allowance nor memory.
func TestGuessing(t *testing.T) {
	persons, owner, _ := opened(t)
	if _, err := persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: phrase}); err != nil {
		t.Fatal(err)
	}
	agent := principal.With(t.Context(), principal.Principal{AgentID: "mallory", Scopes: []principal.Scope{principal.ScopeAgent}})
	guessing, end := context.WithCancel(agent)
	var all sync.WaitGroup
	var mu sync.Mutex
	told := map[errs.Code]int{}
	tried := make(chan bool, 1000)
	for i := range 200 {
		all.Go(func() {
			_, err := persons.SignIn(guessing, person.PersonDraft{Passphrase: fmt.Sprint("a guess, number ", i)})
			mu.Lock()
			told[errs.CodeOf(err)]++
			mu.Unlock()
			tried <- true
		})
	}
	for range 100 { // so many are refused or answered at once
		<-tried
	}
	if _, err := persons.SignIn(owner, person.PersonDraft{Passphrase: phrase}); err != nil {
		t.Errorf("beside somebody who guesses: %v", err)
	}
	end()
	all.Wait()
	if told[""] > 0 || told[errs.RateLimited] < 100 || told[errs.Forbidden] > 60 {
		t.Errorf("who guessed was told %v", told)
	}
	var after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > 128<<20 {
		t.Errorf("guessing left %d MiB", after.HeapAlloc>>20)
	}
}

// TestStoredPassphrase: what is stored is no passphrase, is known after a restart, and one that was changed past the router lets nobody in.
func TestStoredPassphrase(t *testing.T) {
	s := open(t)
	persons, err := person.OpenPersons(t.Context(), s, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	owner := principal.With(t.Context(), principal.Owner(false))
	if _, err := persons.SetPassphrase(owner, person.PassphraseDraft{Passphrase: phrase}); err != nil {
		t.Fatal(err)
	}
	stored, err := s.Passphrase(t.Context())
	if err != nil || !strings.HasPrefix(stored.Hash, "$argon2id$v=19$m=19456,t=2,p=1$") || bytes.Contains([]byte(stored.Hash), []byte(phrase)) {
		t.Fatalf("%+v %v", stored, err)
	}
	again, err := person.OpenPersons(t.Context(), s, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.SignIn(owner, person.PersonDraft{Passphrase: phrase}); err != nil {
		t.Error(err)
	}
	good := stored.Hash
	for _, hash := range []string{
		"x", "$argon2id$v=19$m=19456,t=2,p=1$", "$argon2id$v=19$m=4294967295,t=2,p=1$c2FsdHNhbHRzYWx0$a2V5a2V5a2V5a2V5a2V5a2V5", "$argon2id$v=19$m=8,t=0,p=0$c2FsdA$a2V5", "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$",
		strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=16", 1), good[:len(good)-4],
	} {
		change := func(hash string) {
			if err := s.ChangePassphrase(t.Context(), func(p *person.Passphrase) (eventlog.Event, error) {
				p.Hash = hash
				return eventlog.Event{Type: person.EventPassphraseSet, Subject: "passphrase", At: time.Now(), Data: []byte("{}")}, nil
			}, func(person.Passphrase) {}); err != nil {
				t.Fatal(err)
			}
		}
		change(hash)
		broken, err := person.OpenPersons(t.Context(), s, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := broken.SignIn(owner, person.PersonDraft{Passphrase: phrase}); err == nil {
			t.Errorf("%q lets somebody in", hash)
		}
		if broken.Mark(principal.Owner(true), "").NeedPerson() == nil {
			t.Errorf("%q counts as none", hash)
		}
	}
	at := time.Now().Truncate(time.Millisecond)
	if was, err := person.ResetPassphrase(t.Context(), s, at); !was || err != nil {
		t.Error(was, err)
	}
	if err := again.Load(t.Context()); err != nil || again.Reset() == "" || !again.MayStop() || again.Mark(principal.Open(), "").Guarded() {
		t.Errorf("after a reset: %+v %v", again.Stored(), err)
	}
}
