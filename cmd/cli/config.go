package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/cmd/config"
)

func (s *shell) configCommand() *cobra.Command {
	example := s.command(&cobra.Command{
		Use: "example", Short: "Print an annotated configuration file with every default", Args: cobra.NoArgs,
	}, func(context.Context, []string) error {
		_, err := io.WriteString(s.out, config.Example)
		return err
	})
	var file string
	show := s.command(&cobra.Command{
		Use: "show [--config FILE]", Short: "Print the settings that hold, and where each is from", Args: cobra.NoArgs,
	}, func(context.Context, []string) error {
		if file == "" {
			file = s.env("SKILLROUTER_CONFIG")
		}
		loaded, err := config.Load(config.Sources{File: file, LookupEnv: s.lookupEnv})
		if err != nil {
			return err
		}
		type line struct {
			Name     string        `json:"name"`
			Value    string        `json:"value"`
			Origin   config.Origin `json:"origin"`
			Variable string        `json:"variable"`
		}
		lines := []line{}
		rows := [][]string{}
		for _, setting := range config.Settings() {
			l := line{setting.Name, setting.Show(loaded.Config), loaded.Origins[setting.Name], setting.Env()}
			lines = append(lines, l)
			rows = append(rows, []string{l.Name, l.Value, string(l.Origin)})
		}
		return s.print(lines, func(w io.Writer) {
			table(w, []string{"SETTING", "VALUE", "FROM"}, rows)
			if loaded.File == "" && config.DefaultFile() != "" {
				fmt.Fprintf(w, "\nNo configuration file; %s would be read.\n", config.DefaultFile())
			}
		})
	})
	show.Flags().StringVar(&file, "config", "", "configuration file (SKILLROUTER_CONFIG)")
	show.Flags().BoolVar(&s.json, "json", false, "print JSON, for programs")
	return s.group(&cobra.Command{Use: "config", Short: "Show the settings, or an example of them"}, example, show)
}
