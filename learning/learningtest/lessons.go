package learningtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// RunLessons runs the contract of LessonService, promotions and reviews apart.
// open is called for each case and must give a service on a database of its own.
func RunLessons(t *testing.T, open func(t *testing.T) lesson.Service) {
	for name, run := range map[string]func(t *testing.T, ctx context.Context, s lesson.Service){
		"report and read":          reportAndRead,
		"defaults":                 lessonDefaults,
		"the same lesson again":    theSameAgain,
		"nearly the same":          nearlyTheSame,
		"an occurrence enriches":   occurrenceEnriches,
		"client ids":               lessonIDs,
		"bad drafts":               badLessons,
		"secrets":                  lessonSecrets,
		"bulk":                     bulkLessons,
		"bulk with sources":        bulkSources,
		"bulk of itself":           bulkOfItself,
		"sources":                  lessonSources,
		"validate":                 validateLesson,
		"apply":                    applyLesson,
		"deprecation":              deprecateLesson,
		"edit":                     editLesson,
		"retire and restore":       retireLesson,
		"a retired one recurs":     retiredRecurs,
		"list":                     listLessons,
		"relevant":                 relevantLessons,
		"what is not there":        missingLesson,
		"many reports at one time": reportsAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, caller(t), open(t))
		})
	}
}

// Draft returns a lesson's draft with the fields that MNEMOSYNE requires.
func Draft(title string) lesson.Draft {
	return lesson.Draft{
		Type: learning.LessonFailure, Domain: "infrastructure", Category: "docker", Title: title,
		Context: "while " + title, Action: "tried " + title, Outcome: title + " did not work", SourceAgent: "CHRONOS",
	}
}

// The words of these titles have nothing in common, so that no two are taken for one lesson.
var lessonTitles = []string{
	"PostgreSQL denies permission after upgrade", "Redirect loop on login page", "Streaming compression shrinks nightly backups",
	"Webhook retries hammer billing", "Caddy forgets certificates without volume", "Zombie workers exhaust semaphore",
}

func confidence(c float64) *float64 { return &c }

func reportAndRead(t *testing.T, ctx context.Context, s lesson.Service) {
	draft := lesson.Draft{
		ID: "docker-uid", Type: learning.LessonAntiPattern, Domain: "infrastructure", Category: "docker", Title: "Never chown the data volume", Context: "context",
		Action: "chown -R root /var/lib/postgresql/data", Outcome: "outcome", RootCause: "cause", Solution: "solution", Body: "# More\ntext",
		Alternatives: []string{"a", "b"}, Severity: learning.SeverityHigh, Tags: []string{"docker", "Größe"}, SourceAgent: "CLAUDE_CODE",
		RelatedFiles: []string{"/etc/\"x\""}, RelatedCommands: []string{"chown -R root /var/lib/postgresql/data"}, Contexts: []string{"deploy"}, TriggerPattern: `^chown\s+-R\s+root\s+/var/lib/postgresql`,
		BlockAction: true, Project: "p", Level: lesson.LevelPattern, Transferability: 4, Confidence: confidence(0.55),
	}
	reported := must[lesson.Reported](t)(s.Report(ctx, draft))
	if reported.LessonID != "docker-uid" || reported.Number != 1 || reported.Status != "recorded" || reported.Duplicate || reported.Occurrences != 1 || reported.EscalatedTo == nil {
		t.Errorf("reported %+v", reported)
	}
	got := must[lesson.Lesson](t)(s.Lesson(ctx, "docker-uid"))
	want := lesson.Lesson{
		ID: "docker-uid", Number: 1, Type: draft.Type, Domain: draft.Domain, Category: draft.Category, Title: draft.Title, Context: draft.Context,
		Action: draft.Action, Outcome: draft.Outcome, RootCause: draft.RootCause, Solution: draft.Solution, Body: draft.Body, Alternatives: draft.Alternatives,
		Severity: draft.Severity, Tags: draft.Tags, SourceAgent: draft.SourceAgent, RelatedFiles: draft.RelatedFiles, RelatedCommands: draft.RelatedCommands,
		Contexts: draft.Contexts, TriggerPattern: draft.TriggerPattern, BlockAction: true, Project: "p", Trust: learning.TrustAgent, Level: draft.Level,
		Status: lesson.StatusCandidate, Transferability: 4, SourceCaseIDs: []string{}, Confidence: got.Confidence,
		Belief:      lesson.Belief{InitialConfidence: 0.55, DecayConstant: lesson.DecayConstant, ConfidenceAt: got.ConfidenceAt},
		Occurrences: 1, LastOccurred: got.CreatedAt, CreatedAt: got.CreatedAt, UpdatedAt: got.CreatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back:\n%s", diff)
	}
	if math.Abs(got.Confidence-0.55) > 0.001 {
		t.Errorf("confidence %g", got.Confidence)
	}
	if diff := cmp.Diff(got.Title, must[lesson.Lesson](t)(s.Lesson(ctx, "1")).Title); diff != "" {
		t.Errorf("by number:\n%s", diff)
	}
}

func lessonDefaults(t *testing.T, ctx context.Context, s lesson.Service) {
	draft := Draft(lessonTitles[0])
	draft.Title = "  " + draft.Title + "\n"
	id := must[lesson.Reported](t)(s.Report(ctx, draft)).LessonID
	got := must[lesson.Lesson](t)(s.Lesson(ctx, id))
	if got.Title != lessonTitles[0] || got.Severity != learning.SeverityMedium || got.Level != lesson.LevelCase || got.Status != lesson.StatusCandidate ||
		got.Transferability != lesson.DefaultTransferability || got.InitialConfidence != lesson.DefaultConfidence || got.Validated || got.LastValidatedAt != nil ||
		got.Alternatives == nil || got.Tags == nil || got.RelatedFiles == nil || got.RelatedCommands == nil || got.Contexts == nil || got.SourceCaseIDs == nil {
		t.Errorf("%+v", got)
	}
	if len(id) != 36 {
		t.Errorf("id %q is no UUID", id)
	}
	history := must[[]lesson.Change](t)(s.History(ctx, id))
	if len(history) != 1 || history[0].Kind != lesson.ChangeReported || history[0].Agent != "CHRONOS" {
		t.Errorf("history %+v", history)
	}
}

func theSameAgain(t *testing.T, ctx context.Context, s lesson.Service) {
	first := must[lesson.Reported](t)(s.Report(ctx, Draft(lessonTitles[0])))
	before := must[lesson.Lesson](t)(s.Lesson(ctx, first.LessonID))
	again := Draft("\tpostgresql  DENIES permission after upgrade ")
	again.Context, again.Action, again.Outcome = "another context altogether", "", ""
	second := must[lesson.Reported](t)(s.Report(ctx, again))
	if second.LessonID != first.LessonID || !second.Duplicate || second.Occurrences != 2 || second.Number != first.Number || second.Status != "recorded" {
		t.Errorf("again: %+v", second)
	}
	got := must[lesson.Lesson](t)(s.Lesson(ctx, first.LessonID))
	if got.Occurrences != 2 || got.LastOccurred.Before(before.LastOccurred) || got.Context != before.Context || got.Title != before.Title {
		t.Errorf("%+v", got)
	}
	other := Draft(lessonTitles[0])
	other.Domain = "security"
	if r := must[lesson.Reported](t)(s.Report(ctx, other)); r.Duplicate || r.LessonID == first.LessonID {
		t.Errorf("of another domain: %+v", r)
	}
	rule := Draft(lessonTitles[0])
	rule.Type, rule.RelatedCommands = learning.LessonAntiPattern, []string{"pg_upgrade --link --old-datadir=/x"}
	if r := must[lesson.Reported](t)(s.Report(ctx, rule)); r.Duplicate {
		t.Errorf("a rule is another lesson than a failure of that title: %+v", r)
	}
	kinds := []string{}
	for _, c := range must[[]lesson.Change](t)(s.History(ctx, first.LessonID)) {
		kinds = append(kinds, c.Kind)
	}
	if !slices.Equal(kinds, []string{"reported", "occurred"}) {
		t.Errorf("history %v", kinds)
	}
}

func nearlyTheSame(t *testing.T, ctx context.Context, s lesson.Service) {
	draft := Draft("PostgreSQL permission denied on /var/lib/postgresql/data")
	draft.Context, draft.Action, draft.Outcome = "Running backup after container restart", "Attempted to run pg_dump", "Permission denied error"
	draft.RootCause = "Container UID mismatch after postgres upgrade"
	first := must[lesson.Reported](t)(s.Report(ctx, draft))
	near := draft
	near.Title = "PostgreSQL: permission was denied on /var/lib/postgresql/data"
	if r := must[lesson.Reported](t)(s.Report(ctx, near)); !r.Duplicate || r.LessonID != first.LessonID || len(r.Notes) == 0 {
		t.Errorf("nearly the same: %+v", r)
	}
	far := draft
	far.Title, far.Context, far.RootCause = lessonTitles[1], "Opening the dashboard", "The cookie's domain is wrong"
	far.Action, far.Outcome = "Reloaded the page", "Too many redirects"
	if r := must[lesson.Reported](t)(s.Report(ctx, far)); r.Duplicate {
		t.Errorf("another lesson: %+v", r)
	}
}

func occurrenceEnriches(t *testing.T, ctx context.Context, s lesson.Service) {
	draft := Draft(lessonTitles[0])
	draft.Solution = "chown"
	id := must[lesson.Reported](t)(s.Report(ctx, draft)).LessonID
	richer := draft
	richer.RootCause, richer.Solution, richer.Severity, richer.Tags = "UID mismatch", "another solution", learning.SeverityCritical, []string{"postgres"}
	r := must[lesson.Reported](t)(s.Report(ctx, richer))
	if !r.Duplicate || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "solution") }) {
		t.Errorf("nothing says that the solution was not taken: %+v", r)
	}
	got := must[lesson.Lesson](t)(s.Lesson(ctx, id))
	if got.RootCause != "UID mismatch" || got.Solution != "chown" || got.Severity != learning.SeverityCritical || !slices.Equal(got.Tags, []string{"postgres"}) {
		t.Errorf("%+v", got)
	}
	milder := draft
	milder.Severity = learning.SeverityLow
	must[lesson.Reported](t)(s.Report(ctx, milder))
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, id)); got.Severity != learning.SeverityCritical || got.Occurrences != 3 {
		t.Errorf("%+v", got)
	}
	history := must[[]lesson.Change](t)(s.History(ctx, id))
	if len(history) != 3 || history[1].Before == nil || history[1].After == nil || history[1].Before.Patch == nil ||
		*history[1].Before.Patch.Severity != learning.SeverityMedium || *history[1].After.Patch.RootCause != "UID mismatch" || history[2].After != nil {
		t.Errorf("history %+v", history)
	}
}

func lessonIDs(t *testing.T, ctx context.Context, s lesson.Service) {
	draft := Draft(lessonTitles[0])
	draft.ID = "L-1"
	must[lesson.Reported](t)(s.Report(ctx, draft))
	if r := must[lesson.Reported](t)(s.Report(ctx, draft)); r.LessonID != "L-1" || !r.Duplicate || r.Occurrences != 2 {
		t.Errorf("the same id again: %+v", r)
	}
	draft.Domain = "elsewhere"
	refuses(t, errs.Conflict, "id")(s.Report(ctx, draft))
	draft = Draft(lessonTitles[0])
	draft.ID = "L-2"
	if r := must[lesson.Reported](t)(s.Report(ctx, draft)); r.LessonID != "L-1" || !r.Duplicate {
		t.Errorf("another id, the same title: %+v", r)
	}
	draft.Level, draft.SourceCaseIDs = lesson.LevelPattern, []string{"L-1"}
	if r := must[lesson.Reported](t)(s.Report(ctx, draft)); r.LessonID != "L-2" || r.Duplicate {
		t.Errorf("a pattern with the title of its case: %+v", r)
	}
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, "L-2")); !slices.Equal(got.SourceCaseIDs, []string{"L-1"}) {
		t.Errorf("%+v", got)
	}
}

func badLessons(t *testing.T, ctx context.Context, s lesson.Service) {
	long := strings.Repeat("x", lesson.MaxText+1)
	for name, c := range map[string]struct {
		change func(d *lesson.Draft)
		code   errs.Code
		field  string
	}{
		"no type":               {func(d *lesson.Draft) { d.Type = "" }, errs.Invalid, "lesson_type"},
		"unknown type":          {func(d *lesson.Draft) { d.Type = "mistake" }, errs.Invalid, "lesson_type"},
		"no domain":             {func(d *lesson.Draft) { d.Domain = " " }, errs.Invalid, "domain"},
		"no category":           {func(d *lesson.Draft) { d.Category = "" }, errs.Invalid, "category"},
		"long category":         {func(d *lesson.Draft) { d.Category = strings.Repeat("x", 129) }, errs.Invalid, "category"},
		"no title":              {func(d *lesson.Draft) { d.Title = "\n\t " }, errs.Invalid, "title"},
		"10 MB title":           {func(d *lesson.Draft) { d.Title = strings.Repeat("title ", 10<<20/6) }, errs.TooLarge, "title"},
		"long context":          {func(d *lesson.Draft) { d.Context = long }, errs.TooLarge, "context"},
		"long action":           {func(d *lesson.Draft) { d.Action = long }, errs.TooLarge, "action_taken"},
		"long outcome":          {func(d *lesson.Draft) { d.Outcome = long }, errs.TooLarge, "outcome"},
		"long cause":            {func(d *lesson.Draft) { d.RootCause = long }, errs.TooLarge, "root_cause"},
		"long solution":         {func(d *lesson.Draft) { d.Solution = long }, errs.TooLarge, "solution"},
		"long body":             {func(d *lesson.Draft) { d.Body = strings.Repeat("x", learning.MaxContent+1) }, errs.TooLarge, "body"},
		"NUL":                   {func(d *lesson.Draft) { d.Context = "a\x00b" }, errs.Invalid, "context"},
		"unknown severity":      {func(d *lesson.Draft) { d.Severity = "Critical" }, errs.Invalid, "severity"},
		"unknown level":         {func(d *lesson.Draft) { d.Level = "law" }, errs.Invalid, "level"},
		"unknown status":        {func(d *lesson.Draft) { d.Status = "done" }, errs.Invalid, "status"},
		"confidence over 1":     {func(d *lesson.Draft) { d.Confidence = confidence(1.7) }, errs.Invalid, "confidence"},
		"confidence below 0":    {func(d *lesson.Draft) { d.Confidence = confidence(-0.1) }, errs.Invalid, "confidence"},
		"transferability 6":     {func(d *lesson.Draft) { d.Transferability = 6 }, errs.Invalid, "transferability"},
		"transferability -1":    {func(d *lesson.Draft) { d.Transferability = -1 }, errs.Invalid, "transferability"},
		"id is a number":        {func(d *lesson.Draft) { d.ID = "0042" }, errs.Invalid, "id"},
		"id with a line break":  {func(d *lesson.Draft) { d.ID = "a\nb" }, errs.Invalid, "id"},
		"too many alternatives": {func(d *lesson.Draft) { d.Alternatives = make([]string, lesson.MaxListItems+1) }, errs.TooLarge, "alternatives"},
		"long command": {func(d *lesson.Draft) {
			d.RelatedCommands = []string{"ls", strings.Repeat("x", lesson.MaxListItem+1)}
		}, errs.TooLarge, "related_commands[1]"},
		"too many tags": {func(d *lesson.Draft) {
			for i := range learning.MaxTags + 1 {
				d.Tags = append(d.Tags, fmt.Sprint("tag", i))
			}
		}, errs.Invalid, "tags"},
		"project with a line break":   {func(d *lesson.Draft) { d.Project = "a\nb" }, errs.Invalid, "project"},
		"trigger of a failure":        {func(d *lesson.Draft) { d.TriggerPattern = "rm" }, errs.Invalid, "trigger_pattern"},
		"block by a failure":          {func(d *lesson.Draft) { d.BlockAction = true }, errs.Invalid, "block_action"},
		"unknown source":              {func(d *lesson.Draft) { d.SourceCaseIDs = []string{"nobody"} }, errs.Invalid, "source_case_ids"},
		"its own source":              {func(d *lesson.Draft) { d.ID, d.SourceCaseIDs = "me", []string{"me"} }, errs.Invalid, "source_case_ids"},
		"validated in the far future": {func(d *lesson.Draft) { at := time.Now().AddDate(1, 0, 0); d.LastValidatedAt = &at }, errs.Invalid, "last_validated_at"},
	} {
		draft := Draft(lessonTitles[0])
		c.change(&draft)
		_, err := s.Report(ctx, draft)
		if errs.CodeOf(err) != c.code && errs.CodeOf(err) != errs.TooLarge {
			t.Errorf("%s: %v", name, err)
			continue
		}
		refused(t, err, errs.CodeOf(err), c.field)
	}
	if page := must[lesson.Page](t)(s.List(ctx, lesson.Filter{Statuses: lesson.Statuses()})); page.Count != 0 {
		t.Errorf("%d were stored", page.Count)
	}
}

func lessonSecrets(t *testing.T, ctx context.Context, s lesson.Service) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	draft := Draft("Token " + secret + " expired")
	draft.Context, draft.RootCause, draft.Body = "ran with "+secret, secret, secret
	draft.RelatedCommands, draft.Alternatives = []string{"curl -H " + secret}, []string{secret}
	r := must[lesson.Reported](t)(s.Report(ctx, draft))
	if !slices.Contains(r.Redacted, "github_token") {
		t.Errorf("redacted %v", r.Redacted)
	}
	edited := "now " + secret
	must[lesson.Lesson](t)(s.Edit(ctx, r.LessonID, lesson.Patch{Outcome: &edited}))
	must[lesson.Lesson](t)(s.Validate(ctx, r.LessonID, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: "someone", Notes: secret}))
	must[lesson.Applied](t)(s.Apply(ctx, r.LessonID, lesson.ApplicationDraft{Outcome: learning.ResultSuccess, Notes: secret, Agent: "a"}))
	must[lesson.Lesson](t)(s.Retire(ctx, r.LessonID, lesson.RetirementDraft{Reason: secret}))
	must[lesson.Lesson](t)(s.Restore(ctx, r.LessonID, secret))
	everything := fmt.Sprintf("%+v %+v", must[lesson.Lesson](t)(s.Lesson(ctx, r.LessonID)), must[[]lesson.Change](t)(s.History(ctx, r.LessonID)))
	if strings.Contains(everything, secret) || !strings.Contains(everything, "[redacted: github_token]") {
		t.Errorf("the secret was kept: %s", everything)
	}
}

// reportsAtOnce lets many report the same few lessons at the same time.
func reportsAtOnce(t *testing.T, ctx context.Context, s lesson.Service) {
	const agents, rounds = 8, 6
	errs := make(chan error, agents)
	for a := range agents {
		go func() {
			var failed error
			for i := range rounds {
				_, err := s.Report(ctx, Draft(lessonTitles[(a+i)%3]))
				failed = errors.Join(failed, err)
			}
			errs <- failed
		}()
	}
	for range agents {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	page := must[lesson.Page](t)(s.List(ctx, lesson.Filter{}))
	total := int64(0)
	for _, l := range page.Lessons {
		total += l.Occurrences
	}
	if page.Count != 3 || total != agents*rounds {
		t.Errorf("%d lessons that occurred %d times, want 3 and %d", page.Count, total, agents*rounds)
	}
}

func missingLesson(t *testing.T, ctx context.Context, s lesson.Service) {
	for _, ref := range []string{"nobody", "77", "99999999999999999999"} {
		_, err1 := s.Lesson(ctx, ref)
		_, err2 := s.Validate(ctx, ref, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: "x"})
		_, err3 := s.Apply(ctx, ref, lesson.ApplicationDraft{Outcome: learning.ResultSuccess, Agent: "x"})
		_, err4 := s.Edit(ctx, ref, lesson.Patch{})
		_, err5 := s.Retire(ctx, ref, lesson.RetirementDraft{Reason: "x"})
		_, err6 := s.Restore(ctx, ref, "")
		_, err7 := s.History(ctx, ref)
		for i, err := range []error{err1, err2, err3, err4, err5, err6, err7} {
			if errs.CodeOf(err) != errs.NotFound {
				t.Errorf("%s, call %d: %v", ref, i+1, err)
			}
		}
	}
}
