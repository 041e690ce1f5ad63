package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// startGC lets the heap grow to 16 MiB before it is first collected while the
// router starts: nearly all that a start makes stays.
const startGC = 400

// runGC is by how many percent the heap grows between collections afterwards, unless GOGC says so: Go counts the stacks of streams to what
// the percentage is of, and with Go's own 100 a router with 1,000 streams had up to 163 MB, of which 22 were in use.
const runGC = 75

// moreProcs is how many goroutines run at once beyond one for each core. While each core computes, Go looks for what came over the network every
// 10 ms only, and a goroutine in a system call of SQLite's holds its place: with one more, the operating system divides the cores instead, and lets
// what has just come go first.
const moreProcs = 1

func (s *shell) serveCommand() *cobra.Command {
	var file string
	var createMissing bool
	var cmd *cobra.Command
	cmd = s.made(command{
		use: "serve [--listen ADDR] [--data DIR]", short: "Start the router",
		long: `Starts the router and serves until it is interrupted. It logs to standard error.

Settings come from a configuration file, over it the environment, over it these
flags; "skillrouter config example" prints such a file.`,
		flags: options{
			option("config", &file, "configuration file (SKILLROUTER_CONFIG)"),
			option("create-missing", &createMissing, "make a database that was lost anew, and give up what it held, tokens too"),
		},
	}, func(ctx context.Context) error {
		given, flags := map[string]string{}, cmd.Flags()
		for _, setting := range config.Settings() {
			if !setting.Secret && flags.Changed(setting.Flag()) {
				given[setting.Name] = flags.Lookup(setting.Flag()).Value.String()
			}
		}
		loaded, err := config.Load(config.Sources{File: first(file, s.env("SKILLROUTER_CONFIG")), LookupEnv: s.lookupEnv, Flags: given})
		if err != nil {
			if _, there := given[errs.FieldOf(err)]; there {
				return usageError{errors.New(explain(err))}
			}
			return &errs.Error{Code: errs.CodeOf(err), Message: explain(err), Err: err}
		}
		if s.env("GOMAXPROCS") == "" {
			runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + moreProcs)
		}
		usual := debug.SetGCPercent(startGC)
		a, err := app.New(ctx, loaded.Config, s.logger(loaded.Log), app.Options{Version: version().Version, CreateMissing: createMissing, Waits: true})
		if s.env("GOGC") == "" {
			usual = runGC
		}
		debug.SetGCPercent(usual)
		if err != nil && ctx.Err() != nil { // it was told to end while it waited
			return nil
		}
		if err != nil {
			return err
		}
		return a.Run(ctx)
	})
	flags, defaults := cmd.Flags(), config.Default()
	for _, setting := range config.Settings() {
		if setting.Secret {
			continue
		}
		flags.String(setting.Flag(), setting.Show(defaults), setting.Usage+" ("+setting.Env()+")")
		if setting.Switch {
			flags.Lookup(setting.Flag()).NoOptDefVal = "true"
		}
	}
	return cmd
}

// logger makes the log that the settings ask for, on stderr.
func (s *shell) logger(settings config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(settings.Level)); err != nil {
		level = slog.LevelInfo // settings are checked: this is only for whoever builds them by hand
	}
	options := &slog.HandlerOptions{Level: level}
	if settings.Format == "json" {
		return slog.New(slog.NewJSONHandler(s.err, options))
	}
	return slog.New(slog.NewTextHandler(s.err, options))
}

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
			tableOf(w, "name=SETTING value origin=FROM", "", lines)
			if loaded.File == "" && config.DefaultFile() != "" {
				fmt.Fprintf(w, "\nNo configuration file; %s would be read.\n", config.DefaultFile())
			}
		})
	})
}
