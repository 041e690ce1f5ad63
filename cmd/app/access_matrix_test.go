package app_test

import "net/http"

// The callers of the authorization matrix, those who may do the least first.
const (
	stranger = "stranger" // no token
	forger   = "forger"   // a token that was never issued
	reader1  = "reader"   // scope read
	agentB   = "b"        // scope agent, of another agent than the calls are about
	agentA   = "a"        // scope agent, of the agent that the calls are about
	captain  = "captain"
	admin    = "admin" // the owner's token
)

var callers = []string{stranger, forger, reader1, agentB, agentA, captain, admin}

// The rules of the matrix: who may do it.
var (
	anyone     = callers[2:]
	agents     = callers[3:]
	asAgentA   = callers[4:]
	captains   = callers[5:]
	adminsOnly = callers[6:]
)

// access is one call of a route and who may make it. The braces of a path or
// body stand for things that agent a owns, made anew for each route.
type access struct {
	may  []string
	path string
	body string
	// hidden: those who may not are told that there is no such thing.
	hidden bool
	// public: those without a token may call it too.
	public bool
	// personal: nobody may while neither a token was issued nor a passphrase is set.
	personal bool
	// proved: where a passphrase is set it takes a person, and no token stands in for it.
	proved bool
	// answers is the status of a call that may be made, if it is none of success.
	answers int
}

const callTool = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// matrix has every route that the router serves. A route that joins needs a line here.
var matrix = join(feedAccess, queryAccess, searchAccess, transferAccess, meshAccess, webAccess, chatAccess, consolidationAccess, contextAccess, embeddingAccess, factAccess, introspectionAccess, lessonAccess, procedureAccess, reminderAccess, sessionAccess, map[string][]access{
	"POST /heartbeat":                    {{may: asAgentA, path: "/heartbeat", body: `{"agent_id":"a"}`}},
	"POST /status":                       {{may: asAgentA, path: "/status", body: `{"agent_id":"a","status":"busy"}`}},
	"GET /shutdown-check":                {{may: asAgentA, path: "/shutdown-check?agent_id=a"}},
	"GET /messages":                      {{may: asAgentA, path: "/messages?agent_id=a"}},
	"GET /messages/inbox":                {{may: asAgentA, path: "/messages/inbox?agent_id=a"}},
	"POST /messages/ack":                 {{may: asAgentA, path: "/messages/ack", body: `{"agent_id":"a","message_ids":["{message}"]}`}},
	"POST /messages/read":                {{may: asAgentA, path: "/messages/read", body: `{"agent_id":"a","message_ids":["{message}"]}`}},
	"GET /messages/overdue":              {{may: agents, path: "/messages/overdue"}},
	"GET /messages/:id/receipts":         {{may: asAgentA, path: "/messages/{message}/receipts", hidden: true}},
	"POST /signal":                       {{may: asAgentA, path: "/signal", body: `{"from_agent_id":"a","to_agent_id":"b","signal":"message"}`}},
	"GET /api/agents":                    {{may: anyone, path: "/api/agents"}},
	"GET /api/agents/:id":                {{may: anyone, path: "/api/agents/a"}},
	"POST /query":                        {{may: anyone, path: "/query", body: `{"query":"what happened?"}`}},
	"GET /api/knowledge":                 {{may: anyone, path: "/api/knowledge"}},
	"POST /api/knowledge":                {{may: agents, path: "/api/knowledge", body: `{"category":"c","title":"t","content":"{new}"}`}, {may: asAgentA, path: "/api/knowledge", body: `{"category":"c","title":"t","content":"{new}","agent_id":"a"}`}},
	"POST /api/knowledge/bulk":           {{may: agents, path: "/api/knowledge/bulk", body: `[{"category":"c","title":"t","content":"{new}"}]`}},
	"POST /api/knowledge/search":         {{may: anyone, path: "/api/knowledge/search", body: `{"query":"x"}`}},
	"GET /api/knowledge/:id":             {{may: anyone, path: "/api/knowledge/{entry}"}},
	"PUT /api/knowledge/:id":             {{may: asAgentA, path: "/api/knowledge/{entry}", body: `{"title":"other"}`}},
	"DELETE /api/knowledge/:id":          {{may: asAgentA, path: "/api/knowledge/{entry}"}},
	"POST /api/episodes":                 {{may: asAgentA, path: "/api/episodes", body: `{"agent_id":"a","event_type":"action","title":"t","content":"c"}`}},
	"GET /api/episodes/recent":           {{may: anyone, path: "/api/episodes/recent"}},
	"POST /api/episodes/search":          {{may: anyone, path: "/api/episodes/search", body: `{"query":"x"}`}},
	"GET /episodes/:id":                  {{may: anyone, path: "/episodes/{episode}"}},
	"PATCH /episodes/:id":                {{may: asAgentA, path: "/episodes/{episode}", body: `{"title":"other"}`}},
	"DELETE /episodes/:id":               {{may: asAgentA, path: "/episodes/{episode}"}},
	"GET /api/stats":                     {{may: anyone, path: "/api/stats"}},
	"POST /api/experience":               {{may: agents, path: "/api/experience", body: `{"operation_type":"o","outcome":"success"}`}, {may: asAgentA, path: "/api/experience", body: `{"operation_type":"o","outcome":"success","agent_id":"a"}`}},
	"GET /api/episodes":                  {{may: anyone, path: "/api/episodes"}},
	"GET /api/episodes/:id":              {{may: anyone, path: "/api/episodes/{experience}"}},
	"GET /api/episodes/type/:type":       {{may: anyone, path: "/api/episodes/type/o"}},
	"GET /api/episodes/outcome/:outcome": {{may: anyone, path: "/api/episodes/outcome/success"}},
	"GET /api/patterns":                  {{may: anyone, path: "/api/patterns"}},
	"GET /api/patterns/:id":              {{may: anyone, path: "/api/patterns/{learned pattern}"}},
	"GET /api/patterns/type/:type":       {{may: anyone, path: "/api/patterns/type/success"}},
	"GET /api/lessons":                   {{may: anyone, path: "/api/lessons"}},
	"GET /api/lessons/applicable":        {{may: anyone, path: "/api/lessons/applicable"}},
	"POST /api/lessons/applicable":       {{may: anyone, path: "/api/lessons/applicable", body: `{}`}},
	"GET /api/lessons/:id":               {{may: anyone, path: "/api/lessons/{learned}"}},
	"POST /api/lessons/:id/apply":        {{may: agents, path: "/api/lessons/{learned}/apply", body: `{"outcome":"success"}`}, {may: asAgentA, path: "/api/lessons/{learned}/apply", body: `{"outcome":"success","agent":"a"}`}},
	"POST /api/lessons/learn":            {{may: agents, path: "/api/lessons/learn", body: `{"pattern_description":"d","episode_ids":{experiences},"lesson_statement":"s"}`}},
	"GET /api/tools":                     {{may: anyone, path: "/api/tools"}},
	"POST /api/tools/:name":              {{may: anyone, path: "/api/tools/recall_by_type", body: `{"operation_type":"o"}`}, {may: agents, path: "/api/tools/record_experience", body: `{"operation_type":"o","outcome":"success"}`}},
	"GET /api/leases":                    {{may: anyone, path: "/api/leases"}},
	"POST /api/leases":                   {{may: asAgentA, path: "/api/leases", body: `{"agent_id":"a","project":"p","patterns":["a.go"]}`}, {may: captains, path: "/api/leases", body: `{"agent_id":"a","project":"q","patterns":["**"]}`}},
	"POST /api/leases/release":           {{may: asAgentA, path: "/api/leases/release", body: `{"agent_id":"a","project":"none"}`}, {may: asAgentA, path: "/api/leases/release", body: `{"lease_ids":[{held}]}`}},
	"POST /api/leases/ask":               {{may: asAgentA, path: "/api/leases/ask", body: `{"lease_id":{held},"text":"t","agent_id":"a"}`}},
	"POST /api/leases/check":             {{may: agents, path: "/api/leases/check", body: `{"files":[]}`}, {may: asAgentA, path: "/api/leases/check", body: `{"agent_id":"a","files":[]}`}},
	"GET /api/tasks":                     {{may: anyone, path: "/api/tasks"}},
	"POST /api/tasks":                    {{may: agents, path: "/api/tasks", body: `{"title":"t"}`}, {may: asAgentA, path: "/api/tasks", body: `{"title":"t","agent_id":"a"}`}},
	"GET /api/tasks/summary":             {{may: anyone, path: "/api/tasks/summary"}},
	"POST /api/tasks/claim":              {{may: asAgentA, path: "/api/tasks/claim", body: `{"agent_id":"a"}`}},
	"GET /api/tasks/ready":               {{may: anyone, path: "/api/tasks/ready"}},
	"POST /api/tasks/:id/wait": {
		{may: asAgentA, path: "/api/tasks/{task}/wait", body: `{"after":["{free}"]}`},
		{may: asAgentA, path: "/api/tasks/{task}/wait", body: `{"after":[],"agent_id":"a"}`},
	},
	"GET /api/trash": {{may: anyone, path: "/api/trash"}, {may: anyone, path: "/api/trash?mine=true"}},
	"POST /api/trash/restore": {
		{may: asAgentA, path: "/api/trash/restore", body: `{"kind":"knowledge","id":"{deleted entry}"}`},
		{may: agents, path: "/api/trash/restore", body: `{"kind":"procedure","id":"{removed procedure}"}`}, // any agent may delete one, too
	},
	"POST /api/trash/forget": {{may: captains, path: "/api/trash/forget", body: `{"kind":"knowledge","id":"{deleted entry}"}`}},
	"POST /api/trash/undo": {
		{may: agents, path: "/api/trash/undo", body: `{"change":999999}`, answers: http.StatusNotFound},
		{may: asAgentA, path: "/api/trash/undo", body: `{"agent_id":"a"}`}, // what it deleted in plant
	},
	"GET /api/tasks/:id":          {{may: anyone, path: "/api/tasks/{task}"}},
	"POST /api/tasks/:id/claim":   {{may: asAgentA, path: "/api/tasks/{free}/claim", body: `{"agent_id":"a"}`}},
	"POST /api/tasks/:id/block":   {{may: asAgentA, path: "/api/tasks/{task}/block", body: `{"reason":"r"}`}},
	"POST /api/tasks/:id/unblock": {{may: asAgentA, path: "/api/tasks/{blocked}/unblock", body: `{}`}},
	"POST /api/tasks/:id/progress": {
		{may: asAgentA, path: "/api/tasks/{task}/progress", body: `{"progress":5}`},
		{may: asAgentA, path: "/api/tasks/{task}/progress", body: `{"progress":5,"agent_id":"a"}`},
	},
	"POST /api/tasks/:id/complete":        {{may: asAgentA, path: "/api/tasks/{task}/complete", body: `{"result":"r"}`}},
	"POST /api/tasks/:id/fail":            {{may: asAgentA, path: "/api/tasks/{task}/fail", body: `{"error":"e"}`}},
	"POST /api/tasks/:id/release":         {{may: asAgentA, path: "/api/tasks/{task}/release", body: `{}`}},
	"POST /api/tasks/:id/cancel":          {{may: asAgentA, path: "/api/tasks/{task}/cancel", body: `{}`}},
	"POST /api/tasks/:id/restore":         {{may: asAgentA, path: "/api/tasks/{cancelled}/restore", body: `{}`}},
	"POST /api/tasks/:id/reassign":        {{may: captains, path: "/api/tasks/{task}/reassign", body: `{"agent_id":"b"}`}},
	"GET /api/recon/environments":         {{may: anyone, path: "/api/recon/environments"}},
	"POST /api/recon/environments":        {{may: agents, path: "/api/recon/environments", body: `{"name":"mss"}`}},
	"GET /api/recon/findings":             {{may: anyone, path: "/api/recon/findings"}},
	"POST /api/recon/findings":            {{may: agents, path: "/api/recon/findings", body: `{"environment":"mss","title":"t","severity":"low"}`}},
	"POST /api/recon/findings/bulk":       {{may: agents, path: "/api/recon/findings/bulk", body: `[{"environment":"mss","title":"t","severity":"low"}]`}},
	"GET /api/recon/findings/:id":         {{may: anyone, path: "/api/recon/findings/{finding}"}},
	"GET /api/recon/findings/:id/history": {{may: anyone, path: "/api/recon/findings/{finding}/history"}},
	"POST /api/recon/findings/:id/status": {{may: agents, path: "/api/recon/findings/{finding}/status", body: `{"status":"confirmed"}`}},
	"GET /api/recon/scans":                {{may: anyone, path: "/api/recon/scans"}},
	"POST /api/recon/scans":               {{may: agents, path: "/api/recon/scans", body: `{"environment":"mss","scanner":"s"}`}},
	"POST /api/recon/scans/:id/finish":    {{may: agents, path: "/api/recon/scans/{scan}/finish", body: `{"status":"completed"}`}},
	"GET /api/recon/summary":              {{may: anyone, path: "/api/recon/summary"}},
	"GET /escalations":                    {{may: anyone, path: "/escalations"}},
	"GET /escalations/pending":            {{may: anyone, path: "/escalations/pending"}},
	"GET /escalations/:id":                {{may: anyone, path: "/escalations/{escalation}"}},
	"POST /escalations/:id/review":        {{may: captains, path: "/escalations/{escalation}/review"}},
	"POST /escalations/:id/resolve":       {{may: captains, path: "/escalations/{escalation}/resolve"}},
	"POST /escalations/:id/dismiss":       {{may: captains, path: "/escalations/{escalation}/dismiss"}},
	"GET /agent/:name/memory":             {{may: anyone, path: "/agent/a/memory"}},
	"GET /claude-code/context":            {{may: anyone, path: "/claude-code/context"}},
	"GET /lessons/stats":                  {{may: anyone, path: "/lessons/stats"}},
	"GET /api/tokens":                     {{may: adminsOnly, path: "/api/tokens"}},
	"POST /api/tokens":                    {{may: adminsOnly, path: "/api/tokens", body: `{"scopes":["read"]}`, proved: true}},
	"DELETE /api/tokens/:id":              {{may: adminsOnly, path: "/api/tokens/{token}", proved: true}},
	"GET /api/doctor":                     {{may: captains, path: "/api/doctor"}},
	"GET /health":                         {{may: anyone, path: "/health", public: true}}, // a probe without a token learns that somebody answers: TestTokens of httpapi
	"GET /metrics":                        {{may: anyone, path: "/metrics"}},
	"GET /openapi.json":                   {{may: anyone, path: "/openapi.json"}},
	"GET /openapi.yaml":                   {{may: anyone, path: "/openapi.yaml"}},
	"GET /openapi-3.0.json":               {{may: anyone, path: "/openapi-3.0.json"}},
	"GET /openapi-3.0.yaml":               {{may: anyone, path: "/openapi-3.0.yaml"}},
	"GET /docs":                           {{may: anyone, path: "/docs"}},
	"GET /docs/style.css":                 {{may: anyone, path: "/docs/style.css"}},
	"POST /check/anti-pattern":            {{may: agents, path: "/check/anti-pattern", body: `{"proposed_action":"ls"}`}, {may: asAgentA, path: "/check/anti-pattern", body: `{"proposed_action":"ls","agent":"a"}`}},
	"POST /check/outcome":                 {{may: asAgentA, path: "/check/outcome", body: `{"check_id":"{check}","outcome":"heeded"}`}},
	"GET /check/rules":                    {{may: anyone, path: "/check/rules"}},
	"GET /check/rules/:id":                {{may: anyone, path: "/check/rules/builtin:n8n-sql"}},
	"POST /check/rules/:id/restore":       {{may: captains, path: "/check/rules/builtin:n8n-sql/restore", body: `{}`}},
	"GET /check/packs":                    {{may: anyone, path: "/check/packs"}},
	"POST /check/packs":                   {{may: captains, path: "/check/packs", body: `{"names":["docker"],"mode":"off"}`, proved: true, personal: true}},
	"GET /check/approvals":                {{may: anyone, path: "/check/approvals"}},
	"POST /check/approvals/:id/approve":   {{may: captains, path: "/check/approvals/{blocked action}/approve", body: `{}`, personal: true, proved: true}},
	"POST /check/approvals/:id/deny":      {{may: captains, path: "/check/approvals/{blocked action}/deny", body: `{}`, personal: true, proved: true}},
	"GET /check/permissions":              {{may: anyone, path: "/check/permissions"}},
	"POST /check/permissions/:id/revoke":  {{may: captains, path: "/check/permissions/{permission}/revoke", personal: true, proved: true}},
	"POST /check/explain":                 {{may: anyone, path: "/check/explain", body: `{"proposed_action":"ls"}`}},
	"GET /api/passphrase":                 {{may: anyone, path: "/api/passphrase"}},
	"PUT /api/passphrase":                 {{may: adminsOnly, path: "/api/passphrase", body: `{"passphrase":"short"}`, answers: http.StatusBadRequest, personal: true}},
	"POST /api/passphrase/person":         {{may: agents, path: "/api/passphrase/person", body: `{"passphrase":""}`, answers: http.StatusBadRequest}},
	"PUT /api/passphrase/agents-may-stop": {{may: adminsOnly, path: "/api/passphrase/agents-may-stop", body: `{"on":false}`, proved: true, personal: true}},
	"GET /api/whoami":                     {{may: anyone, path: "/api/whoami"}},
	"GET /api/memory/ids":                 {{may: anyone, path: "/api/memory/ids?type=knowledge&part=0123"}},
	"GET /api/incidents":                  {{may: anyone, path: "/api/incidents"}},
	"GET /api/incidents/brief":            {{may: anyone, path: "/api/incidents/brief?project=p"}},
	"GET /api/incidents/sources":          {{may: anyone, path: "/api/incidents/sources"}},
	"POST /api/incidents/answer":          {{may: anyone, path: "/api/incidents/answer", body: `{"command":"make","error":"no rule"}`}},
	"POST /api/incidents/learn":           {{may: asAgentA, path: "/api/incidents/learn", body: `{"agent_id":"a","session_id":"s","steps":[{"command":"make","outcome":"failed","output":"no rule"}]}`}},
	"POST /api/decisions/heard":           {{may: asAgentA, path: "/api/decisions/heard", body: `{"agent_id":"a","prompt":"We decided to use pnpm."}`}},
	"POST /api/decisions/undo":            {{may: agents, path: "/api/decisions/undo", body: `{"handle":"k0"}`, answers: http.StatusNotFound}},
	"POST /api/incidents/accept":          {{may: asAgentA, path: "/api/incidents/accept", body: `{"by":"a","project":"p","seen":2}`}},
	"POST /api/incidents/forget":          {{may: captains, path: "/api/incidents/forget", body: `{"project":"none"}`}},
	"POST /check/offline":                 {{may: agents, path: "/check/offline", body: `{"checks":[]}`}},
	"GET /check/ledger":                   {{may: anyone, path: "/check/ledger"}},
	"POST /mcp":                           {{may: anyone, path: "/mcp", body: callTool}},
	"GET /mcp":                            {{may: anyone, path: "/mcp", answers: http.StatusMethodNotAllowed}},
	"DELETE /mcp":                         {{may: anyone, path: "/mcp", answers: http.StatusBadRequest}},
})
