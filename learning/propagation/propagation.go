// Package propagation decides which agents are told of a lesson: those of its domain, and all of one that holds in every
// domain. It sends nothing.
package propagation

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Notice is a lesson that is news to somebody.
type Notice struct {
	Lesson lesson.Lesson
	// General says why the lesson is for agents of every domain; empty if it is not.
	General string
}

// Propagation decides whom a lesson reaches: the agents of its domain, and everybody if it generalises; never its author.
type Propagation struct {
	store Store

	mu      sync.Mutex
	domains map[string]string // by agent, as far as somebody asked since the agent reported last
}

// GeneralTransferability is from which transferability on, of the original lessons folder's 1 to 5, a
// lesson is for agents of every domain.
const GeneralTransferability = 4

// maxDomains bounds the agents whose domain is kept in memory.
const maxDomains = 10_000

// New makes a Propagation.
func New(store Store) *Propagation { return &Propagation{store: store, domains: map[string]string{}} }

// Take returns the lessons that are news because of what happened: those reported for the first time, and those that
// became principles or critical.
func (p *Propagation) Take(ctx context.Context, events []eventlog.Event) ([]Notice, error) {
	var news []string
	reported, worsened := map[string]bool{}, map[string]bool{}
	for _, event := range events {
		switch event.Type {
		case lesson.EventReported:
			news, reported[event.Subject] = append(news, event.Subject), true
		case lesson.EventPromoted:
			news = append(news, event.Subject)
		case lesson.EventOccurred, lesson.EventEdited:
			if becameCritical(event) {
				news, worsened[event.Subject] = append(news, event.Subject), true
			}
		}
	}
	if len(news) == 0 {
		return nil, nil
	}
	lessons, err := p.store.Lessons(ctx, news)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(lessons, func(a, b lesson.Lesson) int { return int(a.Number - b.Number) })
	var notices []Notice
	for _, l := range lessons {
		if reported[l.ID] {
			p.mu.Lock()
			delete(p.domains, l.SourceAgent)
			p.mu.Unlock()
		}
		if l.Status != lesson.StatusRetired && (reported[l.ID] || l.Level == lesson.LevelPrinciple || worsened[l.ID]) {
			notices = append(notices, Notice{Lesson: l, General: general(l)})
		}
	}
	return notices, nil
}

// becameCritical tells whether a lesson that was there became a critical one.
func becameCritical(event eventlog.Event) bool {
	var told lesson.Event
	if err := json.Unmarshal(event.Data, &told); err != nil {
		return false // whoever raises escalations logs it
	}
	return told.Milder != "" && told.Severity == learning.SeverityCritical
}

// Why says why the lesson of a notice reaches an agent, or "" if it does not.
func (p *Propagation) Why(ctx context.Context, notice Notice, agent string) (string, error) {
	if agent == notice.Lesson.SourceAgent {
		return "", nil
	}
	domain, err := p.DomainOf(ctx, agent)
	if err == nil && domain != "" && domain == learning.FoldDomain(notice.Lesson.Domain) {
		return "it is of your domain, " + notice.Lesson.Domain, nil
	}
	return notice.General, err
}

// DomainOf returns the domain that an agent works in: the one that it reports
// most from of late, else the one that MNEMOSYNE gives its name, else "".
func (p *Propagation) DomainOf(ctx context.Context, agent string) (string, error) {
	p.mu.Lock()
	domain, known := p.domains[agent]
	p.mu.Unlock()
	if known {
		return domain, nil
	}
	reports, err := p.store.ReportedDomains(ctx, agent)
	if err != nil {
		return "", err
	}
	domain, most := seedDomains()[agent], 0
	counts := map[string]int{}
	for _, reported := range reports {
		reported = learning.FoldDomain(reported)
		counts[reported]++
		if n := counts[reported]; n > most || n == most && reported < domain {
			domain, most = reported, n
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.domains) >= maxDomains {
		clear(p.domains)
	}
	p.domains[agent] = domain
	return domain, nil
}

// general says why a lesson is for agents of every domain.
func general(l lesson.Lesson) string {
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

// Store has the lessons. learning/store implements it on learning.db.
type Store interface {
	// Lessons returns the lessons with the ids that exist, in no order.
	Lessons(ctx context.Context, ids []string) ([]lesson.Lesson, error)
	// ReportedDomains returns the domains of the lessons that an agent reported last, one for each lesson.
	ReportedDomains(ctx context.Context, agent string) ([]string, error)
}

//go:embed domains.txt
var domainsText string

// seedDomains says which domain an agent of a name works in.
var seedDomains = wordlist.Map(domainsText, "")
