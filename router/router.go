package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/router/classify"
)

// queryClassifier tells what kind of question a query is.
type queryClassifier interface {
	Classify(query string, mentions []classify.Mention) classify.Classification
}

var _ queryClassifier = (*classify.Classifier)(nil)

// Router is the Service beside the stores.
type Router struct {
	classifier queryClassifier
	sources    map[classify.Class]source
	names      *names // nil without a Namer
	now        skillrouter.Clock
	misses     learning.MissObserver // may be nil
}

var _ Service = (*Router)(nil)

// Options are the settings of a Router. The zero value is what the program uses.
type Options struct {
	// Now tells the time, in the zone that "yesterday" is meant in; time.Now if nil.
	Now skillrouter.Clock
	// Changed rings when names may have changed: the operational store's event bell. May be nil.
	Changed *skillrouter.Bell
	// Misses is told of questions that no source could answer. May be nil.
	Misses learning.MissObserver
}

// New makes a Router that asks the sources.
func New(classifier queryClassifier, sources Sources, options Options) *Router {
	options.Now = options.Now.Given()
	r := &Router{classifier: classifier, now: options.Now, misses: options.Misses, sources: map[classify.Class]source{
		classify.ClassKnowledge:   knowledgeSource{sources.Knowledge},
		classify.ClassEpisode:     episodeSource{sources.Episodes},
		classify.ClassOperational: operationalSource{sources.Agents, sources.Tasks, sources.Mail},
		classify.ClassRecon:       reconSource{sources.Recon},
	}}
	if sources.Names != nil {
		r.names = &names{source: sources.Names, bell: options.Changed, now: options.Now}
	}
	return r
}

// Ask implements Service. It needs ScopeRead.
func (r *Router) Ask(ctx context.Context, query Query) (Answer, error) {
	caller := skillrouter.PrincipalOf(ctx).Keeping()
	if err := caller.Need(skillrouter.ScopeRead); err != nil {
		return Answer{}, err
	}
	limit, err := query.check()
	if err != nil {
		return Answer{}, err
	}
	q := question{text: query.Query, agentID: query.AgentID, project: query.Project, prefer: query.PreferProject, limit: limit, now: r.now(), caller: caller}
	q.agentID = cmp.Or(q.agentID, caller.AgentID)
	if r.names != nil && !caller.Walled() { // they are of every project
		if q.names, err = r.names.in(ctx, query.Query); err != nil {
			return Answer{}, err
		}
	}
	if query.Type != "" {
		return r.answer(ctx, query, q)
	}
	parts := r.of(caller).split(query.Query, func(text string) []classify.Mention { return mentionsOf(namesIn(text, q.names)) })
	if len(parts) < 2 {
		return r.answer(ctx, query, q)
	}
	return r.sections(ctx, query, q, parts)
}

// of is the router as a caller that is bound to projects has it: what people taught it of others' questions is not heeded.
func (r *Router) of(caller skillrouter.Principal) *Router {
	base, taught := r.classifier.(interface{ Untaught() *classify.Classifier })
	if !caller.Walled() || !taught {
		return r
	}
	own := *r
	own.classifier = base.Untaught()
	return &own
}

// ask asks the source of a class. A caller that is bound to projects asks those that keep to them.
func (r *Router) ask(ctx context.Context, class classify.Class, q question) (found, error) {
	if q.caller.Walled() && sourceOf(class) != SourceLearning {
		return found{}, nil
	}
	return r.sources[class].ask(ctx, q)
}

// sections answers each question of a query that holds several.
func (r *Router) sections(ctx context.Context, query Query, q question, parts []clause) (Answer, error) {
	var whole Answer
	all, named := q.names, q.names[:0:0]
	for i, part := range parts {
		one := query
		one.Query, q.text = part.text, part.text
		q.names = namesIn(part.text, all)
		if len(q.names) == 0 && pointsBack(part.text) {
			q.names = named // "what did red do, and what is it doing now"
		}
		if len(q.names) > 0 {
			named = q.names
		}
		answer, err := r.answer(ctx, one, q)
		if err != nil {
			return Answer{}, err
		}
		if i == 0 {
			whole = answer
			whole.Query = query.Query
			whole.Reasons = append(slices.Clone(answer.Reasons), fmt.Sprintf("it asks %d things: this answers the first, the sections answer each", len(parts)))
		}
		whole.Sections = append(whole.Sections, answer.Section)
	}
	return whole, nil
}

// namesIn returns those of the names that a part of the query holds.
func namesIn(text string, all []named) []named {
	folded := strings.ToLower(text)
	return slices.DeleteFunc(slices.Clone(all), func(n named) bool { return !strings.Contains(folded, strings.ToLower(n.Name)) })
}

func mentionsOf(names []named) []classify.Mention {
	var mentions []classify.Mention
	for _, n := range names {
		mentions = append(mentions, n.Mention)
	}
	return mentions
}

// answer answers one question.
func (r *Router) answer(ctx context.Context, query Query, q question) (Answer, error) {
	limit := q.limit
	decided := r.of(q.caller).classify(query, mentionsOf(q.names))
	answer := Answer{Section: Section{
		QueryType: decided.Class, Confidence: decided.Confidence, Reasons: slices.Clone(decided.Reasons), Query: query.Query,
		Source: sourceOf(decided.Class), Items: []Item{},
	}}
	asker := ctx
	ctx = learning.NotAsked(ctx) // whether the whole question is a gap is seen below
	first, err := r.ask(ctx, decided.Class, q)
	if err != nil {
		return Answer{}, err
	}
	answer.take(first)
	if query.Type == "" && decided.NearTie() && r.sources[decided.Second] != nil {
		second, err := r.ask(ctx, decided.Second, q)
		if err != nil {
			return Answer{}, err
		}
		answer.Also = []classify.Class{decided.Second}
		answer.Reasons = append(answer.Reasons, fmt.Sprintf("%s is nearly as likely: both were asked", decided.Second))
		answer.merge(first, second, limit)
	}
	if len(answer.Items) == 0 && !first.settled || first.missed != "" {
		if err := r.repair(ctx, q, query.Type != "", decided, first, &answer); err != nil {
			return Answer{}, err
		}
	}
	if r.misses != nil && gap(query, decided.Class, first, &answer) {
		r.misses.Missed(asker, learning.Miss{Question: query.Query, Project: query.Project, AgentID: query.AgentID, In: learning.GapInQuery})
	}
	answer.Count = len(answer.Items)
	answer.Reasons = skillrouter.GivenList(answer.Reasons)
	return answer, nil
}

// gap tells whether an answer shows that something is not known: nothing was
// found though what is learned was looked at, or what was found there has not
// the question's words. That there is no such task is an answer.
func gap(query Query, class classify.Class, first found, answer *Answer) bool {
	if len(answer.Items) > 0 {
		return first.noMatch && answer.Source == SourceLearning && len(answer.Also) == 0
	}
	return !first.settled && (query.Type == "" || sourceOf(class) == SourceLearning)
}

// check refuses what cannot be asked, and returns how many items are wanted.
func (q Query) check() (int, error) {
	if err := cmp.Or(
		skillrouter.CheckRequired("query", q.Query, MaxQuery),
		skillrouter.CheckOptionalAgent("agent_id", q.AgentID),
		skillrouter.CheckName("project", q.Project),
	); err != nil {
		return 0, err
	}
	if q.Type != "" && !slices.Contains(classify.Classes(), q.Type) {
		return 0, skillrouter.InvalidField("type", "is not one of %v", classify.Classes())
	}
	return skillrouter.Limit(q.Limit, DefaultLimit, MaxLimit)
}

func (r *Router) classify(query Query, mentions []classify.Mention) classify.Classification {
	if query.Type != "" {
		return classify.Classification{Class: query.Type, Confidence: 1, Margin: 1, Reasons: []string{"the caller asked for this type"}}
	}
	return r.classifier.Classify(query.Query, mentions)
}

// take makes what one source has the answer.
func (a *Answer) take(f found) {
	a.Items, a.Summary = skillrouter.GivenList(f.items), f.summary
	if f.note != "" {
		a.Reasons = append(a.Reasons, f.note)
	}
}

// merge puts the second source's items after the first's. Their scores are of
// different scales, so neither is ranked by the other; the second is kept at
// least a third of the places.
func (a *Answer) merge(first, second found, limit int) {
	places := min(len(second.items), max(limit/3, limit-len(first.items)))
	items := slices.Clone(first.items[:min(len(first.items), limit-places)])
	a.Items = skillrouter.GivenList(append(items, second.items[:places]...))
	if second.summary != "" && len(second.items) > 0 {
		a.Summary = strings.TrimSpace(a.Summary + " " + second.summary)
	}
	if second.note != "" {
		a.Reasons = append(a.Reasons, second.note)
	}
}

// repair looks elsewhere for what the first source did not have: in other
// projects, then in the other classes from the likeliest on, then by what the
// question is about. What was tried stands in the answer's miss.
func (r *Router) repair(ctx context.Context, q question, forced bool, decided classify.Classification, first found, answer *Answer) error {
	asked := []classify.Class{decided.Class}
	asked = append(asked, answer.Also...)
	miss := &Miss{Reason: first.missed}
	for _, class := range asked {
		miss.Asked = append(miss.Asked, place(class, q.project))
	}
	if len(answer.Items) > 0 { // the source itself looked further, and says so
		answer.Miss = miss
		return nil
	}
	if miss.Reason == "" {
		miss.Reason = fmt.Sprintf("nothing in %s fits", place(decided.Class, q.project))
	}
	answer.Miss = miss
	if q.project != "" {
		everywhere := q
		everywhere.project = ""
		if done, err := r.try(ctx, decided.Class, everywhere, answer, "it was found in another project, or in none"); done || err != nil {
			return err
		}
	}
	others := slices.DeleteFunc(classify.Classes(), func(c classify.Class) bool { return forced || slices.Contains(asked, c) })
	skillrouter.SortStable(others, func(a, b classify.Class) int {
		return compareDown(decided.Probabilities[a], decided.Probabilities[b])
	})
	for _, class := range others {
		projects := []string{q.project}
		if q.project != "" {
			projects = append(projects, "")
		}
		for _, project := range projects {
			elsewhere := q
			elsewhere.project, elsewhere.fallback = project, true
			if done, err := r.try(ctx, class, elsewhere, answer, fmt.Sprintf("%s answered instead", class)); done || err != nil {
				return err
			}
		}
	}
	if forced && decided.Class != classify.ClassKnowledge {
		return nil
	}
	about := q
	about.project, about.subjects = "", true
	_, err := r.try(ctx, classify.ClassKnowledge, about, answer, "nobody wrote the question's words, and it was found by its subject")
	return err
}

// try asks one more place and says whether it had something.
func (r *Router) try(ctx context.Context, class classify.Class, q question, answer *Answer, then string) (bool, error) {
	if at := place(class, q.project); !slices.Contains(answer.Miss.Asked, at) {
		answer.Miss.Asked = append(answer.Miss.Asked, at)
	}
	f, err := r.ask(ctx, class, q)
	if err != nil || len(f.items) == 0 {
		return false, err
	}
	said := answer.Summary // that there is no such thing stays true
	answer.take(f)
	answer.Summary = cmp.Or(answer.Summary, said)
	answer.Source = sourceOf(class)
	answer.Miss.Reason += "; " + then
	return true, nil
}

func place(class classify.Class, project string) string {
	if project == "" {
		return string(class)
	}
	return fmt.Sprintf("%s of project %s", class, project)
}

func sourceOf(class classify.Class) string {
	if class == classify.ClassKnowledge || class == classify.ClassEpisode {
		return SourceLearning
	}
	return SourceOperational
}

func compareDown(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
