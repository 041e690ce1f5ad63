package feed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"skillrouter/internal/eventlog"
	"skillrouter/internal/safetext"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
)

// The kinds of moments, as people choose between them.
const (
	KindCheck    = "check" // every check of the guard
	KindBlock    = "block" // those that blocked
	KindApproval = "approval"
	KindFailure  = "failure" // a command failed, with what was known of it
	KindTold     = "told"    // an agent was told memories
	KindMessage  = "message"
	KindTask     = "task"
	KindSession  = "session"
	KindMemory   = "memory"
	KindLesson   = "lesson"
	KindAgent    = "agent"
	kindOthers   = "admin"
)

// phrase says what the events of a type, or of all types that begin so, tell: their kind, what they are about, and the verb.
type phrase struct{ types, kind, about, verb string }

// phrases are in the order in which they are tried; see events.txt.
var phrases = sync.OnceValue(func() (all []phrase) {
	for _, row := range cells("phrases") {
		all = append(all, phrase{row[0], row[1], row[2], row[3]})
	}
	return all
})

// MomentKinds lists the kinds that a timeline can be narrowed to.
func MomentKinds() []string {
	kinds := []string{KindCheck, KindBlock, KindApproval, KindFailure, KindTold, KindMessage, KindTask, KindSession, KindMemory, KindLesson}
	for _, p := range phrases() {
		if !slices.Contains(kinds, p.kind) {
			kinds = append(kinds, p.kind)
		}
	}
	return kinds
}

// typesOfMoments are the types of events of some kinds, as an EventQuery names them; none: all.
func typesOfMoments(kinds []string) (types []string) {
	for _, p := range phrases() {
		if slices.Contains(kinds, p.kind) {
			types = append(types, p.types)
		}
	}
	return types
}

// told are the members of events' data that are told of.
type told struct {
	Number    int64    `json:"number"`
	Title     string   `json:"title"`
	Goal      string   `json:"goal"`
	Key       string   `json:"key"`
	Name      string   `json:"name"`
	Pattern   string   `json:"pattern_name"`
	Procedure string   `json:"procedure"`
	Task      string   `json:"task"`
	Statement string   `json:"description"`
	Extracted string   `json:"statement"`
	Patterns  []string `json:"patterns"`
	Current   string   `json:"current_task"`
	Status    string   `json:"status"`
	To        string   `json:"to"`
	State     string   `json:"state"`
	Outcome   string   `json:"outcome"`
	Result    string   `json:"result"`
	Severity  string   `json:"severity"`
	Note      string   `json:"note"`
	Reason    string   `json:"reason"`
	Summary   string   `json:"summary"`
	Why       string   `json:"why"`
	Notes     string   `json:"notes"`
	By        string   `json:"by"`
	DecidedBy string   `json:"decided_by"`
	AgentID   string   `json:"agent_id"`
	Progress  float64  `json:"progress"`
	Escalated string   `json:"escalated_to"`
	Signal    string   `json:"signal"`
	Recipient string   `json:"to_agent_id"`
	Decision  string   `json:"decision"`
	Rules     []string `json:"rule_ids"`
}

// Told is an event of the feed as a timeline tells it.
func Told(e Event) Moment {
	e.Type = cmp.Or(e.Kind, e.Type)
	return momentOf("feed", e.Event)
}

// momentOf tells an event.
func momentOf(log string, e eventlog.Event) Moment {
	m := Moment{ID: log + ":" + strconv.FormatInt(e.Seq, 10), At: e.At, Kind: kindOthers, Type: e.Type, Agent: e.Agent, Project: e.Project, Subject: e.Subject}
	for _, p := range phrases() {
		if e.Type == p.types || strings.HasSuffix(p.types, ".") && strings.HasPrefix(e.Type, p.types) {
			m.Kind, m.About, m.Verb = p.kind, p.about, p.verb
			break
		}
	}
	if m.Verb == "" {
		m.Verb = strings.NewReplacer(".", " ", "_", " ").Replace(e.Type)
	}
	var d told
	if len(e.Data) > 0 {
		_ = json.Unmarshal(e.Data, &d) // a member of another type is not told of
	}
	m.Title = cmp.Or(d.Title, d.Pattern, d.Key, d.Goal, d.Task, d.Procedure, d.Name, d.Statement, d.Extracted, strings.Join(d.Patterns, ", "))
	m.Detail = cmp.Or(d.Note, d.Reason, d.Summary, d.Why, d.Notes)
	switch {
	case e.Type == operational.EventMessageSent:
		m.Kind, m.About, m.Verb, m.Title, m.To = KindMessage, "message", "sent", d.Signal, d.Recipient
	case e.Type == lesson.EventActionChecked:
		m.Kind, m.About, m.Verb, m.Title = KindCheck, "check", "was warned by", "rule "+strings.Join(d.Rules, ", ")
		if d.Decision == string(rule.DecisionBlock) {
			m.Kind, m.Verb = KindBlock, "was stopped by"
		}
	case e.Type == "agent.state":
		m.State, m.Detail = d.To, joined("status ", d.Status)
	case e.Type == "agent.status":
		if m.State, m.Title = d.Status, d.Current; m.Title == "" {
			m.Verb = "is"
		}
	case m.Kind == KindApproval:
		m.State, m.Detail = d.State, joined("by ", d.By)
	case m.About == "check":
		m.State, m.Detail = d.Outcome, cmp.Or(d.Reason, d.Result)
	case m.About == "proposal":
		m.Detail = joined("by ", d.DecidedBy)
	case e.Type == "escalation.raised":
		m.Detail, m.State = joined("to ", d.Escalated), d.Severity
	case m.Kind == KindLesson:
		m.State = d.Severity
	case e.Type == operational.EventTaskProgress:
		m.State = strconv.FormatFloat(d.Progress, 'f', -1, 64) + " %"
	case m.Kind == KindTask, m.About == "run":
		m.State = d.Status
	}
	if m.Kind == KindTask && d.Number > 0 {
		m.Title = fmt.Sprintf("#%d %s", d.Number, m.Title)
		if e.Type == operational.EventTaskReassigned || m.Agent == "" && e.Type != operational.EventTaskCreated {
			m.Agent = cmp.Or(d.AgentID, m.Agent)
		}
	}
	return m
}

func joined(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// maxMomentText is how much of a text a moment shows, in bytes: it leads to the rest.
const maxMomentText = 300

func momentOfMessage(m operational.Message) Moment {
	one := Moment{
		ID: "messages:" + strconv.FormatInt(m.Seq, 10), At: m.CreatedAt, Kind: KindMessage, Type: operational.EventMessageSent, Agent: m.From, To: m.To,
		Verb: "wrote", State: m.Signal, About: "message", Subject: m.ID, Detail: m.Text(),
	}
	if m.Signal == operational.SignalMessage {
		one.State = ""
	} else {
		one.Verb = "sent"
	}
	return one
}

func momentOfCheck(c lesson.CheckRecord) Moment {
	m := Moment{
		ID: "checks:" + strconv.FormatInt(c.Number, 10), At: c.At, Kind: KindCheck, Type: lesson.EventActionChecked, Agent: c.Agent, Project: c.Project,
		Title: strings.TrimSpace(c.Tool + " " + c.Brief()), State: string(c.Decision), About: "check", Subject: c.ID, Withheld: c.Withheld,
	}
	switch c.Decision {
	case rule.DecisionBlock:
		m.Kind, m.Verb = KindBlock, "was stopped before"
	case rule.DecisionWarn:
		m.Verb = "was warned before"
	default:
		m.Verb = "checked"
	}
	for _, match := range c.Matches {
		m.Items = append(m.Items, operational.ToldItem{Kind: "rule", ID: match.RuleID, Title: match.Title})
	}
	switch {
	case c.Outcome != "":
		m.Detail = strings.TrimSpace(string(c.Outcome) + " " + joined("with ", string(c.Result)) + joined(": ", c.Remark))
	case len(c.Notes) > 0:
		m.Detail = strings.Join(c.Notes, "; ")
	}
	return m
}

// momentsTold are the verbs of tellings.
var momentsTold = map[operational.ToldMoment]string{
	operational.ToldAtStart: "began, and was told", operational.ToldAtPrompt: "was told with a prompt", operational.ToldAsked: "asked, and was told",
	operational.ToldBySearch: "searched, and was told",
}

func momentOfTelling(t operational.Telling) Moment {
	m := Moment{
		ID: "told:" + strconv.FormatInt(t.Number, 10), At: t.At, Kind: KindTold, Type: "told", Agent: t.Agent, Project: t.Project, Verb: momentsTold[t.Moment],
		Items: t.Items, Withheld: t.Withheld, Start: t.Moment == operational.ToldAtStart, Title: safetext.Counted(len(t.Items), "memory", "memories"),
	}
	if t.Tokens > 0 {
		m.Detail = safetext.Counted(t.Tokens, "token", "tokens")
	}
	if t.Withheld {
		m.Title = ""
	}
	if t.Moment != operational.ToldAtFailure {
		return m
	}
	m.Kind, m.Type, m.Verb, m.Title, m.State = KindFailure, "failed", "failed at", t.About, "failed"
	switch {
	case t.Withheld:
	case len(t.Items) == 0:
		m.Detail = "nothing was known of it"
	default:
		m.Detail = "was told " + safetext.Counted(len(t.Items), "memory", "memories")
	}
	return m
}
