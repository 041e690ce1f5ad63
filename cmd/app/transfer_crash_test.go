package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/transfer"
)

const (
	// resumedRecords is how many records the import that is killed has: some thirty requests.
	resumedRecords = 6000
	resumedKills   = 6
)

// TestKillDuringImport kills the command and the router in turns while a file
// is imported, and runs the import again: in the end each record is there once,
// and the last run says what the ones before it had done.
func TestKillDuringImport(t *testing.T) {
	path, data := program(t, buildProgram), t.TempDir()
	file := filepath.Join(t.TempDir(), "big.jsonl")
	var lines bytes.Buffer
	for i := range resumedRecords {
		switch text := fmt.Sprintf("record %d of the import", i); i % 3 {
		case 0:
			fmt.Fprintf(&lines, `{"kind":"knowledge","id":"k%d","category":"c","title":"%s","content":"%s"}`+"\n", i, text, text)
		case 1:
			fmt.Fprintf(&lines, `{"kind":"episode","id":"e%d","agent_id":"a","event_type":"action","title":"%s","content":"%s"}`+"\n", i, text, text)
		default:
			fmt.Fprintf(&lines, `{"kind":"fact","persona":"default","key":"f.%d","value":%d,"ttl":0}`+"\n", i, i)
		}
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, path, data)
	command := func() *exec.Cmd {
		return exec.CommandContext(t.Context(), path, "import", "--from", "jsonl", file, "--json", "--server", p.url)
	}
	stored := func() int {
		c, err := client.New(p.url, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return len(exported(t, c, transfer.ExportQuery{}))
	}
	between := 0 // kills that came when something was stored and something was not
	for kill := range resumedKills {
		cmd := command()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		<-time.After(rand.N(400 * time.Millisecond))
		if kill%2 == 0 {
			_ = cmd.Process.Kill()
			<-ended
		} else {
			p.kill()
			var failed *exec.ExitError
			if err := <-ended; err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
			p = start(t, path, data)
		}
		if n := stored(); n > 0 && n < resumedRecords {
			between++
		}
	}
	before := stored()
	said, err := command().Output()
	var out struct{ Seen, Stored, Duplicates, Refused int }
	if err != nil || json.Unmarshal(said, &out) != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if out.Seen != resumedRecords || out.Duplicates != before || out.Stored != resumedRecords-before || out.Refused != 0 {
		t.Errorf("%+v, and %d were there before", out, before)
	}
	c, err := client.New(p.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	once := map[string]int{}
	for _, r := range exported(t, c, transfer.ExportQuery{}) {
		switch r.Kind {
		case router.KindKnowledge:
			once[r.Memory.(*knowledge.Knowledge).ID]++
		case router.KindEpisode:
			once[r.Memory.(*experience.EpisodeRecord).ID]++
		case router.KindFact:
			once[r.Memory.(*fact.Fact).Key]++
		}
	}
	if len(once) != resumedRecords {
		t.Errorf("%d of %d are there", len(once), resumedRecords)
	}
	for id, n := range once {
		if n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
	if found, err := client.Send(t.Context(), c, knowledge.Service.Search, searchFor("record 3 import")); err != nil || found.Count == 0 {
		t.Errorf("what was imported is not found: %+v, %v", found, err)
	}
	t.Logf("%d of %d kills came in between; %d records were there before the last run", between, resumedKills, before)
}
