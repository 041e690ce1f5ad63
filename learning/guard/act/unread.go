package act

import (
	"path"
	"slices"
	"strings"

	"skillrouter/internal/lazyregexp"
)

// dataDocument is a line that gives a quoted here-document to a program which only shows it or writes it to a file.
var dataDocument = lazyregexp.New("^\\s*(?:sudo\\s+)?(?:cat|tee)\\b([^|;()`$<]*)<<(-?)\\s*(?:'([^']+)'|\"([^\"]+)\"|\\\\(\\w+))([^|;()`$]*)$")

// WithoutData is a text without the here-documents in it that are data: they are quoted, a program that runs nothing reads them, and the
// text names the file again nowhere.
func WithoutData(text string) string {
	if !strings.Contains(text, "<<") {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	var kept, documents []string
	var files [][]string // that each document is written to
	for i := 0; i < len(lines); i++ {
		kept = append(kept, lines[i])
		found := dataDocument.FindStringSubmatch(strings.TrimRight(lines[i], "\r\n"))
		if found == nil {
			continue
		}
		from, end := i+1, found[3]+found[4]+found[5]
		for i++; i < len(lines); i++ {
			line := strings.TrimRight(lines[i], "\r\n")
			if found[2] != "" {
				line = strings.TrimLeft(line, "\t")
			}
			if line == end {
				break
			}
		}
		documents = append(documents, strings.Join(lines[from:min(i, len(lines))], ""))
		files = append(files, strings.FieldsFunc(found[1]+" "+found[6], func(r rune) bool { return strings.ContainsRune(" \t><&", r) }))
	}
	rest := strings.Join(kept, "")
	for i, document := range documents {
		if slices.ContainsFunc(files[i], func(file string) bool {
			return !strings.HasPrefix(file, "-") && strings.Count(rest, path.Base(file)) > 1
		}) {
			rest += "\n" + document
		}
	}
	return rest
}

// ProgramsIn are the programs that the words of a text may name, quotes and backslashes removed, in the order of the text.
func ProgramsIn(text string) func(yield func(program string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(unquoted.Replace(text), func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
		}) {
			name := Program(strings.Trim(word, ".-"))
			if does := calls()[lastName(name)]; does == "remove tree" || does == "remove file" {
				name = "rm"
			}
			if !yield(name) {
				return
			}
		}
	}
}

// harmful are the facts of programs that do a harm which follows from what an act does: "does=…" is one of its words, "=…" is a name.
var harmful = map[Harm]string{
	HarmRoot: "does=remove does=find does=fd does=sync does=copy", HarmTree: "does=remove does=find does=fd does=sync", HarmMirror: "does=sync", HarmSystemFile: "does=remove does=copy does=edit",
	HarmDisk: "does=dd does=format does=partition", HarmOpen: "does=mode =setfacl", HarmOwner: "does=mode =chown =chgrp =chattr =setfacl", HarmProcesses: "=kill =pkill =killall",
	HarmDownload: "=curl =wget", HarmSQLDrop: "sql", HarmSQLAll: "sql", HarmSQLGrant: "sql", "db.drop": "=curl =wget", "cloud.delete": "objects does=aws does=gcloud does=rclone",
	"ci.hooks": "=git", "git.publish": "=git", HarmCommit: "=git", HarmSend: "=curl =wget =nc =http =socat =telnet", "system.service": "service does=systemctl", "system.power": "power", HarmApprove: "=skillrouter =curl =wget",
}

// Does reports whether a program can do the harm, by the tables.
func (h Harm) Does(program string) bool {
	if slices.ContainsFunc(harms().rows[program], func(r harmRow) bool { return r.harm == h }) {
		return true
	}
	for _, rows := range harms().places {
		if slices.ContainsFunc(rows, func(r placeRow) bool { return r.harm == h && r.names(program) }) {
			return true
		}
	}
	p := programOf(program)
	for fact := range strings.FieldsSeq(harmful[h]) {
		switch key, word, valued := strings.Cut(fact, "="); {
		case key == "" && word == program, !valued && p.has(key), key != "" && valued && p.says(key, word):
			return true
		}
	}
	return false
}
