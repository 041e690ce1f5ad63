package cli

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
)

// startGC lets the heap grow to 16 MiB before it is first collected while the
// router starts: nearly all that a start makes stays.
const startGC = 400

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
			if _, there := given[skillrouter.FieldOf(err)]; there {
				return usageError{errors.New(skillrouter.MessageOf(err))}
			}
			return &skillrouter.Error{Code: skillrouter.CodeOf(err), Message: skillrouter.MessageOf(err), Err: err}
		}
		usual := debug.SetGCPercent(startGC)
		a, err := app.New(ctx, loaded.Config, s.logger(loaded.Log), app.Options{Version: version().Version, CreateMissing: createMissing})
		debug.SetGCPercent(usual)
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
