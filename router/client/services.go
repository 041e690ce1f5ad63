package client

import (
	"context"

	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/router/transfer"
)

// Some of what a command does is the same on a router and on what it has read itself, and takes a service. These are.

// Lessons is lesson.Service over HTTP.
type Lessons struct{ c *Client }

var _ lesson.Service = Lessons{}

// Report implements lesson.Service.
func (l Lessons) Report(ctx context.Context, draft lesson.Draft) (lesson.Reported, error) {
	return Send(ctx, l.c, lesson.Service.Report, draft)
}

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

// Relevant implements lesson.Service.
func (l Lessons) Relevant(ctx context.Context, query lesson.Query) (lesson.Results, error) {
	return Send(ctx, l.c, lesson.Service.Relevant, query)
}

// Validate implements lesson.Service.
func (l Lessons) Validate(ctx context.Context, ref string, draft lesson.ValidationDraft) (lesson.Lesson, error) {
	return SendTo(ctx, l.c, lesson.Service.Validate, ref, draft)
}

// Apply implements lesson.Service.
func (l Lessons) Apply(ctx context.Context, ref string, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	return SendTo(ctx, l.c, lesson.Service.Apply, ref, draft)
}

// Edit implements lesson.Service.
func (l Lessons) Edit(ctx context.Context, ref string, patch lesson.Patch) (lesson.Lesson, error) {
	return SendTo(ctx, l.c, lesson.Service.Edit, ref, patch)
}

// Promote implements lesson.Service.
func (l Lessons) Promote(ctx context.Context, ref string, draft lesson.PromotionDraft) (lesson.Lesson, error) {
	return SendTo(ctx, l.c, lesson.Service.Promote, ref, draft)
}

// Retire implements lesson.Service.
func (l Lessons) Retire(ctx context.Context, ref string, draft lesson.RetirementDraft) (lesson.Lesson, error) {
	return SendTo(ctx, l.c, lesson.Service.Retire, ref, draft)
}

// Restore implements lesson.Service.
func (l Lessons) Restore(ctx context.Context, ref, note string) (lesson.Lesson, error) {
	return SendTo(ctx, l.c, lesson.Service.Restore, ref, note)
}

// Review implements lesson.Service.
func (l Lessons) Review(ctx context.Context, query lesson.ReviewQuery) (lesson.Review, error) {
	return Send(ctx, l.c, lesson.Service.Review, query)
}

// History implements lesson.Service.
func (l Lessons) History(ctx context.Context, ref string) ([]lesson.Change, error) {
	return Send(ctx, l.c, lesson.Service.History, ref)
}

// Incidents is history.Service over HTTP.
type Incidents struct{ c *Client }

var _ history.Service = Incidents{}

// Learn implements history.Service.
func (s Incidents) Learn(ctx context.Context, draft history.Draft) (history.Learned, error) {
	return Send(ctx, s.c, history.Service.Learn, draft)
}

// List implements history.Service.
func (s Incidents) List(ctx context.Context, filter history.Filter) (history.Page, error) {
	return Send(ctx, s.c, history.Service.List, filter)
}

// Brief implements history.Service.
func (s Incidents) Brief(ctx context.Context, query history.BriefQuery) (history.Brief, error) {
	return Send(ctx, s.c, history.Service.Brief, query)
}

// Answer implements history.Service.
func (s Incidents) Answer(ctx context.Context, failure history.Failure) (history.Answer, error) {
	return Send(ctx, s.c, history.Service.Answer, failure)
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

var _ transfer.Service = Transfer{}

// Import implements transfer.Service.
func (t Transfer) Import(ctx context.Context, request transfer.ImportRequest) (transfer.Imported, error) {
	return Send(ctx, t.c, transfer.Service.Import, request)
}

// Imports implements transfer.Service.
func (t Transfer) Imports(ctx context.Context, filter transfer.ImportFilter) (transfer.ImportPage, error) {
	return Send(ctx, t.c, transfer.Service.Imports, filter)
}

// Undo implements transfer.Service.
func (t Transfer) Undo(ctx context.Context, id string, draft transfer.UndoDraft) (transfer.UndoAnswer, error) {
	return SendTo(ctx, t.c, transfer.Service.Undo, id, draft)
}
