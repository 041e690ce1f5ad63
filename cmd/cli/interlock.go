package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/comms"
	"skillrouter/router/interlock"
)

func (s *shell) interlockCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "interlock", Short: "Look at the UDP mesh",
		Long: `InterLock is a mesh of servers: small UDP datagrams in which servers tell each
other what they did. The router listens if interlock.listen or --compatible-ports
says so; docs/integrations.md describes it.`,
	}, s.does(command{use: "status", short: "Show the mesh's peers, and what was heard, emitted and refused", do: comms.MeshService.Mesh, show: printMesh}))
}

func printMesh(w io.Writer, mesh comms.Mesh) {
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
		tableOf(w, "name=PEER address listed signed last_heard heard emitted=TOLD refused", "", mesh.Peers)
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
