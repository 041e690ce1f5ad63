package act

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"skillrouter/tfidf/wordlist"
)

// harmsText holds a row for each command that does harm by its words; how a row is written is told in it.
//
//go:embed harms.txt
var harmsText string

// Harm is one way in which an act may do harm. Packs of rules name it.
type Harm string

// Harms that follow from what an act does, whatever it is called. The others are the headings of harms.txt.
const (
	HarmRoot       Harm = "files.root"        // deletes the system, a home, or the working directory whole
	HarmTree       Harm = "files.tree"        // deletes a directory that nothing says is scratch
	HarmSystemFile Harm = "files.system"      // deletes, moves or overwrites a file of the system
	HarmDisk       Harm = "disk.destroy"      // overwrites a disk
	HarmOpen       Harm = "permissions.open"  // lets everybody write
	HarmOwner      Harm = "permissions.owner" // changes who owns or may use the system
	HarmProcesses  Harm = "process.all"       // ends processes without saying which
	HarmDownload   Harm = "remote.run"        // runs what it downloads
	HarmSQLDrop    Harm = "sql.drop"          // drops a table, a schema, a database …
	HarmSQLAll     Harm = "sql.all"           // changes or deletes every row
	HarmSQLGrant   Harm = "sql.grant"         // gives every right
	HarmIndex      Harm = "db.drop"           // deletes an index of a search engine, and the like
	HarmObjects    Harm = "cloud.delete"      // deletes a bucket, or much of it
	HarmState      Harm = "infra.destroy"     // loses what terraform knows
	HarmHooks      Harm = "ci.hooks"          // passes over the checks of a repository
	HarmSecret     Harm = "secret.read"       // shows or copies a secret
	HarmSend       Harm = "secret.send"       // sends one
	HarmCommit     Harm = "secret.commit"     // puts one into a repository
	HarmService    Harm = "system.service"    // stops a service
	HarmPower      Harm = "system.power"      // stops the machine
	HarmUser       Harm = "system.user"
	HarmSchedule   Harm = "system.schedule"
	HarmKernel     Harm = "system.kernel"
	HarmLog        Harm = "system.log"
	HarmForce      Harm = "git.publish"   // overwrites what others have
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
}

// harmOption is an option of a row: any of the names, with a value that fits.
type harmOption struct{ names, values []string }

// harmTable are the rows by the program, and the harms that are known.
type harmTable struct {
	rows  map[string][]harmRow
	known map[Harm]bool
}

var harms = sync.OnceValue(func() *harmTable {
	t, err := readHarms(harmsText)
	if err != nil {
		panic(err) // it is part of the program
	}
	return t
})

// KnownHarm reports whether an act can do the harm.
func KnownHarm(h Harm) bool { return harms().known[h] }

func readHarms(text string) (*harmTable, error) {
	t := &harmTable{rows: map[string][]harmRow{}, known: map[Harm]bool{}}
	for _, h := range []Harm{
		HarmRoot, HarmTree, HarmSystemFile, HarmDisk, HarmOpen, HarmOwner, HarmProcesses, HarmDownload, HarmSQLDrop, HarmSQLAll, HarmSQLGrant, HarmIndex,
		HarmObjects, HarmState, HarmHooks, HarmSecret, HarmSend, HarmCommit, HarmService, HarmPower, HarmUser, HarmSchedule, HarmKernel, HarmLog, HarmForce, HarmApprove,
	} {
		t.known[h] = true
	}
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
		fields := strings.Fields(line)
		row := harmRow{harm: heading}
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
	if a.Prepared || a.Name == SetsVariable || a.Harmless() || a.rehearses() {
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
	}
	add(a.ownHarm())
	add(a.secretHarm())
	add(a.ownerHarm())
	return found
}

// rehearses reports whether the act says by an option that most programs share that it changes nothing.
func (a *Act) rehearses() bool {
	for _, o := range []string{"dry-run", "dryrun", "dry_run", "what-if", "whatif", "WhatIf", "simulate", "noop", "validate-only", "list-only"} {
		if v := a.Options[o]; len(v) > 0 && v[len(v)-1] != "none" && v[len(v)-1] != "false" {
			return true
		}
	}
	return false
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
	if r.dash && !slices.Contains(a.Source, "--") {
		return false
	}
	for _, o := range r.needs {
		if !o.fits(a) {
			return false
		}
	}
	for _, o := range r.never {
		if o.fits(a) {
			return false
		}
	}
	for _, w := range r.not {
		if slices.Contains(a.Words, w) {
			return false
		}
	}
	// Of a program whose options are not known, their values may stand before the subcommand.
	late := 0
	if OptionsOf()[a.Name] == nil && len(a.Source) > 1 && strings.HasPrefix(a.Source[1], "-") && len(r.words) > 0 {
		late = 2
	}
	for at := range late + 1 {
		if at <= len(a.Words) && wordsStand(r.words, a.Words[at:]) {
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
		if !strings.Contains(p, "*") {
			return p == text
		}
		head, rest, _ := strings.Cut(p, "*")
		after, ok := strings.CutPrefix(text, head)
		for ok && rest != "" {
			part, next, more := strings.Cut(rest, "*")
			if !more {
				return strings.HasSuffix(after, part)
			}
			i := strings.Index(after, part)
			if i < 0 {
				return false
			}
			after, rest = after[i+len(part):], next
		}
		return ok
	})
}

var (
	systemFolders  = wordlist.Set(wordsText, "folders of the system")
	systemFiles    = wordlist.Set(wordsText, "files of the system")
	sourceFolders  = wordlist.Set(wordsText, "folders of a project")
	scratchFolders = wordlist.Set(wordsText, "scratch folders")
	scratchWords   = wordlist.Set(wordsText, "scratch words")
	secretFiles    = wordlist.Set(wordsText, "secret files")
	secretWords    = wordlist.Set(wordsText, "secret words")
	servicePorts   = wordlist.Set(wordsText, "ports of databases")
)

// effectHarm is the harm of one effect.
func (a *Act) effectHarm(e *Effect) Harm {
	switch e.Kind {
	case EffectDelete:
		return a.deleteHarm(e)
	case EffectWrite:
		return writeHarm(e)
	case EffectDevice:
		return HarmDisk
	case EffectService:
		if (e.Verb == "stop" || e.Verb == "disable") && (e.Path == "system" || e.Path == "launchctl" || e.Path == "sv") {
			return HarmService
		}
	case EffectPower:
		return HarmPower
	case EffectSQL:
		return sqlHarm(e.SQL)
	case EffectObjects:
		if e.Recursive && !e.Soft {
			return HarmObjects
		}
	case EffectHooks:
		return HarmHooks
	case EffectForce:
		return HarmForce
	case EffectDownload:
		return HarmDownload
	case EffectMode:
		return modeHarm(e)
	case EffectHTTP:
		return requestHarm(e)
	}
	return ""
}

func (a *Act) deleteHarm(e *Effect) Harm {
	p := e.Path
	switch {
	case a.Name == "git" || e.Soft:
		return "" // the table says which of its deletions lose something
	case strings.HasSuffix(p, ".tfstate"):
		return HarmState
	case strings.HasPrefix(p, "/boot/"):
		return HarmKernel
	case within(p, "/var/log") && (e.Recursive || Patterned(p)) && e.Word == "":
		return HarmLog
	case within(p, "/etc/cron.d") || within(p, "/var/spool/cron"):
		return HarmSchedule
	}
	if e.Narrow || e.Word != "" { // find … -name X -delete
		if e.Recursive && (p == "/" || p == "/"+string(AnyText) || p == "/etc" || p == "/usr" || p == "/home" || p == "~" || p == "/bin" || p == "/lib" || p == "/boot") {
			return HarmRoot
		}
		return ""
	}
	if !e.Recursive {
		parts := Parts(p)
		if len(parts) > 0 && Patterned(parts[len(parts)-1]) && onlyStar(parts[len(parts)-1]) && complete(path.Dir(p)) && (rooted(p) || a.Consenting()) {
			return HarmRoot
		}
		if systemFile(p) {
			return HarmSystemFile
		}
		return ""
	}
	trimmed := p
	for strings.HasSuffix(trimmed, "/"+string(AnyText)) {
		trimmed = strings.TrimSuffix(trimmed, "/"+string(AnyText))
	}
	trimmed = cmp.Or(trimmed, "/")
	switch {
	case complete(trimmed):
		return HarmRoot
	case a.Name == "rsync" && !strings.HasPrefix(p, "~/"):
		return "" // a mirror is what --delete is for
	case scratch(trimmed), e.Made && !sourceFolders()[strings.ToLower(path.Base(p))], strings.HasPrefix(a.Name, "trash"), a.Name == "gio":
		return ""
	}
	return HarmTree
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
	for _, tmp := range []string{"/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "${TMPDIR}", "${TMP}", "${TEMP}", "${RUNNER_TEMP}", "~/.cache", "/root/.cache", "~/tmp", "/private/var/folders", "/var/cache", "/run/user"} {
		if strings.HasPrefix(p, tmp+"/") || p == tmp && tmp[0] == '$' {
			return true
		}
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
		return name != "" && slices.ContainsFunc(SplitName(name), func(w string) bool { return scratchWords()[w] })
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
		if scratchWords()[w] {
			return true
		}
		for _, begin := range []string{"test", "repro", "tmp", "temp"} {
			if len(w) > len(begin) && strings.HasPrefix(w, begin) && w != "tests" && w != "template" && w != "templates" {
				return true
			}
		}
		return false
	})
}

// systemFile reports whether the machine or an account depends on the file.
func systemFile(p string) bool {
	if systemFiles()[p] {
		return true
	}
	for _, folder := range []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/lib", "/lib64", "/boot", "/etc/sudoers.d", "/etc/pam.d", "/etc/ssh", "/etc/ssl"} {
		if strings.HasPrefix(p, folder+"/") {
			return true
		}
	}
	return false
}

func writeHarm(e *Effect) Harm {
	p := e.Path
	switch {
	case p == "/proc/sysrq-trigger" || strings.HasPrefix(p, "/proc/sys/") || strings.HasPrefix(p, "/sys/"):
		return HarmKernel
	case p == "/etc/crontab" || strings.HasPrefix(p, "/etc/cron.") || within(p, "/var/spool/cron"):
		return HarmSchedule
	case p == "/etc/sudoers" || strings.HasPrefix(p, "/etc/sudoers.d/"):
		return HarmUser
	case e.Verb == "append":
		if p == "/etc/passwd" || p == "/etc/shadow" || strings.HasSuffix(p, "/.ssh/authorized_keys") {
			return HarmUser
		}
		return ""
	case strings.HasPrefix(p, "/boot/"):
		return HarmKernel
	case systemFiles()[p], strings.HasPrefix(p, "/etc/pam.d/"), strings.HasPrefix(p, "/etc/ssh/"):
		return HarmSystemFile // a program that is put into /usr/bin is installed, and harms nothing
	}
	return ""
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

// requestHarm: requests that delete what a database or a search engine holds.
func requestHarm(e *Effect) Harm {
	hostname, rest, _ := strings.Cut(e.Path, "/")
	_, port, _ := strings.Cut(hostname, ":")
	_, asked, _ := strings.Cut(e.Word, "?")
	switch {
	case approving(rest), switching(e.Verb, rest):
		return HarmApprove
	case strings.HasSuffix(rest, "_delete_by_query"), strings.Contains(asked, "DROP") || strings.Contains(asked, "drop+"):
		return HarmIndex
	case e.Verb == "DELETE" && (servicePorts()[port] || rest == "_all" || rest == "*") && !strings.Contains(rest, "/_doc/") && !strings.Contains(rest, "/documents/"):
		return HarmIndex
	case e.Verb == "DELETE" && strings.HasPrefix(hostname, "api.github.com"):
		return "ci.change"
	case e.Verb == "POST" && rest == "flushall":
		return HarmIndex
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
			if p := Clean(a.Dir, w); complete(p) && rooted(p) || systemFile(p) {
				return HarmSystemFile
			}
		}
	case "tar":
		if len(a.Options["remove-files"]) > 0 {
			return HarmTree
		}
	case "zip":
		if len(a.Options["m"])+len(a.Options["move"]) > 0 {
			return HarmTree
		}
	}
	return ""
}

// switching reports whether a request switches, adds or removes packs of rules.
func switching(verb, p string) bool {
	p, _, _ = strings.Cut("/"+p, "?")
	return verb != "GET" && verb != "HEAD" && strings.Contains(path.Clean(p)+"/", "/check/packs/")
}

// approving reports whether the path of a request is one by which a person allows what the guard blocks, or a token is issued.
func approving(p string) bool {
	p, _, _ = strings.Cut("/"+p, "?")
	p = path.Clean(p)
	parts := Parts(p)
	switch n := len(parts); {
	case strings.Contains(p, "/check/approvals/"):
		return n > 0 && (parts[n-1] == "approve" || parts[n-1] == "deny" || Patterned(parts[n-1]))
	case strings.Contains(p, "/ui/guard/"):
		return n > 0 && (parts[n-1] == "approve" || parts[n-1] == "deny")
	}
	return false
}
