package client

import (
	"context"

	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// Some of what a command does is the same on a router and on what it has read itself, and takes a service. These are.

// Lessons is what a lessons folder asks of lesson.Service, over HTTP.
type Lessons struct{ c *Client }

// ReportAll implements lesson.Service. The router takes 32 MiB in one call.
func (l Lessons) ReportAll(ctx context.Context, drafts []lesson.Draft) (lesson.BulkReported, error) {
	return Send(ctx, l.c, lesson.Service.ReportAll, drafts)
}

// Lesson implements lesson.Service.
func (l Lessons) Lesson(ctx context.Context, ref string) (lesson.Lesson, error) {
	return Send(ctx, l.c, lesson.Service.Lesson, ref)
}

// List implements lesson.Service.
func (l Lessons) List(ctx context.Context, filter lesson.Filter) (lesson.Page, error) {
	return Send(ctx, l.c, lesson.Service.List, filter)
}

// Incidents is what learning from records asks of history.Service, over HTTP.
type Incidents struct{ c *Client }

// Learn implements history.Service.
func (s Incidents) Learn(ctx context.Context, draft history.Draft) (history.Learned, error) {
	return Send(ctx, s.c, history.Service.Learn, draft)
}

// List implements history.Service.
func (s Incidents) List(ctx context.Context, filter history.Filter) (history.Page, error) {
	return Send(ctx, s.c, history.Service.List, filter)
}

// Accept implements history.Service.
func (s Incidents) Accept(ctx context.Context, decision history.Decision) (history.Decided, error) {
	return Send(ctx, s.c, history.Service.Accept, decision)
}

// Sources implements history.Service.
func (s Incidents) Sources(ctx context.Context, filter history.SourceFilter) (history.SourcePage, error) {
	return Send(ctx, s.c, history.Service.Sources, filter)
}

// Forget implements history.Service.
func (s Incidents) Forget(ctx context.Context, project string) (history.Forgotten, error) {
	return Send(ctx, s.c, history.Service.Forget, project)
}

// Import implements transfer.Service.
func (t Transfer) Import(ctx context.Context, request transfer.ImportRequest) (transfer.Imported, error) {
	return Send(ctx, t.c, transfer.Service.Import, request)
}
