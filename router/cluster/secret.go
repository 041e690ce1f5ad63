package cluster

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
)

const (
	// minSecret is how long a cluster's secret is at least, in bytes: as much as nobody guesses.
	minSecret = 32
	// maxSecret bounds the file, in bytes.
	maxSecret = 4 << 10
	// forwardedHeader bears what a node says of a request that it hands on.
	forwardedHeader = "Skillrouter-Forwarded"
)

// Secret is what the nodes of a cluster share. Whoever has it is one of them, and is their owner.
type Secret []byte

// ReadSecret reads a secret's file: one line of at least 32 characters, which nobody may read but its owner and its group: so some systems give
// secrets to programs.
func ReadSecret(path string) (Secret, error) {
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o027 != 0 {
		return nil, errs.InvalidField("cluster_secret_file", "%s may be read or changed by others (%v): chmod 600 it", path, info.Mode().Perm())
	}
	text, err := file.ReadHead(path, maxSecret+1)
	if err != nil {
		return nil, errs.InvalidField("cluster_secret_file", "cannot be read: %v", err)
	}
	secret := bytes.TrimSpace(text)
	if len(secret) < minSecret || len(text) > maxSecret {
		return nil, errs.InvalidField("cluster_secret_file", "%s must hold between %d and %d characters: `openssl rand -hex 32` makes them", path, minSecret, maxSecret)
	}
	return secret, nil
}

// Derive makes of the secret what all nodes have for one purpose, and what does not tell the secret: 32 bytes.
func (s Secret) Derive(purpose string) []byte {
	h := hmac.New(sha256.New, s)
	h.Write([]byte("skillrouter " + purpose))
	return h.Sum(nil)
}

// Origin is where a request came from that a node handed on.
type Origin struct {
	Node    string // the one that handed it on
	URL     string // where that is reached
	Address string // the caller's, as that node saw it
	Private bool   // nobody between the caller and the writer could read the request
}

// sign puts into a request's header where it came from. What is signed holds for this request and this caller alone.
func (s Secret) sign(r *http.Request, from Origin, now time.Time) {
	said := url.Values{"node": {from.Node}, "url": {from.URL}, "address": {from.Address}, "private": {strconv.FormatBool(from.Private)}, "at": {strconv.FormatInt(now.Unix(), 10)}}.Encode()
	r.Header.Set(forwardedHeader, hex.EncodeToString(s.mac(r, said))+" "+said)
}

func (s Secret) mac(r *http.Request, said string) []byte {
	h := hmac.New(sha256.New, s.Derive("forwarding"))
	for _, part := range []string{r.Method, r.URL.RequestURI(), r.Host, r.Header.Get("Authorization"), r.Header.Get("Cookie"), said} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return h.Sum(nil)
}

// Accept reads where a request came from that a node handed on; false: none did. What claims to be handed on and is
// not signed by this cluster is refused.
func (s Secret) Accept(r *http.Request, now time.Time) (Origin, bool, error) {
	header := r.Header.Get(forwardedHeader)
	if header == "" {
		return Origin{}, false, nil
	}
	r.Header.Del(forwardedHeader)
	sum, said, _ := bytes.Cut([]byte(header), []byte(" "))
	given, err := hex.DecodeString(string(sum))
	values, parsed := url.ParseQuery(string(said))
	if err != nil || parsed != nil || !hmac.Equal(given, s.mac(r, string(said))) {
		return Origin{}, false, errs.Errorf(errs.Forbidden, "the header %s is not signed with this cluster's secret", forwardedHeader)
	}
	at, _ := strconv.ParseInt(values.Get("at"), 10, 64) // it is signed
	if apart := now.Sub(time.Unix(at, 0)).Abs(); apart > ClocksApart {
		return Origin{}, false, errs.Errorf(errs.Unavailable, "the clocks of this node and of %s are %v apart, and may be %v: set them", values.Get("node"), apart.Round(time.Second), ClocksApart)
	}
	return Origin{Node: values.Get("node"), URL: values.Get("url"), Address: values.Get("address"), Private: values.Get("private") == "true"}, true, nil
}
