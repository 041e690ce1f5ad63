package app_test

import "net/http"

const done = http.StatusSeeOther // a form that was obeyed sends the browser on

// memoryPagesAccess has the pages of what is remembered and learned.
var memoryPagesAccess = map[string][]access{
	"GET /ui/search": {{may: anyone, path: "/ui/search?q=x"}},
	"GET /ui/memory": {
		{may: anyone, path: "/ui/memory?kind=knowledge&id={entry}"},
		{may: anyone, path: "/ui/memory"},
		{may: anyone, path: "/ui/memory?kind=fact"},
		{may: anyone, path: "/ui/memory?kind=episode&q=x"},
	},
	"GET /ui/memory/edit":     {{may: agents, path: "/ui/memory/edit?kind=knowledge&id={entry}"}},
	"POST /ui/memory/edit":    {{may: asAgentA, path: "/ui/memory/edit", body: "token_of_form={form}&kind=knowledge&title=other&id={marked entry}", answers: done}},
	"POST /ui/memory/revert":  {{may: asAgentA, path: "/ui/memory/revert", body: "token_of_form={form}&kind=knowledge&id={changed entry}", answers: done}},
	"POST /ui/memory/restore": {{may: agents, path: "/ui/memory/restore", body: "token_of_form={form}&kind=procedure&id=default/{removed procedure}", answers: done}},
	"GET /ui/incidents":       {{may: anyone, path: "/ui/incidents"}},
	"GET /ui/incident":        {{may: anyone, path: "/ui/incident?id={incident}"}},
	"POST /ui/incident/accept": {
		{personal: true, may: agents, path: "/ui/incident/accept", body: "token_of_form={form}&id={incident}", answers: done},
		{personal: true, may: asAgentA, path: "/ui/incident/accept", body: "token_of_form={form}&id={incident}&by=a", answers: done},
	},
	"POST /ui/incident/decline": {{may: agents, path: "/ui/incident/decline", body: "token_of_form={form}&id={incident}", answers: done}},
	"POST /ui/incident/undo":    {{may: agents, path: "/ui/incident/undo", body: "token_of_form={form}&id={incident}", answers: done}},
	"GET /ui/imports":           {{may: anyone, path: "/ui/imports"}},
	"POST /ui/memory/remove":    {{may: asAgentA, path: "/ui/memory/remove", body: "token_of_form={form}&kind=knowledge&id={entry}&sure=1", answers: done}},
	"GET /ui/lessons":           {{may: anyone, path: "/ui/lessons"}},
	"GET /ui/lesson":            {{may: anyone, path: "/ui/lesson?id={lesson}"}},
	"GET /ui/patterns":          {{may: anyone, path: "/ui/patterns"}},
	"GET /ui/pattern":           {{may: anyone, path: "/ui/pattern?id={pattern}"}},
	"GET /ui/guard":             {{may: anyone, path: "/ui/guard"}},
	"GET /ui/guard/ledger":      {{may: anyone, path: "/ui/guard/ledger"}},
	"GET /ui/escalations":       {{may: anyone, path: "/ui/escalations"}},
	"GET /ui/proposals":         {{may: anyone, path: "/ui/proposals"}},
	"GET /ui/gaps":              {{may: anyone, path: "/ui/gaps"}},
	"GET /ui/value":             {{may: anyone, path: "/ui/value"}},
	"GET /ui/figures":           {{may: anyone, path: "/ui/figures"}},

	"POST /ui/lesson/validate": {
		{may: asAgentB, path: "/ui/lesson/validate", body: "token_of_form={form}&id={lesson}&validation_type=confirmed&by=b", answers: done},
	},
	"POST /ui/lesson/apply": {
		{may: asAgentA, path: "/ui/lesson/apply", body: "token_of_form={form}&id={lesson}&outcome=success&by=a", answers: done},
	},
	"POST /ui/lesson/promote": {{may: agents, path: "/ui/lesson/promote", body: "token_of_form={form}&id={promotable}", answers: done}},
	"POST /ui/lesson/retire":  {{may: asAgentA, path: "/ui/lesson/retire", body: "token_of_form={form}&id={lesson}&reason=r", answers: done}},
	"POST /ui/lesson/restore": {{may: asAgentA, path: "/ui/lesson/restore", body: "token_of_form={form}&id={retired}", answers: done}},
	"POST /ui/pattern/confirm": {
		{may: asAgentB, path: "/ui/pattern/confirm", body: "token_of_form={form}&id={pattern}&by=b", answers: done},
	},
	"POST /ui/pattern/deprecate": {
		{may: asAgentB, path: "/ui/pattern/deprecate", body: "token_of_form={form}&id={pattern}&by=b", answers: done},
	},
	"GET /ui/guard/approvals":     {{may: anyone, path: "/ui/guard/approvals"}},
	"POST /ui/approval/approve":   {{may: captains, path: "/ui/approval/approve", body: "token_of_form={form}&id={blocked action}", answers: done, personal: true, proved: true}},
	"POST /ui/approval/deny":      {{may: captains, path: "/ui/approval/deny", body: "token_of_form={form}&id={blocked action}", answers: done, personal: true, proved: true}},
	"POST /ui/permission/revoke":  {{may: captains, path: "/ui/permission/revoke", body: "token_of_form={form}&id={permission}", answers: done, personal: true, proved: true}},
	"POST /ui/rule/restore":       {{may: captains, path: "/ui/rule/restore", body: "token_of_form={form}&id=builtin:n8n-sql", answers: done}},
	"POST /ui/escalation/review":  {{may: captains, path: "/ui/escalation/review", body: "token_of_form={form}&id={escalation}", answers: done}},
	"POST /ui/escalation/resolve": {{may: captains, path: "/ui/escalation/resolve", body: "token_of_form={form}&id={escalation}", answers: done}},
	"POST /ui/escalation/dismiss": {{may: captains, path: "/ui/escalation/dismiss", body: "token_of_form={form}&id={escalation}", answers: done}},
	"POST /ui/proposal/accept":    {{may: asAgentA, path: "/ui/proposal/accept", body: "token_of_form={form}&id={proposal}", answers: done}},
	"POST /ui/proposal/reject":    {{may: asAgentA, path: "/ui/proposal/reject", body: "token_of_form={form}&id={proposal}&notes=r", answers: done}},
	"POST /ui/gap/dismiss":        {{may: agents, path: "/ui/gap/dismiss", body: "token_of_form={form}&id={gap}", answers: done}},
}
