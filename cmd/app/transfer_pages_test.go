package app_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/exchange"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// pagesOf writes everything that a router remembers as Markdown.
func pagesOf(t *testing.T, records []transfer.Record) fstest.MapFS {
	t.Helper()
	folder := fstest.MapFS{}
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		name, text, err := exchange.Page(r.Kind, line)
		if err != nil {
			t.Fatal(err)
		}
		if folder[name] != nil {
			t.Errorf("two records have the page %s", name)
		}
		folder[name] = &fstest.MapFile{Data: text}
	}
	return folder
}

// recordsOf reads a folder of Markdown.
func recordsOf(t *testing.T, folder fstest.MapFS) (records []transfer.Record) {
	t.Helper()
	f, err := exchange.FormatOf("markdown")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ReadFolder(folder, exchange.Options{}, func(i exchange.Item) bool {
		if i.Refused != "" {
			t.Errorf("%s: %s %s", i.Place, i.Field, i.Refused)
		}
		records = append(records, i.Record)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return records
}

// TestMarkdownRoundTrip carries memories of every kind as Markdown: into their own
// router nothing is new, and an empty one remembers the same.
func TestMarkdownRoundTrip(t *testing.T) {
	from, to := transferring(t), transferring(t)
	teach(t, from)
	records := exported(t, from, transfer.ExportQuery{})
	folder := pagesOf(t, records)
	read := recordsOf(t, folder)
	if imported, err := client.Send(t.Context(), from, transfer.Service.Import, transfer.ImportRequest{Records: read}); err != nil || imported.Duplicates != len(records) {
		t.Errorf("into its own router: %+v, %v", imported, err)
	}
	if imported, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: read}); err != nil || imported.Stored != len(records) {
		t.Fatalf("into an empty one: %+v, %v", imported, err)
	}
	// Files are read in the order of their names, and so numbers may differ: each is compared with its own.
	arrived := map[string]map[string]any{}
	for _, members := range promised(t, exported(t, to, transfer.ExportQuery{})) {
		arrived[carriedName(members)] = members
	}
	for _, want := range promised(t, records) {
		name := carriedName(want)
		numberless(want)
		numberless(arrived[name])
		if diff := cmp.Diff(want, arrived[name]); diff != "" {
			t.Errorf("%s differs (-sent +arrived)\n%s", name, diff)
		}
	}
	if len(arrived) != len(records) {
		t.Errorf("%d arrived of %d", len(arrived), len(records))
	}
}

// numberless takes the numbers away that a router gives in the order of arrival.
func numberless(members map[string]any) {
	for _, name := range []string{"number", "episode_ids"} {
		delete(members, name)
	}
	if _, number := members["id"].(float64); number {
		delete(members, "id")
	}
	if experience, there := members["experience"].(map[string]any); there {
		delete(experience, "id")
	}
}

// carriedName is what tells a record from the others.
func carriedName(members map[string]any) string {
	name := members["kind"].(string)
	for _, key := range []string{"persona", "key", "name", "task", "title", "pattern_name"} {
		if text, is := members[key].(string); is {
			name += " " + text
		}
	}
	if id, is := members["id"].(string); is {
		name += " " + id
	}
	return name
}
