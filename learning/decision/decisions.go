package decision

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// MaxPrompt bounds a prompt that is heard, in bytes: of a longer one nothing is kept.
const MaxPrompt = 16 << 10

// Prompt is what an agent was asked for.
type Prompt struct {
	Text      string `json:"prompt"`
	AgentID   string `json:"agent_id,omitempty" actor:"true"`
	SessionID string `json:"session_id,omitempty"`
	Project   string `json:"project,omitempty" here:"project"`
	learning.Place
	Unattended bool `json:"unattended,omitempty" doc:"A program gave the agent its prompt, and no person sits before it"`
}

// Resolution is a decision or a constraint of a project.
type Resolution struct {
	ID       string `json:"id"`
	Handle   string `json:"handle,omitempty"`
	Category string `json:"category" doc:"decision or constraint"`
	Text     string `json:"text"`
	// Instead are the texts of those in whose place it stands or, when it is taken back, of those that are in force again.
	Instead []string  `json:"instead,omitempty"`
	By      string    `json:"-"` // the agent that heard it
	At      time.Time `json:"-"` // when it was heard
}

// Heard is what is kept of a prompt.
type Heard struct {
	Resolutions []Resolution `json:"resolutions"`
}

// Undo names a decision or a constraint that is taken back.
type Undo struct {
	Handle  string `json:"handle,omitempty" doc:"Its handle, such as k7f3, or its id; the latest that a person said if none is named"`
	Project string `json:"project,omitempty" here:"project"`
}

// Service keeps what a person decides. Decisions implements it beside the database, router/client over HTTP.
type Service interface {
	// Hear keeps what a person decides or forbids in a prompt, in the place of what it changes. Nothing is kept twice. It needs ScopeAgent.
	Hear(ctx context.Context, prompt Prompt) (Heard, error)
	// Undo takes a decision or a constraint back that is in force. What it stood in the place of is in force again. It needs ScopeAgent, and
	// the agent that heard it or a captain.
	Undo(ctx context.Context, undo Undo) (Resolution, error)
}

// Decisions is the Service beside the database.
type Decisions struct {
	base   *knowledge.Base
	handle func(number int64) string // the handle of an entry of knowledge
	mu     sync.Mutex                // two prompts at once would not see what the other one changes
}

var _ Service = (*Decisions)(nil)

// New makes Decisions that are kept as entries of knowledge.
func New(base *knowledge.Base, handle func(number int64) string) *Decisions {
	return &Decisions{base: base, handle: handle}
}

// InForce returns the sentences of what is in force in a project.
func (d *Decisions) InForce(ctx context.Context, project string) (texts []string, err error) {
	found, err := d.base.InForce(ctx, project)
	for _, e := range found {
		texts = append(texts, e.Title)
	}
	return texts, err
}

// Hear implements Service.
func (d *Decisions) Hear(ctx context.Context, prompt Prompt) (Heard, error) {
	heard := Heard{Resolutions: []Resolution{}}
	caller := principal.Of(ctx).Keeping()
	author, err := caller.ActingAs("agent_id", prompt.AgentID)
	if err = cmp.Or(err, check.Text("prompt", prompt.Text, MaxPrompt), check.Names("session_id", prompt.SessionID, "project", prompt.Project), learning.CheckPlace(prompt.Place), caller.Into("project", &prompt.Project)); err != nil {
		return heard, err
	}
	if len(prompt.Text) > MaxTyped || strings.HasPrefix(prompt.Text, "/") { // pasted, or a command of the agent's own
		return heard, nil
	}
	text, _ := redact.Text(prompt.Text)
	list := slices.DeleteFunc(Said(WithoutSecrets(text)), func(s Saying) bool { return !s.Sure })
	if len(list) == 0 {
		return heard, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range list {
		kept, err := d.keep(ctx, caller, author, prompt, r)
		if err != nil {
			return heard, err
		}
		if kept != nil {
			heard.Resolutions = append(heard.Resolutions, *kept)
		}
	}
	return heard, nil
}

// keep keeps one resolution; nil: it is in force already, or takes back what is not.
func (d *Decisions) keep(ctx context.Context, caller principal.Principal, author string, prompt Prompt, r Saying) (*Resolution, error) {
	inForce, err := d.base.InForce(ctx, prompt.Project)
	if err != nil {
		return nil, err
	}
	draft := knowledge.Draft{Category: r.Category, Title: r.Text, Content: r.Around, AgentID: author, Project: prompt.Project, Place: prompt.Place, Source: knowledge.SaidAt}
	trust := learning.TrustAgent
	switch {
	case prompt.Unattended:
		draft.Source = "asked of an agent without a person"
	case caller.Has(principal.ScopeCaptain):
		trust = learning.TrustPerson
	}
	if author != "" {
		draft.Source += " of " + author
	}
	if prompt.SessionID != "" {
		draft.Source += ", session " + prompt.SessionID
	}
	kept := Resolution{Category: r.Category, Text: r.Text}
	for _, old := range inForce {
		switch {
		case old.Project != prompt.Project || old.Apart(prompt.Place) && !r.Back:
		case Same(old.Title, r.Text):
			return nil, nil
		case changes(r, old.Title) && (caller.Has(principal.ScopeCaptain) || caller.Is(old.Author)):
			draft.Supersedes, kept.Instead = append(draft.Supersedes, old.ID), append(kept.Instead, old.Title)
		}
	}
	if r.Back && len(draft.Supersedes) == 0 {
		return nil, nil
	}
	stored, err := d.base.StoreAs(ctx, draft, trust)
	if err != nil {
		return nil, err
	}
	entry, err := d.base.Entry(ctx, stored.ID)
	if err == nil && entry.SupersededBy != "" { // it was given up, and is decided again in the same words
		for at := entry.SupersededBy; at != "" && err == nil; {
			var next knowledge.Knowledge
			if next, err = d.base.Entry(ctx, at); err == nil {
				draft.Supersedes, kept.Instead, at = append(draft.Supersedes, at), append(kept.Instead, next.Title), next.SupersededBy
			}
		}
		if err == nil {
			_, err = d.base.StoreAs(ctx, draft, trust)
		}
	}
	kept.ID, kept.Handle = entry.ID, d.handle(entry.Number)
	return &kept, err
}

// Latest returns the decision or constraint of a project that was heard last of those that are in force.
func (d *Decisions) Latest(ctx context.Context, project string) (Resolution, error) {
	inForce, err := d.base.InForce(ctx, project)
	for _, e := range inForce {
		if e.Project == project && strings.HasPrefix(e.Source, knowledge.SaidAt) {
			return Resolution{ID: e.ID, Category: e.Category, Text: e.Title, By: e.Author, At: e.CreatedAt}, err
		}
	}
	return Resolution{}, cmp.Or(err, noneSaid())
}

func noneSaid() error {
	return errs.Errorf(errs.NotFound, "nothing that a person decided at a prompt is in force in this project")
}

// Undo implements Service.
func (d *Decisions) Undo(ctx context.Context, undo Undo) (Resolution, error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeAgent), check.Text("handle", undo.Handle, learning.MaxID), check.Name("project", undo.Project)); err != nil {
		return Resolution{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before, err := d.base.InForce(ctx, undo.Project)
	if err != nil {
		return Resolution{}, err
	}
	at := slices.IndexFunc(before, func(e knowledge.Knowledge) bool {
		return undo.Handle == "" && e.Project == undo.Project && strings.HasPrefix(e.Source, knowledge.SaidAt) || e.ID == undo.Handle || strings.EqualFold(d.handle(e.Number), undo.Handle)
	})
	switch {
	case at < 0 && undo.Handle == "":
		return Resolution{}, noneSaid()
	case at < 0:
		return Resolution{}, errs.Errorf(errs.NotFound, "no decision or constraint that is in force in this project has the handle %q: `skillrouter knowledge list --category decision` and `--category constraint` list them. Messages, stops and runs have left, and are not taken back", undo.Handle)
	}
	gone := before[at]
	undone := Resolution{ID: gone.ID, Handle: d.handle(gone.Number), Category: gone.Category, Text: gone.Title}
	if err := d.base.Delete(ctx, gone.ID); err != nil {
		return Resolution{}, err
	}
	after, err := d.base.InForce(ctx, undo.Project)
	for _, e := range after {
		if !slices.ContainsFunc(before, func(b knowledge.Knowledge) bool { return b.ID == e.ID }) {
			undone.Instead = append(undone.Instead, e.Title)
		}
	}
	return undone, err
}

var (
	// replaced is how people name in whose place something stands.
	replaced = lazyregexp.New(`(?i)\b(?:instead of|rather than|in place of|no longer(?: use| using| support)?|stopp?(?:ed|ing)? using|dropp?(?:ed|ing)?(?: support for)?|retir(?:e|ed|ing)|away from|over|replac(?:e|ed|ing)|from|(?:an)?statt|anstelle von|au lieu de|la place de|plutôt que|en (?:lugar|vez) de|al posto di|invece di|em (?:vez|lugar) de)\s+(.{2,60}?)(?:[,.;:!]| to | with | by | from now on| and | any ?more|$)|do(?:es)?(?: not|n't) (?:use|support) (.{2,60}?) any ?more|, (?:not|never) (.{2,40}?)[.!]*$|([^\s、。]{2,20}?)の代わりに`)
	forbids  = lazyregexp.New(`(?i)\b(?:never|not|no|don'?t|nobody|nothing|none|stop|avoid|forbidden|prohibited|mustn'?t|under no|without|nie|niemals|nicht|keine?|verboten|jamais|aucun|interdit|nunca|ningun|prohibido|vietato|proibido)\b|jamás|ningún|mai |絶対|決して|禁止|ないで|しない`)
	// slot is what something is used for.
	slot = lazyregexp.New(`(?i)\b(?:for|as|in) ([^,.;]{3,60})`)
	// varies is what differs between two sentences that say the same of another time or number.
	varies = lazyregexp.New(`(?i)\b(?:\d+(?:[:.]\d+)*(?:am|pm)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|one|two|three|four|five|six|seven|eight|nine|ten)\b`)
)

// Same tells whether two sentences decide or forbid the same.
func Same(a, b string) bool {
	return maps.Equal(contentOf(a), contentOf(b)) && maps.Equal(replacedBy(a), replacedBy(b)) && forbids.MatchString(a) == forbids.MatchString(b)
}

// changes tells whether a resolution stands in the place of one that was made before: it names that as what is replaced or was preferred to what it
// says now, takes it back, allows what that forbids or the reverse, or says another thing, number or time of the same.
func changes(now Saying, old string) bool {
	mine, theirs := contentOf(now.Text), contentOf(old)
	if against := replacedBy(now.Text); len(against) > 0 && inBoth(against, theirs) > 0 && !maps.Equal(against, replacedBy(old)) {
		return true
	}
	if against := replacedBy(old); len(against) > 0 && !forbids.MatchString(now.Text) && inBoth(against, mine) == len(against) {
		return true // back to what was given up
	}
	common := inBoth(mine, theirs)
	least := min(len(mine), len(theirs))
	if now.Back {
		return common > 0 && common*3 >= least*2
	}
	if forbids.MatchString(now.Text) != forbids.MatchString(old) {
		return common > 0 && common*4 >= max(len(mine), len(theirs))*3
	}
	a, b := varies.ReplaceAllString(now.Text, ""), varies.ReplaceAllString(old, "")
	if len(replacedBy(now.Text)) == 0 && a != now.Text && b != old && len(contentOf(a)) > 0 && maps.Equal(contentOf(a), contentOf(b)) {
		return true
	}
	if forbids.MatchString(now.Text) {
		return false // one more prohibition
	}
	use, used := slot.FindStringSubmatch(now.Text), slot.FindStringSubmatch(old)
	return use != nil && used != nil && len(contentOf(use[1])) > 0 && maps.Equal(contentOf(use[1]), contentOf(used[1]))
}

// replacedBy are the words of what a sentence names as replaced.
func replacedBy(text string) map[string]bool {
	if m := replaced.FindStringSubmatch(from.ReplaceAllString(text, "")); m != nil {
		return contentOf(strings.Join(m[1:], " "))
	}
	return nil
}

func inBoth(a, b map[string]bool) (n int) {
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("decisions", "/api/decisions",
	operation.Post("/heard", "Keep what a person decides or forbids in a prompt", Service.Hear),
	operation.Post("/undo", "Take back a decision or a constraint that is in force", Service.Undo),
)
