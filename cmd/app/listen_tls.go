package app

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/router"
)

// Times and bounds of the certificate.
const (
	// lookEvery is how often its files are looked at: no handshake finds them older, and many at once cost one look.
	lookEvery = time.Second
	// maxPEM bounds what is read of each file, in bytes: a chain of certificates has some thousands.
	maxPEM = 1 << 20
	// expiresSoon is how long before its end doctor speaks of it, or a third of the time that it is valid for, if that is shorter:
	// what is renewed every few days is not late two weeks before.
	expiresSoon = 14 * 24 * time.Hour
)

// certificate is what the doors show: the pair of files that the settings name, as they were last found to be well. Who
// asks for it looks at the files first, if lookEvery is over, so that a renewed pair is shown from its first handshake on. A
// nil certificate is none: the doors speak plain HTTP.
type certificate struct {
	settings config.Config
	now      clock.Clock
	log      *slog.Logger
	shown    atomic.Pointer[tls.Certificate]
	wrong    atomic.Pointer[error] // why what is in the files is not shown; nil: it is

	mu     sync.Mutex // one looks, the others go on
	looked time.Time
	found  [2]string // what the files had at that time; empty: they could not be read
}

// openCertificate reads the pair; nil if the settings name none.
func openCertificate(settings config.Config, now clock.Clock, log *slog.Logger) (*certificate, error) {
	if settings.TLSCert == "" {
		return nil, nil
	}
	c := &certificate{settings: settings, now: now, log: log, looked: now()}
	text, err := c.read()
	if err != nil {
		return nil, err
	}
	pair, err := c.pair(text)
	if err != nil {
		return nil, err
	}
	c.found = text
	c.show(pair, "the certificate was read")
	if leaf := pair.Leaf; now().After(leaf.NotAfter) || now().Before(leaf.NotBefore) {
		log.Warn("the certificate is not valid today: callers refuse it", "tls_cert", settings.TLSCert, "from", leaf.NotBefore, "until", leaf.NotAfter)
	}
	return c, nil
}

// files are the settings with the files that they name.
func (c *certificate) files() [2][2]string {
	return [2][2]string{{"tls_cert", c.settings.TLSCert}, {"tls_key", c.settings.TLSKey}}
}

// read returns what is in both files.
func (c *certificate) read() (text [2]string, err error) {
	for i, named := range c.files() {
		pem, err := file.ReadSmall(named[1], maxPEM)
		if text[i] = string(pem); err != nil {
			return [2]string{}, &errs.Error{Code: errs.Invalid, Field: named[0], Err: err, Message: fmt.Sprintf("the file %s cannot be read: %v", named[1], reasonOf(err))}
		}
	}
	return text, nil
}

func reasonOf(err error) error { return cmp.Or(errors.Unwrap(err), err) }

// pair is the certificate and the key that are in the files, if they fit.
func (c *certificate) pair(text [2]string) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair([]byte(text[0]), []byte(text[1]))
	if err == nil {
		return &pair, nil
	}
	said := strings.TrimPrefix(err.Error(), "tls: ")
	if strings.Contains(text[1], "ENCRYPTED") {
		said = "the key has a passphrase, and nobody is asked for it"
	}
	return nil, &errs.Error{Code: errs.Invalid, Field: "tls_cert", Err: err, Message: fmt.Sprintf("%s and tls_key %s are no pair of a certificate and its key: %s", c.settings.TLSCert, c.settings.TLSKey, said)}
}

// look reads the files again. What is no pair, or is not valid while the former one is, changes nothing, and is said once.
func (c *certificate) look() {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	now := c.now()
	if since := now.Sub(c.looked); since >= 0 && since < lookEvery {
		return
	}
	c.looked = now
	text, err := c.read()
	if text == c.found {
		return
	}
	c.found = text
	former := c.shown.Load()
	var pair *tls.Certificate
	if err == nil {
		pair, err = c.pair(text)
	}
	if err == nil && !validAt(pair.Leaf, now) && validAt(former.Leaf, now) {
		err = errs.InvalidField("tls_cert", "%s is valid from %s until %s, which is not today", c.settings.TLSCert, date(pair.Leaf.NotBefore), date(pair.Leaf.NotAfter))
	}
	if err != nil {
		c.wrong.Store(&err)
		c.log.Warn("the certificate's files were changed and are not taken; the former pair goes on", "because", errs.Explain(err), "until", former.Leaf.NotAfter)
		return
	}
	c.wrong.Store(nil)
	c.show(pair, "the certificate was read again")
}

// show shows a pair from the next handshake on.
func (c *certificate) show(pair *tls.Certificate, message string) {
	c.shown.Store(pair)
	c.log.Info(message, "tls_cert", c.settings.TLSCert, "names", namesOf(pair.Leaf), "until", pair.Leaf.NotAfter)
	if open := c.openKey(); open != "" {
		c.log.Warn("the certificate's key is not private", "because", open)
	}
}

// over has a listener's connections speak TLS.
func (c *certificate) over(listener net.Listener) net.Listener {
	if c == nil {
		return listener
	}
	return tls.NewListener(listener, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c.look()
			return c.shown.Load(), nil
		},
	})
}

func validAt(leaf *x509.Certificate, now time.Time) bool {
	return !now.Before(leaf.NotBefore) && !now.After(leaf.NotAfter)
}

func date(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 MST") }

// names tells whether a name is one of the certificate's. A wildcard is no name: hosts beside this one bear it too.
func (c *certificate) names(host string) bool {
	return c != nil && slices.ContainsFunc(c.shown.Load().Leaf.DNSNames, func(name string) bool { return strings.EqualFold(name, host) })
}

// namesOf are the hosts that a certificate is for.
func namesOf(leaf *x509.Certificate) string {
	names := leaf.DNSNames
	for _, ip := range leaf.IPAddresses {
		names = append(names[:len(names):len(names)], ip.String())
	}
	return strings.Join(names, ", ")
}

// openKey says who else may read the key; empty: nobody but its owner and its group, which is how some systems give keys to programs.
func (c *certificate) openKey() string {
	info, err := os.Stat(c.settings.TLSKey)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o027 == 0 {
		return ""
	}
	return fmt.Sprintf("tls_key %s may be read or changed by others (%v): chmod 600 it", c.settings.TLSKey, info.Mode().Perm())
}

// check is doctor's look at it.
func (c *certificate) check() []router.SystemCheck {
	if c == nil {
		return nil
	}
	c.look()
	leaf, now := c.shown.Load().Leaf, c.now()
	left := leaf.NotAfter.Sub(now)
	soon := min(expiresSoon, leaf.NotAfter.Sub(leaf.NotBefore)/3)
	said := []string{fmt.Sprintf("%s is for %s, until %s", c.settings.TLSCert, cmp.Or(namesOf(leaf), "no host: callers want a subjectAltName"), date(leaf.NotAfter))}
	well := namesOf(leaf) != ""
	fault := func(text string) { said, well = append(said, text), false }
	switch {
	case left < 0:
		fault("it has EXPIRED: callers refuse it")
	case now.Before(leaf.NotBefore):
		fault("it is valid from " + date(leaf.NotBefore) + " only")
	case left <= soon:
		fault(fmt.Sprintf("it ends in %.1f days: renew it", left.Hours()/24))
	}
	if wrong := c.wrong.Load(); wrong != nil {
		fault("what is in the files now is not taken: " + errs.Explain(*wrong))
	}
	if open := c.openKey(); open != "" {
		fault(open)
	}
	return []router.SystemCheck{{Name: "certificate", OK: well, Detail: strings.Join(said, "; ")}}
}

// collect gives the certificate's metrics.
func (c *certificate) collect(give emit) {
	if c == nil {
		return
	}
	c.look()
	give("skillrouter_tls_certificate_expiry_timestamp_seconds", "When the certificate that is shown expires; none while TLS is off.", float64(c.shown.Load().Leaf.NotAfter.Unix()))
	give("skillrouter_tls_certificate_refused", "1 while what is in the certificate's files cannot be shown, and the former one is.", flag(c.wrong.Load() != nil))
}
