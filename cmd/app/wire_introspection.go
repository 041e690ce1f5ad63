package app

import (
	"context"
	"os"

	"skillrouter"
	"skillrouter/router"
)

// introspection builds what tells of all memories, once they are all there.
func (a *App) introspection(p *parts) *router.Introspection {
	team := func(held func(ctx context.Context) ([]skillrouter.Holding, error)) func(context.Context, string) ([]skillrouter.Holding, error) {
		return func(ctx context.Context, _ string) ([]skillrouter.Holding, error) { return held(ctx) }
	}
	return router.NewIntrospection([]router.HeldMemory{
		{Type: router.SemanticMemory, Clear: p.facts.Clear, Held: func(ctx context.Context, persona string) ([]skillrouter.Holding, error) {
			return p.memory.FactHoldings(ctx, persona, a.now())
		}},
		{Type: router.EpisodicMemory, Clear: p.episodes.Clear, Held: p.memory.EpisodeHoldings},
		{Type: router.ProceduralMemory, Clear: p.procedures.Clear, Held: p.memory.ProcedureHoldings},
		{Type: router.ProspectiveMemory, Clear: p.reminders.Clear, Held: p.operations.ReminderHoldings},
		{Type: router.WorkingMemory, Held: p.operations.SessionHoldings},
		{Type: router.TeamKnowledge, Held: team(p.memory.KnowledgeHoldings)},
		{Type: router.TeamLessons, Held: team(p.memory.LessonHoldings)},
	}, a.databaseSizes)
}

// databaseSizes is how large the databases are on the disk.
func (a *App) databaseSizes(context.Context) ([]router.DatabaseSize, error) {
	var sizes []router.DatabaseSize
	for _, db := range []*Database{a.learning, a.operational} {
		size := router.DatabaseSize{Name: db.Name + ".db"}
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(db.Path + suffix); err == nil { // a log that is not there takes no room
				size.Bytes += info.Size()
			}
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}
