package skillrouter_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"skillrouter"
)

func TestCheckAgentID(t *testing.T) {
	for id, ok := range map[string]bool{
		"builder-2": true, "A.b_c:d-9": true, strings.Repeat("x", 64): true,
		"-rf": false, "--help": false, ".": false, "..": false, "....": false, ".a": true, "a..": true, // S9k: an option, a folder
		"": false, strings.Repeat("x", 65): false, "a b": false, "../x": false, "a\n": false,
		"\u212a": false /* U+212A, which NFC turns into K */, "é": false, "a\x00": false, "\xff": false,
	} {
		err := skillrouter.CheckAgentID("agent_id", id)
		if (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
		if err != nil && (skillrouter.CodeOf(err) != skillrouter.Invalid || skillrouter.FieldOf(err) != "agent_id") {
			t.Errorf("%q: %v names no field", id, err)
		}
	}
}

func TestCheckTextAndName(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want skillrouter.Code
	}{
		"fine":               {skillrouter.CheckText("t", "ok ☃", 10), ""},
		"too long":           {skillrouter.CheckText("t", "12345678901", 10), skillrouter.TooLarge},
		"NUL":                {skillrouter.CheckText("t", "a\x00", 10), skillrouter.Invalid},
		"invalid UTF-8":      {skillrouter.CheckText("t", "\xff", 10), skillrouter.Invalid},
		"blank but required": {skillrouter.CheckRequired("t", " \n", 10), skillrouter.Invalid},
		"name":               {skillrouter.CheckName("n", "prod-3"), ""},
		"name on two lines":  {skillrouter.CheckName("n", "a\nb"), skillrouter.Invalid},
		"name too long":      {skillrouter.CheckName("n", strings.Repeat("x", 129)), skillrouter.Invalid},
		"in range":           {skillrouter.CheckRange("r", 1, 0, 1), ""},
		"out of range":       {skillrouter.CheckRange("r", 1.1, 0, 1), skillrouter.Invalid},
		"not a number":       {skillrouter.CheckRange("r", math.NaN(), 0, 1), skillrouter.Invalid},
	} {
		if got := skillrouter.CodeOf(c.err); got != c.want {
			t.Errorf("%s: code %q, want %q", name, got, c.want)
		}
	}
}

func TestErrorKeepsItsCauseFromTheCaller(t *testing.T) {
	cause := errors.New("row 7 of /var/secret")
	err := fmt.Errorf("while storing: %w", skillrouter.Wrap(skillrouter.StorageFull, cause, "the disk is full"))
	if skillrouter.CodeOf(err) != skillrouter.StorageFull || skillrouter.MessageOf(err) != "the disk is full" || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if skillrouter.CodeOf(cause) != skillrouter.Internal || strings.Contains(skillrouter.MessageOf(cause), "secret") {
		t.Error("a bare error shows its text")
	}
	if skillrouter.Wrap(skillrouter.Internal, nil, "x") != nil {
		t.Error("wrapping nil makes an error")
	}
}

func TestPrincipal(t *testing.T) {
	agent := skillrouter.Principal{AgentID: "a", Scopes: []skillrouter.Scope{skillrouter.ScopeAgent}}
	for name, c := range map[string]struct {
		err error
		ok  bool
	}{
		"itself":               {agent.ActAs("a"), true},
		"another":              {agent.ActAs("b"), false},
		"nobody":               {agent.ActAs(""), false},
		"a reader as itself":   {skillrouter.Principal{AgentID: "a", Scopes: []skillrouter.Scope{skillrouter.ScopeRead}}.ActAs("a"), false},
		"the captain":          {skillrouter.Open().ActAs("b"), true},
		"the zero principal":   {skillrouter.PrincipalOf(t.Context()).Need(skillrouter.ScopeRead), false},
		"open issues no token": {skillrouter.Open().Need(skillrouter.ScopeAdmin), false},
		"an agent reads":       {agent.Need(skillrouter.ScopeRead), true},
		"an unknown scope":     {agent.Need("root"), false},
	} {
		if (c.err == nil) != c.ok {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}
