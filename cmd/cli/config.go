package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/cmd/config"
)

func (s *shell) configCommand() *cobra.Command {
	example := s.made(command{use: "example", short: "Print an annotated configuration file with every default"}, func(context.Context) error {
		_, err := io.WriteString(s.out, config.Example)
		return err
	})
	return s.group(&cobra.Command{Use: "config", Short: "Show the settings, or an example of them"}, example, s.configShow())
}

func (s *shell) configShow() *cobra.Command {
	type line struct {
		Name     string        `json:"name"`
		Value    string        `json:"value"`
		Origin   config.Origin `json:"origin"`
		Variable string        `json:"variable"`
	}
	file := ""
	return s.local(command{
		use: "show [--config FILE]", short: "Print the settings that hold, and where each is from",
		flags: options{option("config", &file, "configuration file (SKILLROUTER_CONFIG)")},
	}, func(context.Context) error {
		loaded, err := config.Load(config.Sources{File: first(file, s.env("SKILLROUTER_CONFIG")), LookupEnv: s.lookupEnv})
		if err != nil {
			return err
		}
		lines := []line{}
		for _, setting := range config.Settings() {
			lines = append(lines, line{setting.Name, setting.Show(loaded.Config), loaded.Origins[setting.Name], setting.Env()})
		}
		return s.print(lines, func(w io.Writer) {
			columns[line]{
				heads: []string{"SETTING", "VALUE", "FROM"},
				cells: func(l line) cells { return cells{l.Name, l.Value, l.Origin} },
			}.list(w, lines)
			if loaded.File == "" && config.DefaultFile() != "" {
				fmt.Fprintf(w, "\nNo configuration file; %s would be read.\n", config.DefaultFile())
			}
		})
	})
}
