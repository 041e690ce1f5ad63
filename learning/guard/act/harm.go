package act

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// harmsText holds a row for each command that does harm by its words; how a row is written is told in it.
//
//go:embed harms.txt
var harmsText string

// outcomesText holds what else commands come to, in the same form.
//
//go:embed outcomes.txt
var outcomesText string

// Harm is one way in which an act may do harm. Packs of rules name it.
type Harm string

// Harms that follow from what an act does, whatever it is called. The others are the headings of harms.txt.
const (
	HarmRoot       Harm = "files.root"        // deletes the system, a home, or the working directory whole
	HarmTree       Harm = "files.tree"        // deletes a directory that nothing says is scratch
	HarmData       Harm = "files.data"        // deletes where data lies by its place alone
	HarmMirror     Harm = "files.mirror"      // deletes elsewhere what a mirrored folder lacks
	HarmSystemFile Harm = "files.system"      // deletes, moves or overwrites a file of the system
	HarmDisk       Harm = "disk.destroy"      // overwrites a disk
	HarmOpen       Harm = "permissions.open"  // lets everybody write
	HarmOwner      Harm = "permissions.owner" // changes who owns or may use the system
	HarmProcesses  Harm = "process.all"       // ends processes without saying which
	HarmDownload   Harm = "remote.run"        // runs what it downloads
	HarmSQLDrop    Harm = "sql.drop"          // drops a table, a schema, a database …
	HarmSQLAll     Harm = "sql.all"           // changes or deletes every row
	HarmSQLGrant   Harm = "sql.grant"         // gives every right
	HarmSecret     Harm = "secret.read"       // shows or copies a secret
	HarmSend       Harm = "secret.send"       // sends one
	HarmCommit     Harm = "secret.commit"     // puts one into a repository
	HarmUser       Harm = "system.user"
	HarmApprove    Harm = "guard.approve" // allows what the guard blocks, or takes the token that can
)

// harmRow is one row of the table.
type harmRow struct {
	harm  Harm
	words []string // at their places; see the table
	needs []harmOption
	never []harmOption
	not   []string // words that may not be there
	dash  bool     // a bare -- must stand there
	gives []string // what the command comes to, in a row of outcomes
}

// harmOption is an option of a row: any of the names, with a value that fits.
type harmOption struct{ names, values []string }

// harmTable are the rows by the program, those of places, and the harms that are known.
type harmTable struct {
	rows   map[string][]harmRow
	places map[string][]placeRow // by the deeds
	known  map[Harm]bool
}

var harms, outcomes = tableOf(&harmsText), tableOf(&outcomesText)

// tableOf returns what reads a text of rows once.
func tableOf(text *string) func() *harmTable {
	return sync.OnceValue(func() *harmTable {
		t, err := readHarms(*text)
		if err != nil {
			panic(err) // it is part of the program
		}
		return t
	})
}

// outcomes are what the act comes to by the rows under a heading.
func (a *Act) outcomes(heading Harm) (all [][]string) {
	for _, row := range outcomes().rows[a.Name] {
		if row.harm == heading && row.fits(a) {
			all = append(all, row.gives)
		}
	}
	return all
}

// KnownHarm reports whether an act can do the harm.
func KnownHarm(h Harm) bool { return harms().known[h] }

func readHarms(text string) (*harmTable, error) {
	t := &harmTable{rows: map[string][]harmRow{}, places: map[string][]placeRow{}, known: map[Harm]bool{}}
	heading := Harm("")
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			heading = Harm(strings.Trim(line, "[]"))
			t.known[heading] = true
			continue
		case heading == "", seen[string(heading)+line]:
			return nil, fmt.Errorf("%q stands under no heading, or twice", line)
		}
		seen[string(heading)+line] = true
		line, gives, _ := strings.Cut(line, " => ")
		fields := strings.Fields(line)
		if fields[0] == "@set" {
			fields[0] = SetsVariable
		}
		if fields[0][0] == '@' {
			row := readPlace(heading, fields)
			for deed := range strings.SplitSeq(fields[0][1:], "|") {
				t.places[deed] = append(t.places[deed], row)
			}
			continue
		}
		row := harmRow{harm: heading, gives: strings.Fields(gives)}
		for _, f := range fields[1:] {
			switch option, isOption := strings.CutPrefix(f, "--"); {
			case f == "--":
				row.dash = true
			case isOption:
				row.needs = append(row.needs, readHarmOption(option))
			case strings.HasPrefix(f, "!--"):
				row.never = append(row.never, readHarmOption(f[3:]))
			case strings.HasPrefix(f, "!"):
				row.not = append(row.not, f[1:])
			default:
				row.words = append(row.words, f)
			}
		}
		for name := range strings.SplitSeq(fields[0], "|") {
			t.rows[name] = append(t.rows[name], row)
		}
	}
	return t, nil
}

func readHarmOption(text string) harmOption {
	names, values, valued := strings.Cut(text, "=")
	o := harmOption{names: strings.Split(names, "|")}
	if valued {
		o.values = strings.Split(values, "|")
	}
	return o
}

// Harms are the ways in which an act may do harm, each once. An act that only shows, asks for
// help or says what it would do does none.
func (a *Act) Harms() (found []Harm) {
	if a.Prepared || a.Harmless() {
		return nil
	}
	add := func(h Harm) {
		if h != "" && !slices.Contains(found, h) {
			found = append(found, h)
		}
	}
	for _, row := range harms().rows[a.Name] {
		if row.fits(a) {
			add(row.harm)
		}
	}
	for i := range a.Effects {
		add(a.effectHarm(&a.Effects[i]))
		a.placeHarms(&a.Effects[i], add)
	}
	add(a.ownHarm())
	add(a.secretHarm())
	add(a.ownerHarm())
	return found
}

func (o harmOption) fits(a *Act) bool {
	for _, name := range o.names {
		for given, values := range a.Options {
			if given != name && (!strings.HasSuffix(name, "*") || !strings.HasPrefix(given, name[:len(name)-1])) {
				continue
			}
			if o.values == nil || slices.ContainsFunc(values, func(v string) bool { return anyGlob(o.values, v) }) {
				return true
			}
			// Of a program that the table does not know, the value looks like an operand.
			if slices.Contains(values, "") && slices.ContainsFunc(a.Words, func(w string) bool { return anyGlob(o.values, w) }) {
				return true
			}
		}
	}
	return false
}

func (r harmRow) fits(a *Act) bool {
	if at := slices.Index(a.Source, "--"); r.dash && (at < 0 || at == len(a.Source)-1) {
		return false
	}
	if slices.ContainsFunc(r.needs, func(o harmOption) bool { return !o.fits(a) }) || slices.ContainsFunc(r.never, func(o harmOption) bool { return o.fits(a) }) ||
		slices.ContainsFunc(a.Words, func(given string) bool { return anyGlob(r.not, given) }) {
		return false
	}
	// Of a program whose options are not known, their values may stand before the subcommand.
	late := OptionsOf()[a.Name] == nil && len(a.Source) > 1 && strings.HasPrefix(a.Source[1], "-") && len(r.words) > 0
	for at := 0; at <= len(a.Words) && (at == 0 || late && at < 3); at++ {
		if wordsStand(r.words, a.Words[at:]) {
			return true
		}
	}
	return false
}

// maxHarmWords is how many words of an act are compared: subcommands stand at the front, and a
// longer list is one of files.
const maxHarmWords = 64

// wordsStand reports whether the words of a row stand at the beginning of an act's.
func wordsStand(want, got []string) bool {
	got = got[:min(len(got), maxHarmWords)]
	if len(want) == 0 {
		return true
	}
	switch w := want[0]; {
	case w == "**":
		for i := 0; i <= len(got); i++ {
			if wordsStand(want[1:], got[i:]) {
				return true
			}
		}
		return false
	case w == "$":
		return len(got) == 0
	case len(got) == 0:
		return false
	case w == "+":
	case w == "%":
		if !Patterned(got[0]) {
			return false
		}
	case !anyGlob(strings.Split(w, "|"), Spelling.Replace(got[0])):
		return false
	}
	return wordsStand(want[1:], got[1:])
}

// anyGlob reports whether a text fits one of the patterns, in which * stands for any text.
func anyGlob(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if !strings.Contains(p, "*") || p == `\*` {
			return strings.TrimPrefix(p, `\`) == text
		}
		return NameFits(strings.ReplaceAll(p, "*", string(AnyText)), text)
	})
}

var (
	systemFolders  = wordlist.Set(wordsText, "folders of the system")
	emptyWords     = wordlist.Set(wordsText, "words of empty folders")
	sourceFolders  = wordlist.Set(wordsText, "folders of a project")
	builtFolders   = wordlist.Set(wordsText, "folders that tools make too")
	codeFolders    = wordlist.Set(wordsText, "folders of code")
	builders       = wordlist.Set(wordsText, "programs that build")
	scratchFolders = wordlist.Set(wordsText, "scratch folders")
	scratchPlaces  = wordlist.Set(wordsText, "scratch places")
	scratchWords   = wordlist.Set(wordsText, "scratch words")
	secretWords    = wordlist.Set(wordsText, "secret words")
)

// effectHarm is the harm of one effect.
func (a *Act) effectHarm(e *Effect) Harm {
	switch e.Kind {
	case EffectDelete:
		return a.deleteHarm(e)
	case EffectWrite:
		if e.Verb == VerbEmpty {
			return a.deleteHarm(e)
		}
	case EffectSQL:
		if !e.Targets.passing() {
			return sqlHarm(e.SQL)
		}
	case EffectMode:
		return modeHarm(e)
	}
	return ""
}

// deleteHarm judges what is deleted or emptied by its place and its extent, whatever program does it.
func (a *Act) deleteHarm(e *Effect) Harm {
	p := a.local(e.Path)
	folder := fullFolder(p)
	everything := e.Recursive || folder != p
	switch {
	case a.Name == "git" && a.Words[0] != "clean" && a.Words[0] != "worktree" || e.Soft: // the table says which of its deletions lose something
	case e.Narrow || e.Word != "": // find … -name X -delete
		if e.Recursive && slices.Contains([]string{"/", "/" + string(AnyText), "/etc", "/usr", "/home", "~", "/bin", "/lib", "/boot"}, p) {
			return HarmRoot
		}
	case !everything:
		// A pattern that everything in the working folder fits.
		if onlyStar(path.Base(p)) && complete(path.Dir(p)) && (rooted(p) || a.Consenting()) {
			return HarmRoot
		}
	case complete(folder) && (e.Recursive || rooted(p) || a.Consenting()):
		return HarmRoot
	case scratch(folder), e.Made, strings.HasPrefix(a.Name, "trash"), a.Name == "gio":
	case a.Name == "rsync" && !a.emptySource(): // a mirror is what --delete is for
		if to := a.Words[len(a.Words)-1]; outside(folder) || remotePath(to) != to {
			return HarmMirror
		}
	case outside(folder), a.written(e, folder):
		return HarmTree
	}
	return ""
}

// written reports whether people write what is in a folder of the project. Tools make some of those, too: in a folder that holds
// no code, beside others that are made, or where what follows makes them anew.
func (a *Act) written(e *Effect, folder string) bool {
	name, parent := strings.ToLower(path.Base(folder)), path.Dir(folder)
	if Patterned(name) {
		return e.Recursive && anyOf(sourceFolders(), func(of string) bool { return NameFits(name, of) })
	}
	if !builtFolders()[name] || codeFolders()[strings.ToLower(path.Base(parent))] {
		return sourceFolders()[name]
	}
	return parent == "." && !e.Anew && !slices.ContainsFunc(a.Effects, func(o Effect) bool { return scratch(a.local(o.Path)) })
}

// fullFolder is the folder whose whole content a path stands for by a * at its end, or the path.
func fullFolder(p string) string {
	for strings.HasSuffix(p, "/"+string(AnyText)) {
		p = strings.TrimSuffix(p, "/"+string(AnyText))
	}
	return cmp.Or(p, "/")
}

// emptySource reports whether what rsync copies is named as if nothing were in it: then its target is emptied.
func (a *Act) emptySource() bool {
	source := strings.TrimRight(a.Words[0], "/")
	return slices.ContainsFunc(SplitName(path.Base(source)), func(w string) bool { return emptyWords()[w] }) || strings.HasPrefix(source, "/tmp/"+string(Unknown))
}

// local is a path as the agent's project has it: relative, where it lies in one of the project's folders.
func (a *Act) local(p string) string {
	for _, root := range a.Roots {
		if _, root = homes("~", root); complete(root) || root == "/tmp" {
			continue
		}
		if _, full := homes("~", p); within(full, root) {
			return cmp.Or(strings.TrimPrefix(full[len(root):], "/"), ".")
		}
	}
	return p
}

// outside reports whether a path lies outside the project, as far as it says.
func outside(p string) bool {
	return rooted(p) || p == ".." || strings.HasPrefix(p, "../") || len(p) > 1 && p[1] == ':' // a drive of Windows
}

// Consenting reports whether the act is told not to ask.
func (a *Act) Consenting() bool { return len(a.Options["force"]) > 0 || a.Consents }

// onlyStar reports whether a name is a pattern that everything fits.
func onlyStar(name string) bool { return name == string(AnyText) || name == "."+string(AnyText) }

// within reports whether a path is the folder or lies in it.
func within(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, folder) && p[len(folder)] == '/'
}

// complete reports whether a path is the system, a home, the working directory or what lies above it, with all that is in it.
func complete(p string) bool {
	p = strings.TrimSuffix(p, "/.")
	switch {
	case p == "/" || p == "." || p == "~" || p == ".." || p == "" || p == string(AnyText) || strings.Trim(p, "./") == "":
		return true
	case systemFolders()[p]:
		return true
	}
	parts := Parts(p)
	switch {
	case strings.HasPrefix(p, "/") && len(parts) == 1:
		// A pattern may be any folder of the root, and so is a folder that the root has.
		return Patterned(parts[0]) || parts[0] == ".git"
	case strings.HasPrefix(p, "/") && len(parts) == 2:
		return parts[0] == "home" || parts[0] == "Users" || Patterned(parts[0])
	}
	return false
}

// scratch reports whether a directory is one that is made to be removed: what builds and tests
// leave, and temporary folders.
func scratch(p string) bool {
	_, at := homes("~", p)
	if anyOf(scratchPlaces(), func(place string) bool { return strings.HasPrefix(at, place+"/") || at == place && place[0] != '/' }) {
		return true
	}
	parts := Parts(p)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	if last == "~" || last == "${HOME}" {
		return false
	}
	if scratchFolders()[strings.ToLower(strings.TrimSuffix(last, string(AnyText)))] || scratchFolders()[strings.ToLower(last)] {
		return true
	}
	if rooted(p) && !strings.HasPrefix(p, "~/") && !strings.HasPrefix(p, "/home/") && !strings.HasPrefix(p, "$") && !strings.HasPrefix(p, string(Unknown)) || parts[0] == ".." {
		return false
	}
	if rooted(p) && (strings.HasPrefix(p, "$") || strings.HasPrefix(p, string(Unknown))) && len(parts) == 1 {
		name := strings.Trim(Spelling.Replace(p), "${}…")
		return name != "" && slices.ContainsFunc(SplitName(name), func(w string) bool { return scratchWords()[w] || scratchFolders()[w] })
	}
	// A file is named for its ending; rm -r of it takes no directory.
	if ext := path.Ext(last); !rooted(p) && last[0] != '.' && len(ext) > 1 && len(ext) < 7 && ext != ".d" && ext != ".git" {
		return true
	}
	for i, part := range parts {
		if part == "~" {
			continue
		}
		if sourceFolders()[strings.ToLower(part)] {
			// What stands below it may be made by a test.
			return i < len(parts)-1 && namedScratch(last)
		}
		if namedScratch(part) {
			return true
		}
	}
	return false
}

// namedScratch reports whether a name says that it is for a while.
func namedScratch(name string) bool {
	if scratchFolders()[strings.ToLower(name)] || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".bak") || strings.HasSuffix(name, ".egg-info") {
		return true
	}
	words := SplitName(camel(name))
	return slices.ContainsFunc(words, func(w string) bool {
		return scratchWords()[w] || w != "tests" && w != "template" && w != "templates" && slices.ContainsFunc(
			[]string{"test", "repro", "tmp", "temp"}, func(begin string) bool { return len(w) > len(begin) && strings.HasPrefix(w, begin) })
	})
}

// core reports whether a path is of the system itself, and not of what it serves.
func core(p string) bool {
	if p == "/" || p == "/home" || p == "/var" || p == "/root" || p == "/lib64" || p == "~" || p == "/"+string(AnyText) {
		return true
	}
	for _, folder := range []string{"/etc", "/usr", "/bin", "/boot", "/dev", "/lib", "/proc", "/sbin", "/sys"} {
		if within(p, folder) {
			return !within(p, "/usr/local")
		}
	}
	return p == "/usr/local"
}

// modeHarm: permissions that let everybody write, of much or of the system; and programs that run as their owner.
func modeHarm(e *Effect) Harm {
	system := core(e.Path)
	switch mode := e.Verb; {
	case opens(mode):
		if e.Recursive || system || e.Path == "~/.ssh" || strings.HasPrefix(e.Path, "~/.ssh/") {
			return HarmOpen
		}
	case len(mode) == 4 && strings.Trim(mode, "01234567") == "" && mode[0] >= '2' || strings.Contains(mode, "+s") || strings.Contains(mode, "=s"):
		if !strings.HasPrefix(mode, "g") {
			return HarmUser
		}
	case system && e.Recursive:
		return HarmOwner
	}
	return ""
}

// opens reports whether a mode lets everybody write.
func opens(mode string) bool {
	if strings.Trim(mode, "01234567") == "" && len(mode) >= 3 {
		last := mode[len(mode)-1]
		return last == '7' || last == '6' || last == '2' || last == '3'
	}
	for clause := range strings.SplitSeq(mode, ",") {
		if at := strings.IndexAny(clause, "+="); at >= 0 && strings.Contains(clause[at:], "w") && (at == 0 || strings.ContainsAny(clause[:at], "ao")) {
			return at > 0
		}
	}
	return false
}

func sqlHarm(st *Statement) Harm {
	switch {
	case st == nil || st.Hidden || st.Prose:
	case st.Verb == "DROP" && !st.Bounded, st.Drops, st.Verb == "TRUNCATE", st.Verb == "PURGE":
		return HarmSQLDrop
	case (st.Verb == "DELETE" || st.Verb == "UPDATE") && !st.Bounded:
		return HarmSQLAll
	case st.Verb == "GRANT" && st.Drops:
		return HarmSQLGrant
	}
	return ""
}

// ownHarm are the harms of a few programs whose words are no subcommands.
func (a *Act) ownHarm() Harm {
	switch a.Name {
	case "pkill":
		// An expression that every name fits.
		if slices.ContainsFunc(a.Words, func(w string) bool { return strings.Trim(Spelling.Replace(w), ".*+^$") == "" }) {
			return HarmProcesses
		}
	case "kill":
		if slices.Contains(a.Source[min(2, len(a.Source)):], "-1") || len(a.Source) == 2 && a.Source[1] == "-1" {
			return HarmProcesses
		}
	case ForkBomb:
		return HarmProcesses
	case "chown", "chgrp", "chattr", "setfacl":
		deep := len(a.Options["recursive"])+len(a.Options["R"])+len(a.Options["r"]) > 0
		for _, w := range a.Words {
			if p := Clean(a.Dir, w); deep && core(p) {
				return HarmOwner
			}
		}
	case "mv":
		for _, w := range a.Words[:max(0, len(a.Words)-1)] {
			if p := a.local(Clean(a.Dir, w)); complete(p) && rooted(p) {
				return HarmSystemFile
			}
		}
	}
	return ""
}
