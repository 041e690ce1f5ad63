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

	"skillrouter/cmd/hook/respond"
	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/redact"
	"skillrouter/learning/guard"
	"skillrouter/learning/guard/act"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
	"skillrouter/router/client"
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
		use: "check [flags] -- COMMAND...", short: "Ask whether a command is known to do harm, before running it", args: listed(cobra.ArbitraryArgs, &words),
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
		checked, err := s.check(ctx, action)
		if err != nil {
			return s.unchecked(policy, err)
		}
		if err := s.print(checked, func(w io.Writer) { printChecked(w, checked) }); err != nil {
			return err
		}
		switch checked.Decision {
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

func (s *shell) check(ctx context.Context, action rule.Action) (guard.Checked, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return guard.Checked{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	files := respond.Files{}
	for round := 1; ; round++ {
		action.Offers = action.Folder != "" && round < respond.MaxRounds
		checked, err := client.Send(ctx, c, guard.Service.Check, action)
		if err != nil || len(checked.Needs) == 0 {
			return checked, err
		}
		action.Files = nil
		for _, file := range files.Read(action.Folder, checked.Needs, redacted) {
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

func printChecked(w io.Writer, c guard.Checked) {
	switch c.Decision {
	case rule.DecisionAllow:
		fmt.Fprintln(w, "Allowed.")
	case rule.DecisionWarn:
		fmt.Fprintln(w, "Warned.")
	default:
		fmt.Fprintln(w, "BLOCKED.")
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "  %s\n", clean(strings.TrimSuffix(warning, " "+strings.Join(c.ToAllow, ", then "))))
	}
	for _, command := range c.ToAllow {
		fmt.Fprintf(w, "      %s\n", clean(command))
	}
	for _, m := range c.Matches {
		fmt.Fprintf(w, "  %s rule %s: %s\n", m.Severity, clean(m.RuleID), clean(m.Reason))
	}
	for _, a := range c.Alternatives {
		fmt.Fprintf(w, "  instead: %s\n", clean(a))
	}
	if c.Decision != rule.DecisionAllow && c.CheckID != "" {
		fmt.Fprintf(w, "Say what came of it: skillrouter check outcome %s heeded|overridden [--result success|failure|partial]\n", clean(shortID(c.CheckID)))
	}
}

// checks are the commands below check: of what was checked, of the packs of rules, and of what persons allow.
func (s *shell) checks() (below []*cobra.Command) {
	approvals := guard.ApprovalFilter{State: lesson.ApprovalPending}
	var approval guard.ApprovalDraft
	var all bool
	permissions := s.does(command{use: "permissions", short: "List what persons allowed until further notice", do: guard.Service.Permissions, show: func(w io.Writer, list guard.PermissionList) {
		if list.Count == 0 {
			fmt.Fprintln(w, "Nothing.")
		}
		for _, p := range list.Permissions {
			printPermission(w, p)
		}
	}})
	permissions.AddCommand(s.does(command{use: "revoke PERMISSION", do: guard.Service.RevokePermission, kind: "permissions", show: printPermission}))
	below = append(below, s.checkRules(), s.checkPacks(), s.checkExplain(), permissions)
	for _, of := range []command{
		{
			use: "list", short: "List what was checked, the latest first", do: guard.Service.Ledger, none: "Nothing was checked.",
			rows: "at=CHECKED agent decision tool proposed_action=ACTION outcome",
		},
		{use: "outcome CHECK heeded|overridden", do: guard.Service.Outcome, kind: "checks", words: []string{"check_id", "outcome"}, as: func(flag string) string { return flag }, show: printSettled},
		{
			use: "approvals", short: "List what was blocked and waits for a person", do: guard.Service.Approvals, in: &approvals,
			flags: options{option("all", &all, "whatever became of them")},
			before: func() error {
				if all {
					approvals.State = ""
				}
				return nil
			},
			show: func(w io.Writer, page guard.ApprovalPage) {
				if page.Count == 0 {
					fmt.Fprintln(w, "Nothing.")
				}
				for _, a := range page.Approvals {
					printApproval(w, a)
				}
				printIf(w, "There are more: --cursor %s\n", page.Next)
			},
		},
		{
			use: "approve APPROVAL", short: "Allow what the guard blocked, exactly that and once; for a person", do: guard.Service.Approve, kind: "approvals", show: printApproval,
			in: &approval, hides: "project", flags: options{option("project-wide", &approval.Project, "with --always: in every folder of the project")},
			long: `Allows what the guard blocked: the next check of exactly this action, by this
agent in this folder, within ten minutes, once. It takes a person, and asks for the passphrase that
"passphrase set" has set. Where none is set, it takes the owner's token, or a captain's
without the scope agent (token create --person NAME --scope captain). The router must
have issued a token.

With --always it makes a standing permission, for this kind of agent in this
folder, which "check permissions" lists and revokes.`,
		},
		{use: "deny APPROVAL", short: "Refuse what the guard blocked; for a person", do: guard.Service.Deny, kind: "approvals", show: printApproval},
	} {
		below = append(below, s.does(of))
	}
	return below
}

func printSettled(w io.Writer, settled guard.Settled) {
	if settled.Duplicate {
		fmt.Fprintln(w, "That was said already.")
		return
	}
	fmt.Fprintln(w, "Noted.")
	for _, r := range settled.Rules {
		fmt.Fprintf(w, "  rule %s: confidence %.2f, was %.2f; precision %.2f\n", clean(r.RuleID), r.Confidence, r.Previous, r.Precision)
		if r.Demoted {
			fmt.Fprintln(w, "    It warns from now on, and blocks no more.")
		}
	}
}

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
	var file guard.PackFile
	plain := []command{
		{use: "list", short: "List the packs, and whether they are off, warn or block", do: guard.Service.Packs, show: printPacks},
		{
			use: "add FILE", short: "Add a team's own pack of rules, or a higher version of it; for the captain", do: guard.Service.AddPack, words: []string{"text"}, in: &file, show: printPacks,
			before: func() error {
				text, err := s.read(file.Text, rule.MaxPackFile)
				file.Text = string(text)
				return err
			},
		},
		{use: "remove NAME", do: guard.Service.RemovePack, show: printPacks},
	}
	for _, to := range []struct {
		verb, short string
		mode        rule.Mode
	}{
		{"on", "Let packs block", rule.ModeBlock},
		{"warn", "Let packs warn, and block nothing", rule.ModeWarn},
		{"off", "Switch packs off", rule.ModeOff},
		{"default", "Take back what was said of packs: as everywhere, or as they are by themselves", guard.ModeDefault},
	} {
		plain = append(plain, command{use: to.verb + " [NAME...]", short: to.short + "; for the captain", do: guard.Service.SetPacks, words: []string{"names"}, in: &guard.PackDraft{Mode: to.mode}, hides: "mode", show: printPacks})
	}
	return s.verbs(verbs{name: "packs", short: "The packs of rules that the guard has: its own, and the team's", plain: plain})
}

func printPacks(w io.Writer, list guard.PackList) {
	printIf(w, "NOTE: %s.\n", list.Notice)
	for _, p := range list.Packs {
		changed := ""
		if p.Because != "" {
			changed = ", " + p.Because
		} else if p.Mode != p.Default {
			changed = ", by default " + string(p.Default)
		}
		if p.Team {
			changed = ", the team's" + changed
		}
		fmt.Fprintf(w, "%-12s %-5s  %d rules, version %d%s\n    %s\n", clean(p.Name), p.Mode, p.Rules, p.Version, clean(changed), clean(p.About))
		for _, in := range p.Projects {
			if p.Because == "" {
				fmt.Fprintf(w, "    in the project %s: %s\n", clean(in.Project), in.Mode)
			}
		}
		printIf(w, "    note: %s\n", p.Note)
	}
}

func (s *shell) checkExplain() *cobra.Command {
	var action rule.Action
	var words []string
	var args string
	return s.does(command{
		do: guard.Service.Explain, in: &action, hides: "proposed_action context domain offers_files unread", show: printExplained,
		use: "explain [flags] -- COMMAND...", short: "Say what the guard reads in a command, and what it would say of it", args: listed(cobra.ArbitraryArgs, &words),
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

func printExplained(w io.Writer, e guard.Explained) {
	fmt.Fprintf(w, "It would %s this.\n", e.Decision)
	if p := e.Allowed; p != nil {
		fmt.Fprintf(w, "  %s allowed it here until %s: permission %s\n", clean(p.Owner), p.EndsAt.Format(time.DateOnly), clean(p.ID))
	}
	for _, m := range e.Matches {
		fmt.Fprintf(w, "  %s rule %s (%s): %s\n    %s; %s\n", m.Severity, clean(m.RuleID), m.Sure, clean(m.Title), clean(m.Reason), clean(m.WhyBad))
		printIf(w, "    its pack: %s\n", m.Because)
		for _, a := range m.Alternatives {
			fmt.Fprintf(w, "    instead: %s\n", clean(a))
		}
	}
	for _, m := range e.Off {
		fmt.Fprintf(w, "  the pack %s is off (%s): its rule %s would fit\n", clean(m.Pack), clean(m.Because), clean(m.RuleID))
	}
	if len(e.Acts) > 0 {
		fmt.Fprintln(w, "It was read as:")
	}
	for _, a := range e.Acts {
		harms := ""
		if len(a.Harms) > 0 {
			harms = "   (" + strings.Join(a.Harms, ", ") + ")"
		}
		fmt.Fprintf(w, "  %s%s\n", clean(a.Command), harms)
	}
	for _, n := range e.Notes {
		fmt.Fprintf(w, "Note: %s\n", clean(n))
	}
}

// proposePacks says which packs of the guard the files of a folder speak for.
func proposePacks(w io.Writer, folder string) {
	if folder == "" {
		return
	}
	if packs := rule.PacksFor(os.DirFS(folder)); len(packs) > 0 {
		fmt.Fprintf(w, "By its files, the guard's packs %s fit this project: skillrouter check packs on %s\n", strings.Join(packs, ", "), strings.Join(packs, " "))
	}
}

func printApproval(w io.Writer, a lesson.Approval) {
	fmt.Fprintf(w, "%s  %s, asked by %s", clean(a.ID), a.State, clean(a.Agent))
	printIf(w, " in %s", a.Folder)
	if a.Asked > 1 {
		fmt.Fprintf(w, ", %d times", a.Asked)
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "    %s\n", clean(check.OneLine(a.Says())))
	for _, m := range a.Matches {
		fmt.Fprintf(w, "    %s rule %s: %s\n", m.Severity, clean(m.RuleID), clean(m.Title))
	}
	switch a.State {
	case lesson.ApprovalPending:
		fmt.Fprintf(w, "    waits until %s\n", a.EndsAt.Local().Format(time.TimeOnly))
	case lesson.ApprovalApproved:
		fmt.Fprintf(w, "    allowed once by %s, until %s\n", clean(a.DecidedBy), a.EndsAt.Local().Format(time.TimeOnly))
	case lesson.ApprovalUsed:
		fmt.Fprintf(w, "    allowed by %s, used by check %s\n", clean(a.DecidedBy), clean(a.UsedCheck))
	case lesson.ApprovalDenied:
		fmt.Fprintf(w, "    refused by %s\n", clean(a.DecidedBy))
	}
	printIf(w, "    note: %s\n", a.Notes)
}

func printPermission(w io.Writer, p lesson.Permission) {
	place := p.Folder
	if place == "" {
		place = "every folder of " + p.Project
	}
	what := cmp.Or(p.Pattern, p.Action)
	if p.Withheld {
		place, what = "", "(for another kind of agent)"
	}
	fmt.Fprintf(w, "%s  %s, for %s", clean(p.ID), clean(p.Owner), clean(p.AgentKind))
	printIf(w, " in %s", place)
	switch {
	case p.RevokedAt != nil:
		fmt.Fprintf(w, ", revoked by %s\n", clean(p.RevokedBy))
	case p.EndsAt.Before(time.Now()):
		fmt.Fprintln(w, ", ended")
	default:
		fmt.Fprintf(w, ", until %s\n", p.EndsAt.Format(time.DateOnly))
	}
	fmt.Fprintf(w, "    %s\n    lifts %s\n", clean(check.OneLine(what)), clean(strings.Join(p.RuleIDs, ", ")))
}
