package mcpserver

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// errorMeta is the key in a failed result's _meta under which programs find
// the code and the field; models read the text.
const errorMeta = "skillrouter/error"

// advice is the one table from codes to MCP: what a model should do next.
var advice = map[errs.Code]string{
	errs.Invalid:          "Correct it and call the tool again.",
	errs.NotFound:         "Do not guess ids: search for what you need and use the id that is returned.",
	errs.Conflict:         "Things changed meanwhile: look at the present state before you decide whether to try again.",
	errs.Unauthenticated:  "Do not retry: tell your user that the router needs a valid token (SKILLROUTER_TOKEN, or the Authorization header of the MCP connection).",
	errs.Forbidden:        "Do not retry: act as your own agent, or ask your captain to do this.",
	errs.PassphraseNeeded: "Do not retry, and do not look for the passphrase: tell your user what you need, who decides it in a terminal of their own.",
	errs.TooLarge:         "Shorten it to what matters, or store the text in a file and store its path; then call again.",
	errs.RateLimited:      "Wait some seconds, then call once more.",
	errs.StorageFull:      "The router's disk is full and nothing was stored: tell your user. Searching still works.",
	errs.Unavailable:      "Wait some seconds and call again; if it fails still, go on without it and say so.",
	errs.OutcomeUnknown:   "It may have been done, or not: look at the present state before you call again.",
	errs.Internal:         "This is not your mistake: try once more at most, then go on without it and say so.",
}

// Advice returns what a model is told to do after a failure with the code.
func Advice(code errs.Code) string {
	if next, ok := advice[code]; ok {
		return next
	}
	return advice[errs.Internal]
}

// failure puts an error before a model: what went wrong, in which field, and
// what to do next. The cause is for the log and is not shown.
func failure(tool string, err error) *mcp.CallToolResult {
	code, field := errs.CodeOf(err), errs.FieldOf(err)
	message := strings.TrimSuffix(errs.MessageOf(err), ".")
	if field != "" {
		message = field + " " + message
	}
	detail := map[string]any{"code": code, "message": errs.MessageOf(err)}
	if field != "" {
		detail["field"] = field
	}
	return &mcp.CallToolResult{
		Meta:    mcp.Meta{errorMeta: detail},
		Content: []mcp.Content{&mcp.TextContent{Text: tool + " failed (" + string(code) + "): " + message + ". " + Advice(code)}},
		IsError: true,
	}
}
