package history

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// VouchedOnly has agents told only what a person accepted, or what more than one token taught. It is called before the service is used.
func (n *Incidents) VouchedOnly(only bool) { n.vouched = only }

// heard are voices with one more, as far as there is room. A token and one of its sessions are one voice.
func heard(voices []string, voice string) []string {
	if spoke(voices, voice) || len(voices) >= maxVoices {
		return voices
	}
	if voices == nil && voice == "" {
		return []string{""}
	}
	return append(slices.Clone(voices), voice)
}

// spoke tells whether a voice is among others. None at all are the owner's: they are of before voices were kept.
func spoke(voices []string, voice string) bool {
	if voices == nil {
		return voice == ""
	}
	return slices.ContainsFunc(voices, func(v string) bool {
		return v == voice || v != "" && voice != "" && (strings.HasPrefix(v, voice+":") || strings.HasPrefix(voice, v+":"))
	})
}

// asker is who is told.
type asker struct {
	voice   string
	vouched bool // nothing that one voice alone taught
}

func (n *Incidents) asker(p principal.Principal) asker { return asker{p.Voice(), n.vouched} }

// everybody is told only what is told to all.
func (n *Incidents) everybody() asker { return asker{"\x00", n.vouched} }

// told tells whether what these voices taught is told to the asker: it is the owner's or the asker's own, or more than one taught it.
func (a asker) told(voices []string) bool {
	return len(voices) > 1 || !a.vouched && (spoke(voices, "") || spoke(voices, a.voice))
}

// offers tells whether the asker may be told the fix.
func (a asker) offers(f *Fix) bool {
	return f.worth() > 0 && !f.withheld() && (f.Accepted != "" || a.told(f.Voices))
}

// standing is 1 for a fix that is more than one token's word, or the owner's.
func (f *Fix) standing() int {
	if f.Accepted != "" || len(f.Voices) != 1 || f.Voices[0] == "" {
		return 1
	}
	return 0
}

// aloneOf tells whether the fix is one voice's and nobody accepted it.
func (f *Fix) aloneOf(voice string) bool {
	return f.Accepted == "" && len(f.Voices) <= 1 && spoke(f.Voices, voice)
}

// teachers say who a fix was learned of; empty: nobody was named.
func (f *Fix) teachers() string { return strings.Join(f.By, ", ") }

// accepter is who accepts incidents.
type accepter struct {
	voice, by string
	person    bool
	refused   error // where all was the caller's own
}

func accepterOf(p principal.Principal, by string) accepter {
	name, err := p.AsPerson()
	a := accepter{voice: p.Voice(), by: by, person: err == nil}
	switch {
	case by != "":
	case a.person:
		a.by = name
	default:
		a.by = p.Voice()
	}
	if err != nil && a.voice == "" {
		a.refused = errs.Errorf(errs.Forbidden, "nobody accepts what their own agents learned, without a token all agents are one, and a person must: %s", errs.MessageOf(err))
	} else {
		a.refused = errs.Errorf(errs.Forbidden, "nobody accepts what their own token taught alone: another agent with a token of its own must, or a person")
	}
	return a
}

// doubt takes back that anybody stands by the incident's fixes.
func (inc *Incident) doubt() {
	inc.Fixes = slices.Clone(inc.Fixes)
	for i := range inc.Fixes {
		inc.Fixes[i].Accepted, inc.Fixes[i].Person = "", false
	}
}

// vouch has the accepter stand by the incident's fixes. A person's word counts for every one, but for what learning.Foreign names only if
// the person named the incident. Another's counts for what the caller's own token did not teach alone. changed tells whether
// that changed anything, may whether there is anything that the caller may stand by.
func (inc *Incident) vouch(a accepter, named bool) (changed, may bool) {
	inc.Fixes = slices.Clone(inc.Fixes)
	for i := range inc.Fixes {
		f := &inc.Fixes[i]
		if f.Accepted == "" && f.aloneOf(a.voice) && !a.person {
			continue
		}
		may = true
		if person := a.person && named; f.Accepted == "" || person && !f.Person && learning.Foreign(f.commands()) != "" {
			f.Accepted, f.Person, changed = a.by, f.Person || person, true
		}
	}
	if len(inc.Fixes) == 0 { // nothing works
		may = a.person || len(inc.Voices) > 1 || !spoke(inc.Voices, a.voice)
	}
	return changed, may
}
