package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"skillrouter/cmd/cli"
)

// content is what a package holds beside the program.
func (b *builder) content(p platform) ([]entry, error) {
	entries, err := b.documents()
	if err != nil {
		return nil, err
	}
	completions, err := completionScripts()
	if err != nil {
		return nil, err
	}
	entries = append(entries, completions...)
	if p.os == "windows" {
		return entries, nil
	}
	pages, err := b.manPages()
	if err != nil {
		return nil, err
	}
	entries = append(entries, pages...)
	services := map[string]string{
		"linux":  "systemd",
		"darwin": "launchd",
	}
	if folder := services[p.os]; folder != "" {
		files, err := b.folder("scripts/package/"+folder, folder)
		if err != nil {
			return nil, err
		}
		entries = append(entries, files...)
	}
	install, err := os.ReadFile(filepath.Join(b.root, "scripts/install.sh"))
	if err != nil {
		return nil, err
	}
	return append(entries, entry{name: "install.sh", mode: 0o755, text: install}), nil
}

// documents are the pages, for machines that have no way to them: README's links work in the package.
func (b *builder) documents() ([]entry, error) {
	entries, err := b.folder("docs", "docs")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE", "scripts/lesson_reporter.py"} {
		text, err := os.ReadFile(filepath.Join(b.root, name))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: name, mode: 0o644, text: text})
	}
	return entries, nil
}

// folder takes the files of a folder, under another name.
func (b *builder) folder(from, to string) (entries []entry, _ error) {
	root := filepath.Join(b.root, filepath.FromSlash(from))
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, file)
		entries = append(entries, entry{name: path.Join(to, filepath.ToSlash(below)), mode: 0o644, text: text})
		return err
	})
	return entries, err
}

// completionScripts are what shells load; the names are those that they look for.
func completionScripts() (entries []entry, _ error) {
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
		var text bytes.Buffer
		if err := shell.write(&text); err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: "completions/" + shell.name, mode: 0o644, text: text.Bytes()})
	}
	return entries, nil
}

// manPages makes a page of section 1 for each command. They bear the commit's date.
func (b *builder) manPages() (entries []entry, _ error) {
	root := cli.Commands()
	root.DisableAutoGenTag = true
	var visit func(cmd *cobra.Command) error
	visit = func(cmd *cobra.Command) error {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &b.at, Source: "skillrouter " + b.name, Manual: "Skill Router"}
		var text bytes.Buffer
		if err := doc.GenMan(cmd, header, &text); err != nil {
			return err
		}
		entries = append(entries, entry{name: "man/man1/" + name + ".1", mode: 0o644, text: text.Bytes()})
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
	return entries, visit(root)
}
