package rule

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Builtins are the five anti-patterns that MNEMOSYNE loads by itself.
func Builtins() []*Rule {
	made := func(d RuleDraft, judge func(a *act.Act, action *Action) guardFit) *Rule {
		d.Confidence, d.Domain = 1, "production"
		return &Rule{Draft: d, title: act.TitleOf(d.Title), judge: judge}
	}
	builtins := []*Rule{
		made(RuleDraft{
			ID: "builtin:production-database", Title: "Direct production database modifications", Severity: learning.SeverityCritical, Category: "database",
			Reason:       "A change made by hand in production is in no migration, and cannot be tested or taken back.",
			Alternatives: []string{"Make the change in the development environment first", "Write a migration and promote it"},
		}, productionDatabase),
		made(RuleDraft{
			ID: "builtin:n8n-sql", Title: "Editing n8n workflows via SQL", Severity: learning.SeverityCritical, Category: "n8n",
			Reason:       "n8n keeps workflows in several tables and in memory; SQL changes one of them.",
			Alternatives: []string{"Use the n8n editor or its API"},
		}, workflowSQL),
		made(RuleDraft{
			ID: "builtin:aria-prompt", Title: "Modifying ARIA system prompt without backup", Severity: learning.SeverityHigh, Category: "aria",
			Reason:       "The earlier prompt cannot be restored.",
			Alternatives: []string{"Copy the prompt aside first, then change it"},
		}, promptChange),
		made(RuleDraft{
			ID: "builtin:data-directories", Title: "Running rm -rf on data directories", Severity: learning.SeverityCritical, Category: "files",
			Reason:       "It deletes what no backup may hold yet.",
			Alternatives: []string{"Move it aside, check that nothing needs it, then delete it"},
		}, nil),
		made(RuleDraft{
			ID: "builtin:untested-deploy", Title: "Deploying to prod without dev testing", Severity: learning.SeverityHigh, Category: "deployment",
			Reason:       "What was not tried in development fails in production.",
			Alternatives: []string{"Deploy to the development environment and test there first"},
		}, deployment),
	}
	builtins[3].harm = act.HarmData
	return builtins
}

// guardProduction reports whether a name says that something is production.
func guardProduction(name string) bool {
	words := act.SplitName(name)
	for i, w := range words {
		if slices.Contains([]string{"prod", "production", "prd"}, w) && (i == 0 || !slices.Contains([]string{"non", "pre", "not", "like"}, words[i-1])) {
			return true
		}
	}
	return false
}

func productionDatabase(a *act.Act, _ *Action) guardFit {
	for _, e := range a.Effects {
		if e.Kind != act.EffectSQL || !slices.ContainsFunc(e.Targets, guardProduction) {
			continue
		}
		if e.SQL.Hidden {
			return near
		}
		return full
	}
	return none
}

func workflowSQL(a *act.Act, _ *Action) guardFit {
	for _, e := range a.Effects {
		if e.Kind != act.EffectSQL || e.SQL.Verb == "" {
			continue
		}
		n8n := slices.ContainsFunc(e.Targets, func(t string) bool { return slices.Contains(act.SplitName(t), "n8n") })
		for _, name := range e.SQL.Names {
			if workflowTables()[name] || n8n && (strings.Contains(name, "workflow") || name == "webhook_entity" || name == "n8n") {
				return full
			}
		}
	}
	return none
}

func promptChange(a *act.Act, action *Action) guardFit {
	subject := func(name string) bool {
		words := act.SplitName(name)
		return slices.Contains(words, "aria") && (slices.Contains(words, "prompt") || slices.Contains(words, "prompts"))
	}
	for _, e := range a.Effects {
		touched := false
		switch e.Kind {
		case act.EffectWrite, act.EffectDelete:
			touched = subject(e.Path) && !backupName(e.Path)
		case act.EffectSQL:
			touched = slices.ContainsFunc(e.SQL.Names, subject)
		}
		if touched && !backedUp(action, e.Path) {
			return full
		}
	}
	return none
}

func backupName(p string) bool {
	base := strings.ToLower(path.Base(p))
	return strings.Contains(base, "bak") || strings.Contains(base, "backup") || strings.HasSuffix(base, ".orig") || strings.HasSuffix(base, "~") || strings.Contains(strings.ToLower(path.Dir(p)), "backup")
}

// backedUp reports whether the action makes a copy of a file, or its context says that there is one.
func backedUp(action *Action, file string) bool {
	said := strings.ToLower(action.Context)
	if !saysOne(said, noBackup()) && saysOne(said, madeBackup()) {
		return true
	}
	for line := range strings.FieldsFuncSeq(action.Command, func(r rune) bool { return r == ';' || r == '&' || r == '\n' }) {
		words := strings.Fields(line)
		if i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w, "<>|#") }); i >= 0 {
			words = words[:i]
		}
		if copies(words, file) || len(words) > 1 && strings.HasSuffix(words[0], "backup.sh") {
			return true
		}
	}
	return strings.Contains(action.Command, "sed -i.bak") || strings.Contains(action.Command, "--in-place=.bak")
}

// copies reports whether a command copies a file somewhere else. An empty one is no file.
func copies(words []string, file string) bool {
	if file == "" || len(words) < 3 {
		return false
	}
	sources, to := words[1:len(words)-1], path.Clean(words[len(words)-1])
	switch words[0] {
	case "cp", "rsync":
		if to == file || to == path.Dir(file) || strings.HasSuffix(file, "/"+to) {
			return false // onto itself
		}
	case "tar": // the archive is named before what it holds
		sources = words[2:]
	default:
		return false
	}
	return slices.ContainsFunc(sources, func(w string) bool { return strings.Contains(w, path.Base(file)) })
}

//go:embed words.txt
var words string

// What these words are is said in the file.
var (
	workflowTables = wordlist.Set(words, "tables of n8n")
	madeBackup     = wordlist.Phrases(words, "sayings of a backup")
	noBackup       = wordlist.Phrases(words, "sayings of no backup")
	noTest         = wordlist.Phrases(words, "sayings of no test")
	deployers      = wordlist.Set(words, "programs that deploy what their words say")
)

// saysOne reports whether one of the phrases stands in a text.
func saysOne(text string, phrases map[string]bool) bool {
	for p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// deployment fits commands that put something into production.
func deployment(a *act.Act, action *Action) guardFit {
	if a.Mention() || tested(action.Context) || strings.HasPrefix(a.Name, "(") {
		return none
	}
	production := slices.ContainsFunc(a.Words, guardProduction) || slices.ContainsFunc(act.SplitName(path.Base(a.Name)), guardProduction)
	for o, values := range a.Options {
		production = production || guardProduction(o) || slices.ContainsFunc(values, guardProduction)
	}
	deploys := func(w string) bool {
		return slices.ContainsFunc(act.SplitName(w), func(part string) bool { return part == "deploy" || part == "deployment" || part == "release" })
	}
	switch {
	case !production:
		return none
	case deploys(a.Name):
		return full
	case len(a.Words) == 0:
		return fitIf(a.Name == "vercel" || a.Name == "netlify")
	case deployers()[a.Name]:
		return fitIf(slices.ContainsFunc(a.Words, deploys))
	}
	switch a.Name {
	case "kubectl":
		return fitIf(a.Words[0] == "apply" || a.Words[0] == "rollout" && len(a.Words) > 1 && a.Words[1] == "restart" || a.Words[0] == "set")
	case "helm":
		return fitIf(a.Words[0] == "upgrade" || a.Words[0] == "install")
	case "git":
		return fitIf(a.Words[0] == "push" && len(a.Words) > 1 && guardProduction(a.Words[1]))
	}
	return none
}

// tested reports whether the context says that it was tried before.
func tested(said string) bool {
	said = strings.ToLower(said)
	return !saysOne(said, noTest()) && (strings.Contains(said, "test") || strings.Contains(said, "verified") || strings.Contains(said, "passed") || strings.Contains(said, "validated")) &&
		(strings.Contains(said, "dev") || strings.Contains(said, "staging"))
}
