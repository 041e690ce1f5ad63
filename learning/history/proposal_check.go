package history

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
	roleSystem    = "system"
)

// prepareTranscript checks a draft, whose author is known, reads its turns and
// cuts their secrets out.
func prepareTranscript(draft TranscriptDraft) (t Transcript, err error) {
	t.AgentID, t.SessionID, t.Project, t.Place = draft.AgentID, draft.SessionID, draft.Project, draft.Place
	if t.Persona, err = check.Persona(draft.Persona); err != nil {
		return t, err
	}
	if err = cmp.Or(episode.CheckSession(draft.SessionID), check.Name("project", draft.Project), learning.CheckPlace(draft.Place)); err != nil {
		return t, err
	}
	turns := draft.Turns
	switch {
	case len(turns) > 0 && draft.Text != "":
		return t, errs.InvalidField("text", "and turns say the same twice: send one of them")
	case draft.Text != "":
		if turns, err = ReadTranscript(draft.Text); err != nil {
			return t, err
		}
	}
	if len(turns) > MaxTurns {
		return t, &errs.Error{Code: errs.TooLarge, Field: "turns", Message: fmt.Sprintf("are %d, and a transcript may have %d", len(turns), MaxTurns)}
	}
	room := MaxTranscript
	for i, turn := range turns {
		field := fmt.Sprintf("turns[%d]", i)
		if err := check.OneOf(field+".role", turn.Role, []string{roleUser, roleAssistant, roleTool, roleSystem}); err != nil {
			return t, err
		}
		if len(turn.Content) > room {
			return t, &errs.Error{Code: errs.TooLarge, Field: "turns", Message: fmt.Sprintf("hold more than %d bytes: cut the outputs of tools", MaxTranscript)}
		}
		if err := check.Text(field+".content", turn.Content, MaxTranscript); err != nil {
			return t, err
		}
		room -= len(turn.Content)
		if turn.Content = strings.TrimSpace(strings.ReplaceAll(turn.Content, "\r\n", "\n")); turn.Content == "" {
			continue
		}
		turn.Content, _ = redact.Text(turn.Content)
		turn.Content = decision.WithoutSecrets(turn.Content)
		t.Turns = append(t.Turns, turn)
	}
	if len(t.Turns) == 0 {
		return t, errs.InvalidField("turns", "are required, or text that holds some")
	}
	return t, nil
}

// transcriptID is what makes the same transcript known again: a hash of whose
// it is and what was said, when apart. It is made without the secrets.
func transcriptID(t Transcript) string {
	h := sha256.New()
	write := func(parts ...string) {
		for _, part := range parts {
			fmt.Fprintf(h, "%d:%s,", len(part), part)
		}
	}
	write(t.Persona, t.AgentID, t.SessionID)
	for _, turn := range t.Turns {
		write(turn.Role, turn.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// prepareProposals checks what an extractor proposes, whoever that is, and
// drops what could not be stored or holds a secret.
func prepareProposals(transcript string, t Transcript, drafts []ProposalDraft, at time.Time) []StoredProposal {
	slices.SortStableFunc(drafts, func(a, b ProposalDraft) int { return cmp.Compare(b.Confidence, a.Confidence) })
	said := make([]string, len(t.Turns)) // however its white space is
	for i, turn := range t.Turns {
		said[i] = oneLine(turn.Content)
	}
	list := []StoredProposal{}
	seen := map[string]bool{}
	for _, draft := range drafts {
		if len(list) == MaxProposals {
			break
		}
		p := StoredProposal{Proposal: Proposal{
			ID: check.NewID(), TranscriptID: transcript, Kind: draft.Kind, Status: ProposalPending, CreatedAt: at,
			Confidence: min(max(draft.Confidence, 0), 1),
		}}
		if p.Confidence != p.Confidence { // NaN
			p.Confidence = 0
		}
		if p.Evidence, p.Turns = quotations(said, draft.Evidence, draft.Turns); len(p.Evidence) == 0 {
			p.Confidence = min(p.Confidence, UnfoundedConfidence)
			p.Evidence = []string{}
		}
		content, name, ok := proposalContent(t, draft, p)
		if !ok || len(content) > MaxProposalContent || seen[string(draft.Kind)+name] {
			continue
		}
		seen[string(draft.Kind)+name] = true
		p.Content = content
		list = append(list, p)
	}
	return list
}

// proposalContent is what would be stored, and the name that it is known by;
// ok is false for what could not be.
func proposalContent(t Transcript, draft ProposalDraft, p StoredProposal) (content []byte, name string, ok bool) {
	var value any
	switch {
	case draft.Kind == ProposalFact && draft.Fact != nil:
		d := *draft.Fact
		d.Persona, d.AgentID, d.Source, d.IfVersion = t.Persona, "", "", nil
		prepared, err := fact.Prepare(d)
		if err != nil || len(prepared.Redaction.Kinds()) > 0 || secretName(d.Key) || bytes.Contains(d.Value, []byte("[redacted")) {
			return nil, "", false
		}
		d.Value, d.Category = prepared.Value, prepared.Category
		value, name = d, d.Key
	case draft.Kind == ProposalEpisode && draft.Episode != nil:
		d := *draft.Episode
		d.AgentID, d.SessionID, d.Project, d.Persona, d.Place = "", t.SessionID, t.Project, t.Persona, t.Place
		episode, err := episode.Prepare(d, time.Time{})
		if err != nil {
			return nil, "", false
		}
		d.EventType, d.Event, d.Title, d.Content = episode.EventType, episode.Event, episode.Title, episode.Content
		d.Context, d.Learned = episode.Context, episode.Learned
		e := proposedEpisode{Draft: d}
		for _, turn := range p.Turns {
			if said := t.Turns[turn].At; said != nil {
				e.At = said
			}
		}
		value, name = e, d.Title+"\n"+d.Content
	case draft.Kind == ProposalProcedure && draft.Procedure != nil:
		d := *draft.Procedure
		d.Persona, d.AgentID = t.Persona, ""
		d.LearnedFrom, _ = json.Marshal([]map[string]string{{"episode": t.SessionID, "proposal": p.ID}}) // strings cannot fail
		if procedure.Prepare(d) != nil {
			return nil, "", false
		}
		value, name = d, d.Name
	default:
		return nil, "", false
	}
	content, err := json.Marshal(value)
	if err != nil || !utf8.Valid(content) {
		return nil, "", false
	}
	if draft.Kind == ProposalProcedure {
		if _, kinds := redact.Text(string(content)); len(kinds) > 0 || bytes.Contains(content, []byte("[redacted")) {
			return nil, "", false // steps with a secret cut out do not run
		}
	}
	return content, name, true
}

// markOf is a hash of what a proposal says and of the project that it is for: of an episode by the words that show it.
func (p *StoredProposal) markOf(t Transcript) int64 {
	says := p.Says()
	if p.Kind == ProposalEpisode && len(p.Evidence) > 0 {
		says = strings.Join(p.Evidence, "\n")
	}
	h := sha256.Sum256([]byte(strings.Join([]string{t.Persona, t.Project, string(p.Kind), strings.ToLower(says)}, "\x00")))
	return int64(binary.BigEndian.Uint64(h[:])) | 1 //nolint:gosec // bits, and never 0
}

var secretWord = lazyregexp.New(`(?i)(^|[._\- ])(pass(word|phrase|wd|code)?|secrets?|tokens?|credentials?|pin|(api|access|private|secret|signing|encryption)[._-]?key)($|[._\- ])`)

// secretName tells whether what is under the name is nobody's to remember.
func secretName(key string) bool { return secretWord.MatchString(key) }

func checkProposalFilter(filter *ProposalFilter) error {
	if filter.Persona != "" {
		if _, err := check.Persona(filter.Persona); err != nil {
			return err
		}
	}
	return cmp.Or(
		episode.CheckSession(filter.SessionID),
		check.Name("transcript_id", filter.TranscriptID),
		check.Optional("kind", filter.Kind, ProposalKinds()),
		check.Optional("status", filter.Status, []ProposalStatus{ProposalPending, ProposalAccepted, ProposalRejected}),
		check.SetLimit(&filter.Limit, DefaultProposalLimit, MaxProposalLimit),
	)
}

// minQuote is the shortest quotation that shows anything, in bytes: "no" stands in every transcript.
const minQuote = 4

// quotations returns the quotations that stand in a transcript, shortened, and
// where: in the turns that are said to hold them, or else in the first that does.
func quotations(transcript, quotes []string, said []int) (evidence []string, turns []int) {
	for _, quote := range quotes[:min(len(quotes), 4*MaxQuotes)] {
		plain := oneLine(quote)
		if len(plain) < minQuote || len(evidence) == MaxQuotes {
			continue
		}
		holds := func(i int) bool { return i >= 0 && i < len(transcript) && strings.Contains(transcript[i], plain) }
		where := slices.IndexFunc(said, holds)
		if where >= 0 {
			where = said[where]
		} else if where = slices.IndexFunc(transcript, func(text string) bool { return strings.Contains(text, plain) }); where < 0 {
			continue
		}
		evidence = append(evidence, check.Clip(plain, MaxQuote))
		if !slices.Contains(turns, where) {
			turns = append(turns, where)
		}
	}
	slices.Sort(turns)
	return evidence, turns
}
