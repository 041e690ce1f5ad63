package httpapi

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/router/transfer"
)

// streamTag is the document's tag of the routes that are no typed handlers.
const streamTag = "streams"

// plainOperations describes the routes that are no typed handlers, whether they are mounted or not.
func plainOperations() []huma.Operation {
	const (
		get, post, remove = http.MethodGet, http.MethodPost, http.MethodDelete
		sse               = "text/event-stream"
		object            = "application/json"
		page              = "text/html"
	)
	resume := []*huma.Param{
		described("query", "last_event_id", "Continue after this number", integer()),
		described("header", "Last-Event-ID", "The same, as browsers send it", integer()),
	}
	feed := []*huma.Param{
		described("query", "after", "Continue after this seq; 0: from the beginning; without it: from now on", integer()),
		described("query", "type", "Only these, comma-separated, such as `task.*,lesson_extracted`", text()),
		described("query", "agent", "Only what this agent did, what happened to it, and messages to it", text()),
		described("query", "project", "Only what is about this project", text()),
	}
	model := described("path", "id", "The model's name; it may hold slashes", text())
	model.Required = true
	response := described("path", "of", "The response's id, and what of it", text())
	response.Required = true
	return []huma.Operation{
		plain(get, "/messages", "Stream of an agent's messages as server-sent events: `id:` is the message's `seq`, `event:` its signal, `data:` the message.",
			sse, append([]*huma.Param{required("agent_id", "Whose")}, resume...)...),
		plain(get, "/events", "Feed of all that happens as server-sent events: `id:` is the event's place in the feed, `event:` its type, `data:` the event.",
			sse, append(feed, resume...)...),
		switching(plain(get, "/ws", "The same feed as a WebSocket: frames `{type, data, timestamp, seq}`, and `pong` for `ping`. See docs/integrations.md#events.", "", feed...)),
		plain(get, "/metrics", "Figures in Prometheus' text format.", "text/plain"),

		answering(plain(get, "/mcp", "Refused with 405, as the protocol allows: the server has nothing to say unasked.", ""), "405", "There is no such stream"),
		taking(plain(post, "/mcp", "MCP over streamable HTTP; see docs/mcp.md.", object,
			described("query", "toolsets", "The toolsets to offer, comma-separated; all: every one", text()),
			described("header", "Mcp-Session-Id", "The session, from its first answer", text()),
			described("header", "Mcp-Protocol-Version", "The protocol's version", text())), "A JSON-RPC message"),
		answering(plain(remove, "/mcp", "Ends an MCP session.", "", described("header", "Mcp-Session-Id", "The session", text())), "204", "It has ended"),

		taking(plain(post, chatPath+"chat/completions", "OpenAI's chat completions, streamed or not, by the configured model with memory in front; see docs/integrations.md. Errors have OpenAI's shape, as on all of `/v1`.", object), "OpenAI's request"),
		taking(plain(post, chatPath+"completions", "OpenAI's completions, passed to the configured endpoint as they are.", object), "OpenAI's request"),
		taking(plain(post, chatPath+"embeddings", "OpenAI's embeddings, passed to the configured endpoint as they are.", object), "OpenAI's request"),
		taking(plain(post, chatPath+"responses", "OpenAI's responses, passed to the configured endpoint as they are.", object), "OpenAI's request"),
		taking(plain(post, chatPath+"responses/{of}", "What is asked of a kept response (`ID/cancel`), passed on as it is.", object, response), "OpenAI's request"),
		plain(get, chatPath+"responses/{of}", "A kept response, or what lies below it (`ID/input_items`).", object, response),
		plain(remove, chatPath+"responses/{of}", "Forgets a kept response.", object, response),
		plain(get, chatPath+"models", "The models that the configured endpoint has.", object),
		plain(get, chatPath+"models/{id}", "One of them; its name may hold slashes.", object, model),

		under("memory", plain(get, "/api/export", "Everything that is remembered, one JSON object a line", "application/x-ndjson",
			described("query", "kinds", "Only these, comma-separated: "+strings.Join(transfer.Kinds(), ", "), text()),
			described("query", "project", "Only what belongs to this project", text())),
			"Each line is a memory with its kind. What was stored before the call is in it unless it is deleted meanwhile. It needs the scope captain. "+
				`The last line is {"kind":"end","records":N}; if the router cannot finish, the connection breaks and there is none.`),
		under("system", plain(get, "/api/backup", "A backup of both databases, taken while they are in use, as a gzipped tar archive", "application/gzip",
			described("query", "owner_token", "Put the owner's token in: whoever has the archive then has every right.", &huma.Schema{Type: huma.TypeBoolean})),
			"What was acknowledged before the call is in it. It needs the scope captain and, for the owner's token to be in it, admin. "+
				"If the router cannot finish it, the connection breaks: an archive without its end is refused by verify and restore."),
		plain(get, "/", "The dashboard, for browsers; its further pages and forms lie under `/ui/`. See docs/dashboard.md.", page),
		plain(get, documentPath+".json", "The OpenAPI 3.1 document, which this is.", "application/openapi+json"),
		plain(get, documentPath+".yaml", "The same as YAML.", "application/openapi+yaml"),
		plain(get, documentPath+"-3.0.json", "The same as OpenAPI 3.0, for older programs.", "application/openapi+json"),
		plain(get, documentPath+"-3.0.yaml", "That as YAML.", "application/openapi+yaml"),
		plain(get, readerPath, "The document as a page for people, without scripts.", page),
		plain(get, readerPath+"/style.css", "How that page looks.", "text/css"),
	}
}

// plain describes a route by one sentence, its parameters, and the type of its answer, if it has one.
func plain(method, path, does, kind string, parameters ...*huma.Param) huma.Operation {
	answer := &huma.Response{Description: "OK"}
	if kind != "" {
		answer.Content = map[string]*huma.MediaType{kind: {Schema: open()}}
		if kind != "application/json" {
			answer.Content[kind].Schema = text()
		}
	}
	return huma.Operation{
		Method: method, Path: path, Tags: []string{streamTag}, Summary: does, Parameters: parameters,
		Responses: map[string]*huma.Response{"200": answer},
	}
}

// under describes a route at more length, among those of a tag.
func under(tag string, op huma.Operation, more string) huma.Operation {
	op.Tags, op.Description = []string{tag}, more
	return op
}

// taking adds a JSON body that is not ours to describe.
func taking(op huma.Operation, what string) huma.Operation {
	op.RequestBody = &huma.RequestBody{Description: what, Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: open()}}}
	return op
}

// answering replaces the answer by one of another status.
func answering(op huma.Operation, status, what string) huma.Operation {
	op.Responses = map[string]*huma.Response{status: {Description: what}}
	return op
}

// switching is answering for a route that leaves HTTP.
func switching(op huma.Operation) huma.Operation {
	return answering(op, "101", "The connection is a WebSocket from here on")
}

func described(in, name, what string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: in, Description: what, Schema: schema}
}

func required(name, what string) *huma.Param {
	p := described("query", name, what, text())
	p.Required = true
	return p
}

func text() *huma.Schema    { return &huma.Schema{Type: huma.TypeString} }
func integer() *huma.Schema { return &huma.Schema{Type: huma.TypeInteger} }

// open is an object of which nothing else is said.
func open() *huma.Schema { return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true} }
