package app_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/cli"
)

// recorded holds requests with what a router answered to them, over HTTP, MCP and the command line, in
// the order in which they were made: nobody outside notices what is moved inside. To record a further
// one, write its line without an answer and run the test with -update.
const recorded = "testdata/recorded.jsonl"

// On 29 November 2026 the answers of the tools beside the core were recorded anew: they are their operations' own, a member a line.
//
// agreed are requests, as recorded, whose answers may become others, and why. Their status may not; exit codes that were agreed to are recorded:
// a command that looks for something exits with 1 where it finds nothing.
var agreed = map[string]string{
	`POST /api/procedures/search {"query":"x"}`: "a procedure names its file once the folder was looked at, which is twice a second",
	`["patterns"]`:                    kindLists,
	`["escalations"]`:                 kindLists,
	`["episodes"]`:                    kindLists,
	`["experience"]`:                  kindLists,
	`["tasks"]`:                       kindLists,
	`["recon"]`:                       kindLists,
	`["facts"]`:                       kindLists,
	`["procedures"]`:                  kindLists,
	`["reminders"]`:                   kindLists,
	`["sessions"]`:                    kindLists,
	`["proposals"]`:                   kindLists,
	`["gaps"]`:                        kindLists,
	`["interlock"]`:                   kindLists,
	`["token"]`:                       kindLists,
	"build_context":                   narrow,
	"GET /health":                     "the index of facts is told of too",
	`["status","--json"]`:             "the index of facts is told of too",
	"GET /api/facts/stats":            "no facts are kept in memory beside the database any more",
	`update_knowledge {"nonsense":1}`: "the refusal lists its parameters, and it has two more",
	`create_team_task {"nonsense":1}`: "the refusal lists its parameters, and it has after",
	`list_team_tasks {"nonsense":1}`:  "the refusal lists its parameters, and it has ready",
	`["context","write the docs","--budget","200"]`:     narrow,
	`["messages","--agent","builder","--json","--ack"]`: goingRound,
	`["episodes","list"]`:                               newVerb, `["episodes","list","--json"]`: newVerb, `["episodes","list","--limit","2"]`: newVerb,
	`["episodes","record","--type","action","--title","ran the tests","--content","all green"]`: newVerb,
	`route_query {"query":"zeppelin"}`:                      askedAgain,
	`["lessons","search","disk","full"]`:                    oneRelevance,
	`["query","which port does the API use?"]`:              oneRelevance,
	`["query","what happened last?"]`:                       oneRelevance,
	`["episodes","search","zeppelin"]`:                      oneRelevance,
	`["search","about"]`:                                    oneRelevance,
	`["procedures","search","airship"]`:                     searchesAlike,
	`["procedures","search","rolling","out","a","release"]`: searchesAlike,
	`["lessons","search","permission","denied","in","a","backup","--domain","infrastructure"]`: oneRelevance,
	`["search","partial","updates","--explain"]`:                                               oneRelevance,
	`["episodes","search","semicolon"]`:                                                        oneRelevance,
	`["episodes","search","processor","--persona","data-analyst","--range","7d"]`:              oneRelevance,
	`["query","how","do","I","fix","partial","updates","with","PATCH"]`:                        oneRelevance,
	`["search","PATCH"]`:                          oneRelevance,
	`send_signal {"nonsense":1}`:                  oneMore,
	`["lessons","list","--type","sucess"]`:        flagNamed,
	`["lessons","retire","1"]`:                    wordsMissing,
	`["memory"]`:                                  wordsMissing,
	`["remember"]`:                                wordsMissing,
	`["search"]`:                                  wordsMissing,
	`["search","API","port","--kind","nonsense"]`: flagNamed,
	`["query","which agents are stale?"]`:         summaryAlone,
	`["query"]`:                                   wordsMissing,
	`["tasks","add"]`:                             wordsMissing,
	`["used","«27»"]`:                             "what was learned of an entry is taken back by `knowledge unlearn`",
	`["tasks","list","--status","done"]`:          flagNamed,
	`["tasks","list","--status","nonsense"]`:      flagNamed,
	`["facts","set","default","port","8080"]`:     wordsMissing,
	`["reminders","add"]`:                         wordsMissing,
	`["messages","inbox"]`:                        wordsMissing,
	`["signal","b","note","hello there"]`:         wordsMissing,
	`["context","-"]`:                             flagNamed,
	`["query","which","agents","are","stale"]`:    summaryAlone,

	`POST /api/context {"task":"zeppelin","budget":100000,"agent_id":"a"}`:                                           notUsed,
	`POST /api/context {"task":"zeppelin","budget":100000}`:                                                          notUsed,
	`POST /api/knowledge/search {"query":"zeppelin"}`:                                                                notUsed,
	`POST /query {"query":"quokkagap"}`:                                                                              oneQuestion,
	`POST /query {"query":"what did agent a do last?"}`:                                                              oneQuestion,
	`POST /query {"query":"what happened?"}`:                                                                         oneQuestion,
	`POST /query {"query":"what is agent a doing?"}`:                                                                 oneQuestion,
	`POST /query {"query":"which messages wait for agent a?","agent_id":"a"}`:                                        oneQuestion,
	`POST /query {"query":"zeppelin","limit":50}`:                                                                    oneQuestion,
	`POST /query {"query":"zeppelin","type":"operational","limit":50}`:                                               oneQuestion,
	`["episodes","search","processor","--persona","coder"]`:                                                          oneQuestion,
	`["query","--type","episode","--json","what","happened","to","the","build"]`:                                     oneQuestion,
	`["query","which port does the API use?","--json"]`:                                                              oneQuestion,
	`["remember","--id","mine","--category","error_solution","DECIMAL columns do not scan into int","Use float64."]`: oneQuestion,
	`["remember","--id","mine","--category","error_solution","DECIMAL columns do not scan into int"]`:                oneQuestion,
	`["search","API","port","--json"]`:                                                                               oneQuestion,
	`["search","API","port","--kind","knowledge"]`:                                                                   oneQuestion,
	`["search","API","port","--limit","0"]`:                                                                          oneQuestion,
	`["search","API","port"]`:                                                                                        oneQuestion,
	`["search","DECIMAL","--json"]`:                                                                                  oneQuestion,
	`["search","borrow","checker","--project","rust"]`:                                                               oneQuestion,
	`["search","writes Go"]`:                                                                                         oneQuestion,
	`["search","zebra"]`:                                                                                             oneQuestion,

	`POST /api/import {"records":[{"kind":"knowledge","category":"c","content":"text 119"}]}`: importID,
	`["memory","a"]`:       shownOnce,
	`["memory","captain"]`: shownOnce,
	`["signal","--broadcast","deploy","--context","{\"ref\":\"main\"}"]`:               toAll,
	`["signal","","message","--from","bob","--context","{\"text\":\"to everybody\"}"]`: toAll,

	`["check","rm -rf /"]`:                              mayBeAllowed,
	`["token","list"]`:                                  tokensOfPeople,
	"GET /api/tools":                                    morePacks,
	`["check","explain","--","ls"]`:                     morePacks,
	`["check","git push --force origin main","--json"]`: coreBlocks,
}

// toCaptain writes answers as they were recorded: escalations went to ARIA then, and go to the captain.
var toCaptain = strings.NewReplacer(`"escalated_to":["captain"`, `"escalated_to":["ARIA"`, `"escalated_to":"captain"`, `"escalated_to":"ARIA"`, "to agent captain", "to agent ARIA", "pending captain ", "pending ARIA ", "escalated to captain", "escalated to ARIA", "Escalated to captain", "Escalated to ARIA")

// The reasons.
const (
	oneQuestion    = "a question and a search are put to every memory and to the state, items have text, and one sentence is enough to remember"
	notUsed        = "a question that the search answers is no use of the entries that it finds"
	kindLists      = "a kind alone lists, as its list does"
	wordsMissing   = "wrong usage is told by the word of help that is missing or too much"
	flagNamed      = "a refusal on the command line names the flag that was given"
	searchesAlike  = "a search of any kind shows its hits alike, and says what finds something"
	newVerb        = "every kind of memory has a list"
	oneRelevance   = "the command line shows one scale of relevance, and no confidence of the classifier"
	summaryAlone   = "where an answer says that there is none, it is not said a second time that nothing was found"
	narrow         = "what fits into a narrow budget changes with the tokens of the ids, which are made by chance"
	oneMore        = "the tool takes a parameter more, and names those that it has"
	askedAgain     = "reading calls are made again for a moment until they agree, and each question counts as a use of what it finds"
	goingRound     = "a lesson goes round a moment after it was reported, and may or may not be among the messages"
	importID       = "an import that added something has an id, by which it can be taken back"
	shownOnce      = "a lesson stands in one table only, and an alternative is a solution"
	toAll          = "what goes to all waits for no one agent"
	morePacks      = "the packs of the guard have tools and commands of their own"
	mayBeAllowed   = "what is blocked says that a person may allow it"
	tokensOfPeople = "tokens are agents' or people's"
	coreBlocks     = "the pack core blocks it from the first start; its status was recorded anew"
)

// recordedStep is how far the clock goes on with each request: so little that no agent falls silent in all of them.
const recordedStep = 20 * time.Millisecond

// recording is a request and its answer. Ids stand in both as «1», «2», …, by where they were first answered.
type recording struct {
	Via    string          `json:"via"`            // http, mcp or cli; clock lets time pass
	As     string          `json:"as"`             // who asks: one of callers
	Do     string          `json:"do"`             // method and path, a tool, or a command's words
	Body   string          `json:"body,omitempty"` // what is sent, a tool's arguments, or what the command reads
	Status int             `json:"status"`         // of HTTP, or the exit code
	Answer json.RawMessage `json:"answer"`
}

// replaying makes recorded requests and knows which ids stand for which.
type replaying struct {
	*serving
	clock  *atomic.Int64
	real   map[string]string // by symbol
	symbol map[string]string // by real id
	last   int               // the greatest number of a symbol, which no other id gets
}

func replay(t *testing.T) *replaying {
	t.Helper()
	clock := new(atomic.Int64)
	begin := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	now := func() time.Time { return begin.Add(time.Duration(clock.Load()) * recordedStep) }
	cfg := settings(t)
	cfg.Presence.StaleAfter, cfg.Presence.OfflineAfter = time.Hour, 2*time.Hour // nobody falls silent in between
	cfg.MCP.Toolsets = []string{"all"}
	r := &replaying{serving: serveAs(t, cfg, app.Options{Version: "test", Now: now}), clock: clock, real: map[string]string{}, symbol: map[string]string{}}
	r.issue()
	t.Setenv("SKILLROUTER_SERVER", r.app.URL())
	return r
}

var (
	// anID is what is made by chance: ids, the ends of ids that the command line shows in lists, and secrets.
	anID = regexp.MustCompile(`\b[0-9a-f]{32}\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|skr_[A-Za-z0-9_-]{43}|\b[0-9a-f]{8}\b`)
	// markup is left out of a page: its words are compared.
	markup = regexp.MustCompile(`(?s)<(script|style|svg).*?</(script|style|svg)>|<[^>]*>`)
	// symbol stands for one.
	symbol = regexp.MustCompile(`«\d+»`)
	// figures measure this run.
	figures = regexp.MustCompile(`(\\?"(?:lease_ms|tokens|took_ms|took_us|uptime_seconds|uptime_ms|seq|last_seq|bytes)\\?":|\bbytes |(?:\b|\\n)(?:bytes|took_us|uptime_ms): |\bworking ended \d+ )[-+.e\d]+`)
	// aTime is when something was; what the router does by itself comes a little sooner or later.
	aTime = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z| UTC)?|\d{8}T\d{6}(\.\d+)?Z|\b\d+ ?(ms|s|min|m|h|d) (ago|from now)|seq \d+|SENT \d+|\d+ of \d+ tokens`)
	// fence is the mark around memory, which no text of memory can know before.
	fence = regexp.MustCompile(`memory-[0-9a-f]+`)
)

// ask makes the request of x and returns what is answered, with what changes from run to run left out.
func (r *replaying) ask(x recording) (status int, answer string) {
	put := func(text string) string {
		return symbol.ReplaceAllStringFunc(text, func(s string) string { return cmp.Or(r.real[s], s) })
	}
	do, body := put(x.Do), put(x.Body)
	switch x.Via {
	case "http":
		method, path, _ := strings.Cut(do, " ")
		status, answer = r.do(x.As, method, path, body, nil)
	case "mcp":
		status, answer = r.tool(x.As, do, body)
	case "cli":
		r.t.Setenv("SKILLROUTER_TOKEN", r.secrets[x.As])
		var words []string
		if err := json.Unmarshal([]byte(do), &words); err != nil {
			r.t.Fatalf("%s: %v", do, err)
		}
		var out bytes.Buffer
		status = cli.Run(r.t.Context(), words, strings.NewReader(body), &out, &out)
		answer = out.String()
	case "clock":
		further, err := time.ParseDuration(do)
		if err != nil {
			r.t.Fatal(err)
		}
		r.clock.Add(int64(further / recordedStep))
		<-time.After(min(further, recordedPause))
	default:
		r.t.Fatalf("%q is no way to ask", x.Via)
	}
	if agreed[x.Do] != "" || agreed[x.Do+" "+x.Body] != "" {
		return status, `""`
	}
	return status, toCaptain.Replace(bared(strings.ReplaceAll(answer, r.app.URL(), "http://router")))
}

// bared is an answer as it is compared: JSON with its members in order and its
// fractions to two places, and no figures of this run.
func bared(answer string) string {
	var parsed any
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	if d.Decode(&parsed) != nil || d.More() {
		parsed = strings.Join(strings.Fields(markup.ReplaceAllString(answer, " ")), " ")
	}
	var sorted bytes.Buffer
	e := json.NewEncoder(&sorted)
	e.SetEscapeHTML(false)
	_ = e.Encode(rounded(parsed))
	text := fence.ReplaceAllString(strings.TrimSpace(sorted.String()), "memory-…")
	return aTime.ReplaceAllString(figures.ReplaceAllString(text, `${1}0`), "TIME")
}

func rounded(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, ofEveryKind := v["snippet"]; !ofEveryKind {
			delete(v, "relevance") // a member that hits of one kind have now too
		}
		if _, waits := v["approval_id"]; waits { // what is blocked may be allowed by a person
			delete(v, "approval_id")
			if told, ok := v["warnings"].([]any); ok {
				v["warnings"] = slices.DeleteFunc(told, func(w any) bool {
					text, _ := w.(string)
					return strings.HasPrefix(text, "a person may allow exactly this")
				})
			}
		}
		for name, one := range v {
			v[name] = rounded(one)
		}
	case []any:
		for i, one := range v {
			v[i] = rounded(one)
		}
		if len(v) > 5 {
			return append(v[:3:3], fmt.Sprintf("… %d in all, the last:", len(v)), v[len(v)-1])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return math.Round(f*1e2) / 1e2
		}
	case string: // the text of a tool's answer is JSON too
		if (strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[")) && json.Valid([]byte(v)) {
			return bared(v)
		}
	}
	return v
}

// agrees tells whether an answer is the recorded one: the same but for ids, and
// each id the one that its symbol stands for. A symbol that is new stands for it from now on.
func (r *replaying) agrees(got, want string) bool {
	ids, symbols := anID.FindAllString(got, -1), symbol.FindAllString(want, -1)
	if len(ids) != len(symbols) || anID.ReplaceAllString(got, "«»") != symbol.ReplaceAllString(want, "«»") {
		return false
	}
	fresh := map[string]string{}
	for i, s := range symbols {
		if known := cmp.Or(r.real[s], fresh[s]); known == "" && r.symbol[ids[i]] == "" {
			fresh[s] = ids[i]
		} else if !sameID(known, ids[i]) {
			return false
		}
	}
	for s, id := range fresh {
		r.know(s, id)
	}
	return true
}

// sameID tells whether two ids are one, of which the command line may show the end alone.
func sameID(a, b string) bool {
	return strings.HasSuffix(a, b) && len(b) >= 8 || strings.HasSuffix(b, a) && len(a) >= 8
}

func (r *replaying) know(s, id string) { r.real[s], r.symbol[id] = id, s }

// align takes the symbols of a recorded answer for the ids that stand in the same places of a new one, as far as neither is known.
func (r *replaying) align(got, want any) {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(want)) {
				r.align(got[name], want[name])
			}
		}
	case []any:
		if got, ok := got.([]any); ok {
			for i := range min(len(got), len(want)) {
				r.align(got[i], want[i])
			}
		}
	case string:
		got, _ := got.(string)
		ids, symbols := anID.FindAllString(got, -1), symbol.FindAllString(want, -1)
		for i := range min(len(ids), len(symbols)) {
			if r.real[symbols[i]] == "" && r.symbol[ids[i]] == "" {
				r.know(symbols[i], ids[i])
			}
		}
	}
}

// named puts symbols for the ids of a new answer.
func (r *replaying) named(answer string) string {
	return anID.ReplaceAllStringFunc(answer, func(id string) string {
		if r.symbol[id] == "" {
			r.last++
			r.know(fmt.Sprintf("«%d»", r.last), id)
		}
		return r.symbol[id]
	})
}

func readRecorded(t *testing.T) (all []recording) {
	t.Helper()
	file, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var x recording
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatalf("line %d: %v", len(all)+1, err)
		}
		all = append(all, x)
	}
	return all
}

// TestRecorded makes every recorded request again. An answer that waits for
// what the router does a moment later is asked for again.
func TestRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of calls, one after the other")
	}
	all := readRecorded(t)
	if len(all) < 1000 {
		t.Fatalf("only %d requests are recorded", len(all))
	}
	file, err := filepath.Abs(recorded)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("/") // what is recorded belongs to no project of a working folder
	r := replay(t)
	for _, x := range all {
		for _, s := range symbol.FindAllString(string(x.Answer), -1) {
			n, _ := strconv.Atoi(strings.Trim(s, "«»"))
			r.last = max(r.last, n)
		}
	}
	wrong := 0
	for i := range all {
		x := &all[i]
		r.clock.Add(1)
		status, got := r.ask(*x)
		for end := time.Now().Add(recordedPatience); ; status, got = r.ask(*x) {
			if status == x.Status && r.agrees(got, string(x.Answer)) {
				break
			}
			if !x.safe() || time.Now().After(end) {
				if *update { // what agrees stays as it is
					var new, old any
					if json.Unmarshal([]byte(got), &new) == nil && json.Unmarshal(x.Answer, &old) == nil {
						r.align(new, old)
					}
					x.Status, x.Answer = status, json.RawMessage(r.named(got))
				} else if wrong++; wrong <= 20 {
					t.Errorf("line %d, %s as %s: %s %s\n got %d %s\nwant %d %s", i+1, x.Via, x.As, x.Do, x.Body, status, got, x.Status, x.Answer)
				}
				break
			}
			<-time.After(50 * time.Millisecond)
		}
	}
	if wrong > 20 {
		t.Errorf("%d of %d answers differ", wrong, len(all))
	}
	if *update {
		writeRecorded(t, file, all)
	}
}

// recordedPause is how long the router has, where the clock goes on by more, for
// what it does once a second.
const recordedPause = 1200 * time.Millisecond

// recordedPatience is how long a reading may be asked again: some figures are written a moment later, on a busy machine several seconds.
const recordedPatience = 10 * time.Second

// safe tells whether the request only reads, so that it may be made again.
func (x recording) safe() bool {
	return strings.HasPrefix(x.Do, "GET ") || x.Via == "cli" && strings.Contains(x.Do, `,"list"`)
}

func writeRecorded(t *testing.T, file string, all []recording) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, x := range all {
		if err := e.Encode(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRecordedControl is the negative control: another word, another id or one
// id for two is no recorded answer.
func TestRecordedControl(t *testing.T) {
	const one, two = "01a205f6-b02c-7c5f-8aaa-0123456789ab", "01a205f6-b02c-7c5f-8aaa-0123456789ac"
	r := &replaying{real: map[string]string{}, symbol: map[string]string{}}
	if !r.agrees(`{"id":"`+one+`","of":"`+two+`"}`, `{"id":"«1»","of":"«2»"}`) || !r.agrees(`{"id":"`+two+`"}`, `{"id":"«2»"}`) {
		t.Error("the same answer is taken for another one")
	}
	for got, want := range map[string]string{
		`{"id":"` + one + `"}`:                     `{"id":"«2»"}`,
		`{"id":"` + two + `"}`:                     `{"id":"«3»"}`,
		`{"id":"` + one + `","of":"` + one + `"}`:  `{"id":"«1»","of":"«4»"}`,
		`{"name":"a"}`:                             `{"name":"b"}`,
		`{"id":"` + one + `"} `:                    `{"id":"«1»"}`,
		`{"id":"` + one + `","id2":"` + one + `"}`: `{"id":"«1»"}`,
	} {
		if r.agrees(got, want) {
			t.Errorf("%s passes for %s", got, want)
		}
	}
}
