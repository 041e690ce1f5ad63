package router

import (
	"slices"
	"strings"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router/classify"
)

// sighted is what a question on findings asks for, as filters.
type sighted struct {
	filter operational.FindingFilter
	span   timespan
	status bool // the question says which status
	scans  bool
	envs   bool     // it asks which environments there are
	said   []string // the words that no filter stands for
	stems  []string
}

// bound tells whether anything but text limits what is asked for, so that an
// empty list is an answer too.
func (s sighted) bound() bool {
	f := s.filter
	return f.Environment != "" || len(f.Severity) > 0 || s.status || !f.Since.IsZero()
}

var (
	cveInText = skillrouter.Lazily(`(?i)\bCVE-\d{4}-\d{4,19}\b`)

	severityWords = map[string][]operational.Severity{
		"critical": {operational.SeverityCritical}, "criticals": {operational.SeverityCritical},
		"high": {operational.SeverityHigh}, "highs": {operational.SeverityHigh},
		"medium": {operational.SeverityMedium}, "mediums": {operational.SeverityMedium}, "moderate": {operational.SeverityMedium},
		"low": {operational.SeverityLow}, "lows": {operational.SeverityLow},
		"info": {operational.SeverityInfo}, "informational": {operational.SeverityInfo},
		"severe":  {operational.SeverityCritical, operational.SeverityHigh},
		"serious": {operational.SeverityCritical, operational.SeverityHigh},
		"worst":   {operational.SeverityCritical, operational.SeverityHigh},
	}
	findingNouns = classify.WordSet(`vulnerability vulnerabilities vuln vulns finding findings weakness weaknesses exposure exposures cve cves hole holes
		risk risks problem problems issue issues flaw flaws security`)
	reconWords = classify.WordSet(`recon reconnaissance result results affect affects affected affecting vulnerable exposed exposure found discovered detected
		reported seen identified enumerated severity severities breakdown summary overview environment environments host hosts machine machines
		server servers scan scans scanned scanner scanning sweep sweeps anywhere use used uses using known check checked instance instances device devices system systems box boxes app apps application applications component components
		enabled allowed installed supported running ran run did started latest completed failed finished`)
	statusCues = []struct {
		phrase string
		says   []operational.FindingStatus
	}{
		{"false positive", []operational.FindingStatus{operational.FindingFalsePositive}},
		{"false positives", []operational.FindingStatus{operational.FindingFalsePositive}},
		{"not fixed", operational.ActiveFindingStatuses()},
		{"not patched", operational.ActiveFindingStatuses()},
		{"not resolved", operational.ActiveFindingStatuses()},
		{"not remediated", operational.ActiveFindingStatuses()},
		{"not accepted", operational.ActiveFindingStatuses()},
		{"not waived", operational.ActiveFindingStatuses()},
		{"not confirmed", []operational.FindingStatus{operational.FindingOpen}},
		{"still open", operational.ActiveFindingStatuses()},
		{"unfixed", operational.ActiveFindingStatuses()},
		{"unpatched", operational.ActiveFindingStatuses()},
		{"unresolved", operational.ActiveFindingStatuses()},
		{"outstanding", operational.ActiveFindingStatuses()},
		{"confirmed", []operational.FindingStatus{operational.FindingConfirmed}},
		{"fixed", []operational.FindingStatus{operational.FindingFixed}},
		{"patched", []operational.FindingStatus{operational.FindingFixed}},
		{"resolved", []operational.FindingStatus{operational.FindingFixed}},
		{"remediated", []operational.FindingStatus{operational.FindingFixed}},
		{"accepted", []operational.FindingStatus{operational.FindingAccepted}},
		{"waived", []operational.FindingStatus{operational.FindingAccepted}},
	}
)

// readSighted reads a question on findings.
func readSighted(q question) sighted {
	words := denied(classify.Phrase(q.text))
	s := sighted{filter: operational.FindingFilter{Project: q.project, Limit: readFindings}}
	skip := map[string]bool{}
	for _, n := range q.names {
		switch {
		case n.Kind == classify.MentionEnvironment && s.filter.Environment == "":
			s.filter.Environment = n.Stored
		case n.Kind == classify.MentionProject && s.filter.Project == "" && projectSaid(words, n):
			s.filter.Project = n.Stored
		default:
			continue
		}
		for _, w := range classify.Phrase(n.Name) {
			skip[w] = true
		}
	}
	s.filter.CVE = strings.ToUpper(cveInText.Compiled().FindString(q.text))
	if span, rest, found := findTimespan(words, q.now); found {
		s.span, words = span, rest
		s.filter.Since, s.filter.Until = span.From, span.To
	}
	for _, cue := range statusCues {
		want := strings.Fields(cue.phrase)
		if i := classify.At(words, want...); i >= 0 && !s.status {
			s.filter.Status, s.status = cue.says, true
			words = append(slices.Clone(words[:i]), words[i+len(want):]...)
		}
	}
	if i := classify.At(words, "open"); i >= 0 && !s.status && openIsStatus(words, i) {
		s.filter.Status, s.status = operational.ActiveFindingStatuses(), true
		words = append(slices.Clone(words[:i]), words[i+1:]...)
	}
	var rest []string
	for _, w := range words {
		if severities, ok := severityWords[w]; ok {
			s.filter.Severity = append(s.filter.Severity, severities...)
			continue
		}
		s.scans = s.scans || w == "scan" || w == "scans" || w == "sweep" || w == "sweeps" || w == "scanned"
		s.envs = s.envs || w == "environments" || w == "environment"
		if strings.EqualFold(w, s.filter.CVE) || findingNouns[w] || reconWords[w] || w == "project" {
			continue
		}
		rest = append(rest, w)
	}
	s.said, s.stems = classify.Content(rest, skip)
	return s
}

// openIsStatus tells "open findings" and "what is open" from "open ports".
func openIsStatus(words []string, i int) bool {
	if i+1 == len(words) || findingNouns[words[i+1]] || classify.FunctionWords()[words[i+1]] {
		return true
	}
	_, severe := severityWords[words[i+1]]
	return severe
}

// projectSaid tells whether a project's name is meant as one: many are common words.
func projectSaid(words []string, n named) bool {
	name := classify.Phrase(n.Name)
	i := classify.At(words, name...)
	if i < 0 {
		return false
	}
	after := i + len(name)
	return (i > 0 && classify.WordSet("in project of for")[words[i-1]] && after == len(words)) ||
		(i > 0 && words[i-1] == "project") || (after < len(words) && words[after] == "project")
}
