package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/client"
)

// exitWarned is the exit code of a check that warns: with exitDone and
// exitRefused it is the answer, so that a shell's hook can act on it.
const exitWarned = 1

// checkTimeout bounds a check: an agent waits for it before each step.
const checkTimeout = 5 * time.Second

func (s *shell) checkCommand() *cobra.Command {
	var action rule.Action
	var words []string
	var args, policy string
	cmd := s.remote(s.made(command{
		use: "check [flags] -- COMMAND...", short: "Ask whether a command is known to do harm, before running it", into: []any{&words}, lacks: 1,
		long: `Asks the guard whether a command is known to do harm. The exit code is the
answer: 0 allow, 1 warn, 2 block.

The command stands after --. One word is a line for the shell, and several are a
program and its arguments; - reads the line from stdin. If the router does not
answer, the exit code is 1, or what --fail says.`,
		flags: append(s.flags(&action, "context", "domain", "project", "agent", "tool", "folder"),
			option("args", &args, "the tool's arguments, a JSON object"),
			choice("fail", &policy, []string{"open", "closed"}, "what to do if the router does not answer: exit with 0, or with 2; default: warn, exit 1"),
		),
		before: func() (err error) {
			if policy != "" && policy != "open" && policy != "closed" {
				return usagef("--fail is open or closed, not %q", policy)
			}
			return s.proposed(&action, words, args)
		},
	}, func(ctx context.Context) error {
		var verdict guard.Checked
		c, err := s.connect(ctx)
		if err == nil {
			verdict, err = checked(ctx, c, action)
		}
		if err != nil {
			return s.unchecked(policy, err)
		}
		if err := printed(s, verdict, nil, printChecked); err != nil {
			return err
		}
		switch verdict.Decision {
		case rule.DecisionBlock:
			return exitError(exitRefused)
		case rule.DecisionWarn:
			return exitError(exitWarned)
		}
		return nil
	}))
	cmd.AddCommand(s.checks()...)
	return cmd
}

// proposal is the command that the words after -- are.
func (s *shell) proposal(words []string) (string, error) {
	switch {
	case len(words) == 1:
		err := s.text(&words[0], guard.MaxProposal)
		return words[0], err
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", usagef("argument %d can stand on no command line: %w", i+1, err)
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " "), nil
}

// checked asks the guard, and hands it the files that it wants to look into.
func checked(ctx context.Context, c *client.Client, action rule.Action) (guard.Checked, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	files := respond.Files{}
	for round := 1; ; round++ {
		action.Offers = action.Folder != "" && round < respond.MaxRounds
		verdict, err := client.Send(ctx, c, guard.Service.Check, action)
		if err != nil || len(verdict.Needs) == 0 {
			return verdict, err
		}
		action.Files = nil
		for _, file := range files.Read(action.Folder, verdict.Needs, redacted) {
			action.Files = append(action.Files, act.Content(file))
		}
	}
}

// redacted is a text without its secrets, for a router that may be on another machine.
func redacted(text string) string {
	text, _ = redact.Text(text)
	return text
}

// unchecked is the end of a check that got no answer. What the router refused
// is an error like any other, whose exit code must not read as leave.
func (s *shell) unchecked(policy string, err error) error {
	switch errs.CodeOf(err) {
	case errs.Invalid, errs.TooLarge, errs.Unauthenticated, errs.Forbidden:
		return err
	}
	verdict, code := "warned", exitError(exitWarned)
	switch policy {
	case "open":
		verdict, code = "let through (--fail open)", exitDone
	case "closed":
		verdict, code = "blocked (--fail closed)", exitRefused
	}
	fmt.Fprintf(s.err, "skillrouter: this was not checked, and is %s: %s\n", verdict, harmless(explain(err)))
	if code == exitDone {
		return nil
	}
	return code
}

var printChecked = page[guard.Checked](`
{{- if eq .Decision "allow"}}Allowed.{{else if eq .Decision "warn"}}Warned.{{else}}BLOCKED.{{end}}
{{- $to := printf " %s" (list .ToAllow ", then ")}}
{{- range .Warnings}}
  {{without . $to}}
{{- end}}
{{- range .ToAllow}}
      {{.}}
{{- end}}
{{- range .Matches}}
  {{.Severity}} rule {{.RuleID}}: {{.Reason}}
{{- end}}
{{- range .Alternatives}}
  instead: {{.}}
{{- end}}
{{- if and .CheckID (ne .Decision "allow")}}
Say what came of it: skillrouter check outcome {{short .CheckID}} heeded|overridden [--result success|failure|partial]
{{- end}}`)

// checks are the commands below check: of what was checked, of the packs of rules, and of what persons allow.
func (s *shell) checks() (below []*cobra.Command) {
	var approvals guard.ApprovalFilter
	var approval guard.ApprovalDraft
	permissions := s.does(command{
		use: "permissions", short: "List what persons allowed until further notice", do: guard.Service.Permissions,
		says: "{{range .Permissions}}" + permissionPage + "\n{{else}}Nothing.{{end}}",
	})
	permissions.AddCommand(s.does(command{use: "revoke PERMISSION", do: guard.Service.RevokePermission, kind: "permissions", says: permissionPage}))
	below = append(below, s.checkRules(), s.checkPacks(), s.checkExplain(), permissions)
	for _, of := range []command{
		{
			use: "list", short: "List what was checked, the latest first", do: guard.Service.Ledger, none: "Nothing was checked.",
			rows: "at=CHECKED agent decision tool proposed_action=ACTION outcome",
		},
		{use: "outcome CHECK heeded|overridden", do: guard.Service.Outcome, kind: "checks", words: []string{"check_id", "outcome"}, things: &thing{guard.Service.Ledger, "short decision proposed_action"}, as: func(flag string) string { return flag }, says: settledPage},
		{
			use: "approvals", short: "List what was blocked and waits for a person", do: guard.Service.Approvals, in: &approvals,
			all: "whatever became of them", unlessAll: func() { approvals.State = cmp.Or(approvals.State, lesson.ApprovalPending) },
			says: "{{range .Approvals}}" + approvalPage + "\n{{else}}Nothing.{{end}}{{with .Next}}There are more: --cursor {{.}}{{end}}",
		},
		{
			use: "approve APPROVAL", short: "Allow what the guard blocked, exactly that and once; for a person", do: guard.Service.Approve, kind: "approvals", says: approvalPage,
			in: &approval, hides: "project", flags: options{option("project-wide", &approval.Project, "with --always: in every folder of the project")},
			long: `Allows what the guard blocked: the next check of exactly this action, by this
agent in this folder, within ten minutes, once. It takes a person, and asks for the passphrase that
"passphrase set" has set. Where none is set, it takes the owner's token, or a captain's
without the scope agent (token create --person NAME --scope captain). The router must
have issued a token.

With --always it makes a standing permission, for this kind of agent in this
folder, which "check permissions" lists and revokes.`,
		},
		{use: "deny APPROVAL", short: "Refuse what the guard blocked; for a person", do: guard.Service.Deny, kind: "approvals", says: approvalPage},
	} {
		below = append(below, s.does(of))
	}
	return below
}

const settledPage = `
{{- if .Duplicate}}That was said already.{{else}}Noted.{{end}}
{{- range .Rules}}
  rule {{.RuleID}}: confidence {{.Confidence}}, was {{.Previous}}; precision {{.Precision}}
{{- if .Demoted}}
    It warns from now on, and blocks no more.
{{- end}}
{{- end}}`

// checkRules lists the guard's rules, or shows one; the command rules has the same.
func (s *shell) checkRules() *cobra.Command {
	cmd := s.does(s.rules("rules [RULE]"))
	cmd.AddCommand(s.does(s.rulesRestore()))
	return cmd
}

const ruleRows = "short=RULE title severity blocks demoted active times_triggered=TRIGGERED precision confidence notes"

func (s *shell) rules(use string) command {
	return command{
		use: use, short: "List the guard's rules and how they did", do: guard.Service.Rules, one: guard.Service.Rule, kind: "rules", hidden: true, full: true, rows: ruleRows,
	}
}

func (s *shell) rulesRestore() command {
	return command{
		use: "restore RULE", short: "Let a rule that was demoted block again", do: guard.Service.RestoreRule, kind: "rules", rows: ruleRows, full: true,
		as: func(flag string) string { return flag },
	}
}

func (s *shell) checkPacks() *cobra.Command {
	plain := []command{{use: "list", short: "List the packs, and whether they are off, warn or block", do: guard.Service.Packs, says: packsPage}}
	for _, to := range []struct {
		verb, short string
		mode        rule.Mode
	}{
		{"on", "Let packs block", rule.ModeBlock},
		{"warn", "Let packs warn, and block nothing", rule.ModeWarn},
		{"off", "Switch packs off", rule.ModeOff},
		{"default", "Take back what was said of packs: as everywhere, or as they are by themselves", guard.ModeDefault},
	} {
		plain = append(plain, command{use: to.verb + " [NAME...]", short: to.short + "; for the captain", do: guard.Service.SetPacks, words: []string{"names"}, in: &guard.PackDraft{Mode: to.mode}, hides: "mode", says: packsPage})
	}
	return s.verbs(verbs{name: "packs", short: "The packs of rules that the guard has", plain: plain})
}

const packsPage = `
{{- with .Notice}}NOTE: {{.}}.
{{end}}
{{- range $i, $pack := .Packs}}{{if $i}}
{{end}}
{{- printf "%-12s %-5s" .Name .Mode}}  {{.Rules}} rules, version {{.Version}}
{{- if .Because}}, {{.Because}}{{else if ne .Mode .Default}}, by default {{.Default}}{{end}}
    {{.About}}
{{- if not .Because}}
{{- range .Projects}}
    in the project {{.Project}}: {{.Mode}}
{{- end}}
{{- end}}
{{- end}}`

func (s *shell) checkExplain() *cobra.Command {
	var action rule.Action
	var words []string
	var args string
	return s.does(command{
		do: guard.Service.Explain, in: &action, hides: "proposed_action context domain offers_files unread", says: explainedPage,
		use: "explain [flags] -- COMMAND...", short: "Say what the guard reads in a command, and what it would say of it", into: []any{&words}, lacks: 1,
		flags:  options{option("args", &args, "the tool's arguments, a JSON object")},
		before: func() error { return s.proposed(&action, words, args) },
	})
}

// proposed fills in the action that words and the tool's arguments propose.
func (s *shell) proposed(action *rule.Action, words []string, args string) (err error) {
	if action.Command, err = s.proposal(words); err != nil {
		return err
	}
	if args != "" {
		if err := json.Unmarshal([]byte(args), &action.Args); err != nil {
			return usagef("--args is no JSON object: %w", err)
		}
	}
	if action.Folder == "" {
		action.Folder = workingFolder()
	}
	if action.Command == "" && action.Tool == "" {
		return usagef("this needs a command after --, or a --tool")
	}
	return nil
}

const explainedPage = `It would {{.Decision}} this.
{{- with .Allowed}}
  {{.Owner}} allowed it here until {{day .EndsAt}}: permission {{.ID}}
{{- end}}
{{- range .Matches}}
  {{.Severity}} rule {{.RuleID}} ({{.Sure}}): {{.Title}}
    {{.Reason}}; {{.WhyBad}}
{{- with .Because}}
    its pack: {{.}}
{{- end}}
{{- range .Alternatives}}
    instead: {{.}}
{{- end}}
{{- end}}
{{- range .Off}}
  the pack {{.Pack}} is off ({{.Because}}): its rule {{.RuleID}} would fit
{{- end}}
{{- if .Acts}}
It was read as:
{{- end}}
{{- range .Acts}}
  {{.Command}}{{with .Harms}}   ({{.}}){{end}}
{{- end}}
{{- range .Notes}}
Note: {{.}}
{{- end}}`

// proposePacks says which packs of the guard the files of a folder speak for.
func proposePacks(w io.Writer, folder string) {
	if folder == "" {
		return
	}
	if packs := rule.PacksFor(os.DirFS(folder)); len(packs) > 0 {
		fmt.Fprintf(w, "By its files, the guard's packs %s fit this project: skillrouter check packs on %s\n", strings.Join(packs, ", "), strings.Join(packs, " "))
	}
}

const approvalPage = `{{.ID}}  {{.State}}, asked by {{.Agent}}
{{- with .Folder}} in {{.}}{{end}}
{{- if gt .Asked 1}}, {{.Asked}} times{{end}}
    {{.Says}}
{{- range .Matches}}
    {{.Severity}} rule {{.RuleID}}: {{.Title}}
{{- end}}
{{- if eq .State "pending"}}
    waits until {{clock .EndsAt}}
{{- else if eq .State "approved"}}
    allowed once by {{.DecidedBy}}, until {{clock .EndsAt}}
{{- else if eq .State "used"}}
    allowed by {{.DecidedBy}}, used by check {{.UsedCheck}}
{{- else if eq .State "denied"}}
    refused by {{.DecidedBy}}
{{- end}}
{{- with .Notes}}
    note: {{.}}
{{- end}}`

const permissionPage = `{{.ID}}  {{.Owner}}, for {{.AgentKind}}
{{- if .Folder}} in {{.Folder}}{{else if not .Withheld}} in every folder of {{.Project}}{{end}}
{{- if .RevokedAt}}, revoked by {{.RevokedBy}}{{else}}, until {{day .EndsAt}}{{end}}
    {{if .Withheld}}(for another kind of agent){{else}}{{or .Pattern .Action}}{{end}}
    lifts {{.RuleIDs}}`
