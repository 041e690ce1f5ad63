package learning_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

type likenessPair struct {
	Relation string       `json:"relation"`
	A        lesson.Draft `json:"a"`
	B        lesson.Draft `json:"b"`
}

// likenessPairs are pairs of lessons written by hand: near-duplicates, one
// problem in other words, unrelated, and nearly the same and yet apart.
func likenessPairs(t testing.TB) (pairs []likenessPair) {
	t.Helper()
	text, err := os.ReadFile("testdata/likeness/pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		var p likenessPair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

var (
	unrelatedThings = strings.Split("checkout service|image resizer|search indexer|mail gateway|report exporter|login page|invoice printer|chat bridge|metrics collector|"+
		"video encoder|geo lookup|loyalty ledger|cookie banner|partner feed|stock importer|calendar sync|push sender|audit trail|"+
		"price engine|feature flags|backup vault|license server|survey form|translation desk|warehouse robot", "|")
	unrelatedVerbs = strings.Split("answers with|loses|hangs on|sorts wrongly|fills up with|refuses|shows stale|crashes over|sends twice|ignores|waits for|forgets|"+
		"misprints|drops|burns time on|rejects|rounds off|keeps deleted|blinks because of|cannot read", "|")
	unrelatedObjects = strings.Split("blank screens|leading characters|sunrise jobs|umlauts|journals|large photos|daily totals|sleeping laptops|outgoing letters|dark themes|"+
		"embedded fonts|second tabs|negative quantities|long polls|idle tickers|Icelandic addresses|small cents|tree leaves|phone rotations|weekly archives|"+
		"scanned barcodes|nested folders|guest seats|tax tables|audio cues", "|")
	// What was done, and what came of it.
	unrelatedActs = strings.Split("Reloaded without the cache|Compared both by eye|Attached strace|Listed them by hand|Counted rows|Posted a sample|Refreshed the board|Closed the lid|"+
		"Read the outbox|Toggled the setting|Took a stopwatch|Opened another window|Ordered and cancelled|Looped curl|Recorded a profile|Typed it anew|Added up a basket|"+
		"Removed an item|Turned the device|Restored last week", "|")
	unrelatedOutcomes = strings.Split("Nothing was drawn|The first byte was gone|It sat on a futex|Ö stood last|Nine million entries|413 came back|Old sums stayed|A core file was left|"+
		"Two copies went out|It stayed bright|Ninety seconds passed|The session ended|Minus three on paper|Regular resets|One processor at full load|Validation said no|"+
		"Twelve were missing|The tombstone remained|The layout flickered|An unknown magic number|The queue grew|Half of it was right|Support was called|It healed by itself|The log was silent", "|")
	unrelatedParts = strings.Split("regular expression|daylight saving|collation|log rotation|proxy buffer|materialised view|arena pointer|late acknowledgement|media query|glyph cache|"+
		"cookie path|refund sign|keep-alive timer|default branch|character table|floating sum|compaction|resize observer|file header|quoted variable", "|")
	unrelatedFaults = strings.Split("was greedy|moved the window|was never refreshed|outlived its owner|came out of order|had been misspelt|was computed in advance|pointed elsewhere|was flipped twice|"+
		"ended too early|spun without end|knew ASCII alone|stood for money|was not compared|called itself|grew by two bytes|lost its quotes|was copied by value|loaded the wrong schema|"+
		"had no jitter|counted per tenant|mixed up the endianness|blocked the signal|skipped a page|trusted the client", "|")
)

// unrelated returns 500 lessons on as many matters. No two say the same of
// more than two of thing, verb, object, act, outcome, part and fault.
func unrelated() []lesson.Draft {
	types := []learning.LessonType{learning.LessonFailure, learning.LessonWarning, learning.LessonWorkaround, learning.LessonSuccess}
	var drafts []lesson.Draft
	for a, thing := range unrelatedThings {
		for b, verb := range unrelatedVerbs {
			drafts = append(drafts, lesson.Draft{
				Type: types[(a+b)%len(types)], Domain: []string{"infrastructure", "development", "business"}[b%3], Category: fmt.Sprint("category", a%5),
				Title: "The " + thing + " " + verb + " " + unrelatedObjects[(a+b)%25], Context: "Somebody used the " + thing + " in the " + []string{"morning", "evening"}[a%2],
				Action: unrelatedActs[(a+3*b)%20], Outcome: unrelatedOutcomes[(a+2*b)%25],
				RootCause: "The " + unrelatedParts[(a+7*b)%20] + " " + unrelatedFaults[(a+3*b)%25],
				Tags:      []string{"error", "automatic", strings.Fields(thing)[0]}, SourceAgent: fmt.Sprint("agent", (a*7+b)%9),
			})
		}
	}
	return drafts
}
