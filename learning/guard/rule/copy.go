package rule

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Copy is all that a guard elsewhere needs to judge as this one does, but for what it remembers and finds
// similar: the modes of the packs, and the rules that recognise acts.
type Copy struct {
	Router  string          `json:"router"`  // URL of the router that made it
	Version string          `json:"version"` // of that program
	At      time.Time       `json:"at"`      // when the rules were so
	Packs   map[string]Mode `json:"packs"`
	// Projects are the modes of packs in projects where it is another than elsewhere, by pack and project.
	Projects map[string]map[string]Mode `json:"projects,omitempty"`
	Demoted  []string                   `json:"demoted"` // rules of packs that only warn
	Rules    []RuleDraft                `json:"rules"`
}

// sealedCopy is how a copy is written: JSON that begins with the number of its form, and has a keyed hash (HMAC-SHA-256) of the
// form and of the copy's text.
type sealedCopy struct {
	Form int             `json:"skillrouter_guard_copy"`
	Hash string          `json:"hmac"`
	Copy json.RawMessage `json:"copy"`
}

const (
	copyHead = `{"skillrouter_guard_copy":`
	copyForm = 3
	// MaxCopy bounds a sealed copy, in bytes: 10,000 rules are some 6 MB.
	MaxCopy = 64 << 20
)

// Seal writes the copy so that nobody without the key can change a byte of it unnoticed.
func (c Copy) Seal(key []byte) ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealedCopy{copyForm, copyHash(key, copyForm, text), text})
}

func copyHash(key []byte, form int, text []byte) string {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%d\n%s", form, text)
	return hex.EncodeToString(h.Sum(nil))
}

// OpenCopy reads what Seal wrote. Its errors say what is wrong, for people.
func OpenCopy(key, sealed []byte) (c Copy, err error) {
	var s sealedCopy
	err = json.Unmarshal(sealed, &s)
	switch {
	case !bytes.HasPrefix(sealed, []byte(copyHead)):
		return c, errors.New("it is no copy of the guard's rules")
	case err != nil:
		return c, errors.New("it is cut off")
	case s.Form != copyForm:
		return c, fmt.Errorf("it has the form %d, and this program knows the form %d: the two programs are of different versions", s.Form, copyForm)
	}
	whole, err := json.Marshal(s)
	switch {
	case err != nil || !bytes.Equal(whole, sealed), !hmac.Equal([]byte(s.Hash), []byte(copyHash(key, s.Form, s.Copy))):
		return c, errors.New("it was changed after it was signed, or signed with another key")
	}
	if err := json.Unmarshal(s.Copy, &c); err != nil {
		return Copy{}, fmt.Errorf("it cannot be read: %w", err)
	}
	return c, nil
}

// Guard makes a guard of the copy, and tells how many of its rules this program cannot read. A pack that the copy does
// not know is as the program gives it. Nothing is found similar.
func (c Copy) Guard() (g *Guard, unread int) {
	var rules []*Rule
	for _, p := range Packs() {
		modes := Modes{All: cmp.Or(c.Packs[p.Name], p.Default), Projects: c.Projects[p.Name]}
		for _, r := range p.Rules {
			if r = r.Under(modes); r == nil {
				continue
			}
			if slices.Contains(c.Demoted, r.Draft.ID) {
				r = r.Limited(true, "")
			}
			rules = append(rules, r)
		}
	}
	for _, d := range c.Rules {
		r, err := NewRule(d)
		if err != nil && !d.Force { // it was accepted once: what makes its commands too wide may have changed since
			r, err = NewRule(d.Forced())
		}
		if err != nil {
			unread++
			continue
		}
		rules = append(rules, r)
	}
	return New(rules, nil), unread
}
