package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational/person"
	"github.com/skillrouter/skillrouter/router"
)

const (
	// sessionFor is how long a login lasts: a working day.
	sessionFor = 12 * time.Hour
	// maxSessions bounds the logins that are remembered; the oldest gives way.
	maxSessions = 256
	// cookieName is the cookie's name without the port: cookies do not tell
	// ports apart, and two routers on one machine must not log each other out.
	cookieName = "skillrouter_session"
)

// sessions are the logins. They live in memory: after a restart one logs in
// again. The browser holds a random id, never the token; the token is asked
// anew at each request, so that a session ends when its token is revoked or expires.
type sessions struct {
	auth    router.Authenticator
	persons *person.Persons // nil: there is no passphrase
	private func(r *http.Request) bool
	now     clock.Clock

	mu   sync.Mutex
	held map[[sha256.Size]byte]login // by the digest of the id
}

type login struct {
	secret  string // the token; empty: the passphrase alone is known
	person  string // the secret of a person's session; empty: none is
	expires time.Time
}

// prove begins a person's session for whoever knows the passphrase, and returns its secret. A browser's place has an allowance of attempts of its own.
func (s *sessions) prove(ctx context.Context, r *http.Request, passphrase string) (string, error) {
	switch {
	case passphrase == "":
		return "", nil
	case s.persons == nil:
		return "", errs.Errorf(errs.Unavailable, "this router knows no passphrase")
	case !s.private(r):
		return "", errs.Errorf(errs.Forbidden, "a passphrase is sent over TLS or from this machine only, and this came over plain HTTP: see docs/operations.md#tls")
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // empty over a socket
	begun, err := s.persons.Begin(ctx, "dashboard "+host, passphrase, sessionFor)
	return begun.Secret, err
}

// open makes a session for a token, the passphrase or both, and returns its cookie.
func (s *sessions) open(ctx context.Context, r *http.Request, secret, passphrase string) (*http.Cookie, error) {
	if s.auth == nil {
		return nil, errs.Errorf(errs.Unavailable, "this router knows no tokens")
	}
	if secret != "" {
		if _, err := s.auth.Authenticate(ctx, secret); err != nil {
			return nil, err
		}
	}
	person, err := s.prove(ctx, r, passphrase)
	if err != nil {
		return nil, err
	}
	id, now := rand.Text()+rand.Text(), s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.held, func(_ [sha256.Size]byte, one login) bool { return !now.Before(one.expires) })
	for len(s.held) >= maxSessions {
		delete(s.held, slices.MinFunc(slices.Collect(maps.Keys(s.held)), func(a, b [sha256.Size]byte) int { return s.held[a].expires.Compare(s.held[b].expires) }))
	}
	s.held[sha256.Sum256([]byte(id))] = login{secret: secret, person: person, expires: now.Add(sessionFor)}
	return ownCookie(r, cookieName, id, sessionFor), nil
}

// ownCookie is a cookie that no script reads and no other site has sent; one without a value goes.
func ownCookie(r *http.Request, name, value string, lasts time.Duration) *http.Cookie {
	cookie := &http.Cookie{Name: portOf(r, name), Value: value, Path: "/", MaxAge: int(lasts / time.Second), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

// principal says who a request's session belongs to.
func (s *sessions) principal(r *http.Request) (principal.Principal, bool) {
	digest, _ := sessionOf(r)
	s.mu.Lock()
	one, ok := s.held[digest]
	s.mu.Unlock()
	if !ok {
		return principal.Principal{}, false
	}
	if s.now().Before(one.expires) {
		if p, err := s.whose(r, one); err == nil {
			return p, true
		}
	}
	s.end(r)
	return principal.Principal{}, false
}

// whose is the principal of a login. Whoever knows the passphrase and shows no token is the owner.
func (s *sessions) whose(r *http.Request, one login) (p principal.Principal, err error) {
	p = principal.Open()
	if one.secret != "" {
		p, err = s.auth.Authenticate(r.Context(), one.secret)
	}
	if one.person != "" && s.private(r) {
		p = s.persons.Mark(p, one.person)
	}
	if err == nil && one.secret == "" && !p.Proved() {
		err = errs.Errorf(errs.Unauthenticated, "the person's session has ended")
	}
	return p, err
}

// end ends a request's session and returns the cookie that says so.
func (s *sessions) end(r *http.Request) *http.Cookie {
	if digest, ok := sessionOf(r); ok {
		s.mu.Lock()
		delete(s.held, digest)
		s.mu.Unlock()
	}
	return ownCookie(r, cookieName, "", 0)
}

// sessionOf returns the digest of the id in the request's cookie.
func sessionOf(r *http.Request) ([sha256.Size]byte, bool) {
	cookie, err := r.Cookie(portOf(r, cookieName))
	if err != nil {
		return [sha256.Size]byte{}, false
	}
	return sha256.Sum256([]byte(cookie.Value)), true
}

// portOf is the name of a cookie of this router: with its port, where it has one.
func portOf(r *http.Request, name string) string {
	_, port, err := net.SplitHostPort(r.Host)
	if _, failed := strconv.ParseUint(port, 10, 16); err != nil || failed != nil {
		return name
	}
	return name + "_" + port
}

// formToken is what a form of a page must send back. It is bound to the
// session, and to this process; a page of another site cannot read it.
func (s *Server) formToken(r *http.Request) string {
	mac := hmac.New(sha256.New, s.key[:])
	if digest, ok := sessionOf(r); ok {
		_, _ = mac.Write(digest[:]) // a hash takes all
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkForm refuses a form that is not from a page of ours. What bears a token
// in its Authorization header is no browser's form, and needs none.
func (s *Server) checkForm(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return errs.Errorf(errs.Forbidden, "this form was sent from another site")
	}
	if r.Header.Get("Authorization") != "" {
		return nil
	}
	if !hmac.Equal([]byte(r.PostForm.Get("token_of_form")), []byte(s.formToken(r))) {
		return errs.Errorf(errs.Forbidden, "this form is not from a page of this router, or from before it was restarted: load the page again")
	}
	return nil
}
