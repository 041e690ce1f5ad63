// Command manual writes what a package holds beside the programs and the documents: man pages and completions. They are
// made of the commands themselves, and the same commit gives the same bytes.
//
//	manual VERSION SECONDS OUT    SECONDS is the commit's time, which the man pages bear
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/skillrouter/skillrouter/cmd/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: manual VERSION SECONDS OUT")
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("the commit's time: %w", err)
	}
	if err := completions(args[2]); err != nil {
		return err
	}
	return manPages(args[0], time.Unix(seconds, 0).UTC(), args[2])
}

// completions are what shells load; the names are those that they look for.
func completions(out string) error {
	root := cli.Commands()
	for _, shell := range []struct {
		name  string
		write func(w io.Writer) error
	}{
		{"bash/skillrouter", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"zsh/_skillrouter", root.GenZshCompletion},
		{"fish/skillrouter.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"powershell/skillrouter.ps1", root.GenPowerShellCompletionWithDesc},
	} {
		if err := put(filepath.Join(out, "completions", shell.name), shell.write); err != nil {
			return err
		}
	}
	return nil
}

// manPages makes a page of section 1 for each command.
func manPages(version string, at time.Time, out string) error {
	root := cli.Commands()
	root.DisableAutoGenTag = true
	var visit func(cmd *cobra.Command) error
	visit = func(cmd *cobra.Command) error {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &at, Source: "skillrouter " + version, Manual: "Skill Router"}
		if err := put(filepath.Join(out, "man/man1", name+".1"), func(w io.Writer) error { return doc.GenMan(cmd, header, w) }); err != nil {
			return err
		}
		for _, below := range cmd.Commands() {
			if !below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() || below.Name() == "help" {
				continue
			}
			if err := visit(below); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(root)
}

// put writes a file and the folders that it lies in.
func put(file string, write func(w io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}
