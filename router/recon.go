package router

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router/classify"
)

// readFindings bounds how many findings are compared with a question's words,
// and named for a question without any.
const readFindings = 200

// leastFit is how much of what a question names a finding must hold. It is
// less than for tasks: findings are worded by scanners and not by the team.
const leastFit = 1.0 / 3

// reconSource answers what reconnaissance found.
type reconSource struct{ recon Recon }

func (s reconSource) ask(ctx context.Context, q question) (found, error) {
	if s.recon == nil {
		return found{}, nil
	}
	asked := readSighted(q)
	if q.fallback && len(asked.stems) == 0 && asked.filter.CVE == "" && asked.filter.Environment == "" {
		return found{}, nil
	}
	var f found
	var err error
	switch {
	case asked.envs && asked.filter.Environment == "" && len(asked.stems) == 0 && !asked.bound() && asked.filter.CVE == "":
		f, err = s.environments(ctx, q)
	case asked.scans && len(asked.filter.Severity) == 0 && !asked.status && asked.filter.CVE == "":
		f, err = s.scans(ctx, q, asked)
	}
	if err != nil || len(f.items) > 0 {
		return f, err
	}
	return s.findings(ctx, q, asked)
}

// findings answers from the filters, and by text among what they leave. Unless
// the question says otherwise, what still is a danger comes before the rest.
func (s reconSource) findings(ctx context.Context, q question, asked sighted) (found, error) {
	filter := asked.filter
	active := !asked.status
	if active {
		filter.Status = operational.ActiveFindingStatuses()
	}
	fit, err := s.fitting(ctx, filter, asked)
	if err != nil {
		return found{}, err
	}
	if active && (len(fit.list) == 0 || fit.missing) { // what is asked for may be a danger no more
		filter.Status = nil
		past, err := s.fitting(ctx, filter, asked)
		if err != nil {
			return found{}, err
		}
		if len(fit.list) == 0 || !past.missing {
			fit, active = past, false
		}
	}
	if fit.missing && (q.fallback || (!asked.bound() && filter.CVE == "")) {
		fit = fitting{}
	}
	f := found{settled: asked.bound(), note: "looked for findings" + asked.words(active)}
	for i, one := range fit.list[:min(len(fit.list), q.limit)] {
		f.items = append(f.items, findingItem(one, 1/float64(i+1)))
	}
	var names, severities []string
	for _, one := range fit.list {
		names = append(names, FindingPhrase(one))
	}
	for _, severity := range operational.Severities() {
		if n := fit.bySeverity[severity]; n > 0 {
			severities = append(severities, fmt.Sprintf("%d %s", n, severity))
		}
	}
	breakdown := ""
	if len(severities) > 0 {
		breakdown = " (" + strings.Join(severities, ", ") + ")"
	}
	switch {
	case len(fit.list) == 0 && filter.CVE != "":
		f.summary = fmt.Sprintf("No finding names %s%s.", filter.CVE, asked.where())
	case len(fit.list) == 0 && !asked.bound():
		return f, nil
	default:
		f.summary = fmt.Sprintf("%s%s%s%s.", capital(Amount(fit.total, "finding", "findings")), asked.words(active), breakdown, enumerate(names, fit.total))
		if fit.missing {
			f.summary += fmt.Sprintf(" None of them names %s.", strings.Join(asked.said, ", "))
		}
	}
	return f, nil
}

// fitting is the findings that a question's filters and words select.
type fitting struct {
	list       []operational.Finding // at most readFindings
	total      int                   // of all that there are
	bySeverity map[operational.Severity]int
	missing    bool // none had the words, and these are what the filters alone select
}

func (s reconSource) fitting(ctx context.Context, filter operational.FindingFilter, asked sighted) (fitting, error) {
	var fit fitting
	if words := classify.Needles(asked.said, operational.MaxAnyOf); len(words) > 0 {
		holding := filter
		holding.AnyOf = words
		candidates, err := s.recon.Findings(ctx, holding)
		if err != nil {
			return fitting{}, err
		}
		if fit.list = fitTo(asked.stems, candidates); len(fit.list) > 0 {
			fit.total, fit.bySeverity = len(fit.list), map[operational.Severity]int{}
			for _, one := range fit.list {
				fit.bySeverity[one.Severity]++
			}
			return fit, nil
		}
	}
	fit.missing = len(asked.stems) > 0
	if fit.missing && !asked.bound() && filter.CVE == "" {
		return fit, nil // what the words alone were to select is nothing
	}
	var err error
	if fit.list, err = s.recon.Findings(ctx, filter); err != nil {
		return fitting{}, err
	}
	summary, err := s.recon.Summary(ctx, filter)
	fit.total, fit.bySeverity = summary.Total, summary.BySeverity
	return fit, err
}

// fitTo keeps the findings that hold enough of what a question names, the best first.
func fitTo(stems []string, candidates []operational.Finding) []operational.Finding {
	type scored struct {
		finding operational.Finding
		score   float64
	}
	var fit []scored
	for _, one := range candidates {
		title := classify.Overlap(stems, one.Title+" "+one.Location)
		all := classify.Overlap(stems, strings.Join([]string{one.Title, one.Location, one.Description, one.Evidence, one.Environment, one.Remediation}, " "))
		if all >= leastFit {
			fit = append(fit, scored{one, max(title, 0.9*all)})
		}
	}
	skillrouter.SortStable(fit, func(a, b scored) int { return compareDown(a.score, b.score) })
	list := make([]operational.Finding, len(fit))
	for i, one := range fit {
		list[i] = one.finding
	}
	return list
}

// words says what was looked for.
func (s sighted) words(active bool) string {
	var b strings.Builder
	f := s.filter
	if len(f.Severity) > 0 {
		b.WriteString(" of severity " + joined(f.Severity))
	}
	switch {
	case s.status:
		b.WriteString(" with status " + joined(f.Status))
	case active:
		b.WriteString(" with status " + joined(operational.ActiveFindingStatuses()))
	}
	if f.CVE != "" {
		b.WriteString(" of " + f.CVE)
	}
	b.WriteString(s.where())
	if s.span.Phrase != "" {
		b.WriteString(" seen " + s.span.Phrase)
	}
	return b.String()
}

func (s sighted) where() string {
	switch {
	case s.filter.Environment != "":
		return " in " + s.filter.Environment
	case s.filter.Project != "":
		return " in project " + s.filter.Project
	}
	return ""
}

func joined[T ~string](list []T) string {
	var words []string
	for _, one := range list {
		words = append(words, strings.ReplaceAll(string(one), "_", " "))
	}
	return strings.Join(words, " or ")
}

// scans answers which scans there were, and what the latest of them found.
func (s reconSource) scans(ctx context.Context, q question, asked sighted) (found, error) {
	filter := operational.ScanFilter{Environment: asked.filter.Environment, Project: asked.filter.Project, Since: asked.span.From, Limit: readFindings}
	scans, err := s.recon.Scans(ctx, filter)
	if err != nil {
		return found{}, err
	}
	states := map[string]string{"running": operational.ScanRunning, "failed": operational.ScanFailed, "completed": operational.ScanCompleted, "finished": operational.ScanCompleted}
	words := classify.Phrase(q.text)
	scans = slices.DeleteFunc(scans, func(scan operational.Scan) bool {
		for _, w := range words {
			if status, ok := states[w]; ok && scan.Status != status {
				return true
			}
		}
		return !asked.span.holds(scan.StartedAt)
	})
	var fitting []operational.Scan
	for _, scan := range scans {
		if len(asked.stems) == 0 || classify.Overlap(asked.stems, scan.Scanner+" "+scan.Summary+" "+scan.Environment) > 0 {
			fitting = append(fitting, scan)
		}
	}
	f := found{note: "looked for scans" + asked.where()}
	if len(fitting) == 0 {
		return f, nil
	}
	var names []string
	for _, scan := range fitting {
		f.items = append(f.items, scanItem(scan))
		names = append(names, fmt.Sprintf("%s of %s on %s (%s)", scan.Scanner, scan.Environment, scan.StartedAt.In(q.now.Location()).Format(time.DateOnly), scan.Status))
	}
	f.summary = capital(Amount(len(fitting), "scan", "scans")) + enumerate(names, len(names)) + "."
	if classify.HasAny(words, "last", "latest", "results", "result") {
		latest := fitting[0]
		f.items = f.items[:1]
		its := operational.FindingFilter{ScanID: latest.ID, Limit: q.limit}
		list, err := s.recon.Findings(ctx, its)
		if err != nil {
			return found{}, err
		}
		counts, err := s.recon.Summary(ctx, its)
		if err != nil {
			return found{}, err
		}
		for i, one := range list {
			f.items = append(f.items, findingItem(one, 1/float64(i+2)))
		}
		f.summary = fmt.Sprintf("The latest is %s; %s.", names[0], Amount(counts.Total, "finding is of it", "findings are of it"))
	}
	f.items = f.items[:min(len(f.items), q.limit)]
	return f, nil
}

// environments lists what is scanned.
func (s reconSource) environments(ctx context.Context, q question) (found, error) {
	envs, err := s.recon.Environments(ctx, q.project)
	if err != nil {
		return found{}, err
	}
	f := found{settled: true, note: "listed the environments"}
	var names []string
	for i, env := range envs {
		names = append(names, env.Name)
		if i < q.limit {
			f.items = append(f.items, Item{
				Kind: "environment", ID: env.ID, Title: env.Name, Content: env.Description, Score: 1 / float64(i+1), Project: env.Project, At: env.UpdatedAt,
				Fields: map[string]any{"kind": env.Kind},
			})
		}
	}
	f.summary = capital(Amount(len(envs), "environment is known", "environments are known")) + enumerate(names, len(names)) + "."
	return f, nil
}
