package config

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// The ports that the papers name, which clients written for them call.
const (
	agentsPort          = "8025" // the sidecar, and the default of listen
	experienceHTTP      = "8031" // the experience server, HTTP
	experienceWebSocket = "9031" // the experience server, WebSocket
	experienceInterLock = "3031" // the experience server, UDP
)

// Listeners are further addresses, besides Listen, that the same handlers answer at. Each costs a socket and a goroutine.
type Listeners struct {
	HTTP      []string `yaml:"http" holds:"address" most:"16" usage:"further addresses to answer HTTP on, HOST:PORT, separated by commas"`
	WebSocket []string `yaml:"websocket" holds:"address" most:"16" usage:"addresses where the event feed is a WebSocket at the root, HOST:PORT, separated by commas"`
}

// InterLock says whether and where the UDP mesh listens.
type InterLock struct {
	Listen string `yaml:"listen" holds:"address" usage:"address of the UDP mesh, HOST:PORT; empty: off"`
	Config string `yaml:"config" holds:"path" usage:"file of the mesh's peers and tumbler; empty: interlock.json, in the data folder"`
}

// Address is a place to listen at, and the setting that asks for it.
type Address struct{ Listen, Setting string }

// HTTPAddresses are the further addresses of the whole HTTP handler.
func (c Config) HTTPAddresses() []Address {
	list := addresses("listeners.http", c.Listeners.HTTP...)
	if c.CompatiblePorts {
		host, port, _ := net.SplitHostPort(c.Listen) // Validate has looked at it
		for _, known := range []string{agentsPort, experienceHTTP} {
			if known != port {
				list = append(list, Address{net.JoinHostPort(host, known), "compatible_ports"})
			}
		}
	}
	return distinct(list)
}

// WebSocketAddresses are the addresses where the event feed is at the root.
func (c Config) WebSocketAddresses() []Address {
	list := addresses("listeners.websocket", c.Listeners.WebSocket...)
	if c.CompatiblePorts {
		list = append(list, Address{c.beside(experienceWebSocket), "compatible_ports"})
	}
	return distinct(list)
}

// InterLockAddress is where the UDP mesh listens; ok is false if it is off.
func (c Config) InterLockAddress() (address Address, ok bool) {
	switch {
	case c.InterLock.Listen != "":
		return Address{c.InterLock.Listen, "interlock.listen"}, true
	case c.CompatiblePorts:
		return Address{c.beside(experienceInterLock), "compatible_ports"}, true
	}
	return Address{}, false
}

// InterLockFile is the file of the mesh's peers, and whether somebody named it: then it must be there.
func (c Config) InterLockFile() (path string, named bool) {
	if c.InterLock.Config != "" {
		return c.InterLock.Config, true
	}
	return filepath.Join(c.Data, "interlock.json"), false
}

// beside is another port of the host that is listened on.
func (c Config) beside(port string) string {
	host, _, _ := net.SplitHostPort(c.Listen) // Validate has looked at it
	return net.JoinHostPort(host, port)
}

func addresses(setting string, listen ...string) []Address {
	list := make([]Address, 0, len(listen))
	for _, address := range listen {
		list = append(list, Address{address, setting})
	}
	return list
}

// distinct drops what is asked for twice: by name and by compatible_ports. Port 0 is another one each time.
func distinct(list []Address) []Address {
	kept := list[:0]
	for _, address := range list {
		again := slices.ContainsFunc(kept, func(other Address) bool { return other.Listen == address.Listen })
		if !again || strings.HasSuffix(address.Listen, ":0") {
			kept = append(kept, address)
		}
	}
	return kept
}

// validateTLS checks that a certificate and its key are named, or neither. What is in the files, whoever reads them checks.
func (c Config) validateTLS() error {
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		return errs.InvalidField("tls_key", "is needed: it names the file of the key of tls_cert (%s)", c.TLSCert)
	case c.TLSKey != "" && c.TLSCert == "":
		return errs.InvalidField("tls_cert", "is needed: it names the file of the certificate of tls_key (%s)", c.TLSKey)
	}
	return nil
}

// Scheme is the one of the router's own addresses.
func (c Config) Scheme() string {
	if c.TLSCert != "" {
		return "https"
	}
	return "http"
}

func checkAddress(setting, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errs.InvalidField(setting, "must be HOST:PORT, such as 127.0.0.1:8025")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errs.InvalidField(setting, "must end in a port between 0 and 65535")
	}
	if strings.ContainsAny(host, "/ @?#") {
		return errs.InvalidField(setting, "must be HOST:PORT without a scheme or a path")
	}
	return nil
}
