package respond

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/client/plain"
)

// Call makes one call of the router: it sends in as JSON, unless it is nil, to a
// path with its query, and decodes the answer into out, unless that is nil. Its
// errors are those that the router named.
type Call func(ctx context.Context, method, path string, in, out any) error

// What a hook sends and reads. These are the members that it needs of the
// domains' own types, whose packages would cost each hook a millisecond; a test
// holds them to those types.
type (
	action struct {
		Tool    string         `json:"tool,omitempty"`
		Args    map[string]any `json:"args,omitempty"`
		Agent   string         `json:"agent,omitempty"`
		Project string         `json:"project,omitempty"`
		Folder  string         `json:"folder,omitempty"`
		Place   locate.Around  `json:"place,omitzero"`
		Files   []Content      `json:"files,omitempty"`
		Offers  bool           `json:"offers_files,omitempty"`
		Unread  string         `json:"unread,omitempty"`
	}
	checked struct {
		Needs        []string `json:"needs,omitempty"`
		Decision     string   `json:"decision"`
		CheckID      string   `json:"check_id"`
		ApprovalID   string   `json:"approval_id,omitempty"`
		ToAllow      []string `json:"to_allow,omitempty"`
		Matches      []match  `json:"matching_patterns"`
		Alternatives []string `json:"alternatives"`
		Warnings     []string `json:"warnings"`
	}
	match struct {
		RuleID   string `json:"rule_id"`
		Title    string `json:"title"`
		Severity string `json:"severity"`
		Reason   string `json:"reason"`
		WhyBad   string `json:"why_bad"`
	}
	outcome struct {
		CheckID string `json:"check_id"`
		Outcome string `json:"outcome"`
		Result  string `json:"result,omitempty"`
		Notes   string `json:"notes,omitempty"`
		Agent   string `json:"agent,omitempty"`
	}
	// within is where in the repository something is said or done: learning.Place.
	within struct {
		Folder string `json:"folder,omitempty"`
		Branch string `json:"branch,omitempty"`
	}
	anEpisode struct {
		SessionID string `json:"session_id,omitempty"`
		AgentID   string `json:"agent_id,omitempty"`
		EventType string `json:"event_type,omitempty"`
		Title     string `json:"title,omitempty"`
		Content   string `json:"content,omitempty"`
		Project   string `json:"project,omitempty"`
		within
	}
	transcript struct {
		AgentID   string `json:"agent_id,omitempty"`
		SessionID string `json:"session_id,omitempty"`
		Project   string `json:"project,omitempty"`
		within
		Text      string `json:"text,omitempty"`
		Ended     bool   `json:"ended,omitempty"`
		Compacted bool   `json:"compacted,omitempty"`
	}
	contextRequest struct {
		Task       string `json:"task"`
		Budget     int    `json:"budget"`
		Characters int    `json:"characters,omitempty"`
		Start      bool   `json:"start,omitempty"`
		Prompt     bool   `json:"prompt,omitempty"`
		Failure    bool   `json:"failure,omitempty"`
		Resumed    bool   `json:"resumed,omitempty"`
		SessionID  string `json:"session_id,omitempty"`
		AgentID    string `json:"agent_id,omitempty"`
		Project    string `json:"project,omitempty"`
		Folder     string `json:"folder,omitempty"`
		Subfolder  string `json:"subfolder,omitempty"`
		Branch     string `json:"branch,omitempty"`
	}
	builtContext struct {
		Text  string `json:"text"`
		Rules int    `json:"rules"`
	}
	identity struct {
		AgentID string            `json:"agent_id,omitempty"`
		Scopes  []principal.Scope `json:"scopes"`
	}
	failedCommand struct {
		Project string         `json:"project,omitempty"`
		AgentID string         `json:"agent_id,omitempty"`
		Command string         `json:"command,omitempty"`
		Tool    string         `json:"tool,omitempty"`
		Args    map[string]any `json:"args,omitempty"`
		Error   string         `json:"error"`
		Session string         `json:"session_id,omitempty"`
		Folder  string         `json:"folder,omitempty"`
	}
	prompt struct {
		Text      string `json:"prompt"`
		AgentID   string `json:"agent_id,omitempty"`
		SessionID string `json:"session_id,omitempty"`
		Project   string `json:"project,omitempty"`
		within
		Unattended bool `json:"unattended,omitempty"`
	}
	heard struct {
		Resolutions []resolution `json:"resolutions"`
	}
	resolution struct {
		Handle   string   `json:"handle,omitempty"`
		Category string   `json:"category"`
		Text     string   `json:"text"`
		Instead  []string `json:"instead,omitempty"`
	}
	failedAnswer struct {
		Text     string `json:"text,omitempty"`
		Incident string `json:"incident,omitempty"`
	}
	health struct {
		Status string `json:"status"`
		Server string `json:"server"`
	}
)

// Values and bounds of the domains.
const (
	decisionAllow = "allow"
	decisionWarn  = "warn"
	decisionBlock = "block"

	outcomeHeeded     = "heeded"
	outcomeOverridden = "overridden"
	resultFailure     = "failure"

	// maxTask bounds the task of a context, in bytes, and maxTranscript a transcript.
	maxTask       = 16 << 10
	maxTranscript = 8 << 20
)

func (c Call) check(ctx context.Context, a action) (answer checked, err error) {
	answer, err = ask[checked](ctx, c, "/check/anti-pattern", a)
	if err == nil && !slices.Contains([]string{decisionAllow, decisionWarn, decisionBlock}, answer.Decision) {
		err = errs.Errorf(errs.Unavailable, "the answer to a check is none of a router")
	}
	return answer, err
}

// ask sends what has an answer.
func ask[A any](ctx context.Context, c Call, path string, in any) (out A, err error) {
	err = c(ctx, "POST", path, in, &out)
	return out, err
}

// post sends what needs no answer.
func (c Call) post(ctx context.Context, path string, in any) error {
	return c(ctx, "POST", path, in, nil)
}

// holder is the agent that the call's token was issued to, empty for who may act as any.
func (c Call) holder(ctx context.Context) (string, error) {
	var self identity
	if err := c(ctx, "GET", "/api/whoami", nil, &self); err != nil {
		return "", err
	}
	return principal.Principal{AgentID: self.AgentID, Scopes: self.Scopes}.Bound(), nil
}

// unacked is a page of the messages that the agent has not acknowledged.
func (c Call) unacked(ctx context.Context, agent string, since int64) (page comms.Inbox, err error) {
	query := url.Values{"agent_id": {agent}, "unacked": {"true"}, "limit": {strconv.Itoa(inboxPage)}}
	if since > 0 {
		query.Set("since", strconv.FormatInt(since, 10))
	}
	err = c(ctx, "GET", "/messages/inbox?"+query.Encode(), nil, &page)
	return page, err
}

func (c Call) context(ctx context.Context, request contextRequest) (built builtContext, err error) {
	built, err = ask[builtContext](ctx, c, "/api/context", request)
	built.Rules = max(0, min(built.Rules, len(built.Text)))
	return built, err
}

// probe asks whether a router answers.
func (c Call) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var h health
	if err := c(ctx, "GET", "/health", nil, &h); err != nil {
		return err
	}
	return plain.NeedsToken(h.Status, h.Server)
}
