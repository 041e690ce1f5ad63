package app

import (
	"fmt"

	"skillrouter/comms/lease"
	"skillrouter/learning"
	"skillrouter/learning/guard/rule"
	"skillrouter/operational"
)

// claimed gives the guard what others work on as matches.
func claimed(leases *lease.Leases) func(agent string, files []rule.File) []rule.Match {
	return func(agent string, files []rule.File) []rule.Match {
		asked := make([]lease.ChangedFile, len(files))
		for i, f := range files {
			asked[i] = lease.ChangedFile(f)
		}
		judged := leases.Judge(agent, asked)
		matches := make([]rule.Match, 0, len(judged.Claims))
		for _, f := range judged.Claims {
			m := rule.Match{RuleID: fmt.Sprintf("lease:%d", f.LeaseID), Title: f.Says(), Lane: rule.LaneLease, Severity: learning.SeverityMedium, Reason: "the action changes " + rule.Short(f.Path), WhyBad: f.Why, Confidence: 1, Blocks: f.Blocks}
			switch {
			case f.Blocks:
				m.Severity = learning.SeverityHigh
				fallthrough
			case f.LeaseID != 0:
				m.Alternatives = []string{fmt.Sprintf("skillrouter leases ask %d 'what you need, and when'", f.LeaseID), "work on other files: skillrouter leases list"}
			default:
				m.RuleID = "editing"
				m.Alternatives = []string{fmt.Sprintf("skillrouter signal %s %s --text 'who goes on with this file?'", f.AgentID, operational.SignalMessage)}
			}
			matches = append(matches, m)
		}
		return matches
	}
}
