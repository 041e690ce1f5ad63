package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/comms"
	"skillrouter/internal/errs"
	"skillrouter/router/client"
	"skillrouter/router/interlock"
)

func (s *shell) interlockCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "interlock", Short: "Look at the UDP mesh, and try it",
		Long: `InterLock is a mesh of servers: small UDP datagrams in which servers tell each
other what they did. The router listens if interlock.listen or --compatible-ports
says so; docs/interlock.md describes it.`,
	}, s.interlockStatusCommand(), s.interlockSendCommand())
}

func (s *shell) interlockStatusCommand() *cobra.Command {
	return asks(s, command{
		use: "status", short: "Show the mesh's peers, and what was heard, emitted and refused",
	}, gets(comms.MeshService.Mesh), s.printMesh)
}

func (s *shell) printMesh(w io.Writer, mesh comms.Mesh) {
	if mesh.State != comms.MeshOn {
		fmt.Fprintln(w, "The mesh is off. Switch it on with interlock.listen, such as `skillrouter serve --interlock-listen 127.0.0.1:3031`.")
		return
	}
	hears := "its peers alone"
	if mesh.Hears == string(interlock.HearOpen) {
		hears = "its peers, and others on this machine until a token is issued"
	}
	fmt.Fprintf(w, "Listening on %s as %s, hears %s.\n", cell(mesh.Listen), cell(mesh.Name), hears)
	if mesh.Tumbler != "" {
		fmt.Fprintf(w, "Tumbler: %s.\n", cell(mesh.Tumbler))
	}
	if len(mesh.Peers) > 0 {
		columns[comms.MeshPeer]{
			heads: []string{"PEER", "ADDRESS", "SIGNED", "LAST HEARD", "HEARD", "TOLD", "REFUSED"},
			cells: func(p comms.MeshPeer) cells {
				address, signed, last := p.Address, "no", "never"
				if !p.Listed {
					address = "not listed"
				}
				if p.Signed {
					signed = "yes"
				}
				if p.LastHeard != nil {
					last = s.now().Sub(*p.LastHeard).Round(time.Second).String() + " ago"
				}
				return cells{p.Name, address, signed, last, p.Heard, p.Emitted, p.Refused}
			},
		}.list(w, mesh.Peers)
	}
	fmt.Fprintf(w, "%d datagrams came in.\n", mesh.Received)
	for _, counters := range []struct {
		what string
		of   map[string]int64
	}{{"Heard", mesh.Heard}, {"Emitted", mesh.Emitted}, {"Refused", mesh.Refused}} {
		if text := nonzero(counters.of); text != "" {
			fmt.Fprintf(w, "%s: %s.\n", counters.what, cell(text))
		}
	}
	if mesh.Unsent > 0 {
		fmt.Fprintf(w, "Not sent: %d.\n", mesh.Unsent)
	}
}

// nonzero lists the counters that are not zero, by name.
func nonzero(counters map[string]int64) string {
	var list []string
	for name, n := range counters {
		if n > 0 {
			list = append(list, fmt.Sprintf("%s %d", name, n))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (s *shell) interlockSendCommand() *cobra.Command {
	type sent struct {
		Signal string `json:"signal"`
		To     string `json:"to"`
		Bytes  int    `json:"bytes"`
	}
	sender := "by-hand"
	var words []string
	var to, keyFile string
	return s.remote(s.made(command{
		use: "send [--to HOST:PORT] [--sender NAME] SIGNAL [NAME=VALUE…]", short: "Send one datagram", args: listed(cobra.MinimumNArgs(1), &words),
		long: `Sends one datagram to the router's mesh, or wherever --to says. A value is JSON,
or else a text. A mesh never answers: "skillrouter interlock status" shows whether it was heard.`,
		flags: options{
			option("to", &to, "where to, an IP address and a port; empty: the router's mesh"),
			option("sender", &sender, "whose name it bears"),
			option("key-file", &keyFile, "file whose first line is the key to sign with"),
		},
	}, func(ctx context.Context) error {
		signal, known := interlock.ParseSignal(words[0])
		if !known {
			return usagef("%q is no signal: one of %v", words[0], append(interlock.Heard(), interlock.Emitted()...))
		}
		data, err := meshData(words[1:])
		if err != nil {
			return err
		}
		if to == "" {
			if to, err = s.meshAddress(ctx); err != nil {
				return err
			}
		}
		address, err := netip.ParseAddrPort(to)
		if err != nil {
			return usagef("--to must be an IP address and a port, such as 127.0.0.1:3031")
		}
		var key []byte
		if keyFile != "" {
			if key, err = firstLine(keyFile); err != nil {
				return err
			}
		}
		datagram, err := interlock.Format(signal, s.now(), sender, data, key)
		if err != nil {
			return err
		}
		err = interlock.Send(address, datagram)
		return printed(s, sent{signal.String(), to, len(datagram)}, err, func(w io.Writer, sent sent) {
			fmt.Fprintf(w, "Sent %s, %d bytes, to %s.\n", sent.Signal, sent.Bytes, cell(sent.To))
		})
	}))
}

// meshData makes a payload's data of NAME=VALUE words.
func meshData(words []string) (map[string]any, error) {
	data := map[string]any{}
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, usagef("%q is not NAME=VALUE", word)
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		data[name] = value
	}
	return data, nil
}

// meshAddress asks the router where its mesh listens.
func (s *shell) meshAddress(ctx context.Context) (string, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return "", err
	}
	mesh, err := client.Ask(ctx, c, comms.MeshService.Mesh)
	if err != nil {
		return "", err
	}
	if mesh.State != comms.MeshOn {
		return "", errs.Errorf(errs.Unavailable, "the router's mesh is off: switch it on with interlock.listen, or say --to")
	}
	bound, err := netip.ParseAddrPort(mesh.Listen)
	if err != nil || !bound.Addr().IsUnspecified() {
		return mesh.Listen, nil
	}
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), bound.Port()).String(), nil
}

// firstLine reads a file's first line, which is a key.
func firstLine(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	if !lines.Scan() {
		return nil, errors.Join(errors.New("the key file is empty"), lines.Err())
	}
	return bytes.Clone(bytes.TrimSpace(lines.Bytes())), nil
}
