package cli

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// release is the version of the checkout, which make and .goreleaser.yaml set by the
// linker's -X. Without it the version is what Go knows of the module.
var release string

// build is what this program was made of.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // there were changes beside the commit
	Date     string `json:"date,omitempty"`     // the commit's, RFC 3339
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// version reads what Go wrote into the program when it was built.
func version() build {
	b := build{Version: cmp.Or(release, "devel"), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; release == "" && v != "" && v != "(devel)" {
		b.Version = strings.TrimPrefix(v, "v")
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		case "vcs.time":
			b.Date = setting.Value
		}
	}
	return b
}

func (s *shell) versionCommand() *cobra.Command {
	return s.local(command{use: "version", short: "Print which version this program is"}, func(context.Context) error {
		return printed(s, version(), nil, printVersion)
	})
}

var printVersion = page[build](`skillrouter {{.Version}}
{{- if .Commit}}
commit {{.Commit}} of {{.Date}}{{if .Modified}}, with changes{{end}}
{{- end}}
{{.Go}} {{.Platform}}`)
