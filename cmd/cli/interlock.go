package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/comms"
)

func (s *shell) interlockCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "interlock", Short: "Look at the UDP mesh",
		Long: `InterLock is a mesh of servers: small UDP datagrams in which servers tell each
other what they did. The router listens if interlock.listen or --compatible-ports
says so; docs/integrations.md describes it.`,
	}, s.does(command{use: "status", short: "Show the mesh's peers, and what was heard, emitted and refused", do: comms.MeshService.Mesh, says: meshPage}))
}

const meshPage = `
{{- if ne .State "on"}}The mesh is off. Switch it on with interlock.listen, such as ` + "`skillrouter serve --interlock-listen 127.0.0.1:3031`" + `.
{{- else}}Listening on {{.Listen}} as {{.Name}}, hears {{if eq .Hears "open"}}its peers, and others on this machine until a token is issued{{else}}its peers alone{{end}}.
{{- with .Tumbler}}
Tumbler: {{.}}.
{{- end}}
{{- with .Peers}}
{{table "name=PEER address listed signed last_heard heard emitted=TOLD refused" .}}
{{- end}}
{{.Received}} datagrams came in.
{{- with pairs .Heard}}
Heard: {{.}}.
{{- end}}
{{- with pairs .Emitted}}
Emitted: {{.}}.
{{- end}}
{{- with pairs .Refused}}
Refused: {{.}}.
{{- end}}
{{- with .Unsent}}
Not sent: {{.}}.
{{- end}}
{{- end}}`
