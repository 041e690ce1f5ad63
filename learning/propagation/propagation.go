// Package propagation decides which agents are told of a lesson: those that work on what the lesson is
// about. It sends nothing.
package propagation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/internal/eventlog"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// Notice is a lesson that is news to somebody.
type Notice struct {
	Lesson LessonBrief
	// Fits names the agents whose past work the lesson fits, and the words by which it does.
	Fits map[string][]string
	// General says why the lesson is for agents of every domain; empty if it is not.
	General string
}

// Propagation decides whom a lesson reaches: the agents of its domain, those
// whose past work it fits, and everybody if it generalises; never its author.
// It learns what agents do from what they report, record and work on.
type Propagation struct {
	store Store
	now   clock.Clock

	mu       sync.Mutex
	profiles profiles
	changed  map[string]bool // profiles that are newer than stored
	saved    time.Time
}

// Bounds of propagation.
const (
	// MaxRecipients bounds for how many agents a lesson is noted because of their past
	// work, the best first: a lesson that fits more is no special news to any of them.
	MaxRecipients = 16
	// FitThreshold is the least share of a lesson's telling words that an agent must have
	// used for it to fit the agent's past work, and fitWords the least number of them.
	FitThreshold = 0.5
	fitWords     = 3
	// GeneralTransferability is from which transferability on, of the original lessons folder's 1 to 5, a
	// lesson is for agents of every domain.
	GeneralTransferability = 4

	// profilesSaved is how often changed profiles are stored at most. A kill loses that
	// much of what is known of agents, which the next reports tell again.
	profilesSaved = 5 * time.Second
)

// New makes a Propagation that knows what was known.
func New(ctx context.Context, store Store, options learning.Options) (*Propagation, error) {
	options = options.WithDefaults()
	p := &Propagation{store: store, now: options.Now, changed: map[string]bool{}, profiles: newProfiles()}
	known, err := store.Profiles(ctx, MaxProfiles)
	if err != nil {
		return nil, err
	}
	for _, profile := range slices.Backward(known) {
		p.profiles.load(profile)
	}
	p.saved = p.now()
	return p, nil
}

// Take takes in what happened, stores whom the new lessons fit, and returns
// the lessons that are news: those reported for the first time, and those that
// became principles or critical. The same events again store nothing more.
func (p *Propagation) Take(ctx context.Context, events []eventlog.Event) ([]Notice, error) {
	var news, reported, episodes []string
	worsened := map[string]bool{}
	for _, event := range events {
		switch event.Type {
		case lesson.EventReported:
			news, reported = append(news, event.Subject), append(reported, event.Subject)
		case lesson.EventPromoted:
			news = append(news, event.Subject)
		case lesson.EventOccurred, lesson.EventEdited:
			if becameCritical(event) {
				news, worsened[event.Subject] = append(news, event.Subject), true
			}
		case learning.EventEpisodeRecorded:
			if event.Agent != "" {
				episodes = append(episodes, event.Subject)
			}
		}
	}
	if err := p.takeEpisodes(ctx, episodes); err != nil {
		return nil, err
	}
	if len(news) == 0 {
		return nil, p.save(ctx)
	}
	briefs, err := p.store.LessonBriefs(ctx, news)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(briefs, func(a, b LessonBrief) int { return int(a.Number - b.Number) })
	isNew := make(map[string]bool, len(reported))
	for _, id := range reported {
		isNew[id] = true
	}
	notices, recipients := make([]Notice, 0, len(briefs)), []Recipient{}
	p.mu.Lock()
	for _, brief := range briefs {
		if !isNew[brief.ID] && brief.Level != lesson.LevelPrinciple && !worsened[brief.ID] {
			continue
		}
		notice := Notice{Lesson: brief, General: general(brief)}
		terms := telling(brief.Title, brief.Category, strings.Join(brief.Tags, " "))
		for _, fit := range p.profiles.fitting(terms, brief.SourceAgent) {
			if notice.Fits == nil {
				notice.Fits = map[string][]string{}
			}
			notice.Fits[fit.agent] = fit.words
			recipients = append(recipients, Recipient{fit.agent, brief.Number, fit.score})
		}
		if isNew[brief.ID] && brief.SourceAgent != "" {
			p.profiles.learn(brief.SourceAgent, learning.FoldDomain(brief.Domain), terms, p.now())
			p.changed[brief.SourceAgent] = true
		}
		notices = append(notices, notice)
	}
	p.mu.Unlock()
	if len(recipients) > 0 {
		// As the table has them: those of one agent stand on one page, and each page that a statement touches is copied before.
		slices.SortFunc(recipients, func(a, b Recipient) int {
			return cmp.Or(strings.Compare(a.AgentID, b.AgentID), cmp.Compare(a.LessonNumber, b.LessonNumber))
		})
		if err := p.store.AddRecipients(ctx, recipients); err != nil {
			return nil, err
		}
	}
	return notices, p.save(ctx)
}

// becameCritical tells whether a lesson that was there became a critical one.
func becameCritical(event eventlog.Event) bool {
	var told lesson.Event
	if err := json.Unmarshal(event.Data, &told); err != nil {
		return false // whoever raises escalations logs it
	}
	return told.Milder != "" && told.Severity == learning.SeverityCritical
}

func (p *Propagation) takeEpisodes(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	briefs, err := p.store.EpisodeBriefs(ctx, ids)
	for _, brief := range briefs {
		p.Worked(brief.AgentID, brief.Title)
	}
	return err
}

// Worked takes in a text that tells what an agent works on.
func (p *Propagation) Worked(agent, text string) {
	if agent == "" {
		return
	}
	terms := telling(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.profiles.learn(agent, "", terms, p.now())
	p.changed[agent] = true
}

// Why says why the lesson of a notice reaches an agent, or "" if it does not.
func (p *Propagation) Why(notice Notice, agent string) string {
	lesson := notice.Lesson
	if agent == lesson.SourceAgent {
		return ""
	}
	if domain := p.DomainOf(agent); domain != "" && domain == learning.FoldDomain(lesson.Domain) {
		return "it is of your domain, " + lesson.Domain
	}
	if words := notice.Fits[agent]; len(words) > 0 {
		return "it fits your past work: " + strings.Join(words, ", ")
	}
	return notice.General
}

// DomainOf returns the domain that an agent works in: the one that it reports
// most from, else the one that MNEMOSYNE gives its name, else "".
func (p *Propagation) DomainOf(agent string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if domain := p.profiles.domain(agent); domain != "" {
		return domain
	}
	return seedDomains()[agent]
}

// save stores the profiles that changed, unless that was done of late.
func (p *Propagation) save(ctx context.Context) error {
	p.mu.Lock()
	now := p.now()
	if age := now.Sub(p.saved); len(p.changed) == 0 || age >= 0 && age < profilesSaved {
		p.mu.Unlock()
		return nil
	}
	list := make([]Profile, 0, len(p.changed))
	for agent := range p.changed {
		if profile, ok := p.profiles.profile(agent); ok {
			list = append(list, profile)
		}
	}
	p.changed, p.saved = map[string]bool{}, now
	p.mu.Unlock()
	return p.store.SaveProfiles(ctx, list)
}

// general says why a lesson is for agents of every domain.
func general(l LessonBrief) string {
	switch {
	case l.Severity == learning.SeverityCritical:
		return "it is critical, whatever the domain"
	case l.Level == lesson.LevelPrinciple:
		return "it is a principle, which holds across domains"
	case l.Transferability >= GeneralTransferability:
		return fmt.Sprintf("its transferability is %d of 5", l.Transferability)
	}
	return ""
}
