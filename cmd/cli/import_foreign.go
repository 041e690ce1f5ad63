package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/exchange"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// Bounds of what is sent to the router in one request.
const (
	importRecords = 250
	importBytes   = 2 << 20 // one record more may come on top
)

// importOptions say what is imported, and how.
type importOptions struct {
	from, report string
	dryRun       bool
}

// leftOut is a line of the report: a thing that was not taken in.
type leftOut struct {
	Place   string `json:"place"`
	Kind    string `json:"kind,omitempty"`
	Field   string `json:"field,omitempty"`
	Reason  string `json:"reason"`
	Skipped bool   `json:"skipped,omitempty"` // it is no memory, and that is no fault
}

// imported is what an import prints. Stored, duplicates, refused and skipped add up to seen.
type imported struct {
	Format     string    `json:"format"`
	DryRun     bool      `json:"dry_run,omitempty"`
	Seen       int       `json:"seen"`
	Stored     int       `json:"stored"`
	Duplicates int       `json:"duplicates"`
	Refused    int       `json:"refused"`
	Skipped    int       `json:"skipped"`
	ImportID   string    `json:"import_id,omitempty"` // by what it can be taken back; empty: it added nothing
	Listed     []leftOut `json:"left_out"`            // the first maxListed of what was refused or skipped
}

// importing is an import under way.
type importing struct {
	ctx    context.Context
	to     *client.Client
	out    imported
	source string        // what is imported, for the list of imports
	report *json.Encoder // nil: none
	known  map[string]bool
	batch  []exchange.Item
	size   int
	err    error
}

// formatNames are the names of the formats.
func formatNames() (names []string) {
	for _, f := range exchange.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func formatList() string {
	var b strings.Builder
	for _, f := range exchange.Formats() {
		fmt.Fprintf(&b, "  %-13s %s\n", f.Name, f.What)
	}
	return b.String()
}

func (s *shell) importFrom(ctx context.Context, to *client.Client, path string, what importOptions, defaults knowledge.Draft) (err error) {
	format, err := exchange.FormatOf(what.from)
	if err != nil {
		return usageError{errors.New(explain(err))}
	}
	i := &importing{ctx: ctx, to: to, out: imported{Format: format.Name, DryRun: what.dryRun, Listed: []leftOut{}}, known: map[string]bool{}}
	i.source = check.Head(format.Name+" "+filepath.Base(path), transfer.MaxSource)
	if what.report != "" {
		file, err := os.OpenFile(what.report, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		i.report = json.NewEncoder(file)
	}
	options := exchange.Options{Category: defaults.Category, Project: defaults.Project, Agent: defaults.AgentID, Source: defaults.Source, Tags: defaults.Tags}
	source, size, err := s.importSource(path)
	if err != nil {
		return err
	}
	bar := s.bar("importing", size)
	options.Read = func(n int) { _ = bar.Add(n) } // a bar that cannot be drawn changes nothing
	broken := source(format, options, i.take)
	if i.err == nil {
		i.send()
	}
	_ = bar.Exit()
	if i.err != nil {
		return saying(i.err, "the import broke off; what was stored remains, and it can be repeated")
	}
	if err := printed(s, i.out, nil, printImported); err != nil {
		return err
	}
	if broken != nil {
		return saying(broken, "%s could not be read to its end; what is before it was taken in", path)
	}
	if i.out.Refused > 0 {
		return exitError(exitFailed)
	}
	return nil
}

// importSource opens what is imported, and returns who reads it and its size in
// bytes, below zero if that is not known.
func (s *shell) importSource(path string) (read func(f exchange.Format, o exchange.Options, take func(exchange.Item) bool) error, size int64, err error) {
	if info, err := os.Stat(path); path != "-" && err == nil && info.IsDir() {
		root, err := os.OpenRoot(path) // a link that leads out of it is not followed
		if err != nil {
			return nil, 0, err
		}
		return func(f exchange.Format, o exchange.Options, take func(exchange.Item) bool) error {
			defer root.Close()
			return f.ReadFolder(root.FS(), o, take)
		}, -1, nil
	}
	file, size, err := s.open(path)
	if err != nil {
		return nil, 0, err
	}
	return func(f exchange.Format, o exchange.Options, take func(exchange.Item) bool) error {
		defer file.Close()
		from := bufio.NewReader(file)
		if head, _ := from.Peek(16); f.Tables != nil && path != "-" && records.IsDatabase(head) {
			document := documentOf(path, f.Tables)
			defer document.Close()
			return f.Read(document, o, take)
		}
		if f.Folder && path != "-" {
			return f.ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path), o, take)
		}
		return f.Read(from, o, take)
	}, size, nil
}

// take gathers what was read, and sends it when there is enough.
func (i *importing) take(item exchange.Item) bool {
	i.out.Seen++
	if item.Refused != "" {
		i.leave(leftOut{Place: item.Place, Kind: item.Record.Kind, Field: item.Field, Reason: item.Refused, Skipped: item.Skipped})
		return i.err == nil
	}
	text, err := json.Marshal(item.Record)
	if err != nil {
		i.leave(leftOut{Place: item.Place, Kind: item.Record.Kind, Reason: "cannot be written as JSON"})
		return i.err == nil
	}
	if i.batch, i.size = append(i.batch, item), i.size+len(text); len(i.batch) == importRecords || i.size >= importBytes {
		i.send()
	}
	return i.err == nil
}

// send has the router take in what was gathered.
func (i *importing) send() {
	if len(i.batch) == 0 || i.err != nil {
		return
	}
	request := transfer.ImportRequest{DryRun: i.out.DryRun, ImportID: i.out.ImportID, Source: i.source}
	for _, item := range i.batch {
		request.Records = append(request.Records, item.Record)
	}
	var taken transfer.Imported
	if taken, i.err = client.Send(i.ctx, i.to, transfer.Service.Import, request); i.err != nil {
		return
	}
	if len(taken.Results) != len(i.batch) {
		i.err = errors.New("the router did not answer for every record")
		return
	}
	for n, r := range taken.Results {
		again := false
		if i.out.DryRun && r.Status == transfer.ImportStored { // a real import would have stored the first one by now
			id := string(r.Kind) + " " + r.ID
			again, i.known[id] = i.known[id], true
		}
		switch {
		case r.Status == transfer.ImportRefused:
			i.leave(leftOut{Place: i.batch[n].Place, Kind: r.Kind, Field: r.Field, Reason: r.Error})
		case again || r.Status == transfer.ImportDuplicate:
			i.out.Duplicates++
		default:
			i.out.Stored++
		}
	}
	i.out.ImportID = taken.ImportID
	i.batch, i.size = i.batch[:0], 0
}

// leave notes a thing that is not taken in.
func (i *importing) leave(what leftOut) {
	if what.Skipped {
		i.out.Skipped++
	} else {
		i.out.Refused++
	}
	if len(i.out.Listed) < maxListed {
		i.out.Listed = append(i.out.Listed, what)
	}
	if i.report != nil {
		if err := i.report.Encode(what); err != nil && i.err == nil {
			i.err = fmt.Errorf("write the report: %w", err)
		}
	}
}

var printImported = page[imported](`{{.Seen}} seen: {{.Stored}} {{if .DryRun}}would be {{end}}stored, {{.Duplicates}} there already, {{.Refused}} refused, {{.Skipped}} passed over
{{- with .ImportID}}
To take it back: skillrouter import undo {{short .}}
{{- end}}
{{- range .Listed}}
{{.Place}}: {{with .Field}}{{.}} {{end}}{{.Reason}}
{{- end}}
{{- if .More}}
… and {{.More}} more; --report writes them all to a file
{{- end}}`)

// More is how many that were refused or passed over are not listed.
func (out imported) More() int { return out.Refused + out.Skipped - len(out.Listed) }
