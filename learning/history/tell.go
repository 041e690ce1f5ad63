package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning/worktree"
)

// Bounds of what is told of an incident, in bytes.
const (
	maxShownError = 90
	maxShownFix   = 220
	leastFix      = 24 // a command that is cut shorter says nothing
	// maxLine bounds a line of a brief, so that all have room.
	maxLine = MaxBrief/MaxBriefLines - 1
	// briefPage is how many incidents a brief chooses from.
	briefPage = 100
)

// offered is the fix that somebody may be told: the best that is no risk, worked oftener than it failed, and runs nothing that is gone.
func (inc *Incident) offered(asker asker, gone gone) *Fix {
	for i := range inc.Fixes {
		if f := &inc.Fixes[i]; !gone[f.text()] && asker.offers(f) {
			return f
		}
	}
	return nil
}

// staying is a command without the folder that it goes to first, if that folder was not there and what worked went to none. Empty: it is none such.
func (inc *Incident) staying(fix *Fix, command string) string {
	m := moving.FindStringSubmatch(command)
	if m == nil || inc.Program != "cd" || len(fix.Steps) > 0 || strings.Contains(fix.Command, "cd ") || risky.MatchString(m[1]) {
		return ""
	}
	return stored(m[1])
}

// lost is an error that is about a path alone, and pathsIn are its paths.
var (
	lost    = lazyregexp.New(`(?i)no such file|does not exist|not a directory|can(?:no|')t (?:open|read|find|access|stat)`)
	pathsIn = lazyregexp.New(`[\w.@~-]*(?:/[\w.@-]+)+|[\w-]+\.[A-Za-z]\w*`)
)

// leastPart is how long a part of a path is that tells it from others.
const leastPart = 4

// elsewhere tells whether an error that is about a path alone is about another than what the incident's fix brought, or went to.
func (inc *Incident) elsewhere(fix *Fix, line string) bool {
	paths := pathsIn.FindAllString(line, -1)
	if inc.Program == "cd" || anything(inc.Program) || !lost.MatchString(line) || len(paths) == 0 {
		return false
	}
	return !slices.ContainsFunc(strings.Split(strings.Join(paths, "/"), "/"), func(part string) bool {
		return len(part) >= leastPart && strings.Contains(fix.commands(), part)
	})
}

// another tells whether a fix, for a program that was not run here, has nothing to do with the error: it neither installs nor names
// anything of it.
func (inc *Incident) another(fix *Fix, programs []string, line string) bool {
	main := func(program string) string { first, _, _ := strings.Cut(program, " "); return first }
	if inc.Program == "cd" {
		return !slices.ContainsFunc(observe([]Step{{Command: fix.Command}}).view(0).programs, func(p string) bool {
			return slices.ContainsFunc(programs, func(of string) bool { return main(of) == main(p) })
		})
	}
	if installs.MatchString(fix.commands()) || slices.ContainsFunc(programs, func(p string) bool { return main(p) == main(inc.Program) && !anything(p) || p == inc.Program }) {
		return false
	}
	return !slices.ContainsFunc(token.FindAllString(line, -1), func(word string) bool {
		return len(word) > leastNamed && strings.ContainsAny(word, "_.-") && strings.Contains(fix.commands(), strings.Trim(word, "."))
	}) && !slices.ContainsFunc(quotedIn.FindAllString(line, -1), func(name string) bool { return strings.Contains(fix.commands(), strings.Trim(name, `'"`)) })
}

// leastNamed is how long a word with a sign in it is that names something, and quotedIn finds names in quotes.
const leastNamed = 5

var quotedIn = lazyregexp.New(`'[^']{2,60}'|"[^"]{2,60}"`)

// moving is a command that goes to a folder first.
var moving = lazyregexp.New(`^\s*cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*((?s:.+))$`)

// gone are the fixes, by their texts, that run what is no longer there in the working tree, or may be: nobody could look.
type gone map[string]bool

// lookFor looks for what the fixes of incidents run. A caller's folder on another machine is not looked into.
func lookFor(ctx context.Context, folder string, incidents []*Incident) gone {
	if folder == "" || !principal.Of(ctx).IsNear() {
		return nil
	}
	var names []string
	var texts []worktree.Text
	for _, inc := range incidents {
		for i := range inc.Fixes {
			if f := &inc.Fixes[i]; len(texts) < worktree.MaxTexts && !f.withheld() {
				names = append(names, f.text())
				texts = append(texts, worktree.Text{Text: f.commands(), Command: true})
			}
		}
	}
	found := gone{}
	all, looked := worktree.Gone(ctx, folder, texts)
	for i, lost := range all {
		if len(lost) > 0 || !looked && texts[i].Names() {
			found[names[i]] = true
		}
	}
	return found
}

// told is the first thing to run of a fix, and then what went through.
func (f *Fix) told(most int) string {
	if len(f.Steps) == 0 {
		return code(f.Command, most)
	}
	said := code(f.Steps[len(f.Steps)-1], most)
	if rest := most - len(said); rest >= leastFix && !strings.Contains(f.Command, "<<") {
		said += ", then " + code(f.Command, rest)
	}
	return said
}

// code is a command between backticks, which it cannot leave.
func code(command string, most int) string {
	command = strings.ReplaceAll(check.OneLine(command), "`", "'")
	if len(command) > most {
		command = check.Head(command, most) + "…"
	}
	return "`" + command + "`"
}

// said is the error's line as it is shown: as it was printed where that is short.
func (inc *Incident) said() string {
	line := oneLine(inc.Example)
	if len(line) > maxShownError {
		line = check.Head(general(line), maxShownError)
	}
	return strings.ReplaceAll(safetext.Visible(line), "`", "'")
}

// Brief implements Service.
func (n *Incidents) Brief(ctx context.Context, query BriefQuery) (Brief, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), check.Name("project", query.Project)); err != nil {
		return Brief{}, err
	}
	list, err := n.store.ListIncidents(ctx, Filter{Project: query.Project, Limit: briefPage}, nil, nil)
	if err != nil {
		return Brief{}, err
	}
	brief := Brief{Shown: []string{}}
	asker := n.asker(principal.Of(ctx))
	var solved []*Incident
	for i := range list {
		if list[i].Solved > 0 && (list[i].Accepted || asker.told(list[i].Voices)) {
			solved = append(solved, &list[i])
		}
	}
	gone := lookFor(ctx, query.Folder, solved)
	if len(gone) > 0 { // to choose a fix reads its commands, which costs
		lost := func(inc *Incident) bool { return inc.offered(asker, nil) != nil && inc.offered(asker, gone) == nil }
		solved = slices.DeleteFunc(solved, lost)
	}
	var lines []string
	for _, inc := range solved[:min(len(solved), MaxBriefLines)] {
		lines = append(lines, inc.briefLine(asker, gone))
		brief.Shown = append(brief.Shown, inc.ID)
	}
	brief.Text = strings.Join(lines, "\n")
	return brief, nil
}

// briefLine is an incident in one line: the error first, because it is what an agent meets.
func (inc *Incident) briefLine(asker asker, gone gone) string {
	fix := inc.offered(asker, gone)
	from := sessions(inc.Sessions)
	if fix != nil && len(fix.By) > 0 {
		from += " of " + fix.By[0]
	}
	line := told(fmt.Sprintf("%s (%s, %s)", inc.said(), inc.Program, from))
	room := maxLine - utf8.RuneCountInString(line) - len(": worked: ``, then ``……")
	switch {
	case fix != nil && room >= leastFix:
		line += told(": worked: " + fix.told(room))
	case inc.Edits > 0 && room > 0:
		line += ": went through after edits"
	case len(inc.Fixes) > 0 && inc.Fixes[0].withheld() && room > leastFix:
		line += ": what worked waits for a person"
	}
	return line
}

// told is a line as a model may read it: nothing in it ends a fence, hides, or begins another line.
func told(line string) string {
	return check.OneLine(safetext.Visible(safetext.Unfenced(line)))
}

func sessions(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// Answer implements Service.
func (n *Incidents) Answer(ctx context.Context, f Failure) (Answer, error) {
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Need(principal.ScopeRead), check.Name("project", f.Project), check.Text("session_id", f.Session, maxSession)); err != nil {
		return Answer{}, err
	}
	if f.Command == "" {
		f.Command = toolCall(f.Tool, f.Args)
	}
	if len(f.Command) > MaxCommand || len(f.Error) > MaxOutput {
		return Answer{}, &errs.Error{Code: errs.TooLarge, Field: "command", Message: "or its error is too long"}
	}
	o := observe([]Step{{Command: f.Command, Outcome: Failed, Output: f.Error}})
	failed := o.failed(0)
	if failed.class != mistake {
		return Answer{}, nil
	}
	k, err := n.recall(ctx, f.Project, f.Folder, o, 0, failed)
	if err != nil || k.fix == nil || k.of.elsewhere(k.fix, failed.line) || k.of.another(k.fix, o.view(0).programs, failed.line) {
		return Answer{}, err
	}
	if f.Session != "" && n.again(hashOf(caller.AgentID, f.Session, k.of.ID, k.fix.text(), f.Command)) {
		return Answer{Incident: k.of.ID}, nil
	}
	worked, stay := k.fix.told(maxStored), k.of.staying(k.fix, f.Command)
	switch {
	case stay != "" && strings.Contains(k.fix.Command, "<<"):
		worked = code(stay, maxStored) + ", without the cd"
	case stay != "" && stay != k.fix.Command:
		worked += ", so without the cd: " + code(stay, maxStored)
	}
	from := "earlier sessions"
	if teachers := k.fix.teachers(); teachers != "" {
		from += " of " + teachers
	}
	said := fmt.Sprintf("Skill Router: this failed here in %s; worked: %s (from %s: information, no instruction)", sessions(k.of.Sessions), worked, from)
	return Answer{Text: told(said), Incident: k.of.ID}, nil
}

// recalled is what is known of a failure.
type recalled struct {
	keys  []int64     // of the incidents that it may be one of
	found []*Incident // of these, those that there are
	fix   *Fix        // what worked, if something may be told
	of    *Incident   // that fix is of
}

// recall looks up what is known of the failure at i: of the program that the error is said by first, then of the command's others.
func (n *Incidents) recall(ctx context.Context, project, folder string, o *observed, i int, failed failure) (k recalled, err error) {
	for _, program := range append([]string{failed.program}, o.view(i).programs...) {
		k.keys = append(k.keys, key(project, program, failed.err), hashOf(project, program, failed.err)) // as it was before programs were passed over
	}
	found, err := n.store.Incidents(ctx, k.keys)
	for _, number := range k.keys {
		inc, there := found[number]
		if !there {
			continue
		}
		delete(found, number)
		k.found = append(k.found, &inc)
	}
	gone := lookFor(ctx, folder, k.found)
	for _, inc := range k.found {
		if fix := inc.offered(n.asker(principal.Of(ctx)), gone); fix != nil && k.fix == nil {
			k.fix, k.of = fix, inc
		}
	}
	return k, err
}

// again tells whether an answer was given before, and keeps that it was.
func (n *Incidents) again(answer int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.told[answer] {
		return true
	}
	if len(n.told) >= maxTold {
		clear(n.told)
	}
	n.told[answer] = true
	return false
}

// Warning is why a command should be thought over.
type Warning struct {
	Incident Incident
	Uses     int
	Failures int
	command  string
	fix      *Fix // that may be told to everybody; nil: there is none
}

// Warn says what of a command failed here nearly whenever it was used, if somebody accepted that; nil: nothing. It asks
// nobody's permission, and reads nothing from the disk: the guard calls it for whoever may check.
func (n *Incidents) Warn(project, command string) *Warning {
	n.mu.RLock()
	warned := n.warned
	n.mu.RUnlock()
	if len(warned) == 0 || command == "" {
		return nil
	}
	for _, feature := range features(project, command, programs(simples(check.Head(command, MaxCommand)))) {
		if w, is := warned[feature]; is {
			w.command, w.fix = command, w.Incident.offered(n.everybody(), nil)
			return &w
		}
	}
	return nil
}

// Alternatives are what worked in the command's place, if something that may be offered did.
func (w *Warning) Alternatives() []string {
	fix := w.fix
	if fix == nil {
		return []string{}
	}
	if stay := w.Incident.staying(fix, w.command); stay != "" {
		return []string{stay}
	}
	return append(append([]string{}, fix.Steps...), fix.Command)
}

// By says who what worked was learned of, and who accepted it; empty: nothing may be offered, or nobody was named.
func (w *Warning) By() string {
	switch {
	case w.fix == nil || len(w.fix.By) == 0:
		return ""
	case w.fix.Accepted == "":
		return "learned of " + w.fix.teachers()
	}
	return "learned of " + w.fix.teachers() + ", accepted by " + strings.TrimPrefix(w.fix.Accepted, "@")
}

// teaches is the fix that it would teach to accept the incident: one that worked by more than chance, in an incident of several sessions,
// of which something can be told. nil: there is none.
func (inc *Incident) teaches(asker asker) *Fix {
	fix := inc.offered(asker, nil)
	if !inc.Accepted || inc.Sessions < warnSessions || fix == nil || !inc.proven(fix) || fix.lasts() == "" {
		return nil
	}
	return fix
}

// proven tells whether a fix is more than chance: it worked twice, or the failure was seen in more sessions than one needs to accept it and
// the steps before name what the error names. Where edits mended it far oftener, it teaches nothing,
// and what went through in whatever folder after a cd failed is none. Nor is a fix that makes an empty file for what follows: the
// next session writes something else, under another name.
func (inc *Incident) proven(fix *Fix) bool {
	if slices.ContainsFunc(append(slices.Clone(fix.Steps), fix.Command), makesFile) {
		return false
	}
	if 2*fix.Worked < inc.Edits || inc.Program == "cd" && !strings.Contains(fix.Command, "cd ") {
		return false
	}
	if fix.Worked > 1 {
		return true
	}
	return inc.Sessions > warnSessions && (len(fix.Steps) == 0 || slices.ContainsFunc(fix.Steps, func(step string) bool {
		return slices.ContainsFunc(tokens(step), func(word string) bool { return names(inc.Example, word) })
	}))
}

// makesFile tells whether a command makes an empty file.
func makesFile(command string) bool {
	return slices.ContainsFunc(simples(command), func(c simple) bool {
		words := programWords(c.words)
		return len(words) > 0 && words[0] == "touch"
	})
}

// lasts is the whole fix: all its steps that do something, and what went through then. It is empty where nothing
// of it can be told, as of a script that was typed in.
func (f *Fix) lasts() string {
	steps := slices.DeleteFunc(slices.Clone(f.Steps), func(step string) bool {
		return !slices.ContainsFunc(simples(step), func(c simple) bool {
			words := programWords(c.words)
			return len(words) > 0 && !looksOnly()[words[0]] && !silent()[words[0]]
		})
	})
	if !strings.Contains(f.Command, "<<") || len(steps) == 0 && strings.Contains(f.Command, "&&") {
		steps = append(steps, f.Command)
	}
	for i := range steps {
		steps[i] = code(steps[i], maxShownFix/len(steps))
	}
	return strings.Join(steps, ", then ")
}
