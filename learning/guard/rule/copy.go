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
	"strconv"
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
	Team     []string                   `json:"team,omitempty"` // the texts of the team's packs
	Demoted  []string                   `json:"demoted"`        // rules of packs that only warn
	Rules    []RuleDraft                `json:"rules"`
}

// How a sealed copy is written: a line with these words and the number of its form, a line with the length of the
// rest and its keyed hash (HMAC-SHA-256 over the first line and the rest), then JSON.
const (
	copyWords = "skillrouter-guard-copy"
	copyForm  = 2 // 1: without projects and the team's packs
	// MaxCopy bounds a sealed copy, in bytes: 10,000 rules are some 6 MB.
	MaxCopy = 64 << 20
)

// Seal writes the copy so that nobody without the key can change a byte of it unnoticed.
func (c Copy) Seal(key []byte) ([]byte, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("%s %d\n", copyWords, copyForm)
	return fmt.Appendf(nil, "%s%d %s\n%s", head, len(body), hex.EncodeToString(copyHash(key, head, body)), body), nil
}

func copyHash(key []byte, head string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(head))
	h.Write(body)
	return h.Sum(nil)
}

// OpenCopy reads what Seal wrote. Its errors say what is wrong, for people.
func OpenCopy(key, sealed []byte) (c Copy, err error) {
	head, rest, _ := bytes.Cut(sealed, []byte("\n"))
	var form int
	if words, number, ok := bytes.Cut(head, []byte(" ")); !ok || string(words) != copyWords {
		return Copy{}, errors.New("it is no copy of the guard's rules")
	} else if form, err = strconv.Atoi(string(number)); err != nil {
		return Copy{}, errors.New("it is no copy of the guard's rules")
	}
	if form < 1 || form > copyForm {
		return Copy{}, fmt.Errorf("it has the form %d, and this program knows the forms to %d: the two programs are of different versions", form, copyForm)
	}
	line, body, ok := bytes.Cut(rest, []byte("\n"))
	size, sum, both := bytes.Cut(line, []byte(" "))
	length, err := strconv.Atoi(string(size))
	want, wrong := hex.DecodeString(string(sum))
	if !ok || !both || err != nil || wrong != nil || len(body) < length {
		return Copy{}, errors.New("it is cut off")
	}
	if !hmac.Equal(want, copyHash(key, string(head)+"\n", body)) {
		return Copy{}, errors.New("it was changed after it was signed, or signed with another key")
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return Copy{}, fmt.Errorf("it cannot be read: %w", err)
	}
	return c, nil
}

// Guard makes a guard of the copy, and tells how many of its rules this program cannot read. A pack that the copy does
// not know is as the program gives it. Nothing is found similar.
func (c Copy) Guard(options Options) (g *Guard, unread int) {
	var rules []*Rule
	packs := slices.Clone(Packs())
	for _, text := range c.Team {
		p, err := StoredTeamPack(text)
		if err != nil {
			unread++
			continue
		}
		packs = append(packs, p)
	}
	for _, p := range packs {
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
		r, err := storedRule(d)
		if err != nil {
			unread++
			continue
		}
		rules = append(rules, r)
	}
	options.Unlike = options.Similar == nil
	return New(rules, options), unread
}
