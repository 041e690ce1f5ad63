package learning

import (
	"strings"
	"unicode/utf8"

	"skillrouter"
)

// checkFactKey holds a key to what can be put into a path and on one line.
func checkFactKey(key string) error {
	if len(key) > MaxFactKey {
		return skillrouter.InvalidField("key", "is longer than %d bytes", MaxFactKey)
	}
	if len(key) <= MaxID {
		return checkID("key", key)
	}
	switch {
	case !utf8.ValidString(key):
		return skillrouter.InvalidField("key", "is not valid UTF-8")
	case strings.TrimSpace(key) != key:
		return skillrouter.InvalidField("key", "may not begin or end with white space")
	case strings.ContainsFunc(key, skillrouter.BreaksLine):
		return skillrouter.InvalidField("key", "may not hold control characters or line breaks")
	}
	return skillrouter.HoldsSecret("key", key)
}

func checkFactRef(ref *FactRef) (err error) {
	if ref.Persona, err = skillrouter.CheckPersona(ref.Persona); err != nil {
		return err
	}
	return checkFactKey(ref.Key)
}

func checkFactCategory(category string) (string, error) {
	if category == "" {
		return DefaultFactCategory, nil
	}
	return strings.TrimSpace(category), checkCategory(category)
}

// checkTTL returns the seconds that a fact is to live; 0 is for ever.
func checkTTL(ttl *int64) (int64, error) {
	if ttl == nil {
		return DefaultFactTTL, nil
	}
	if *ttl < 0 || *ttl > MaxFactTTL {
		return 0, skillrouter.InvalidField("ttl", "must lie between 0 (for ever) and %d seconds", MaxFactTTL)
	}
	return *ttl, nil
}

func checkIfVersion(version *int64) error {
	if version != nil && *version < 0 {
		return skillrouter.InvalidField("if_version", "may not be negative")
	}
	return nil
}

// preparedFact is a draft that was checked and redacted.
type preparedFact struct {
	Fact
	redaction skillrouter.Redaction
	ifVersion *int64
}

// prepareFact checks a draft, its author apart, and cuts its secrets out.
func prepareFact(draft FactDraft) (p preparedFact, err error) {
	f := &p.Fact
	f.Key, f.Trust, p.ifVersion = draft.Key, TrustAgent, draft.IfVersion
	if f.Persona, err = skillrouter.CheckPersona(draft.Persona); err != nil {
		return p, err
	}
	if err = checkFactKey(draft.Key); err != nil {
		return p, err
	}
	if f.Category, err = checkFactCategory(draft.Category); err != nil {
		return p, err
	}
	if f.TTL, err = checkTTL(draft.TTL); err != nil {
		return p, err
	}
	if err = checkIfVersion(draft.IfVersion); err != nil {
		return p, err
	}
	if f.Value, err = cleanFactValue(&p.redaction, draft.Value); err != nil {
		return p, err
	}
	if f.Probe, err = p.text("probe", draft.Probe, MaxFactProbe); err != nil {
		return p, err
	}
	if err = skillrouter.CheckText("source", draft.Source, MaxSource); err != nil { // before NUL becomes a space
		return p, err
	}
	f.Source, err = p.text("source", skillrouter.OneLine(draft.Source), MaxSource)
	return p, err
}

// text checks a text and cuts its secrets out.
func (p *preparedFact) text(field, text string, most int) (string, error) {
	if err := skillrouter.CheckText(field, text, most); err != nil {
		return "", err
	}
	return p.redaction.Cut(text), nil
}
