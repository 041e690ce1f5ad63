package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skillrouter/learning"
	"skillrouter/router"
	"skillrouter/router/exchange"
)

// Bounds of what is sent to the router in one request.
const (
	importRecords = 250
	importBytes   = 2 << 20 // one record more may come on top
)

// foreignImport says what is imported, and how.
type foreignImport struct {
	from, report string
	dryRun       bool
}

// leftOut is a line of the report: a thing that was not taken in.
type leftOut struct {
	Place   string      `json:"place"`
	Kind    router.Kind `json:"kind,omitempty"`
	Field   string      `json:"field,omitempty"`
	Reason  string      `json:"reason"`
	Skipped bool        `json:"skipped,omitempty"` // it is no memory, and that is no fault
}

// importedForeign is what import --from prints. Stored, duplicates, refused and skipped add up to seen.
type importedForeign struct {
	Format     string    `json:"format"`
	DryRun     bool      `json:"dry_run,omitempty"`
	Seen       int       `json:"seen"`
	Stored     int       `json:"stored"`
	Duplicates int       `json:"duplicates"`
	Refused    int       `json:"refused"`
	Skipped    int       `json:"skipped"`
	Listed     []leftOut `json:"left_out"` // the first maxListed of what was refused or skipped
}

// importing is an import under way.
type importing struct {
	ctx    context.Context
	to     router.TransferService
	out    importedForeign
	report *json.Encoder // nil: none
	known  map[string]bool
	batch  []exchange.Item
	size   int
	err    error
}

func formatList() string {
	var b strings.Builder
	for _, f := range exchange.Formats() {
		fmt.Fprintf(&b, "  %-13s %s\n", f.Name, f.What)
	}
	return b.String()
}

func (s *shell) importForeign(ctx context.Context, to router.TransferService, path string, what foreignImport, defaults learning.KnowledgeDraft) (err error) {
	format, err := exchange.FormatOf(what.from)
	if err != nil {
		return usageError{errors.New(explain(err))}
	}
	i := &importing{ctx: ctx, to: to, out: importedForeign{Format: format.Name, DryRun: what.dryRun, Listed: []leftOut{}}, known: map[string]bool{}}
	if what.report != "" {
		file, err := os.OpenFile(what.report, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		i.report = json.NewEncoder(file)
	}
	options := exchange.Options{Category: defaults.Category, Project: defaults.Project, Agent: defaults.AgentID, Source: defaults.Source, Tags: defaults.Tags}
	broken := s.readForeign(path, format, options, i.take)
	if i.err == nil {
		i.send()
	}
	if i.err != nil {
		return fmt.Errorf("the import broke off; what was stored remains, and it can be repeated: %w", i.err)
	}
	if err := s.print(i.out, func(w io.Writer) { foreignText(w, i.out) }); err != nil {
		return err
	}
	if broken != nil {
		return fmt.Errorf("%s could not be read to its end; what is before it was taken in: %w", path, broken)
	}
	if i.out.Refused > 0 {
		return exitError(exitFailed)
	}
	return nil
}

func (s *shell) readForeign(path string, format exchange.Format, options exchange.Options, take func(exchange.Item) bool) error {
	if info, err := os.Stat(path); path != "-" && err == nil && info.IsDir() {
		root, err := os.OpenRoot(path) // a link that leads out of it is not followed
		if err != nil {
			return err
		}
		defer root.Close()
		return format.ReadFolder(root.FS(), options, take)
	}
	file, size, err := s.open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	bar := s.bar(size)
	options.Read = func(n int) { _ = bar.Add(n) }
	defer func() { _ = bar.Exit() }()
	if format.Folder && path != "-" {
		folder, name := filepath.Split(path)
		return format.ReadFile(os.DirFS(filepath.Clean("./"+folder)), name, options, take)
	}
	return format.Read(file, options, take)
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
	request := router.ImportRequest{DryRun: i.out.DryRun}
	for _, item := range i.batch {
		request.Records = append(request.Records, item.Record)
	}
	var imported router.Imported
	if imported, i.err = i.to.Import(i.ctx, request); i.err != nil {
		return
	}
	if len(imported.Results) != len(i.batch) {
		i.err = errors.New("the router did not answer for every record")
		return
	}
	for n, r := range imported.Results {
		again := false
		if i.out.DryRun && r.Status == router.ImportStored { // a real import would have stored the first one by now
			id := string(r.Kind) + " " + r.ID
			again, i.known[id] = i.known[id], true
		}
		switch {
		case r.Status == router.ImportRefused:
			i.leave(leftOut{Place: i.batch[n].Place, Kind: r.Kind, Field: r.Field, Reason: r.Error})
		case again || r.Status == router.ImportDuplicate:
			i.out.Duplicates++
		default:
			i.out.Stored++
		}
	}
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

func foreignText(w io.Writer, out importedForeign) {
	stored := "stored"
	if out.DryRun {
		stored = "would be stored"
	}
	fmt.Fprintf(w, "%d seen: %d %s, %d there already, %d refused, %d passed over\n", out.Seen, out.Stored, stored, out.Duplicates, out.Refused, out.Skipped)
	for _, l := range out.Listed {
		reason := l.Reason
		if l.Field != "" {
			reason = l.Field + " " + reason
		}
		fmt.Fprintf(w, "%s: %s\n", clean(l.Place), clean(reason))
	}
	if more := out.Refused + out.Skipped - len(out.Listed); more > 0 {
		fmt.Fprintf(w, "… and %d more; --report writes them all to a file\n", more)
	}
}
