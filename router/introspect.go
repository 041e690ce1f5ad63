package router

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
)

// HeldMemory is one type of memory as introspection sees it.
type HeldMemory struct {
	Type MemoryType
	Also string // what may be said for Type; empty: nothing
	Team bool   // it is the whole team's, and no persona's
	Keep string // why it is never cleared; empty: it can be
	// Held counts what there is by persona and category; an empty persona stands for
	// everybody's. What is the team's has no persona, and is counted for every one.
	Held func(ctx context.Context, persona string) ([]tally.Tally, error)
	// Clear deletes what a persona has in a category, an empty one standing for all, at
	// most so many, and returns how many; nil where Keep says why.
	Clear func(ctx context.Context, persona, category string, most int) (int64, error)
}

// FindIDs returns at most so many ids that begin or end with a text, the newest first.
type FindIDs func(ctx context.Context, part string, most int) ([]string, error)

// Introspection is the IntrospectionService beside the stores.
type Introspection struct {
	memories []HeldMemory
	ids      map[string]FindIDs
	sizes    func(ctx context.Context) ([]DatabaseSize, error)
}

var _ IntrospectionService = (*Introspection)(nil)

// NewIntrospection makes an Introspection of the memories, in the order in which they are listed.
// ids finds those of everything that is named by one, by its plural.
func NewIntrospection(memories []HeldMemory, ids map[string]FindIDs, sizes func(ctx context.Context) ([]DatabaseSize, error)) *Introspection {
	return &Introspection{memories: memories, ids: ids, sizes: sizes}
}

// Categories implements IntrospectionService.
func (i *Introspection) Categories(ctx context.Context, persona string) (MemoryCategories, error) {
	persona, err := readable(ctx, persona)
	if err != nil {
		return MemoryCategories{}, err
	}
	out := MemoryCategories{Persona: persona, Categories: []string{}, Held: []MemoryCategory{}}
	for _, memory := range i.memories {
		held, err := memory.Held(ctx, persona)
		if err != nil {
			return MemoryCategories{}, err
		}
		slices.SortFunc(held, func(a, b tally.Tally) int { return strings.Compare(a.Category, b.Category) })
		for _, h := range held {
			if h.Count > 0 {
				out.Categories = append(out.Categories, h.Category)
				out.Held = append(out.Held, MemoryCategory{memory.Type, h.Category, h.Count, h.Bytes})
			}
		}
	}
	slices.Sort(out.Categories)
	out.Categories = slices.Compact(out.Categories)
	out.Count = len(out.Categories)
	out.Categories = out.Categories[:min(len(out.Categories), MaxCategories)]
	out.Held = out.Held[:min(len(out.Held), MaxCategories)]
	return out, nil
}

// fewestOfID is how much of an id is needed to find it, in characters: less fits too many.
const fewestOfID = 4

// IDs implements IntrospectionService.
func (i *Introspection) IDs(ctx context.Context, query IDQuery) (MemoryIDs, error) {
	found := MemoryIDs{IDs: []string{}}
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return found, err
	}
	if strings.Trim(query.Part, "0123456789abcdef-") != "" || len(query.Part) < fewestOfID {
		return found, errs.InvalidField("part", "must be the beginning or end of an id: %d or more of its digits", fewestOfID)
	}
	find := i.ids[query.Type]
	if find == nil {
		return found, errs.InvalidField("type", "must be one of %s", strings.Join(slices.Sorted(maps.Keys(i.ids)), ", "))
	}
	if query.Type == "messages" && !principal.Of(ctx).Has(principal.ScopeCaptain) { // others' messages are nobody's business
		return found, errs.Errorf(errs.Forbidden, "the ids of messages take a token with the scope captain")
	}
	ids, err := find(ctx, query.Part, MaxMemoryIDs)
	found.IDs = append(found.IDs, ids...)
	return found, err
}

// Stats implements IntrospectionService.
func (i *Introspection) Stats(ctx context.Context, persona string) (MemoryStats, error) {
	if persona != "" {
		var err error
		if persona, err = check.Persona(persona); err != nil {
			return MemoryStats{}, err
		}
	}
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return MemoryStats{}, err
	}
	out := MemoryStats{Persona: persona, Types: map[MemoryType]MemoryCount{}, Personas: []PersonaMemory{}}
	of := map[string]*PersonaMemory{}
	for _, memory := range i.memories {
		held, err := memory.Held(ctx, persona)
		if err != nil {
			return MemoryStats{}, err
		}
		var total MemoryCount
		for _, h := range held {
			if persona != "" && h.Persona != persona {
				continue // it is the team's
			}
			total.add(h)
			if h.Persona == "" {
				continue
			}
			p := of[h.Persona]
			if p == nil {
				p = &PersonaMemory{Persona: h.Persona, Types: map[MemoryType]MemoryCount{}}
				of[h.Persona] = p
			}
			count := p.Types[memory.Type]
			count.add(h)
			p.Types[memory.Type] = count
			p.Count += h.Count
			p.Bytes += h.Bytes
		}
		if persona == "" || !memory.Team {
			out.Types[memory.Type] = total
			out.Count += total.Count
			out.Bytes += total.Bytes
		}
	}
	for _, p := range of {
		out.Personas = append(out.Personas, *p)
	}
	slices.SortFunc(out.Personas, func(a, b PersonaMemory) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Persona, b.Persona))
	})
	out.PersonaCount = len(out.Personas)
	out.Personas = out.Personas[:min(len(out.Personas), MaxStatsPersonas)]
	var err error
	out.Databases, err = i.sizes(ctx)
	return out, err
}

// Clear implements IntrospectionService.
func (i *Introspection) Clear(ctx context.Context, request ClearRequest) (Cleared, error) {
	persona, err := readable(ctx, request.Persona)
	if err != nil {
		return Cleared{}, err
	}
	if request.Confirm {
		if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
			return Cleared{}, err
		}
	}
	memoryType, err := i.clearable(request.Type)
	if err != nil {
		return Cleared{}, err
	}
	if err := check.Name("category", request.Category); err != nil {
		return Cleared{}, err
	}
	out := Cleared{Persona: persona, Type: memoryType, Category: request.Category, Confirmed: request.Confirm, Types: []ClearedCount{}}
	for _, memory := range i.memories {
		if memory.Clear == nil || memoryType != "" && memory.Type != memoryType {
			if err := i.countTeam(ctx, memory, &out); err != nil {
				return out, err
			}
			continue
		}
		held, err := counted(ctx, memory, persona, request.Category)
		if err != nil {
			return out, err
		}
		n := held.Count
		if request.Confirm {
			if n, err = memory.Clear(ctx, persona, request.Category, MaxCleared); err != nil {
				return out, err
			}
			if held, err = counted(ctx, memory, persona, request.Category); err != nil {
				return out, err
			}
		}
		out.Remaining += held.Count
		out.Count += n
		out.Types = append(out.Types, ClearedCount{memory.Type, n})
	}
	out.Notice = noticeOf(out)
	return out, nil
}

// countTeam notes what is in a category that was named, in a memory of the team.
func (i *Introspection) countTeam(ctx context.Context, memory HeldMemory, out *Cleared) error {
	if out.Category == "" || !memory.Team {
		return nil
	}
	held, err := counted(ctx, memory, "", out.Category)
	if err == nil && held.Count > 0 {
		out.NotCleared = append(out.NotCleared, ClearedCount{memory.Type, held.Count})
	}
	return err
}

// counted is what a memory holds of a persona in a category.
func counted(ctx context.Context, memory HeldMemory, persona, category string) (total MemoryCount, err error) {
	held, err := memory.Held(ctx, persona)
	for _, h := range held {
		if category == "" || h.Category == category {
			total.add(h)
		}
	}
	return total, err
}

// noticeOf says in words what is not plain from the figures.
func noticeOf(c Cleared) string {
	var said []string
	switch {
	case !c.Confirmed && c.Count > 0:
		said = append(said, "Nothing was deleted: confirm must be true for that.")
	case !c.Confirmed || c.Count == 0 && c.Remaining == 0:
		said = append(said, "There is nothing to delete.")
	case c.Remaining > 0:
		said = append(said, "There is more than one call deletes: clear again.")
	}
	if len(c.NotCleared) > 0 {
		said = append(said, "Knowledge and lessons are the team's and stay: delete or retire them one at a time.")
	}
	return strings.Join(said, " ")
}

// clearable reads the name of a memory that can be cleared.
func (i *Introspection) clearable(name string) (MemoryType, error) {
	if name = strings.ToLower(name); name == "" {
		return "", nil
	}
	var can []string
	for _, memory := range i.memories {
		switch named := name == string(memory.Type) || name == memory.Also; {
		case named && memory.Keep != "":
			return "", errs.InvalidField("type", "cannot be cleared: %s", memory.Keep)
		case named:
			return memory.Type, nil
		case memory.Keep == "":
			can = append(can, fmt.Sprintf("%s (%s)", memory.Type, memory.Also))
		}
	}
	return "", errs.InvalidField("type", "must be one of %s", strings.Join(can, ", "))
}

// readable checks that the caller may read, and returns the persona's name.
func readable(ctx context.Context, persona string) (string, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return "", err
	}
	return check.Persona(persona)
}
