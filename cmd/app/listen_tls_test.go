package app_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/stream"
)

// authority issues certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// pool is what believes the authority.
func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// file writes the authority's certificate, as tls_ca names it.
func (a *authority) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.crt")
	putAs(t, path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}), 0o644)
	return path
}

// issue makes a certificate and its key, valid until a moment.
func (a *authority) issue(t *testing.T, until time.Time, names ...string) (certificate, key []byte) {
	t.Helper()
	a.serial++
	template := &x509.Certificate{SerialNumber: big.NewInt(100 + a.serial), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	own := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain})
}

// last is the serial of the certificate that was issued last.
func (a *authority) last() int64 { return 100 + a.serial }

func putAs(t *testing.T, path string, text []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, text, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// pairIn writes a pair into files, and names them in settings.
func pairIn(t *testing.T, cfg *config.Config, certificate, key []byte) {
	t.Helper()
	dir := t.TempDir()
	cfg.TLSCert, cfg.TLSKey = filepath.Join(dir, "router.crt"), filepath.Join(dir, "router.key")
	putAs(t, cfg.TLSCert, certificate, 0o644)
	putAs(t, cfg.TLSKey, key, 0o600)
}

const aYear = 365 * 24 * time.Hour

// clock is a clock that can be put forward.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(by time.Duration) { c.ahead.Add(int64(by)) }

// secured is a router of this process that speaks TLS, with what it logs.
type secured struct {
	*app.App
	clock clock
	log   output
	cfg   config.Config
}

func serveTLS(t *testing.T, cfg config.Config) *secured {
	t.Helper()
	s := &secured{cfg: cfg}
	var err error
	if s.App, err = app.New(t.Context(), cfg, slog.New(slog.NewTextHandler(&s.log, nil)), app.Options{Version: "test", Now: s.clock.now}); err != nil {
		t.Fatal(err)
	}
	untilStopped(t, s.App)
	return s
}

// shows is the serial of the certificate that a handshake is shown.
func (s *secured) shows(t *testing.T) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL(), "https://"), &tls.Config{InsecureSkipVerify: true}) // it is looked at
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// certificateCheck is what doctor says of the certificate.
func (s *secured) certificateCheck(t *testing.T) router.SystemCheck {
	t.Helper()
	found, err := client.Ask(t.Context(), overSocket(t, s.cfg.Data), router.SystemService.Doctor)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range found.Checks {
		if check.Name == "certificate" {
			return check
		}
	}
	t.Fatal("doctor does not look at the certificate")
	return router.SystemCheck{}
}

func (s *secured) client(t *testing.T, trust client.Trust) *client.Client {
	t.Helper()
	c, err := client.New(s.URL(), client.Options{Trust: func() (client.Trust, error) { return trust, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// metric is the value of a metric, as it is printed.
func (s *secured) metric(t *testing.T, name string) string {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} // not what is looked at
	answer, err := (&http.Client{Transport: transport}).Get(s.URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// TestCertificateIsRefused: a start with files that are no pair says which, and leaves nothing behind.
func TestCertificateIsRefused(t *testing.T) {
	a := newAuthority(t)
	certificate, key := a.issue(t, time.Now().Add(aYear), "127.0.0.1")
	_, other := a.issue(t, time.Now().Add(aYear), "127.0.0.1")
	for name, test := range map[string]struct {
		spoil func(cfg *config.Config)
		field string
		says  []string
	}{
		"no certificate": {func(cfg *config.Config) { _ = os.Remove(cfg.TLSCert) }, "tls_cert", []string{"router.crt", "no such file"}},
		"no key":         {func(cfg *config.Config) { _ = os.Remove(cfg.TLSKey) }, "tls_key", []string{"router.key", "no such file"}},
		"a folder":       {func(cfg *config.Config) { cfg.TLSKey = filepath.Dir(cfg.TLSKey) }, "tls_key", []string{"it is no file"}},
		"a device":       {func(cfg *config.Config) { cfg.TLSCert = os.DevNull }, "tls_cert", []string{"it is no file"}},
		"empty":          {func(cfg *config.Config) { _ = os.Truncate(cfg.TLSCert, 0) }, "tls_cert", []string{"router.crt", "certificate input"}},
		"half":           {func(cfg *config.Config) { _ = os.Truncate(cfg.TLSCert, int64(len(certificate)/2)) }, "tls_cert", []string{"router.crt", "certificate input"}},
		"half a key":     {func(cfg *config.Config) { _ = os.Truncate(cfg.TLSKey, int64(len(key)/2)) }, "tls_cert", []string{"router.key", "key input"}},
		"too large":      {func(cfg *config.Config) { _ = os.Truncate(cfg.TLSCert, 2<<20) }, "tls_cert", []string{"more than 1048576 bytes"}},
		"switched":       {func(cfg *config.Config) { cfg.TLSCert, cfg.TLSKey = cfg.TLSKey, cfg.TLSCert }, "tls_cert", []string{"switched"}},
		"another's key":  {func(cfg *config.Config) { _ = os.WriteFile(cfg.TLSKey, other, 0o600) }, "tls_cert", []string{"router.crt", "router.key", "does not match"}},
		"with a passphrase": {func(cfg *config.Config) {
			_ = os.WriteFile(cfg.TLSKey, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("secret")}), 0o600)
		}, "tls_cert", []string{"router.key", "passphrase"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			pairIn(t, &cfg, certificate, key)
			test.spoil(&cfg)
			_, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
			if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != test.field {
				t.Fatalf("%v, of %q", err, errs.FieldOf(err))
			}
			for _, part := range test.says {
				if !strings.Contains(errs.MessageOf(err), part) {
					t.Errorf("%q does not say %q", errs.MessageOf(err), part)
				}
			}
			if strings.Contains(err.Error(), "PRIVATE KEY-----") {
				t.Errorf("the key is told: %v", err)
			}
			cfg.TLSCert, cfg.TLSKey = "", ""
			stop(t, opensAgain(t, cfg))
		})
	}
}

// TestRenewal: a pair that takes the place of another is shown from the first handshake after a second on, however it is put there.
func TestRenewal(t *testing.T) {
	a := newAuthority(t)
	issue := func() (certificate, key []byte) { return a.issue(t, time.Now().Add(aYear), "localhost", "127.0.0.1") }
	for name, layout := range map[string]func(t *testing.T, cfg *config.Config) (renew func(certificate, key []byte)){
		"written over": func(t *testing.T, cfg *config.Config) func(certificate, key []byte) {
			pairIn(t, cfg, nil, nil)
			return func(certificate, key []byte) {
				putAs(t, cfg.TLSCert, certificate, 0o644)
				putAs(t, cfg.TLSKey, key, 0o600)
			}
		},
		"renamed, with the dates of before": func(t *testing.T, cfg *config.Config) func(certificate, key []byte) {
			pairIn(t, cfg, nil, nil)
			return func(certificate, key []byte) {
				for path, text := range map[string][]byte{cfg.TLSCert: certificate, cfg.TLSKey: key} {
					putAs(t, path+".new", text, 0o600)
					if err := os.Chtimes(path+".new", time.Unix(1, 0), time.Unix(1, 0)); err != nil {
						t.Fatal(err)
					}
					rename(t, path+".new", path)
				}
			}
		},
		"certbot's links": func(t *testing.T, cfg *config.Config) func(certificate, key []byte) {
			dir, turn := t.TempDir(), 0
			cfg.TLSCert, cfg.TLSKey = filepath.Join(dir, "live", "fullchain.pem"), filepath.Join(dir, "live", "privkey.pem")
			folder(t, filepath.Join(dir, "live"), filepath.Join(dir, "archive"))
			return func(certificate, key []byte) {
				turn++
				for path, text := range map[string][]byte{cfg.TLSCert: certificate, cfg.TLSKey: key} {
					real := filepath.Join(dir, "archive", fmt.Sprint(turn, filepath.Base(path)))
					putAs(t, real, text, 0o600)
					link(t, real, path)
				}
			}
		},
		"Kubernetes' link of a folder": func(t *testing.T, cfg *config.Config) func(certificate, key []byte) {
			dir, turn := t.TempDir(), 0
			cfg.TLSCert, cfg.TLSKey = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
			link(t, filepath.Join("..data", "tls.crt"), cfg.TLSCert)
			link(t, filepath.Join("..data", "tls.key"), cfg.TLSKey)
			return func(certificate, key []byte) {
				turn++
				version := fmt.Sprintf("..2026_%d", turn)
				folder(t, filepath.Join(dir, version))
				putAs(t, filepath.Join(dir, version, "tls.crt"), certificate, 0o644)
				putAs(t, filepath.Join(dir, version, "tls.key"), key, 0o600)
				link(t, version, filepath.Join(dir, "..data"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			renew := layout(t, &cfg)
			renew(issue())
			s := serveTLS(t, cfg)
			for range 3 {
				want := a.last()
				if got := s.shows(t); got != want {
					t.Fatalf("shows %d, want %d", got, want)
				}
				renew(issue())
				s.clock.forward(app.LookEvery)
			}
			if said := s.log.String(); strings.Contains(said, "WARN") {
				t.Errorf("it warns:\n%s", said)
			}
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// link makes a symbolic link, in the place of one that is there.
func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path+".link"); err != nil {
		t.Fatal(err)
	}
	rename(t, path+".link", path)
}

// TestWrongRenewal: what cannot be shown leaves the former pair, is said once, and is told by doctor and the metrics until it is mended.
func TestWrongRenewal(t *testing.T) {
	a := newAuthority(t)
	cfg := settings(t)
	pairIn(t, &cfg, nil, nil)
	certificate, key := a.issue(t, time.Now().Add(aYear), "localhost")
	putAs(t, cfg.TLSCert, certificate, 0o644)
	putAs(t, cfg.TLSKey, key, 0o600)
	s := serveTLS(t, cfg)
	good := a.last()
	fresh, freshKey := a.issue(t, time.Now().Add(aYear), "localhost")
	expired, expiredKey := a.issue(t, time.Now().Add(-time.Minute), "localhost")
	warnings := 0
	for _, wrong := range []struct {
		name             string
		certificate, key []byte
		says             string
	}{
		{"half a certificate", fresh[:len(fresh)/2], key, "certificate input"},
		{"empty", nil, key, "certificate input"},
		{"the key is not there yet", fresh, key, "does not match"},
		{"half a key", fresh, freshKey[:len(freshKey)/2], "key input"},
		{"expired", expired, expiredKey, "which is not today"},
	} {
		putAs(t, cfg.TLSCert, wrong.certificate, 0o644)
		putAs(t, cfg.TLSKey, wrong.key, 0o600)
		warnings++
		for range 3 { // each look finds the same
			s.clock.forward(app.LookEvery)
			if got := s.shows(t); got != good {
				t.Fatalf("%s: shows %d", wrong.name, got)
			}
		}
		if said := s.log.String(); strings.Count(said, "are not taken") != warnings || !strings.Contains(said, wrong.says) {
			t.Errorf("%s: it logs\n%s", wrong.name, said)
		}
		if check := s.certificateCheck(t); check.OK || !strings.Contains(check.Detail, wrong.says) {
			t.Errorf("%s: doctor says %+v", wrong.name, check)
		}
		if refused := s.metric(t, "skillrouter_tls_certificate_refused"); refused != "1" {
			t.Errorf("%s: the metric is %q", wrong.name, refused)
		}
	}
	for range 2 { // the files are gone
		_ = os.Remove(cfg.TLSCert)
		s.clock.forward(app.LookEvery)
		if s.shows(t) != good {
			t.Error("without files nothing is shown")
		}
	}
	putAs(t, cfg.TLSCert, fresh, 0o644)
	putAs(t, cfg.TLSKey, freshKey, 0o600)
	s.clock.forward(app.LookEvery)
	if got := s.shows(t); got == good {
		t.Error("the mended pair is not shown")
	}
	if check := s.certificateCheck(t); !check.OK || s.metric(t, "skillrouter_tls_certificate_refused") != "0" {
		t.Errorf("doctor says %+v", check)
	}
}

// TestCertificateEnds: doctor speaks of it two weeks before, or at the last third of a short one, and goes on speaking over it.
func TestCertificateEnds(t *testing.T) {
	a := newAuthority(t)
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		until time.Duration
		ok    bool
		says  string
	}{
		"a year":             {aYear, true, "is for localhost, until "},
		"ten days of twelve": {10 * day, true, "is for"},
		"a day of three":     {day - time.Hour, false, "it ends in 1.0 days: renew it"},
		"two days of four":   {2 * day, true, "is for"},
		"over":               {-time.Hour, false, "EXPIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			certificate, key := a.issue(t, time.Now().Add(test.until), "localhost")
			pairIn(t, &cfg, certificate, key)
			s := serveTLS(t, cfg)
			check := s.certificateCheck(t)
			if check.OK != test.ok || !strings.Contains(check.Detail, test.says) {
				t.Errorf("%+v", check)
			}
			if expiry := s.metric(t, "skillrouter_tls_certificate_expiry_timestamp_seconds"); expiry == "" || expiry == "0" {
				t.Errorf("the metric is %q", expiry)
			}
			if test.until < 0 && !strings.Contains(s.log.String(), "not valid today") {
				t.Errorf("the start does not warn: %s", s.log.String())
			}
		})
	}
	// Of one for a year it is two weeks.
	cfg := settings(t)
	certificate, key := a.issue(t, time.Now().Add(aYear), "localhost")
	pairIn(t, &cfg, certificate, key)
	s := serveTLS(t, cfg)
	s.clock.forward(aYear - 14*day - time.Hour)
	if check := s.certificateCheck(t); !check.OK {
		t.Errorf("14 days and an hour before: %+v", check)
	}
	s.clock.forward(2 * time.Hour)
	if check := s.certificateCheck(t); check.OK || !strings.Contains(check.Detail, "renew it") {
		t.Errorf("an hour later: %+v", check)
	}
}

// TestOpenKey: a key that others may read is served, and warned of.
func TestOpenKey(t *testing.T) {
	a := newAuthority(t)
	for mode, private := range map[os.FileMode]bool{0o600: true, 0o640: true, 0o644: false, 0o660: false, 0o604: false} {
		cfg := settings(t)
		certificate, key := a.issue(t, time.Now().Add(aYear), "localhost")
		pairIn(t, &cfg, certificate, key)
		putAs(t, cfg.TLSKey, key, mode)
		s := serveTLS(t, cfg)
		if warned := strings.Contains(s.log.String(), "is not private"); warned == private {
			t.Errorf("%v: %s", mode, s.log.String())
		}
		if check := s.certificateCheck(t); check.OK != private {
			t.Errorf("%v: %+v", mode, check)
		}
	}
}

// TestTrust: who is believed, and who is not.
func TestTrust(t *testing.T) {
	a, foreign := newAuthority(t), newAuthority(t)
	ask := func(s *secured, trust client.Trust) error {
		_, err := s.client(t, trust).System.Health(t.Context())
		return err
	}
	running := func(until time.Time, names ...string) *secured {
		cfg := settings(t)
		certificate, key := a.issue(t, until, names...)
		pairIn(t, &cfg, certificate, key)
		return serveTLS(t, cfg)
	}
	well, named, over := running(time.Now().Add(aYear), "127.0.0.1"), running(time.Now().Add(aYear), "router.lan"), running(time.Now().Add(-time.Hour), "127.0.0.1")
	for name, test := range map[string]struct {
		at    *secured
		trust client.Trust
		says  string // empty: it is believed
	}{
		"the authority":      {well, client.Trust{CA: a.file(t)}, ""},
		"the system's alone": {well, client.Trust{}, "no authority"},
		"another authority":  {well, client.Trust{CA: foreign.file(t)}, "no authority"},
		"another name":       {named, client.Trust{CA: a.file(t)}, "doesn't contain any IP SANs"},
		"an expired one":     {over, client.Trust{CA: a.file(t)}, "expired"},
	} {
		err := ask(test.at, test.trust)
		if test.says == "" && err != nil || test.says != "" && (errs.CodeOf(err) != errs.Conflict || !strings.Contains(errs.Explain(err), test.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, s := range []*secured{well, named, over} { // the folder's own user needs no certificate
		if _, err := overSocket(t, s.cfg.Data).System.Health(t.Context()); err != nil {
			t.Errorf("over the socket: %v", err)
		}
	}
}

// TestCallsOverRenewals: a thousand calls, each on a connection of its own, and streams by both versions of HTTP go on while the pair is
// exchanged. Half of the callers believe the authority, half call over the socket.
func TestCallsOverRenewals(t *testing.T) {
	const calls, workers, renewals = 1000, 4, 40
	a := newAuthority(t)
	cfg := settings(t)
	certificate, key := a.issue(t, time.Now().Add(aYear), "127.0.0.1")
	pairIn(t, &cfg, certificate, key)
	s := serveTLS(t, cfg)
	callers := []func() *client.Client{
		func() *client.Client { return s.client(t, client.Trust{CA: a.file(t)}) },
		func() *client.Client { return overSocket(t, cfg.Data) },
	}
	first := s.shows(t)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var streams errgroup.Group
	var up, got, lost atomic.Int64
	for i, caller := range callers {
		c := caller()
		agent := fmt.Sprintf("agent-%d", i)
		if _, err := client.Send(ctx, c, comms.PresenceService.Heartbeat, comms.Heartbeat{AgentID: agent}); err != nil {
			t.Fatal(err)
		}
		streams.Go(func() error {
			return c.Mailbox.Follow(ctx, client.Follower{
				AgentID: agent, After: client.FromCursor, Up: func() { up.Add(1) }, Down: func(err error, _ time.Duration) { lost.Add(1); t.Error(err) },
			}, func(operational.Message) error { got.Add(1); return nil })
		})
	}
	eventually(t, "the streams", func() bool { return up.Load() == int64(len(callers)) })

	done := make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for n := 0; n < renewals; n++ {
			certificate, key := a.issue(t, time.Now().Add(aYear), "127.0.0.1")
			for path, text := range map[string][]byte{cfg.TLSCert: certificate, cfg.TLSKey: key} { // between them the pair is none
				putAs(t, path+".new", text, 0o600)
				rename(t, path+".new", path)
				s.clock.forward(app.LookEvery)
				s.shows(t)
			}
		}
		close(done)
	})
	var work errgroup.Group
	for i := range workers {
		work.Go(func() error {
			for n := 0; ; n++ {
				select {
				case <-done:
					if n >= calls/workers {
						return nil
					}
				default:
				}
				c := callers[i%len(callers)]()
				_, err := c.System.Health(ctx)
				c.Close()
				if err != nil {
					return fmt.Errorf("call %d: %w", n, err)
				}
			}
		})
	}
	if err := work.Wait(); err != nil {
		t.Error(err)
	}
	renewing.Wait()
	if s.shows(t) == first {
		t.Error("the pair was not exchanged")
	}
	sender := callers[0]()
	for i := range callers {
		if _, err := client.Send(ctx, sender, comms.MailboxService.Send, operational.MessageDraft{From: "x", To: fmt.Sprintf("agent-%d", i), Signal: "tick"}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the messages", func() bool { return got.Load() == int64(len(callers)) })
	if lost.Load() > 0 || up.Load() != int64(len(callers)) {
		t.Errorf("%d streams broke", lost.Load())
	}
	cancel()
	if err := streams.Wait(); err != nil {
		t.Error(err)
	}
}

// TestPlainHTTPAtTLS: who speaks plain HTTP is told so in words.
func TestPlainHTTPAtTLS(t *testing.T) {
	a := newAuthority(t)
	cfg := settings(t)
	certificate, key := a.issue(t, time.Now().Add(aYear), "127.0.0.1")
	pairIn(t, &cfg, certificate, key)
	cfg.Listeners.WebSocket = []string{"127.0.0.1:0"}
	s := serveTLS(t, cfg)
	for _, door := range s.Addresses() {
		plain := "http://" + strings.TrimPrefix(door, "https://")
		answer, err := http.Get(plain + "/health") //nolint:noctx // it ends with the router
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || answer.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), "HTTPS") {
			t.Errorf("%s: %d %s %v", door, answer.StatusCode, said, err)
		}
		c, err := client.New(plain, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.System.Health(t.Context()); errs.CodeOf(err) != errs.Invalid || !strings.Contains(errs.Explain(err), "TLS") {
			t.Errorf("the client says %v", err)
		}
		c.Close()
	}
	at := strings.TrimPrefix(s.URL(), "https://")
	// What is neither is told nothing.
	for _, said := range []string{"\x00\x00\x00\x00", "ssh-2.0-x\r\n", "\x16\x03\x01\x00\x01\x00"} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, said)
		_ = conn.(*net.TCPConn).CloseWrite()
		if text, _ := io.ReadAll(conn); bytes.Contains(text, []byte("HTTP")) {
			t.Errorf("%q is answered %q", said, text)
		}
		conn.Close()
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		if conn, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}); err == nil { // it must not come to that
			conn.Close()
			t.Errorf("%s is spoken", tls.VersionName(version))
		}
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		conn, err := tls.Dial("tcp", at, &tls.Config{RootCAs: a.pool(), MinVersion: version, MaxVersion: version})
		if err != nil {
			t.Errorf("%s: %v", tls.VersionName(version), err)
			continue
		}
		conn.Close()
	}
	// The negative control: a router that speaks plain HTTP says so to who calls it by https.
	open := opened(t, settings(t))
	c, err := client.New("https://"+strings.TrimPrefix(open.URL(), "http://"), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.System.Health(t.Context()); errs.CodeOf(err) != errs.Conflict || !strings.Contains(errs.Explain(err), "speaks plain HTTP") {
		t.Errorf("the client says %v", err)
	}
}

// TestStopOverTLS: a stop waits for no connection that asked nothing, however far it came, and for no client that asked once.
func TestStopOverTLS(t *testing.T) {
	a := newAuthority(t)
	cfg := settings(t)
	certificate, key := a.issue(t, time.Now().Add(aYear), "127.0.0.1")
	pairIn(t, &cfg, certificate, key)
	cfg.ShutdownGrace = time.Minute
	r, stop := running(t, cfg)
	at := strings.TrimPrefix(r.URL(), "https://")
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, protocol := range []string{"http/1.1", "h2"} {
		conn, err := tls.Dial("tcp", at, &tls.Config{RootCAs: a.pool(), NextProtos: []string{protocol}})
		if err != nil || conn.ConnectionState().NegotiatedProtocol != protocol {
			t.Fatalf("%s: %v", protocol, err)
		}
		defer conn.Close()
	}
	for _, http2 := range []bool{false, true} {
		caller := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool()}, ForceAttemptHTTP2: http2}}
		answer, err := caller.Get(r.URL() + "/health")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(4 * time.Second): // net/http's own patience is 5 s
		t.Error("the stop waits for connections that ask nothing")
		<-ended
	}
}

// TestIdleStreams: a stream that bears nothing for longer than a write may take goes on. In HTTP/2 a deadline ends a stream also
// when nothing is being written. A client that takes nothing is cut off all the same.
func TestIdleStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for longer than a write may take")
	}
	a := newAuthority(t)
	cfg := settings(t)
	certificate, key := a.issue(t, time.Now().Add(aYear), "127.0.0.1")
	pairIn(t, &cfg, certificate, key)
	s := serveTLS(t, cfg)
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool()}, ForceAttemptHTTP2: true}}
	bodies := map[string]*bufio.Reader{}
	for _, path := range []string{"/messages?agent_id=idle", "/events", "/messages?agent_id=slow"} {
		answer, err := caller.Get(s.URL() + path)
		if err != nil || answer.ProtoMajor != 2 {
			t.Fatalf("%s: %v", path, err)
		}
		defer answer.Body.Close()
		bodies[path] = bufio.NewReader(answer.Body)
	}
	delete(bodies, "/messages?agent_id=slow") // nobody reads it
	sender := overSocket(t, cfg.Data)
	large := fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("more than fits ", 3000))
	for range 150 { // the client's transport takes 4 MiB for whoever does not read yet
		if _, err := client.Send(t.Context(), sender, comms.MailboxService.Send, operational.MessageDraft{From: "x", To: "slow", Signal: "tick", Context: large}); err != nil {
			t.Fatal(err)
		}
	}
	<-time.After(stream.WriteTimeout + time.Second)
	if _, err := client.Send(t.Context(), sender, comms.MailboxService.Send, operational.MessageDraft{From: "x", To: "idle", Signal: "after-the-silence"}); err != nil {
		t.Fatal(err)
	}
	for path, body := range bodies {
		for line := ""; !strings.Contains(line, "after-the-silence"); {
			var err error
			if line, err = body.ReadString('\n'); err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
		}
	}
	eventually(t, "the end of the stream that nobody reads", func() bool { return s.metric(t, "skillrouter_message_streams") == "1" })
}

// TestVersionsOfHTTP: streams, bulk calls and sockets work by HTTP/2 and by HTTP/1.1.
func TestVersionsOfHTTP(t *testing.T) {
	a := newAuthority(t)
	cfg := settings(t)
	certificate, key := a.issue(t, time.Now().Add(aYear), "127.0.0.1", "router.lan")
	pairIn(t, &cfg, certificate, key)
	s := serveTLS(t, cfg)
	for major := 1; major <= 2; major++ {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool()}, ForceAttemptHTTP2: major == 2}
		if major == 1 {
			transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
		}
		caller := &http.Client{Transport: transport}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		for _, path := range []string{"/messages?agent_id=a", "/events"} {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := caller.Do(r)
			if err != nil {
				t.Fatalf("HTTP/%d %s: %v", major, path, err)
			}
			begun := make([]byte, 64)
			if n, err := answer.Body.Read(begun); err != nil || answer.ProtoMajor != major || !bytes.Contains(begun[:n], []byte("retry:")) {
				t.Errorf("HTTP/%d %s: %d, %q, %v", major, path, answer.ProtoMajor, begun, err)
			}
			answer.Body.Close()
		}
		bulk := strings.Repeat(`{"category":"gotcha","title":"t","content":"c"}`+"\n", 500)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/api/knowledge/bulk", strings.NewReader(bulk))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-ndjson")
		answer, err := caller.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || answer.StatusCode >= 300 {
			t.Errorf("HTTP/%d: bulk is answered %d %s %v", major, answer.StatusCode, text, err)
		}
		conn, _, err := websocket.Dial(ctx, s.URL()+"/ws", &websocket.DialOptions{HTTPClient: caller})
		if err != nil {
			t.Errorf("HTTP/%d: the socket: %v", major, err)
		} else {
			if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"ping"}`)); err != nil {
				t.Error(err)
			}
			for answered := false; !answered; { // the event of what was stored may come first
				_, text, err := conn.Read(ctx)
				if err != nil {
					t.Errorf("HTTP/%d: the socket answers nothing: %v", major, err)
				}
				answered = err != nil || strings.Contains(string(text), "pong")
			}
			_ = conn.CloseNow()
		}
		// The names of the certificate are those of the router, and a page of plain HTTP is none of its own.
		for _, test := range []struct {
			host, origin string
			want         int
		}{
			{"router.lan", "", http.StatusOK},
			{"router.lan:8025", "https://router.lan:8025", http.StatusOK},
			{"ROUTER.lan", "", http.StatusOK},
			{"router.lan", "http://router.lan", http.StatusForbidden},
			{"router.lan", "https://evil.example", http.StatusForbidden},
			{"evil.example", "", http.StatusForbidden},
			{"x.router.lan", "", http.StatusForbidden},
		} {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/api/agents", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = test.host
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			answer, err := caller.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != test.want {
				t.Errorf("HTTP/%d, host %q, origin %q: %d", major, test.host, test.origin, answer.StatusCode)
			}
		}
		transport.CloseIdleConnections()
		cancel()
	}
}
