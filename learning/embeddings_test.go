package learning_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// scriptedModel is an Embedder that knows which words mean the same. Each
// meaning is a direction of its own, so that texts which share meanings are near.
type scriptedModel struct {
	mu        sync.Mutex
	name      string
	dimension int
	down      error // what it fails with, if anything
	spoil     func(answer [][]float32) [][]float32
	refuses   string               // a word of texts that it does not take
	longest   int                  // bytes of the longest text that it takes; 0: any
	hold      chan struct{}        // answers wait until it is closed
	after     func(made int) error // called before each answer with how many vectors were made
	made      int
	texts     []string
	calls     int
}

func newModel() *scriptedModel { return &scriptedModel{name: "scripted", dimension: 256} }

var meanings = map[string]string{
	"terminate": "end", "kill": "end", "stop": "end", "halt": "end",
	"automobile": "car", "vehicle": "car",
	"deadlock": "stuck", "hangs": "stuck", "frozen": "stuck",
	"database": "db", "postgres": "db", "sqlite": "db",
}

func (m *scriptedModel) Model() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.name
}

func (m *scriptedModel) set(change func(m *scriptedModel)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

func (m *scriptedModel) seen() (calls, made int, texts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, m.made, append([]string{}, m.texts...)
}

func (m *scriptedModel) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	hold := m.hold
	m.calls++
	m.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, errs.Wrap(errs.Unavailable, ctx.Err(), "the model did not answer in time")
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return nil, m.down
	}
	if m.after != nil {
		if err := m.after(m.made); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if m.refuses != "" && strings.Contains(text, m.refuses) {
			return nil, errs.Errorf(errs.Invalid, "the model takes no such text")
		}
		if m.longest > 0 && len(text) > m.longest {
			return nil, errs.Errorf(errs.TooLarge, "the text is too long")
		}
		vectors[i] = make([]float32, m.dimension)
		for word := range strings.FieldsSeq(strings.ToLower(text)) {
			if meaning := meanings[word]; meaning != "" {
				word = meaning
			}
			h := fnv.New64a()
			h.Write([]byte(word))
			vectors[i][h.Sum64()%uint64(m.dimension)]++
		}
	}
	if texts[0] != "text" { // else it is asked for the size of its vectors
		m.texts = append(m.texts, texts...)
		m.made += len(texts)
	}
	if m.spoil != nil {
		vectors = m.spoil(vectors)
	}
	return vectors, nil
}

var errDown = errs.Errorf(errs.Unavailable, "no model answers")

// remembering is a memory with vectors.
type remembering struct {
	memory
	lessons *lesson.Lessons
	vectors *shelf.Vectors
	model   *scriptedModel
	stop    func()
}

// remember opens dir's memory and runs vectors of a model over it.
func remember(t *testing.T, dir string, model *scriptedModel, now clock.Clock) *remembering {
	t.Helper()
	return rememberMost(t, dir, model, now, 0)
}

// rememberMost is remember with a bound on how many vectors are kept.
func rememberMost(t *testing.T, dir string, model *scriptedModel, now clock.Clock, most int) *remembering {
	t.Helper()
	r := &remembering{memory: open(t, dir, now), model: model}
	r.lessons = lesson.NewLessons(r.store, lesson.Options{Options: learning.Options{Now: now}})
	for _, rebuild := range []func(context.Context) error{r.knowledge.Rebuild, r.episodes.Rebuild, r.lessons.Rebuild} {
		if err := rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.vectors = shelf.NewVectors(r.store, model, shelf.VectorOptions{Options: learning.Options{Now: now}, Retry: time.Millisecond, Most: most})
	r.knowledge.UseVectors(r.vectors)
	r.episodes.UseVectors(r.vectors)
	r.lessons.UseVectors(r.vectors)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.vectors.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	r.stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(r.stop)
	return r
}

// until waits for the vectors to come to where a condition holds.
func (r *remembering) until(t *testing.T, what string, holds func(s shelf.EmbeddingStatus) bool) shelf.EmbeddingStatus {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		s := r.vectors.Status()
		if holds(s) {
			return s
		}
		select {
		case <-deadline:
			t.Fatalf("%s: still %+v", what, s)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (r *remembering) filled(t *testing.T, n int) {
	t.Helper()
	r.until(t, fmt.Sprintf("%d vectors", n), func(s shelf.EmbeddingStatus) bool { return s.State == shelf.EmbeddingsReady && s.Done == n })
}

func everybody(t *testing.T) context.Context {
	return principal.With(t.Context(), principal.Open())
}

func (r *remembering) store1(t *testing.T, d knowledge.Draft) string {
	t.Helper()
	if d.Category == "" {
		d.Category = "gotcha"
	}
	return value[knowledge.Stored](t)(r.knowledge.Store(everybody(t), d)).ID
}

func idsOf(results knowledge.Results) (ids []string) {
	for _, hit := range results.Results {
		ids = append(ids, hit.ID)
	}
	return ids
}

func TestMeaningFindsWhatWordsMiss(t *testing.T) {
	r := remember(t, t.TempDir(), newModel(), time.Now)
	ctx := everybody(t)
	exact := r.store1(t, knowledge.Draft{Title: "ERR4012 quota", Content: "raise the quota when ERR4012 shows"})
	paraphrase := r.store1(t, knowledge.Draft{Title: "halt vehicle", Content: "frozen sqlite"})
	for i := range 20 {
		r.store1(t, knowledge.Draft{Title: fmt.Sprint("note", i), Content: fmt.Sprintf("subject%d matter%d quota", i, i)})
	}
	r.filled(t, 22)
	found := value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "terminate automobile", Explain: true}))
	if found.Count == 0 || found.Results[0].ID != paraphrase || found.Notice != "" {
		t.Fatalf("%+v", found)
	}
	hit := found.Results[0]
	sum, vector := 0.0, false
	for _, why := range hit.Why {
		sum += why.Weight
		vector = vector || why.Lane == shelf.LaneVector && strings.HasPrefix(why.Term, "cosine 0.")
	}
	if !vector || math.Abs(sum-hit.RelevanceScore) > 1e-12 || hit.RelevanceScore <= 0 || hit.RelevanceScore > 1 {
		t.Errorf("score %g, why %+v", hit.RelevanceScore, hit.Why)
	}
	for _, limit := range []int{1, 2, 5} {
		found := value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "ERR4012 quota", Limit: limit}))
		if ids := idsOf(found); len(ids) == 0 || ids[0] != exact {
			t.Errorf("limit %d: %v, want %s first", limit, ids, exact)
		}
	}
	if found := value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "zebra xylophone"})); found.Count != 0 {
		t.Errorf("what nothing is near to finds %v", idsOf(found))
	}
}

func TestMeaningKeepsToFilters(t *testing.T) {
	r := remember(t, t.TempDir(), newModel(), time.Now)
	ctx := everybody(t)
	said := knowledge.Draft{Title: "halt vehicle", Content: "frozen"}
	with := func(change func(d *knowledge.Draft)) string {
		d := said
		change(&d)
		return r.store1(t, d)
	}
	a := with(func(d *knowledge.Draft) { d.Project, d.Tags, d.Category = "a", []string{"Go", "x"}, "pattern" })
	b := with(func(d *knowledge.Draft) { d.Project = "b" })
	moved := with(func(d *knowledge.Draft) { d.Project = "c" })
	r.filled(t, 3)
	const query = "stop automobile"
	for _, test := range []struct {
		name  string
		query knowledge.Query
		want  []string
	}{
		{"project", knowledge.Query{Project: "b"}, []string{b}},
		{"category", knowledge.Query{Category: "pattern"}, []string{a}},
		{"tags", knowledge.Query{Tags: []string{"go"}}, []string{a}},
		{"a tag of none", knowledge.Query{Tags: []string{"go", "none"}}, nil},
		{"two", knowledge.Query{Project: "b", Category: "pattern"}, nil},
	} {
		test.query.Query = query
		if got := idsOf(value[knowledge.Results](t)(r.knowledge.Search(ctx, test.query))); !cmp.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	project := "b"
	value[knowledge.Knowledge](t)(r.knowledge.Update(ctx, moved, knowledge.Patch{Project: &project}))
	if got := idsOf(value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: query, Project: "c"}))); len(got) != 0 {
		t.Errorf("what was moved is still found in its old project: %v", got)
	}
	r.until(t, "found in its new project", func(shelf.EmbeddingStatus) bool {
		return len(idsOf(value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: query, Project: "b"})))) == 2
	})

	one := func(agent, event string) string {
		e := value[episode.Episode](t)(r.episodes.Record(ctx, episode.Draft{AgentID: agent, EventType: event, Title: "halt vehicle", Content: "frozen"}))
		return e.ID
	}
	anna, bert := one("anna", "error"), one("bert", "action")
	lessonOf := func(domain, title string) string {
		d := learningtest.Draft(title)
		d.Domain, d.Context, d.Action, d.Outcome, d.RootCause, d.Solution = domain, "vehicle", "halt", "frozen", "", ""
		return value[lesson.Reported](t)(r.lessons.Report(ctx, d)).LessonID
	}
	backend, frontend := lessonOf("backend", "halt vehicle one"), lessonOf("frontend", "halt vehicle two")
	r.filled(t, 7)
	for name, test := range map[string]struct {
		query episode.Query
		want  string
	}{
		"agent": {episode.Query{AgentID: "anna"}, anna}, "type": {episode.Query{EventType: "action"}, bert},
		"time": {episode.Query{AgentID: "anna", TimeRange: "1d"}, anna},
	} {
		test.query.Query = query
		later := test.query
		later.Since, later.TimeRange = time.Now().Add(time.Hour), ""
		if found := value[episode.Results](t)(r.episodes.Search(ctx, later)); found.Count != 0 {
			t.Errorf("%s, of later: %+v", name, found)
		}
		found := value[episode.Results](t)(r.episodes.Search(ctx, test.query))
		if found.Count != 1 || found.Results[0].ID != test.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
	no := false
	for domain, want := range map[string]string{"backend": backend, "frontend": frontend} {
		found := value[lesson.Results](t)(r.lessons.Relevant(ctx, lesson.Query{Context: query, Domain: domain, CrossDomain: &no}))
		if found.Count != 1 || found.Results[0].ID != want {
			t.Errorf("%s: %+v", domain, found)
		}
		if found = value[lesson.Results](t)(r.lessons.Relevant(ctx, lesson.Query{Context: query, Domain: domain, Explain: true})); found.Count != 2 || found.Results[0].ID != want {
			t.Errorf("%s and others: %+v", domain, found)
		}
	}
	value[lesson.Lesson](t)(r.lessons.Retire(ctx, backend, lesson.RetirementDraft{Reason: "over"}))
	r.filled(t, 6)
	if found := value[lesson.Results](t)(r.lessons.Relevant(ctx, lesson.Query{Context: query})); found.Count != 1 || found.Results[0].ID != frontend {
		t.Errorf("with one retired: %+v", found)
	}
}

// TestSearchGoesOnWithoutTheModel compares what is answered while the model is
// down with what a memory without vectors answers.
func TestSearchGoesOnWithoutTheModel(t *testing.T) {
	clock, model := newClock(), newModel()
	dir := t.TempDir()
	r := remember(t, dir, model, clock.Now)
	ctx := everybody(t)
	for i := range 30 {
		r.store1(t, knowledge.Draft{Title: fmt.Sprintf("vehicle number %d", i), Content: fmt.Sprintf("halt it in gear %d with care", i%4)})
	}
	r.filled(t, 30)
	plain := knowledge.NewBase(r.store, learning.Options{Now: clock.Now})
	if err := plain.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	model.set(func(m *scriptedModel) { m.down = errDown })
	before, _, _ := model.seen()
	for i := range 12 {
		query := knowledge.Query{Query: fmt.Sprintf("number %d gear", i), Explain: true}
		got := value[knowledge.Results](t)(r.knowledge.Search(ctx, query))
		want := value[knowledge.Results](t)(plain.Search(ctx, query))
		if got.Notice != "search is lexical only: the embedding endpoint does not answer" {
			t.Errorf("notice %q", got.Notice)
		}
		for i := range got.Results { // each counts its own uses
			got.Results[i].UseCount, got.Results[i].LastUsed = 0, nil
			want.Results[i].UseCount, want.Results[i].LastUsed = 0, nil
		}
		if diff := cmp.Diff(want.Results, got.Results); diff != "" {
			t.Errorf("lexical and not: %s", diff)
		}
	}
	if calls, _, _ := model.seen(); calls-before > 3 {
		t.Errorf("a model that is down was asked %d times", calls-before)
	}
	if s := r.vectors.Status(); s.State != shelf.EmbeddingsFailing || s.FailingSince == nil || s.LastError != "no model answers" {
		t.Errorf("%+v", s)
	}
	model.set(func(m *scriptedModel) { m.down = nil })
	if got := value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "automobile"})); got.Notice == "" {
		t.Error("it was asked before its time")
	}
	clock.move(6 * time.Second)
	r.until(t, "it is asked again", func(shelf.EmbeddingStatus) bool {
		got := value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "automobile"}))
		return got.Notice == "" && got.Count > 0
	})
	if s := r.vectors.Status(); s.State != shelf.EmbeddingsReady || s.FailingSince != nil {
		t.Errorf("%+v", s)
	}
}

// TestASlowModelIsNotWaitedFor holds a search to its time.
func TestASlowModelIsNotWaitedFor(t *testing.T) {
	model := newModel()
	r := remember(t, t.TempDir(), model, time.Now)
	ctx := everybody(t)
	r.store1(t, knowledge.Draft{Title: "vehicle", Content: "halt"})
	r.filled(t, 1)
	hold := make(chan struct{})
	model.set(func(m *scriptedModel) { m.hold = hold })
	before, _, _ := model.seen()
	begin := time.Now()
	for range 20 {
		got := value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "vehicle"}))
		if got.Count != 1 || got.Notice == "" {
			t.Errorf("%+v", got)
		}
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("twenty searches took %s", took)
	}
	if calls, _, _ := model.seen(); calls-before > 3 {
		t.Errorf("it was asked the same %d times", calls-before)
	}
	model.set(func(m *scriptedModel) { m.hold = nil })
	close(hold)
	r.until(t, "the late answer is used", func(shelf.EmbeddingStatus) bool {
		return value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "vehicle"})).Notice == ""
	})
}

func TestFillingResumes(t *testing.T) {
	dir, model := t.TempDir(), newModel()
	const items = 100
	model.after = func(made int) error {
		if made >= 32 {
			return errDown
		}
		return nil
	}
	t.Run("interrupted", func(t *testing.T) {
		r := remember(t, dir, model, time.Now)
		for i := range items {
			r.store1(t, knowledge.Draft{Title: fmt.Sprint("note ", i), Content: fmt.Sprintf("subject%d matter%d", i, i)})
		}
		s := r.until(t, "it fails", func(s shelf.EmbeddingStatus) bool { return s.State == shelf.EmbeddingsFailing && s.Done >= 32 })
		if s.Total != items || s.Done >= items || s.LastError != "no model answers" {
			t.Errorf("%+v", s)
		}
	})
	_, before, _ := model.seen()
	model.set(func(m *scriptedModel) { m.after = nil })
	t.Run("resumed", func(t *testing.T) {
		r := remember(t, dir, model, time.Now)
		r.filled(t, items)
	})
	_, made, texts := model.seen()
	if made != items {
		t.Errorf("%d vectors were made of %d items, %d of them before the restart", made, items, before)
	}
	once := map[string]bool{}
	for _, text := range texts {
		if once[text] {
			t.Errorf("%q was embedded twice", text)
		}
		once[text] = true
	}
	t.Run("another model", func(t *testing.T) {
		other := newModel()
		other.name, other.dimension = "other", 64
		r := remember(t, dir, other, time.Now)
		r.filled(t, items)
		if s := r.vectors.Status(); s.Model != "other" || s.Dimension != 64 {
			t.Errorf("%+v", s)
		}
		var rows, dimension int
		if err := r.db.Read.Raw("SELECT count(*), max(dimension) FROM embeddings").Row().Scan(&rows, &dimension); err != nil || rows != items || dimension != 64 {
			t.Errorf("%d rows, up to %d dimensions", rows, dimension)
		}
	})
	t.Run("the same name and another size", func(t *testing.T) {
		other := newModel()
		other.name, other.dimension = "other", 96
		r := remember(t, dir, other, time.Now)
		r.filled(t, items)
		r.until(t, "the first query is answered", func(shelf.EmbeddingStatus) bool {
			got := value[knowledge.Results](t)(r.knowledge.Search(everybody(t), knowledge.Query{Query: "note 7"}))
			return got.Notice == "" && r.vectors.Status().Dimension == 96
		})
		r.filled(t, items)
	})
}

func TestVectorsFollowTheItems(t *testing.T) {
	dir, model := t.TempDir(), newModel()
	r := remember(t, dir, model, time.Now)
	ctx := everybody(t)
	id := r.store1(t, knowledge.Draft{Title: "vehicle", Content: "halt"})
	gone := r.store1(t, knowledge.Draft{Title: "vehicle two", Content: "halt at once"})
	r.filled(t, 2)
	content := "password = hunter2hunter2hunter2 for frozen sqlite"
	value[knowledge.Knowledge](t)(r.knowledge.Update(ctx, id, knowledge.Patch{Content: &content}))
	if err := r.knowledge.Delete(ctx, gone); err != nil {
		t.Fatal(err)
	}
	r.filled(t, 1)
	r.until(t, "it is found by what it says now", func(shelf.EmbeddingStatus) bool {
		return len(idsOf(value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "deadlock database"})))) == 1
	})
	value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "password = hunter2hunter2hunter2 where"}))
	if _, _, texts := model.seen(); strings.Contains(strings.Join(texts, "\n"), "hunter2") {
		t.Errorf("a secret was sent: %q", texts)
	}
	var rows int
	if err := r.db.Read.Raw("SELECT count(*) FROM embeddings").Row().Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows", rows)
	}
	calls, _, _ := model.seen()
	tags := []string{"new"}
	value[knowledge.Knowledge](t)(r.knowledge.Update(ctx, id, knowledge.Patch{Category: &tags[0]}))
	r.until(t, "its new category holds", func(shelf.EmbeddingStatus) bool {
		return len(idsOf(value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "deadlock database", Category: "new"})))) == 1
	})
	if again, _, _ := model.seen(); again != calls {
		t.Errorf("what says the same was embedded again: %d calls more", again-calls)
	}
}

func TestBadVectorsAreNotStored(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	fill := func(x float32) func([][]float32) [][]float32 {
		return func(answer [][]float32) [][]float32 {
			for i := range answer[len(answer)-1] {
				answer[len(answer)-1][i] = x
			}
			return answer
		}
	}
	for name, test := range map[string]struct {
		spoil func([][]float32) [][]float32
		says  string
	}{
		"not a number":      {fill(nan), "without a direction"},
		"infinite":          {fill(inf), "without a direction"},
		"zeros":             {fill(0), "without a direction"},
		"too few":           {func(a [][]float32) [][]float32 { return a[1:] }, "vectors for"},
		"too many":          {func(a [][]float32) [][]float32 { return append(a, a[0]) }, "vectors for"},
		"empty":             {func(a [][]float32) [][]float32 { a[0] = nil; return a }, "0 dimensions"},
		"10,000 dimensions": {func(a [][]float32) [][]float32 { a[0] = make([]float32, 10_000); a[0][1] = 1; return a }, "10000 dimensions"},
		"two sizes":         {func(a [][]float32) [][]float32 { a[len(a)-1] = []float32{1, 2}; return a }, "dimensions"},
	} {
		t.Run(name, func(t *testing.T) {
			model := newModel()
			model.spoil = test.spoil
			dir := t.TempDir()
			t.Run("before", func(t *testing.T) { // so that one batch has all three
				m := open(t, dir, time.Now)
				for i := range 3 {
					value[knowledge.Stored](t)(m.knowledge.Store(everybody(t), knowledge.Draft{Category: "c", Title: fmt.Sprint("t", i), Content: fmt.Sprint("c", i)}))
				}
			})
			r := remember(t, dir, model, time.Now)
			s := r.until(t, "it fails", func(s shelf.EmbeddingStatus) bool { return s.State == shelf.EmbeddingsFailing })
			if !strings.Contains(s.LastError, test.says) {
				t.Errorf("it says %q", s.LastError)
			}
			var rows int
			if err := r.db.Read.Raw("SELECT count(*) FROM embeddings").Row().Scan(&rows); err != nil || rows != 0 || s.Done != 0 {
				t.Errorf("%d rows, %v; %+v", rows, err, s)
			}
			model.set(func(m *scriptedModel) { m.spoil = nil })
			r.filled(t, 3)
		})
	}
}

func TestARefusedTextHoldsNobodyUp(t *testing.T) {
	model := newModel()
	model.refuses, model.longest = "poison", 2000
	r := remember(t, t.TempDir(), model, time.Now)
	for i := range 40 {
		content := fmt.Sprintf("subject%d", i)
		switch i {
		case 7:
			content = "poison"
		case 9:
			content = strings.Repeat("long words ", 1000)
		}
		r.store1(t, knowledge.Draft{Title: fmt.Sprint("note", i), Content: content})
	}
	s := r.until(t, "all but one", func(s shelf.EmbeddingStatus) bool { return s.State == shelf.EmbeddingsReady && s.Done == 39 })
	if s.Refused != 1 || s.LastError == "" {
		t.Errorf("%+v", s)
	}
}

func TestWithoutAModelThereIsNothing(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	v := shelf.NewVectors(m.store, nil, shelf.VectorOptions{})
	m.knowledge.UseVectors(v)
	value[knowledge.Stored](t)(m.knowledge.Store(everybody(t), knowledge.Draft{Category: "c", Title: "t", Content: "word"}))
	found := value[knowledge.Results](t)(m.knowledge.Search(everybody(t), knowledge.Query{Query: "word"}))
	if found.Count != 1 || found.Notice != "" {
		t.Errorf("%+v", found)
	}
	s := value[shelf.EmbeddingStatus](t)(v.Embeddings(everybody(t)))
	if s.State != shelf.EmbeddingsOff || s.Bytes != 0 || s.Total != 0 || s.Kinds == nil {
		t.Errorf("%+v", s)
	}
	if _, err := v.Embeddings(t.Context()); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("nobody may ask: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Run(ctx); err != nil {
		t.Error(err)
	}
}

// TestContractWithVectors runs the whole contract of knowledge and episodes with vectors.
func TestContractWithVectors(t *testing.T) {
	learningtest.Run(t, func(t *testing.T) learningtest.Services {
		r := remember(t, t.TempDir(), newModel(), time.Now)
		return learningtest.Services{Knowledge: r.knowledge, Episodes: r.episodes}
	})
}

// TestTheOldestGiveWay holds the vectors to their bound, and drops what stands for nothing.
func TestTheOldestGiveWay(t *testing.T) {
	databasetest.FilesOnly(t)
	dir, model := t.TempDir(), newModel()
	const most = 40 // more than a batch
	t.Run("one after the other", func(t *testing.T) {
		r := rememberMost(t, dir, model, time.Now, most)
		var ids []string
		for i := range 60 {
			ids = append(ids, r.store1(t, knowledge.Draft{Title: fmt.Sprint("note ", i), Content: fmt.Sprintf("subject%d", i)}))
		}
		r.until(t, "full of one kind", func(s shelf.EmbeddingStatus) bool {
			return s.State == shelf.EmbeddingsReady && s.Done == most && s.LeftOut == 20
		})
		for range 2 {
			value[episode.Episode](t)(r.episodes.Record(everybody(t), episode.Draft{EventType: "action", Title: "halt", Content: "vehicle"}))
		}
		s := r.until(t, "full and at rest", func(s shelf.EmbeddingStatus) bool {
			return s.State == shelf.EmbeddingsReady && s.Done == most && s.Kinds[1].Done == 2
		})
		if s.LeftOut != 22 {
			t.Errorf("%+v", s)
		}
		var kept []string
		if err := r.db.Read.Raw("SELECT id FROM embeddings WHERE kind = 'knowledge' ORDER BY id").Scan(&kept).Error; err != nil || !cmp.Equal(kept, ids[22:]) {
			t.Errorf("%v, want the newest 38 of %v; %v", kept, ids, err)
		}
		if err := r.db.Commit.Write(t.Context(), func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO embeddings (kind, id, model, dimension, hash, scale, code) VALUES ('lesson', 'gone', 'scripted', 256, 1, 0.01, zeroblob(256))").Error
		}, nil); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		r := rememberMost(t, dir, model, time.Now, most+1)
		r.until(t, "what stands for nothing is dropped", func(shelf.EmbeddingStatus) bool {
			var lessons int
			return r.db.Read.Raw("SELECT count(*) FROM embeddings WHERE kind = 'lesson'").Row().Scan(&lessons) == nil && lessons == 0
		})
	})
}

// TestAnEditIsNotFoundByItsOldMeaning edits an entry while the model is busy with another: until its
// new vector is made, the old one finds nothing.
func TestAnEditIsNotFoundByItsOldMeaning(t *testing.T) {
	model := newModel()
	r := remember(t, t.TempDir(), model, time.Now)
	ctx := everybody(t)
	id := r.store1(t, knowledge.Draft{Title: "halt vehicle", Content: "frozen"})
	r.filled(t, 1)
	find := func() []string {
		return idsOf(value[knowledge.Results](t)(r.knowledge.Search(ctx, knowledge.Query{Query: "stop automobile"})))
	}
	if found := find(); len(found) != 1 || found[0] != id {
		t.Fatalf("found %v by meaning, want %s", found, id)
	}
	hold := make(chan struct{})
	calls, _, _ := model.seen()
	model.set(func(m *scriptedModel) { m.hold = hold })
	r.store1(t, knowledge.Draft{Title: "another", Content: "matter"})
	r.until(t, "the model is busy", func(shelf.EmbeddingStatus) bool { now, _, _ := model.seen(); return now > calls })
	title, content := "bake bread", "flour and water"
	value[knowledge.Knowledge](t)(r.knowledge.Update(ctx, id, knowledge.Patch{Title: &title, Content: &content}))
	if found := find(); len(found) != 0 {
		t.Errorf("found %v by what the entry said before", found)
	}
	model.set(func(m *scriptedModel) { m.hold = nil })
	close(hold)
	r.filled(t, 2)
	if found := find(); len(found) != 0 {
		t.Errorf("found %v with its new vector", found)
	}
}
