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

What stands after -- is the command: one word is a line for the shell, several
are a program and its arguments, and - reads the line from stdin. A router that
does not answer is no answer: the exit code then is 1, or what --fail says.`,
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
	cmd.AddCommand(s.checkList(), s.checkOutcome(), s.checkRules(), s.checkPacks(), s.checkExplain())
	cmd.AddCommand(s.checkApprovals(), s.checkDecides("approve"), s.checkDecides("deny"), s.checkPermissions())
	return cmd
}

var checkTable = columns[lesson.CheckRecord]{
	"Nothing was checked.",
	[]string{"CHECKED", "AGENT", "DECISION", "ACTION", "OUTCOME"},
	func(c lesson.CheckRecord) cells {
		return cells{c.At, c.Agent, string(c.Decision), strings.TrimSpace(c.Tool + " " + c.Brief()), string(c.Outcome)}
	},
}

func (s *shell) checkList() *cobra.Command {
	var filter lesson.LedgerFilter
	return asks(s, command{
		use: "list", short: "List what was checked, the latest first",
		flags: s.flags(&filter, "agent", "project", "rule", "cursor", "limit"),
	}, sends(guard.Service.Ledger, &filter), func(w io.Writer, page guard.LedgerPage) {
		checkTable.list(w, page.Checks)
		printIf(w, "There are more: --cursor %s\n", page.Next)
	})
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

func (s *shell) checkOutcome() *cobra.Command {
	var draft guard.OutcomeDraft
	return asks(s, command{
		use: "outcome CHECK heeded|overridden", short: "Say what was done after a check, and how it went", args: exactly(&draft.CheckID, (*string)(&draft.Outcome)),
		flags: append(s.flags(&draft, "result", "notes"), option("agent", &draft.Agent, "who says so, if not the agent that asked")),
	}, full("checks", &draft.CheckID, sends(guard.Service.Outcome, &draft)), func(w io.Writer, settled guard.Settled) {
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
	})
}

func (s *shell) checkRules() *cobra.Command {
	var id *string
	var filter guard.RuleFilter
	var demoted bool
	cmd := s.calls(command{
		use: "rules [RULE]", short: "List the guard's rules and how they did, or show one", args: perhaps(&id),
		flags: append(s.flags(&filter, "domain", "severity", "cursor", "limit"),
			choice("source", &filter.Source, []string{"lesson", "pattern", "builtin", "pack"}, "only those of; pack by this alone"),
			option("demoted", &demoted, "only those that were demoted to warning"),
		),
	}, func(ctx context.Context, c *client.Client) error {
		if id != nil {
			var err error
			if *id, err = fullID(ctx, c, "rules", *id); err != nil {
				return err
			}
			rule, err := client.Send(ctx, c, guard.Service.Rule, *id)
			return printed(s, rule, err, printRule)
		}
		if demoted {
			filter.Demoted = &demoted
		}
		page, err := client.Send(ctx, c, guard.Service.Rules, filter)
		return printed(s, page, err, func(w io.Writer, page guard.RulePage) {
			for _, r := range page.Rules {
				fmt.Fprintf(w, "%s  %s\n", clean(r.ID), clean(r.Title))
				fmt.Fprintf(w, "    %s, %s, %s\n", r.Severity, ruleState(r), ruleFigures(r))
				if !r.Active {
					printIf(w, "    note: %s\n", strings.Join(r.Notes, "; "))
				}
			}
			printIf(w, "There are more: --cursor %s\n", page.Next)
		})
	})
	cmd.AddCommand(s.checkRestore())
	cmd.Hidden = true // the command rules has the same
	return cmd
}

func (s *shell) checkRestore() *cobra.Command {
	var id string
	var draft guard.RestorationDraft
	return asks(s, command{
		use: "restore RULE", short: "Let a rule that was demoted block again", args: exactly(&id),
		flags: options{
			option("agent", &draft.By, "who lets it (default: the token's agent)").once("by"),
			option("notes", &draft.Notes, "why"),
		},
	}, sendsTo(guard.Service.RestoreRule, &id, &draft), printRule)
}

// ruleState says in a word what a match of the rule does.
func ruleState(r guard.Rule) string {
	if r.Source == guard.RuleBuiltin {
		r.Source = ""
		return ruleState(r) + ", an example"
	}
	switch {
	case r.Demoted:
		return "demoted to warning"
	case r.Blocks:
		return "blocks"
	case !r.Active:
		return "not in use"
	}
	return "warns"
}

// ruleFigures is how well a rule was right, which is known of those alone that were shown.
func ruleFigures(r guard.Rule) string {
	if r.TimesTriggered == 0 {
		return "never triggered"
	}
	return fmt.Sprintf("triggered %d×, precision %.2f, confidence %.2f", r.TimesTriggered, r.Precision, r.Confidence)
}

func printRule(w io.Writer, r guard.Rule) {
	fmt.Fprintf(w, "%s  %s\n%s, %s (%s)\n%s\n", clean(r.ID), clean(r.Title), r.Severity, ruleState(r), r.Source, ruleFigures(r))
	if r.TimesTriggered > 0 {
		fmt.Fprintf(w, "heeded %d×, overridden %d× (%d with success, %d with failure)\n", r.Heeded, r.Overridden, r.OverriddenSuccess, r.OverriddenFailure)
	}
	printIf(w, "%s\n", r.DemotedReason)
	for _, list := range []struct {
		name  string
		lines []string
	}{{"command", r.Commands}, {"instead", r.Alternatives}, {"note", r.Notes}} {
		for _, line := range list.lines {
			fmt.Fprintf(w, "  %s: %s\n", list.name, clean(line))
		}
	}
}

func (s *shell) checkPacks() *cobra.Command {
	var filter guard.PackFilter
	return s.group(&cobra.Command{Use: "packs", Short: "The packs of rules that the guard has: its own, and the team's"},
		asks(s, command{
			use: "list", short: "List the packs, and whether they are off, warn or block",
			flags: options{option("project", &filter.Project, "as they are in this project, and why")},
		}, sends(guard.Service.Packs, &filter), printPacks),
		s.checkPacksTo("on", rule.ModeBlock, "Let packs block"), s.checkPacksTo("warn", rule.ModeWarn, "Let packs warn, and block nothing"), s.checkPacksTo("off", rule.ModeOff, "Switch packs off"),
		s.checkPacksTo("default", guard.ModeDefault, "Take back what was said of packs: as everywhere, or as they are by themselves"),
		s.checkPacksAdd(), s.checkPacksRemove())
}

// checkPacksTo is the command that switches packs to a mode.
func (s *shell) checkPacksTo(verb string, mode rule.Mode, short string) *cobra.Command {
	draft := guard.PackDraft{Mode: mode}
	return asks(s, command{
		use: verb + " NAME...", short: short + "; for the captain", args: listed(cobra.ArbitraryArgs, &draft.Names),
		flags: s.flags(&draft, "all", "project", "agent"),
	}, sends(guard.Service.SetPacks, &draft), printPacks)
}

func (s *shell) checkPacksAdd() *cobra.Command {
	var name string
	var file guard.PackFile
	return asks(s, command{
		use: "add FILE", short: "Add a team's own pack of rules, or a higher version of it; for the captain", args: exactly(&name),
		flags: options{who("agent", &file.By, s.agent, "who does it (SKILLROUTER_AGENT)")},
		before: func() error {
			text, err := s.read(name, rule.MaxPackFile)
			file.Text = string(text)
			return err
		},
	}, sends(guard.Service.AddPack, &file), printPacks)
}

func (s *shell) checkPacksRemove() *cobra.Command {
	var name string
	return asks(s, command{use: "remove NAME", short: "Remove a team's own pack; for the captain", args: exactly(&name)}, sends(guard.Service.RemovePack, &name), printPacks)
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
	return asks(s, command{
		use: "explain [flags] -- COMMAND...", short: "Say what the guard reads in a command, and what it would say of it", args: listed(cobra.ArbitraryArgs, &words),
		flags: append(s.flags(&action, "project", "agent", "tool", "folder"),
			option("args", &args, "the tool's arguments, a JSON object"),
		),
		before: func() error { return s.proposed(&action, words, args) },
	}, sends(guard.Service.Explain, &action), printExplained)
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

func (s *shell) checkApprovals() *cobra.Command {
	filter := guard.ApprovalFilter{State: lesson.ApprovalPending}
	var all bool
	return asks(s, command{
		use: "approvals", short: "List what was blocked and waits for a person",
		flags: append(s.flags(&filter, "state", "agent", "cursor", "limit"),
			option("all", &all, "whatever became of them"),
		),
		before: func() error {
			if all {
				filter.State = ""
			}
			return nil
		},
	}, sends(guard.Service.Approvals, &filter), func(w io.Writer, page guard.ApprovalPage) {
		if page.Count == 0 {
			fmt.Fprintln(w, "Nothing.")
		}
		for _, a := range page.Approvals {
			printApproval(w, a)
		}
		printIf(w, "There are more: --cursor %s\n", page.Next)
	})
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

// checkDecides is the command by which a person allows or refuses what the guard blocked.
func (s *shell) checkDecides(verb string) *cobra.Command {
	var id string
	var draft guard.ApprovalDraft
	of := command{
		use: "deny APPROVAL", short: "Refuse what the guard blocked; for a person", args: exactly(&id),
		flags: s.flags(&draft, "notes", "number"),
	}
	if verb == "approve" {
		of.use, of.short = "approve APPROVAL", "Allow what the guard blocked, exactly that and once; for a person"
		of.long = `Allows what the guard blocked: the next check of exactly this action, by this
agent in this folder, within ten minutes, once. It takes a person, and asks for the passphrase that
"passphrase set" has set. Where none is set, it takes a captain's token without the scope
agent (token create --person NAME --scope captain), or the owner's, and a router
that has issued a token.

With --always it makes a standing permission, for this kind of agent in this
folder, which "check permissions" lists and revokes.`
		of.flags = append(of.flags,
			option("always", &draft.Always, "not only once: until --days have gone by"),
			option("pattern", &draft.Pattern, "with --always: a command in which * stands for any text within a word"),
			option("days", &draft.Days, "with --always: for how long, up to 90; 30 if nothing is said"),
			option("project-wide", &draft.Project, "with --always: in every folder of the project"))
	}
	return asks(s, of, func(ctx context.Context, c *client.Client) (a lesson.Approval, err error) {
		if id, err = fullID(ctx, c, "approvals", id); err != nil {
			return a, err
		}
		if verb == "deny" {
			return client.SendTo(ctx, c, guard.Service.Deny, id, guard.DenialDraft{Number: draft.Number, Notes: draft.Notes})
		}
		return client.SendTo(ctx, c, guard.Service.Approve, id, draft)
	}, printApproval)
}

func (s *shell) checkPermissions() *cobra.Command {
	var id string
	cmd := asks(s, command{use: "permissions", short: "List what persons allowed until further notice"}, gets(guard.Service.Permissions), func(w io.Writer, list guard.PermissionList) {
		if list.Count == 0 {
			fmt.Fprintln(w, "Nothing.")
		}
		for _, p := range list.Permissions {
			printPermission(w, p)
		}
	})
	cmd.AddCommand(asks(s, command{use: "revoke PERMISSION", short: "End a standing permission at once; for a person", args: exactly(&id)},
		withID("permissions", guard.Service.RevokePermission, &id), printPermission))
	return cmd
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
