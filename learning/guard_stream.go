package learning

import (
	"strings"
)

// guardStream is what flows through a pipe or lies in a file, as far as it is known.
type guardStream struct {
	text     string
	known    bool     // text is what flows
	paths    []string // it lists these, or what lies below them
	download bool     // it comes from the network
	given    bool     // something flows at all
	consents bool     // an endless yes
}

// guardDownloaded stands for the text of a download in a word.
const guardDownloaded = "\uE003download"

// followedBy is what one reads who reads both, one after the other.
func (a guardStream) followedBy(b guardStream) guardStream {
	switch {
	case !b.given:
		return a
	case !a.given:
		return b
	}
	c := guardStream{known: a.known && b.known, download: a.download || b.download, given: true}
	if len(a.text)+len(b.text) <= guardMaxInput {
		c.text = a.text + b.text
	} else {
		c.known = false
	}
	c.paths = append(append(c.paths, a.paths...), b.paths...)
	return c
}

func guardText(text string) guardStream { return guardStream{text: text, known: true, given: true} }

// items are the lines or listed paths, at most guardMaxTurns.
func (in guardStream) items() (items []string) {
	items = append(items, in.paths...)
	if in.known {
		for line := range strings.FieldsFuncSeq(in.text, func(r rune) bool { return r == '\n' || r == 0 }) {
			items = append(items, strings.TrimSpace(line))
		}
	}
	if len(items) == 0 {
		items = []string{string(guardUnknown)}
	}
	return items[:min(len(items), guardMaxTurns)]
}

// path is where a word points from the working directory.
func (s *guardShell) path(word string) string { return guardClean(s.dir, word) }

// read is what is known of a file's content.
func (s *guardShell) read(path string) guardStream {
	if f, ok := s.files[path]; ok {
		return f
	}
	return guardStream{given: true}
}

// write notes that a file is written, and what it then holds.
func (s *guardShell) write(to string, content guardStream, act bool) {
	path := s.path(to)
	if sink, ok := s.sinks[path]; ok {
		s.stmts(sink, content)
		return
	}
	content.given = true
	s.files[path] = s.files[path].followedBy(content)
	if act && !strings.HasPrefix(path, "/dev/fd/") {
		s.note(&guardAct{name: guardWritesFile, words: []string{path}, effects: guardWriteEffects(path)})
	}
	if strings.HasPrefix(path, "/etc/cron") || strings.HasPrefix(path, "/var/spool/cron") {
		s.schedule(content.text)
	}
}

// schedule follows the commands of a crontab.
func (s *guardShell) schedule(text string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		skip := 5
		if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
			skip = 1
		}
		if len(fields) > skip && !strings.HasPrefix(fields[0], "#") && !strings.Contains(fields[0], "=") {
			s.script(strings.Join(fields[skip:], " "), guardStream{})
			if len(fields) > skip+1 {
				// The system's crontab names a user before the command.
				s.script(strings.Join(fields[skip+1:], " "), guardStream{})
			}
		}
	}
}
