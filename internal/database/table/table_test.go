package table_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/database/table"
)

type mood string

type inner struct {
	CVE string
}

// Base is embedded: its fields are columns.
type Base struct{ TTLSeconds int64 }

// thing has a field of each kind that a column can be of.
type thing struct {
	Number int64
	ID     string
	Mood   mood
	Share  float64
	Count  int
	Open   bool
	Made   time.Time
	Ended  *time.Time
	Tags   []string
	Turns  []int
	Left   *inner
	Raw    json.RawMessage
	Score  *float64
	Base
	Shown string
}

var things = table.Of[thing]("things", "Number num", "Left handed_over", "Shown").Numbered("num").
	With("folded", func(t *thing) any { return strings.ToLower(t.ID) })

func TestRowsComeBackAsTheyWere(t *testing.T) {
	databasetest.FilesOnly(t)
	db := databasetest.Running(t, t.TempDir(), "operational")
	at, score := time.UnixMilli(1_800_000_000_123).UTC(), 0.5
	full := thing{
		ID: "A", Mood: "good", Share: 0.25, Count: 7, Open: true, Made: at, Ended: &at, Tags: []string{"a", "b"}, Turns: []int{1}, Left: &inner{"x"},
		Base: Base{60}, Raw: json.RawMessage(`{"a":1}`), Score: &score, Shown: "not kept",
	}
	empty := thing{ID: "b", Made: at}
	err := db.Commit.Write(t.Context(), func(tx *gorm.DB) error {
		if err := tx.Exec(`CREATE TABLE things (num INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, mood TEXT, share REAL, count REAL, open INTEGER, made INTEGER,
			ended INTEGER, tags TEXT, turns TEXT, handed_over TEXT, raw TEXT, score REAL, ttl_seconds INTEGER, folded TEXT) STRICT`).Error; err != nil {
			return err
		}
		if err := things.Insert(tx, &full); err != nil {
			return err
		}
		if err := things.InsertMany(tx, []*thing{&empty}); err != nil {
			return err
		}
		if full.Number != 1 || empty.Number != 2 {
			t.Errorf("numbered %d and %d", full.Number, empty.Number)
		}
		found, err := things.List(tx, "ORDER BY num")
		if err != nil {
			return err
		}
		full.Shown = ""
		empty.Tags, empty.Turns = []string{}, []int{}
		if diff := cmp.Diff([]thing{full, empty}, found); diff != "" {
			t.Error(diff)
		}
		full.Count, full.Ended, full.Mood = 8, nil, "bad"
		if err := things.Update(tx, &full, "id", "count", "ended"); err != nil {
			return err
		}
		empty.Open = true
		if err := things.UpdateAll(tx, []thing{empty}, "num", "open", "made"); err != nil {
			return err
		}
		one, there, err := things.One(tx, "WHERE folded = ?", "a")
		if err != nil || !there || one.Count != 8 || one.Ended != nil || one.Mood != "good" {
			t.Errorf("after an update of two columns: %+v, %v, %v", one, there, err)
		}
		if other, _, err := things.One(tx, "WHERE open AND num = 2"); err != nil || !other.Open {
			t.Errorf("after an update of many: %+v, %v", other, err)
		}
		_, there, err = things.One(tx, "WHERE id = ?", "nobody")
		if there {
			t.Error("a row was found that is not there")
		}
		return err
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// TestOfRefusesUnknownFields is the negative control: a field that is renamed is missed when the table is first used.
func TestOfRefusesUnknownFields(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a table was described by a field that there is not")
		}
	}()
	table.Of[thing]("things", "Nobody num").Select()
}
