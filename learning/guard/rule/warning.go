package rule

// Warning returns the rule as one that only warns, or that may block.
func (r *Rule) Warning(only bool) *Rule {
	if r == nil || r.Draft.WarnOnly == only {
		return r
	}
	next := *r
	next.Draft.WarnOnly = only
	return &next
}

func (d RuleDraft) Forced() RuleDraft {
	d.Force = true
	return d
}
