package router

import (
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/operational"
)

// The kinds of items, in the order in which a context has them.
const (
	KindGuard     = "guard"
	KindPrinciple = "principle"
	KindPattern   = "pattern"
	KindLesson    = "lesson"
	KindKnowledge = "knowledge"
	KindFact      = "fact"
	KindProcedure = "procedure"
	KindEpisode   = "episode"
	KindTask      = "task"
	KindMessage   = "message"
	KindFinding   = "finding"
	KindReminder  = "reminder"
	KindSession   = "session"
	KindIncident  = "incident"
)

// TrustBuiltin is the trust of what the router itself brings: the built-in guard rules.
const TrustBuiltin = "builtin"

// TrustAgent is the trust of what an agent told the router itself.
const TrustAgent = string(learning.TrustAgent)

// TrustPerson is the trust of what a person said or imported.
const TrustPerson = string(learning.TrustPerson)

// Frequencies tells in how many documents of a store stems occur. *knowledge.Base is one.
type Frequencies interface {
	Frequencies(stems []string) (frequencies []int, documents int)
}

// MailAgent is whom the router's own messages are from.
const MailAgent = operational.RouterName
