package act

import (
	"slices"
	"strings"
)

// stream is what flows through a pipe or lies in a file, as far as it is known.
type stream struct {
	text     string
	known    bool     // text is what flows
	paths    []string // it lists these, or what lies below them
	download bool     // it comes from the network
	given    bool     // something flows at all
	consents bool     // an endless yes
	secrets  bool     // the variables of the environment are in it
	narrow   bool     // the paths are a part of what lies there, by name, age, size …
	cut      bool     // its text is longer than what is carried
	rest     string   // the words of what is cut off
	wants    []string // files that it is made of, and of which nothing is known yet
}

// downloaded stands for the text of a download in a word.
const downloaded = "\uE003download"

// followedBy is what one reads who reads both, one after the other.
func (a stream) followedBy(b stream) stream {
	var both streams
	both.add(a)
	both.add(b)
	return both.all()
}

// streams puts together what one reads who reads many streams, one after the other.
type streams struct {
	both stream
	text strings.Builder
}

func (a *streams) add(b stream) {
	switch {
	case !b.given:
		return
	case !a.both.given:
		a.both = b
		a.both.paths = slices.Clone(b.paths)
	default:
		c := &a.both
		c.known, c.narrow = c.known && b.known, c.narrow && b.narrow
		c.download, c.secrets, c.cut = c.download || b.download, c.secrets || b.secrets, c.cut || b.cut
		c.consents = false
		c.wants, c.rest = slices.Concat(c.wants, b.wants), c.rest+" "+b.rest
		c.paths = append(c.paths, b.paths...)
	}
	if a.text.Len()+len(b.text) > maxCarried {
		a.both.known, a.both.cut = false, true
		return
	}
	a.text.WriteString(b.text)
}

func (a *streams) all() stream {
	a.both.text = a.text.String()
	return a.both
}

func plainText(text string) stream { return stream{text: text, known: true, given: true} }

// items are the lines or listed paths.
func (in stream) items() (items []string) {
	items = append(items, in.paths...)
	if in.known {
		for line := range strings.FieldsFuncSeq(in.text, func(r rune) bool { return r == '\n' || r == 0 }) {
			items = append(items, strings.TrimSpace(line))
		}
	}
	if len(items) == 0 {
		items = []string{string(Unknown)}
	}
	return items
}

// link is another name of a place: what was moved, or a symbolic link.
type link struct {
	from, to string
	moved    bool
}

// path is where a word points from the working directory. A symbolic link itself is named without a slash behind it.
func (s *Shell) path(word string) string {
	p := Clean(s.dir, word)
	for _, l := range s.links {
		if within(p, l.from) && (p != l.from || l.moved || strings.HasSuffix(word, "/")) {
			return l.to + p[len(l.from):]
		}
	}
	return p
}

// write notes that a file is written, and what it then holds.
func (s *Shell) write(to string, content stream, how string) {
	path := s.path(to)
	if sink, ok := s.sinks[path]; ok {
		s.stmts(sink, content)
		return
	}
	content.given = true
	old := s.files[path]
	if how == "append" {
		old = s.read(path)
	}
	s.files[path] = old.followedBy(content)
	if how == "" && content.known && strings.TrimSpace(content.text) == "" {
		how = VerbEmpty
	}
	if !strings.HasPrefix(path, "/dev/fd/") {
		effects := writeEffects(path, how)
		for i := range effects {
			if content.known {
				effects[i].Change = &edit{text: content.text, complete: how != verbAppend}
			}
		}
		s.note(&Act{Name: WritesFile, Words: []string{path}, Effects: effects})
	}
	if strings.HasPrefix(path, "/etc/cron") || strings.HasPrefix(path, "/var/spool/cron") {
		s.schedule(content.text)
	}
}

// reads notes that a secret file is read by the shell itself, which is as good as showing it.
func (s *Shell) reads(path string) {
	s.noteFully(&Act{Name: ReadsFile, Words: []string{path}, Source: []string{"<", path}})
}

// schedule follows the commands of a crontab.
func (s *Shell) schedule(text string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		skip := 5
		if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
			skip = 1
		}
		if len(fields) > skip && !strings.HasPrefix(fields[0], "#") && !strings.Contains(fields[0], "=") {
			s.script(strings.Join(fields[skip:], " "), stream{})
			if len(fields) > skip+1 {
				// The system's crontab names a user before the command.
				s.script(strings.Join(fields[skip+1:], " "), stream{})
			}
		}
	}
}
