package learningtest

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// RunExperience runs the contract of ExperienceService. open must give one on
// an empty database, which takes calls as principal.Open, and the
// EpisodeService of the same database.
func RunExperience(t *testing.T, open func(t *testing.T) (experience.Service, episode.Service)) {
	contract[experience.Service]{
		{"an experience reads back", experienceReadsBack},
		{"its scores are those of the experience server", experienceScores},
		{"experiences are recalled by type and outcome", recallsExperiences},
		{"a pattern emerges of three episodes", patternEmerges},
		{"nothing but failures is no pattern", failuresAreNoPattern},
		{"a lesson is learned of three episodes", learnsLesson},
		{"a lesson is learned once", learnsOnce},
		{"an application moves a lesson", appliesLesson},
		{"lessons apply in their contexts", appliesInContext},
		{"what there is is counted", countsExperiences},
		{"secrets are cut out", redactsExperiences},
		{"bad input is refused by name", refusesExperiences},
		{"what is not there is not found", missesExperiences},
	}.run(t, func(t *testing.T) experience.Service {
		x, _ := open(t)
		return x
	})
	t.Run("an experience is an episode", func(t *testing.T) {
		x, e := open(t)
		isEpisode(t, x, e)
	})
}

// did is an experience of a type that went so.
func did(operation string, outcome learning.Result) experience.Draft {
	return experience.Draft{OperationType: operation, Outcome: outcome}
}

func recorded(t *testing.T, x experience.Service, drafts ...experience.Draft) (numbers []int64) {
	t.Helper()
	for _, d := range drafts {
		numbers = append(numbers, must[experience.Recorded](t)(x.Record(caller(t), d)).EpisodeID)
	}
	return numbers
}

func experienceReadsBack(t *testing.T, ctx context.Context, x experience.Service) {
	quality, duration := 0.85, int64(1200)
	draft := experience.Draft{
		OperationType: "build", ServerName: "neurogenesis", Outcome: learning.ResultSuccess,
		Problem:  &experience.Problem{Query: "build <the> server & client", Constraints: map[string]any{"max": 3.5, "deep": map[string]any{"a": []any{"b", nil, true}}}},
		Solution: &experience.Solution{Tool: "make", Params: map[string]any{"target": "all"}, Approach: "incremental"},
		Metadata: &experience.Metadata{Environment: "linux", Dependencies: []string{"go"}, Triggers: []string{"push", "tag"}},
		Notes:    "went\nwell", QualityScore: &quality, DurationMS: &duration, AgentID: "builder", Project: "mss",
	}
	r := must[experience.Recorded](t)(x.Record(ctx, draft))
	if r.EpisodeID <= 0 || !r.Recorded || len(r.Redacted) > 0 {
		t.Fatalf("recorded %+v", r)
	}
	got := must[experience.Experience](t)(x.Experience(ctx, r.EpisodeID))
	if got.EpisodeID == "" || got.Timestamp <= 0 || got.Utility != r.Utility {
		t.Errorf("read back %+v", got)
	}
	for name, part := range map[string]struct {
		text json.RawMessage
		want any
	}{"problem": {got.Problem, draft.Problem}, "solution": {got.Solution, draft.Solution}, "metadata": {got.Metadata, draft.Metadata}} {
		var have, want any
		text, err := json.Marshal(part.want)
		if err == nil {
			err = json.Unmarshal(text, &want)
		}
		if err == nil {
			err = json.Unmarshal(part.text, &have)
		}
		if diff := cmp.Diff(want, have); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if got.OperationType != "build" || got.ServerName != "neurogenesis" || got.Outcome != "success" || got.Notes != "went\nwell" ||
		*got.QualityScore != quality || *got.DurationMS != duration || got.AgentID != "builder" || got.Project != "mss" {
		t.Errorf("read back %+v", got)
	}
	bare := must[experience.Experience](t)(x.Experience(ctx, recorded(t, x, did("deploy", learning.ResultPartial))[0]))
	if bare.Problem != nil || bare.Solution != nil || bare.Metadata != nil || bare.QualityScore != nil || bare.DurationMS != nil {
		t.Errorf("what was not said is there: %+v", bare)
	}
}

// same tells whether two figures agree as far as a client can see.
func same(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// experienceScores goes by hand through what the experience server's formulas give, in the
// order of recording; ln and e to the power were computed elsewhere.
func experienceScores(t *testing.T, ctx context.Context, x experience.Service) {
	q := func(v float64) *float64 { return &v }
	ask := func(query string) *experience.Problem { return &experience.Problem{Query: query} }
	for i, step := range []struct {
		draft                                   experience.Draft
		novelty, effectiveness, generality, sum float64
	}{
		{experience.Draft{OperationType: "a", Outcome: "success", Problem: ask("p")}, 1, 1, 0.5, 0.9},
		{experience.Draft{OperationType: "a", Outcome: "success", Problem: ask("p")}, 0.1, 1, 0.569314718055994, 0.643862943611199},
		{experience.Draft{OperationType: "a", Outcome: "partial", Problem: ask("r")}, 1, 0.5, 0.609861228866811, 0.671972245773362},
		{experience.Draft{OperationType: "a", Outcome: "failure", Problem: ask("r"), QualityScore: q(0.5)}, 2.0 / 3, 0.2, 0.638629436111989, 0.427725887222398},
		{experience.Draft{OperationType: "b", Outcome: "success", QualityScore: q(0)}, 1, 0.6, 0.5, 0.7},
		{
			experience.Draft{OperationType: "a", Outcome: "success", QualityScore: q(0.85), Problem: ask("p"), Metadata: &experience.Metadata{
				Dependencies: []string{"x", "y", "z", "w"}, Triggers: []string{"t"},
			}}, 0.5, 0.94, 0.410943791243410, 0.702188758248682,
		},
	} {
		number := recorded(t, x, step.draft)[0]
		got := must[experience.Experience](t)(x.Experience(caller(t), number))
		if !same(got.Novelty, step.novelty) || !same(got.Effectiveness, step.effectiveness) || !same(got.Generalizability, step.generality) || !same(got.Utility, step.sum) {
			t.Errorf("%d: novelty %v, effectiveness %v, generalizability %v, utility %v; want %v, %v, %v, %v", i,
				got.Novelty, got.Effectiveness, got.Generalizability, got.Utility, step.novelty, step.effectiveness, step.generality, step.sum)
		}
	}
}

func recallsExperiences(t *testing.T, ctx context.Context, x experience.Service) {
	if got := must[experience.Recall](t)(x.Recall(ctx, experience.Filter{})); got.Episodes == nil || got.Count != 0 || got.AverageUtility != 0 {
		t.Errorf("recall of nothing: %+v", got)
	}
	n := recorded(t, x, did("a", "success"), did("b", "failure"), did("a", "failure"), did("a", "success"), did("A", "partial"))
	for _, test := range []struct {
		name   string
		filter experience.Filter
		want   []int64
	}{
		{"all", experience.Filter{}, []int64{n[4], n[3], n[2], n[1], n[0]}},
		{"a page", experience.Filter{Limit: 2, Offset: 1}, []int64{n[3], n[2]}},
		{"past the end", experience.Filter{Offset: 5}, nil},
		{"type", experience.Filter{OperationType: "a"}, []int64{n[3], n[2], n[0]}},
		{"outcome", experience.Filter{Outcome: "failure"}, []int64{n[2], n[1]}},
		{"both", experience.Filter{OperationType: "a", Outcome: "success"}, []int64{n[3], n[0]}},
		{"unknown type", experience.Filter{OperationType: "z"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := must[experience.Recall](t)(x.Recall(ctx, test.filter))
			var numbers []int64
			sum := 0.0
			for _, e := range got.Episodes {
				numbers = append(numbers, e.Number)
				sum += e.Utility
			}
			if diff := cmp.Diff(test.want, numbers); diff != "" || got.Count != len(numbers) || len(numbers) > 0 && !same(got.AverageUtility, sum/float64(len(numbers))) {
				t.Errorf("%+v: %s", got, diff)
			}
		})
	}
}

func patternEmerges(t *testing.T, ctx context.Context, x experience.Service) {
	for i := range 2 {
		if r := must[experience.Recorded](t)(x.Record(ctx, did("build", learning.ResultSuccess))); len(r.Patterns) > 0 {
			t.Fatalf("experience %d triggered %v", i, r.Patterns)
		}
	}
	r := must[experience.Recorded](t)(x.Record(ctx, did("build", learning.ResultSuccess)))
	if len(r.Patterns) != 1 || !strings.Contains(r.Patterns[0], "build") {
		t.Fatalf("the third triggered %v", r.Patterns)
	}
	recall := must[experience.Recall](t)(x.Recall(ctx, experience.Filter{OperationType: "build"}))
	if len(recall.Patterns) != 1 {
		t.Fatalf("recalled with %+v", recall.Patterns)
	}
	p := recall.Patterns[0]
	if p.Type != lesson.PatternSuccess || p.Frequency != 3 || len(p.EpisodeIDs) != 3 || p.TimesApplied != 0 || p.LastValidated != p.LastSeen || p.Status != lesson.PatternEmerging {
		t.Errorf("the pattern is %+v", p)
	}
	// The three are of now, up to the seconds that the test takes.
	if math.Abs(p.Weight-1.3862943611) > 1e-4 || !same(p.InitialConfidence, 0.8) || p.DecayConstant != 0.01 || math.Abs(p.CurrentConfidence-0.8) > 1e-4 {
		t.Errorf("its figures are %+v", p)
	}
	if got := must[experience.Pattern](t)(x.Pattern(ctx, p.Number)); got.PatternID != p.PatternID || got.Description != r.Patterns[0] {
		t.Errorf("by its number it is %+v", got)
	}
	recorded(t, x, did("build", learning.ResultSuccess))
	list := must[experience.Patterns](t)(x.Patterns(ctx, lesson.PatternFilter{Type: lesson.PatternSuccess})).Patterns
	if len(list) != 1 || list[0].Frequency != 4 || len(list[0].EpisodeIDs) != 4 {
		t.Errorf("after the fourth: %+v", list)
	}
	if list := must[experience.Patterns](t)(x.Patterns(ctx, lesson.PatternFilter{Type: lesson.PatternFailure})).Patterns; list == nil || len(list) > 0 {
		t.Errorf("patterns of failure: %+v", list)
	}
}

func failuresAreNoPattern(t *testing.T, ctx context.Context, x experience.Service) {
	for range 5 {
		if r := must[experience.Recorded](t)(x.Record(caller(t), did("deploy", learning.ResultFailure))); len(r.Patterns) > 0 {
			t.Errorf("a success rate of 0 has no weight, and triggered %v", r.Patterns)
		}
	}
	for range 2 { // two of seven: ln 8 · 2/7 = 0.594
		recorded(t, x, did("deploy", learning.ResultSuccess))
	}
	list := must[experience.Patterns](t)(x.Patterns(caller(t), lesson.PatternFilter{})).Patterns
	if len(list) != 1 || list[0].Type != lesson.PatternFailure || math.Abs(list[0].Weight-0.5941261547) > 1e-4 {
		t.Errorf("patterns: %+v", list)
	}
}

// isEpisode records experiences and finds them among the episodes of the sidecar.
func isEpisode(t *testing.T, x experience.Service, e episode.Service) {
	ctx := caller(t)
	must[episode.Episode](t)(e.Record(ctx, happened("builder", "Compiled the kernel")))
	draft := did("verify", learning.ResultFailure)
	draft.Problem, draft.Solution = &experience.Problem{Query: "certificate of zephyr expired"}, &experience.Solution{Approach: "renew it"}
	draft.AgentID = "builder"
	number := recorded(t, x, draft)[0]
	found := must[episode.Results](t)(e.Search(ctx, episode.Query{Query: "zephyr certificate"}))
	if found.Count != 1 || found.Results[0].Number != number || found.Results[0].EventType != episode.EventError || found.Results[0].AgentID != "builder" {
		t.Errorf("found %+v", found.Results)
	}
	recent := must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{}))
	if len(recent) != 2 || !strings.Contains(recent[0].Title, "zephyr") || !strings.Contains(recent[0].Content, "renew it") || recent[0].SessionID != recent[1].SessionID {
		t.Errorf("recent: %+v", recent)
	}
	if all := must[experience.Recall](t)(x.Recall(ctx, experience.Filter{})); all.Count != 1 {
		t.Errorf("the episode without an outcome is an experience: %+v", all)
	}
	refuses(t, errs.NotFound, "")(x.Experience(ctx, recent[1].Number))
}

func learnsLesson(t *testing.T, ctx context.Context, x experience.Service) {
	there := did("build", "success")
	there.ServerName, there.Metadata = "forge", &experience.Metadata{Environment: "ci"}
	n := recorded(t, x, did("build", "success"), there, did("test", "failure"))
	total := 0.0
	for _, number := range n {
		total += must[experience.Experience](t)(x.Experience(ctx, number)).Utility
	}
	draft := experience.LearnDraft{Description: "Cold caches", EpisodeIDs: append([]int64{n[0], 999_999}, n...), Statement: "Warm the cache before a build"}
	got := must[experience.Learned](t)(x.Learn(ctx, draft))
	want := 0.4 + 0.3*2/3 + 0.1*1.3862943611198906 + 0.2*total/3
	if got.LessonNumber <= 0 || !got.Created || got.PatternID == nil || !same(got.InitialConfidence, want) {
		t.Fatalf("learned %+v, want a confidence of %v", got, want)
	}
	l := must[experience.ApplicableLesson](t)(x.Lesson(ctx, got.LessonNumber))
	if l.Statement != draft.Statement || *l.PatternID != *got.PatternID || l.TimesApplied != 0 || l.DeprecatedAt != nil || l.CreatedAt <= 0 {
		t.Errorf("the lesson is %+v", l)
	}
	if diff := cmp.Diff([]string{"server:forge", "env:ci", "operation:build", "operation:test"}, l.Contexts); diff != "" {
		t.Errorf("its contexts: %s", diff)
	}
	pattern := must[experience.Pattern](t)(x.Pattern(ctx, *got.PatternID))
	if pattern.Description != "Cold caches" || pattern.Type != lesson.PatternSuccess || pattern.Frequency != 3 || len(pattern.EpisodeIDs) != 3 {
		t.Errorf("its pattern is %+v", pattern)
	}
	page := must[experience.Lessons](t)(x.Lessons(ctx, lesson.Filter{}))
	if page.Count != 1 || page.Lessons[0].Number != got.LessonNumber {
		t.Errorf("the lessons are %+v", page)
	}
}

func learnsOnce(t *testing.T, ctx context.Context, x experience.Service) {
	n := recorded(t, x, did("build", "success"), did("build", "success"), did("build", "success"), did("build", "failure"))
	draft := experience.LearnDraft{Description: "what a compiler breaks", EpisodeIDs: n[:3], Statement: "Pin the compiler"}
	first := must[experience.Learned](t)(x.Learn(ctx, draft))
	draft.EpisodeIDs = n
	second := must[experience.Learned](t)(x.Learn(ctx, draft))
	if second.Created || second.LessonNumber != first.LessonNumber || *second.PatternID != *first.PatternID {
		t.Errorf("learned again as %+v, first as %+v", second, first)
	}
	if p := must[experience.Pattern](t)(x.Pattern(ctx, *first.PatternID)); p.Frequency != 4 || p.Description != draft.Description {
		t.Errorf("the pattern was seen %d times", p.Frequency)
	}
	if page := must[experience.Lessons](t)(x.Lessons(ctx, lesson.Filter{})); page.Count != 1 {
		t.Errorf("lessons: %+v", page)
	}
}

func appliesLesson(t *testing.T, ctx context.Context, x experience.Service) {
	n := recorded(t, x, did("a", "failure"), did("a", "failure"), did("a", "failure"))
	learned := must[experience.Learned](t)(x.Learn(ctx, experience.LearnDraft{Description: "d", EpisodeIDs: n, Statement: "s"}))
	first := must[lesson.Applied](t)(x.Apply(ctx, learned.LessonNumber, lesson.ApplicationDraft{Outcome: "success"}))
	if !first.Applied || first.LessonNumber != learned.LessonNumber || first.TotalApplications != 1 || first.SuccessRate != 1 || math.Abs(first.PreviousConfidence-learned.InitialConfidence) > 1e-4 {
		t.Errorf("applied %+v", first)
	}
	prior := 1 - math.Log(2)/5
	if want := min(0.95, prior*first.PreviousConfidence+(1-prior)*1); !same(first.NewConfidence, want) {
		t.Errorf("the confidence is %v, want %v", first.NewConfidence, want)
	}
	second := must[lesson.Applied](t)(x.Apply(ctx, learned.LessonNumber, lesson.ApplicationDraft{Outcome: "failure", Notes: "no"}))
	prior = 1 - math.Log(3)/5
	if want := prior*second.PreviousConfidence + (1-prior)*0.7*0.5; !same(second.NewConfidence, want) || second.SuccessRate != 0.5 {
		t.Errorf("the confidence is %v, want %v: %+v", second.NewConfidence, want, second)
	}
	lesson := must[experience.ApplicableLesson](t)(x.Lesson(ctx, learned.LessonNumber))
	if lesson.TimesApplied != 2 || lesson.TimesSucceeded != 1 || math.Abs(lesson.CurrentConfidence-second.NewConfidence) > 1e-4 {
		t.Errorf("the lesson is %+v", lesson)
	}
}

func appliesInContext(t *testing.T, ctx context.Context, x experience.Service) {
	learn := func(operation, statement string, outcome learning.Result) int64 {
		n := recorded(t, x, did(operation, outcome), did(operation, outcome), did(operation, outcome))
		return must[experience.Learned](t)(x.Learn(ctx, experience.LearnDraft{Description: statement, EpisodeIDs: n, Statement: statement})).LessonNumber
	}
	build, deploy := learn("Build", "Builds want a clean tree", "success"), learn("deploy", "Deploys fail on Fridays", "failure")
	for _, test := range []struct {
		name  string
		query experience.ApplicableQuery
		want  []int64
	}{
		{"everywhere", experience.ApplicableQuery{}, []int64{build, deploy}},
		{"by type", experience.ApplicableQuery{OperationType: "build"}, []int64{build}},
		{"by a text of the context", experience.ApplicableQuery{Context: map[string]any{"doing": "then Operation:DEPLOY", "score": 3.0}}, []int64{deploy}},
		{"by a name in the context", experience.ApplicableQuery{Context: map[string]any{"deploy": true}}, []int64{deploy}},
		{"by a kind of context, whatever its name", experience.ApplicableQuery{Context: map[string]any{"Operation": "paint"}}, []int64{build, deploy}},
		{"by both", experience.ApplicableQuery{OperationType: "build", Context: map[string]any{"then": []any{"operation:build"}}}, []int64{build}},
		{"by both, of which one does not hold", experience.ApplicableQuery{OperationType: "build", Context: map[string]any{"server": "x"}}, nil},
		{"in a context of nothing", experience.ApplicableQuery{Context: map[string]any{}}, nil},
		{"by its statement", experience.ApplicableQuery{OperationType: "fridays"}, []int64{deploy}},
		{"by confidence", experience.ApplicableQuery{MinConfidence: 0.75}, []int64{build}},
		{"one", experience.ApplicableQuery{Limit: 1}, []int64{build}},
		{"nowhere", experience.ApplicableQuery{OperationType: "paint"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := must[experience.Applicable](t)(x.Applicable(ctx, test.query))
			var numbers []int64
			for _, l := range got.Lessons {
				numbers = append(numbers, l.Number)
			}
			if diff := cmp.Diff(test.want, numbers); diff != "" || got.Lessons == nil {
				t.Errorf("%+v: %s", got, diff)
			}
			all := got.Summary.High + got.Summary.Medium + got.Summary.Low
			if want := len(test.want); all != want && test.query.Limit == 0 {
				t.Errorf("the summary is %+v, want %d in all", got.Summary, want)
			}
		})
	}
	if s := must[experience.Applicable](t)(x.Applicable(ctx, experience.ApplicableQuery{Limit: 1})).Summary; s.High != 1 || s.Medium != 1 || s.Low != 0 {
		t.Errorf("the summary is %+v", s)
	}
}

func countsExperiences(t *testing.T, ctx context.Context, x experience.Service) {
	if got := must[experience.Stats](t)(x.Stats(ctx)); got != (experience.Stats{}) {
		t.Errorf("of nothing: %+v", got)
	}
	n := recorded(t, x, did("a", "success"), did("a", "success"), did("a", "success"), did("b", "failure"))
	must[experience.Learned](t)(x.Learn(ctx, experience.LearnDraft{Description: "what it showed", EpisodeIDs: n[:3], Statement: "s"}))
	total := 0.0
	for _, number := range n {
		total += must[experience.Experience](t)(x.Experience(ctx, number)).Utility
	}
	got := must[experience.Stats](t)(x.Stats(ctx))
	if got.Episodes != 4 || got.Patterns != 2 || got.Lessons != 1 || got.HighConfidenceLessons != 1 || math.Abs(got.AverageUtility-total/4) > 1e-8 {
		t.Errorf("counted %+v, want an average of %v", got, total/4)
	}
}

func redactsExperiences(t *testing.T, ctx context.Context, x experience.Service) {
	draft := did("login", learning.ResultSuccess)
	draft.Problem = &experience.Problem{Query: "password=hunter2xyz", Context: map[string]any{"deep": []any{map[string]any{"api_key": "sk9f8e7d6c5b4a3928"}}}}
	draft.Notes = "Authorization: Bearer 9f8e7d6c5b4a39281706"
	r := must[experience.Recorded](t)(x.Record(ctx, draft))
	got := must[experience.Experience](t)(x.Experience(ctx, r.EpisodeID))
	all := string(got.Problem) + got.Notes
	for _, secret := range []string{"hunter2xyz", "sk9f8e7d6c5b4a3928", "9f8e7d6c5b4a39281706"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s was stored: %s", secret, all)
		}
	}
	if len(r.Redacted) < 2 {
		t.Errorf("told of %v", r.Redacted)
	}
}

func refusesExperiences(t *testing.T, ctx context.Context, x experience.Service) {
	v := func(f float64) *float64 { return &f }
	long := strings.Repeat("x", 70_000)
	spoilt[experience.Draft]{
		{"no type", "operation_type", errs.Invalid, func(d *experience.Draft) { d.OperationType = " " }},
		{"long type", "operation_type", errs.Invalid, func(d *experience.Draft) { d.OperationType = long }},
		{"type of two lines", "operation_type", errs.Invalid, func(d *experience.Draft) { d.OperationType = "a\nb" }},
		{"no outcome", "outcome", errs.Invalid, func(d *experience.Draft) { d.Outcome = "" }},
		{"unknown outcome", "outcome", errs.Invalid, func(d *experience.Draft) { d.Outcome = "Success" }},
		{"quality over 1", "quality_score", errs.Invalid, func(d *experience.Draft) { d.QualityScore = v(1.01) }},
		{"quality below 0", "quality_score", errs.Invalid, func(d *experience.Draft) { d.QualityScore = v(-0.1) }},
		{"duration below 0", "duration_ms", errs.Invalid, func(d *experience.Draft) { n := int64(-1); d.DurationMS = &n }},
		{"long notes", "notes", errs.TooLarge, func(d *experience.Draft) { d.Notes = long }},
		{"long query", "problem", errs.TooLarge, func(d *experience.Draft) { d.Problem = &experience.Problem{Query: long} }},
		{"NUL in a parameter", "solution", errs.Invalid, func(d *experience.Draft) {
			d.Solution = &experience.Solution{Params: map[string]any{"a": []any{"x\x00y"}}}
		}},
		{"large context", "problem", errs.TooLarge, func(d *experience.Draft) {
			d.Problem = &experience.Problem{Context: map[string]any{"a": long[:40_000], "b": long[:40_000]}}
		}},
		{"many dependencies", "metadata.dependencies", errs.Invalid, func(d *experience.Draft) {
			d.Metadata = &experience.Metadata{Dependencies: make([]string, lesson.MaxListItems+1)}
		}},
		{"agent that is none", "agent_id", errs.Invalid, func(d *experience.Draft) { d.AgentID = "a/b" }},
	}.refused(t, func() experience.Draft { return did("a", learning.ResultSuccess) }, func(d experience.Draft) error { _, err := x.Record(ctx, d); return err })
	n := recorded(t, x, did("a", "success"), did("a", "success"))
	for _, test := range []struct {
		name, field string
		draft       experience.LearnDraft
	}{
		{"no description", "pattern_description", experience.LearnDraft{EpisodeIDs: []int64{1, 2, 3}, Statement: "s"}},
		{"no statement", "lesson_statement", experience.LearnDraft{Description: "d", EpisodeIDs: []int64{1, 2, 3}}},
		{"two episodes", "episode_ids", experience.LearnDraft{Description: "d", EpisodeIDs: n, Statement: "s"}},
		{"the same three times", "episode_ids", experience.LearnDraft{Description: "d", EpisodeIDs: []int64{n[0], n[0], n[0]}, Statement: "s"}},
		{"two that are there", "episode_ids", experience.LearnDraft{Description: "d", EpisodeIDs: []int64{n[0], n[1], 4711, -1}, Statement: "s"}},
	} {
		t.Run("learn with "+test.name, func(t *testing.T) {
			refuses(t, errs.Invalid, test.field)(x.Learn(ctx, test.draft))
		})
	}
	calls := map[string]func() error{
		"limit": func() error {
			_, err := x.Recall(ctx, experience.Filter{Limit: learning.MaxLimit + 1})
			return err
		},
		"offset":         func() error { _, err := x.Recall(ctx, experience.Filter{Offset: -1}); return err },
		"outcome":        func() error { _, err := x.Recall(ctx, experience.Filter{Outcome: "meh"}); return err },
		"pattern_type":   func() error { _, err := x.Patterns(ctx, lesson.PatternFilter{Type: "meh"}); return err },
		"min_confidence": func() error { _, err := x.Applicable(ctx, experience.ApplicableQuery{MinConfidence: 1.7}); return err },
		"id":             func() error { _, err := x.Experience(ctx, -1); return err },
	}
	for field, call := range calls {
		refused(t, call(), errs.Invalid, field)
	}
	if got := must[experience.Stats](t)(x.Stats(ctx)); got.Episodes != 2 || got.Patterns != 0 || got.Lessons != 0 {
		t.Errorf("what was refused is there: %+v", got)
	}
}

func missesExperiences(t *testing.T, ctx context.Context, x experience.Service) {
	for name, call := range map[string]func() error{
		"episode": func() error { _, err := x.Experience(ctx, 4711); return err },
		"pattern": func() error { _, err := x.Pattern(ctx, 4711); return err },
		"lesson":  func() error { _, err := x.Lesson(ctx, 4711); return err },
		"apply":   func() error { _, err := x.Apply(ctx, 4711, lesson.ApplicationDraft{Outcome: "success"}); return err },
	} {
		if err := call(); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}
