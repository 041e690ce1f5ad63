package feed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
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

// told is an event's data, of which texts and numbers are told.
type told map[string]any

// say is the first of some members that says something.
func (t told) say(members ...string) string {
	for _, member := range members {
		switch said := t[member].(type) {
		case string:
			if said != "" {
				return said
			}
		case []any:
			texts := make([]string, len(said))
			for i, one := range said {
				texts[i] = fmt.Sprint(one)
			}
			return strings.Join(texts, ", ")
		}
	}
	return ""
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
	_ = json.Unmarshal(e.Data, &d) // what is no object tells nothing
	m.Title = d.say("title", "pattern_name", "key", "goal", "task", "procedure", "name", "description", "statement", "patterns")
	m.Detail = d.say("note", "reason", "summary", "why", "notes")
	switch {
	case e.Type == operational.EventMessageSent:
		m.Kind, m.About, m.Verb, m.Title, m.To = KindMessage, "message", "sent", d.say("signal"), d.say("to_agent_id")
	case e.Type == lesson.EventActionChecked:
		m.Kind, m.About, m.Verb, m.Title = KindCheck, "check", "was warned by", "rule "+d.say("rule_ids")
		if d.say("decision") == string(rule.DecisionBlock) {
			m.Kind, m.Verb = KindBlock, "was stopped by"
		}
	case e.Type == "agent.state":
		m.State, m.Detail = d.say("to"), joined("status ", d.say("status"))
	case e.Type == "agent.status":
		if m.State, m.Title = d.say("status"), d.say("current_task"); m.Title == "" {
			m.Verb = "is"
		}
	case m.Kind == KindApproval:
		m.State, m.Detail = d.say("state"), joined("by ", d.say("by"))
	case m.About == "check":
		m.State, m.Detail = d.say("outcome"), d.say("reason", "result")
	case m.About == "proposal":
		m.Detail = joined("by ", d.say("decided_by"))
	case e.Type == "escalation.raised":
		m.Detail, m.State = joined("to ", d.say("escalated_to")), d.say("severity")
	case m.Kind == KindLesson:
		m.State = d.say("severity")
	case e.Type == operational.EventTaskProgress:
		progress, _ := d["progress"].(float64) // of an event of this type it is one
		m.State = strconv.FormatFloat(progress, 'f', -1, 64) + " %"
	case m.Kind == KindTask, m.About == "run":
		m.State = d.say("status")
	}
	if number, _ := d["number"].(float64); m.Kind == KindTask && number > 0 {
		m.Title = fmt.Sprintf("#%.0f %s", number, m.Title)
		if e.Type == operational.EventTaskReassigned || m.Agent == "" && e.Type != operational.EventTaskCreated {
			m.Agent = cmp.Or(d.say("agent_id"), m.Agent)
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
