package learning

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"skillrouter/learning/guard/act"
	"skillrouter/tfidf/wordlist"
)

// GuardBuiltins are the five anti-patterns that seed 000 loads by itself.
func GuardBuiltins() []*GuardRule {
	made := func(d GuardRuleDraft, judge func(a *act.Act, action *Action) guardFit) *GuardRule {
		d.Confidence, d.Domain = 1, "production"
		return &GuardRule{draft: d, title: act.TitleOf(d.Title), judge: judge}
	}
	return []*GuardRule{
		made(GuardRuleDraft{
			ID: "builtin:production-database", Title: "Direct production database modifications", Severity: SeverityCritical, Category: "database",
			Reason:       "A change made by hand in production is in no migration, and cannot be tested or taken back.",
			Alternatives: []string{"Make the change in the development environment first", "Write a migration and promote it"},
		}, guardProductionDatabase),
		made(GuardRuleDraft{
			ID: "builtin:n8n-sql", Title: "Editing n8n workflows via SQL", Severity: SeverityCritical, Category: "n8n",
			Reason:       "n8n keeps workflows in several tables and in memory; SQL changes one of them.",
			Alternatives: []string{"Use the n8n editor or its API"},
		}, guardWorkflowSQL),
		made(GuardRuleDraft{
			ID: "builtin:aria-prompt", Title: "Modifying ARIA system prompt without backup", Severity: SeverityHigh, Category: "aria",
			Reason:       "The earlier prompt cannot be restored.",
			Alternatives: []string{"Copy the prompt aside first, then change it"},
		}, guardPromptChange),
		made(GuardRuleDraft{
			ID: "builtin:data-directories", Title: "Running rm -rf on data directories", Severity: SeverityCritical, Category: "files",
			Reason:       "It deletes what no backup may hold yet.",
			Alternatives: []string{"Move it aside, check that nothing needs it, then delete it"},
		}, guardDataRemoval),
		made(GuardRuleDraft{
			ID: "builtin:untested-deploy", Title: "Deploying to prod without dev testing", Severity: SeverityHigh, Category: "deployment",
			Reason:       "What was not tried in development fails in production.",
			Alternatives: []string{"Deploy to the development environment and test there first"},
		}, guardDeployment),
	}
}

// guardProduction reports whether a name says that something is production.
func guardProduction(name string) bool {
	words := act.SplitName(name)
	for i, w := range words {
		if w == "prod" || w == "production" || w == "prd" {
			if i > 0 && (words[i-1] == "non" || words[i-1] == "pre" || words[i-1] == "not" || words[i-1] == "like") {
				continue
			}
			return true
		}
	}
	return false
}

func guardProductionDatabase(a *act.Act, _ *Action) guardFit {
	for _, e := range a.Effects {
		if e.Kind != act.EffectSQL || !slices.ContainsFunc(e.Targets, guardProduction) {
			continue
		}
		if e.SQL.Hidden {
			return guardNear
		}
		return guardFull
	}
	return guardNone
}

func guardWorkflowSQL(a *act.Act, _ *Action) guardFit {
	for _, e := range a.Effects {
		if e.Kind != act.EffectSQL || e.SQL.Verb == "" {
			continue
		}
		n8n := slices.ContainsFunc(e.Targets, func(t string) bool { return slices.Contains(act.SplitName(t), "n8n") })
		for _, name := range e.SQL.Names {
			switch {
			case name == "workflow_entity", name == "workflows_tags", name == "workflow_history", name == "shared_workflow", name == "workflow_statistics":
				return guardFull
			case n8n && (strings.Contains(name, "workflow") || name == "webhook_entity" || name == "n8n"):
				return guardFull
			}
		}
	}
	return guardNone
}

func guardPromptChange(a *act.Act, action *Action) guardFit {
	subject := func(name string) bool {
		words := act.SplitName(name)
		return slices.Contains(words, "aria") && (slices.Contains(words, "prompt") || slices.Contains(words, "prompts"))
	}
	for _, e := range a.Effects {
		touched := false
		switch e.Kind {
		case act.EffectWrite, act.EffectDelete:
			touched = subject(e.Path) && !guardBackupName(e.Path)
		case act.EffectSQL:
			touched = slices.ContainsFunc(e.SQL.Names, subject)
		}
		if touched && !guardBackedUp(action, path.Base(e.Path)) {
			return guardFull
		}
	}
	return guardNone
}

func guardBackupName(p string) bool {
	base := strings.ToLower(path.Base(p))
	return strings.Contains(base, "bak") || strings.Contains(base, "backup") || strings.HasSuffix(base, ".orig") || strings.HasSuffix(base, "~") || strings.Contains(strings.ToLower(path.Dir(p)), "backup")
}

// guardBackedUp reports whether the action makes a copy, or its context says that there is one.
func guardBackedUp(action *Action, file string) bool {
	said := strings.ToLower(action.Context)
	if !strings.Contains(said, "no backup") && !strings.Contains(said, "without backup") && !strings.Contains(said, "without a backup") &&
		(strings.Contains(said, "backed up") || strings.Contains(said, "backup taken") || strings.Contains(said, "backup made") || strings.Contains(said, "after backup") || strings.Contains(said, "with backup") || strings.Contains(said, "backup exists")) {
		return true
	}
	for line := range strings.FieldsFuncSeq(action.Command, func(r rune) bool { return r == ';' || r == '&' || r == '\n' }) {
		words := strings.Fields(line)
		if len(words) > 2 && (words[0] == "cp" || words[0] == "rsync" || words[0] == "tar") && strings.Contains(line, file) {
			return true
		}
		if len(words) > 1 && strings.HasSuffix(words[0], "backup.sh") {
			return true
		}
	}
	return strings.Contains(action.Command, "sed -i.bak") || strings.Contains(action.Command, "--in-place=.bak")
}

//go:embed guard_words.txt
var guardWords string

// guardDataDirs are where services keep their data.
var guardDataDirs = wordlist.Set(guardWords, "data folders")

// guardScratch are folders below /data that are made to be removed.
var guardScratch = wordlist.Set(guardWords, "scratch folders")

// guardBelowData reports whether a path lies right below a folder of data and is
// data by itself: whatever stands in /data but what is made to be removed, and
// a service's folder, or one folder in it, wherever data lies.
func guardBelowData(parts []string) bool {
	switch {
	case parts[0] == "data":
		parts = parts[1:]
		if len(parts) == 1 && !guardScratch()[parts[0]] && !act.Patterned(parts[0]) {
			return true
		}
	case len(parts) > 1 && parts[1] == "data" && (parts[0] == "srv" || parts[0] == "var" || parts[0] == "opt" || parts[0] == "mnt"):
		parts = parts[2:]
	default:
		return false
	}
	return (len(parts) == 1 || len(parts) == 2 && !guardScratch()[parts[1]]) && guardDataDirs()[parts[0]]
}

// guardDataRemoval fits a recursive removal of the places where data lies:
// /data and what is right below it, /srv/data, /opt/NAME/data, /var/lib/SERVICE and the like.
func guardDataRemoval(a *act.Act, _ *Action) guardFit {
	for _, e := range a.Effects {
		if e.Kind != act.EffectDelete || e.Soft || e.Word != "" || !e.Whole && !act.Patterned(e.Path) {
			continue
		}
		parts := act.Parts(e.Path)
		if !strings.HasPrefix(e.Path, "/") {
			continue
		}
		if len(parts) == 0 {
			return guardFull
		}
		if last := parts[len(parts)-1]; last == string(act.AnyText) && len(parts) > 1 {
			parts = parts[:len(parts)-1]
		}
		switch {
		case parts[0] == "data" && len(parts) == 1,
			len(parts) == 2 && (parts[0] == "srv" || parts[0] == "var" || parts[0] == "opt" || parts[0] == "mnt") && parts[1] == "data",
			len(parts) == 3 && (parts[0] == "opt" || parts[0] == "srv") && parts[2] == "data",
			len(parts) == 2 && parts[0] == "var" && parts[1] == "lib",
			len(parts) >= 3 && len(parts) <= 4 && parts[0] == "var" && parts[1] == "lib" && guardDataDirs()[parts[2]],
			e.Whole && guardBelowData(parts),
			len(parts) >= 5 && strings.HasPrefix(e.Path, "/var/lib/docker/volumes/"),
			parts[len(parts)-1] == "pgdata" || parts[len(parts)-1] == "pg_data":
			return guardFull
		}
	}
	return guardNone
}

// guardDeployment fits commands that put something into production.
func guardDeployment(a *act.Act, action *Action) guardFit {
	if a.Mention() || guardTested(action.Context) || strings.HasPrefix(a.Name, "(") {
		return guardNone
	}
	production := false
	for _, w := range a.Words {
		production = production || guardProduction(w)
	}
	for o, values := range a.Options {
		production = production || guardProduction(o) || slices.ContainsFunc(values, guardProduction)
	}
	name := act.SplitName(path.Base(a.Name))
	production = production || slices.ContainsFunc(name, guardProduction)
	if !production {
		return guardNone
	}
	deploys := func(w string) bool {
		for _, part := range act.SplitName(w) {
			if part == "deploy" || part == "deployment" || part == "release" {
				return true
			}
		}
		return false
	}
	if deploys(a.Name) {
		return guardFull
	}
	if len(a.Words) == 0 {
		return guardFitIf(a.Name == "vercel" || a.Name == "netlify")
	}
	switch a.Name {
	case "kubectl":
		return guardFitIf(a.Words[0] == "apply" || a.Words[0] == "rollout" && len(a.Words) > 1 && a.Words[1] == "restart" || a.Words[0] == "set")
	case "helm":
		return guardFitIf(a.Words[0] == "upgrade" || a.Words[0] == "install")
	case "make", "npm", "yarn", "pnpm", "fly", "flyctl", "vercel", "netlify", "serverless", "sls", "cap", "kamal", "firebase", "gcloud", "eb", "ansible-playbook", "cdk", "sh", "python", "just", "task", "fab", "docker", "railway", "wrangler", "supabase":
		return guardFitIf(slices.ContainsFunc(a.Words, deploys))
	case "git":
		return guardFitIf(a.Words[0] == "push" && len(a.Words) > 1 && guardProduction(a.Words[1]))
	}
	return guardNone
}

// guardTested reports whether the context says that it was tried before.
func guardTested(said string) bool {
	said = strings.ToLower(said)
	for _, no := range []string{"not tested", "untested", "without test", "no test", "skip test", "skipping test", "not yet tested", "haven't tested", "not verified"} {
		if strings.Contains(said, no) {
			return false
		}
	}
	return (strings.Contains(said, "test") || strings.Contains(said, "verified") || strings.Contains(said, "passed") || strings.Contains(said, "validated")) &&
		(strings.Contains(said, "dev") || strings.Contains(said, "staging"))
}
