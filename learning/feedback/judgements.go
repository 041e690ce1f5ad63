package feedback

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/knowledge"
)

// Judgements is the JudgementService beside the database.
type Judgements struct {
	store  JudgementStore
	finder KnowledgeFinder
	now    skillrouter.Clock
}

var _ JudgementService = (*Judgements)(nil)

// NewJudgements makes Judgements that are measured by what finder finds.
func NewJudgements(store JudgementStore, finder KnowledgeFinder, options learning.Options) *Judgements {
	return &Judgements{store: store, finder: finder, now: options.WithDefaults().Now}
}

// Judge implements JudgementService.
func (s *Judgements) Judge(ctx context.Context, draft JudgementDraft) (Judgement, error) {
	caller := skillrouter.PrincipalOf(ctx)
	if err := cmp.Or(caller.Need(skillrouter.ScopeAgent), checkJudgement(&draft)); err != nil {
		return Judgement{}, err
	}
	for field, ids := range map[string][]string{"good": draft.Good, "bad": draft.Bad} {
		gone, err := s.gone(ctx, ids)
		if err != nil {
			return Judgement{}, err
		}
		if len(gone) > 0 {
			return Judgement{}, skillrouter.InvalidField(field, "names %q, and no knowledge entry has this id", gone[0])
		}
	}
	draft.Question, _ = skillrouter.Redact(draft.Question)
	at := s.now.Stamp()
	return s.store.ChangeJudgement(ctx, judgementID(caller.AgentID, draft.Project, draft.Question), MaxJudgements, func(j *Judgement, there bool) error {
		if !there {
			j.Question, j.Project, j.Author, j.CreatedAt = draft.Question, draft.Project, caller.AgentID, at
		}
		j.Good, j.Bad = judged(j.Good, draft.Good, draft.Bad), judged(j.Bad, draft.Bad, draft.Good)
		if len(j.Good) > MaxJudgedEntries || len(j.Bad) > MaxJudgedEntries {
			return skillrouter.Errorf(skillrouter.TooLarge, "a question has at most %d entries that are right, and as many that are wrong", MaxJudgedEntries)
		}
		j.UpdatedAt = at
		return nil
	})
}

// judged adds ids to those that are there, and takes those away that are now held to be the contrary.
func judged(there, added, contrary []string) []string {
	list := slices.DeleteFunc(slices.Clone(there), func(id string) bool { return slices.Contains(contrary, id) })
	for _, id := range added {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

func checkJudgement(draft *JudgementDraft) error {
	draft.Question = strings.TrimSpace(draft.Question)
	if err := cmp.Or(
		skillrouter.CheckRequired("question", draft.Question, MaxJudgedQuestion),
		skillrouter.CheckName("project", draft.Project),
	); err != nil {
		return err
	}
	if len(draft.Good)+len(draft.Bad) == 0 {
		return skillrouter.InvalidField("good", "is required: the entries that are right, unless bad has some that are wrong")
	}
	for field, ids := range map[string][]string{"good": draft.Good, "bad": draft.Bad} {
		if len(ids) > MaxJudgedEntries {
			return &skillrouter.Error{Code: skillrouter.TooLarge, Field: field, Message: "has more than " + strconv.Itoa(MaxJudgedEntries) + " entries"}
		}
		for _, id := range ids {
			if err := learning.CheckID(field, id); err != nil {
				return err
			}
		}
	}
	for _, id := range draft.Good {
		if slices.Contains(draft.Bad, id) {
			return skillrouter.InvalidField("bad", "names %q, as good does", id)
		}
	}
	return nil
}

// judgementIDBytes is how much of a hash an id has: none meets another's by chance.
const judgementIDBytes = 16

func judgementID(author, project, question string) string {
	sum := sha256.Sum256([]byte(author + "\x00" + project + "\x00" + question))
	return hex.EncodeToString(sum[:judgementIDBytes])
}

// gone returns which of ids no entry has.
func (s *Judgements) gone(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	entries, err := s.store.Knowledge(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(entries, func(e knowledge.Knowledge) bool { return e.ID == id })
	}), nil
}

// Judgements implements JudgementService.
func (s *Judgements) Judgements(ctx context.Context, query JudgementQuery) (JudgementPage, error) {
	if err := cmp.Or(skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead), skillrouter.CheckName("project", query.Project)); err != nil {
		return JudgementPage{}, err
	}
	limit, err := skillrouter.Limit(query.Limit, learning.DefaultListing, learning.MaxLimit)
	if err != nil {
		return JudgementPage{}, err
	}
	before, err := learning.ReadCursor(query.Cursor)
	if err != nil {
		return JudgementPage{}, err
	}
	list, total, err := s.store.ListJudgements(ctx, query.Project, before, limit+1) // one more tells whether there is a next page
	if err != nil {
		return JudgementPage{}, err
	}
	page := JudgementPage{Judgements: list, Total: total}
	if len(list) > limit {
		page.Judgements = list[:limit]
		page.Next = strconv.FormatInt(list[limit-1].Number, 10)
	}
	page.Count = len(page.Judgements)
	return page, nil
}

// Judgement implements JudgementService.
func (s *Judgements) Judgement(ctx context.Context, id string) (Judgement, error) {
	if err := cmp.Or(skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead), learning.CheckID("id", id)); err != nil {
		return Judgement{}, err
	}
	j, ok, err := s.store.Judgement(ctx, id)
	if err == nil && !ok {
		err = NoJudgement()
	}
	return j, err
}

// NoJudgement is the error of a judgement that is not there.
func NoJudgement() error {
	return skillrouter.Errorf(skillrouter.NotFound, "no judgement has this id")
}

// Remove implements JudgementService.
func (s *Judgements) Remove(ctx context.Context, id string) error {
	ctx = skillrouter.Essential(ctx) // it makes room
	caller := skillrouter.PrincipalOf(ctx)
	if err := cmp.Or(caller.Need(skillrouter.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return err
	}
	return s.store.DeleteJudgement(ctx, id, func(j *Judgement) error {
		if caller.Has(skillrouter.ScopeCaptain) || caller.Is(j.Author) {
			return nil
		}
		return skillrouter.Errorf(skillrouter.Forbidden, "another agent judged this: only its author or a captain may remove it")
	})
}
