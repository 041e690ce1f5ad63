package act

import (
	"slices"
	"strings"
)

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
	HarmDownload: "=curl =wget", HarmSQLDrop: "sql", HarmSQLAll: "sql", HarmSQLGrant: "sql", "db.drop": "=curl =wget", "cloud.delete": "does=objects",
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
