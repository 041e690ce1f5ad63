package act

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

// output is what a command prints, as far as that follows from its words.
func (s *Shell) output(name string, words []string, a *Act, in stream) stream {
	args := words[1:]
	switch programOf(name).one("prints") {
	case "echo":
		return plainText(echo(args))
	case "printf":
		return plainText(printf(args))
	case "input", "matching", "changed":
		return s.filter(words, a, in)
	case "decoded":
		return decode(name, args, s.input(append(slices.Clone(a.Words), a.Options["in"]...), in))
	case "download":
		return s.downloads(name, a)
	case "found":
		f := readFind(args)
		out := stream{given: true, narrow: f.narrow}
		for _, root := range f.roots {
			out.paths = append(out.paths, f.found(s.path(root))...)
		}
		return out
	case "tracked":
		if len(a.Words) > 0 && a.Words[0] == "ls-files" {
			files := *a
			files.Words = a.Words[1:]
			if len(files.Words)+len(a.Options["o"])+len(a.Options["others"])+len(a.Options["d"])+len(a.Options["deleted"])+len(a.Options["i"])+len(a.Options["ignored"]) == 0 {
				files.Words = []string{string(AnyText)}
			}
			return s.listed(name, args, &files)
		}
	case "paths":
		return s.listed(name, args, a)
	case "base":
		if len(a.Words) > 0 {
			return plainText(path.Base(a.Words[0]))
		}
	case "dir":
		if len(a.Words) > 0 {
			return plainText(path.Dir(a.Words[0]))
		}
	case "yes":
		if len(args) == 0 || strings.EqualFold(args[0], "y") || strings.EqualFold(args[0], "yes") {
			return stream{given: true, consents: true}
		}
		return plainText(strings.Join(args, " "))
	case "name":
		if len(a.Words) == 1 {
			return plainText("/usr/local/bin/" + a.Words[0])
		}
	case "number":
		return plainText("1")
	case "temporary":
		return plainText("/tmp/" + string(Unknown))
	case "nothing":
		return plainText("")
	case "environment":
		return stream{given: true, secrets: len(a.Words) == 0}
	}
	return stream{given: true, paths: listing(a)}
}

// listed are the paths that a program lists: its operands, and for ls what lies in them.
func (s *Shell) listed(name string, args []string, a *Act) stream {
	out := stream{given: true}
	for _, w := range a.Words {
		out.paths = append(out.paths, s.path(w))
		if name == "ls" && !slices.Contains(args, "-d") {
			out.paths = append(out.paths, s.path(w)+"/"+string(AnyText))
		}
	}
	return out
}

// filter passes on what it reads: the lines of a file or of the pipe, of which
// some filters keep only a part.
func (s *Shell) filter(words []string, a *Act, in stream) stream {
	switch programOf(words[0]).one("prints") {
	case "changed":
		// They change what passes: that it is a download or a list of paths remains true.
		if words[0] == "tr" && in.known && len(words) == 3 && !strings.HasPrefix(words[1], "-") {
			return plainText(translate(in.text, words[1], words[2]))
		}
		if words[0] == "rev" && in.known {
			return plainText(reverse(in.text))
		}
		if words[0] == "sed" && len(a.Words) > 0 {
			files := a.Words
			if len(a.Options["expression"]) == 0 {
				files = files[1:]
			}
			if in = s.input(files, in); in.known {
				return s.edited(a, in)
			}
		}
		return stream{given: true, download: in.download, paths: in.paths, secrets: in.secrets, narrow: in.narrow, wants: in.wants}
	case "matching":
		if len(a.Words) <= 1 {
			if !in.known && len(a.Words) == 1 && len(a.Options["v"])+len(a.Options["invert-match"]) == 0 {
				in.paths = narrowed(in.paths, a.Words[0])
			}
			return in
		}
		return stream{given: true}
	}
	return s.input(a.Words, in)
}

// input is what a program reads that is given files: those, or the pipe.
func (s *Shell) input(files []string, in stream) (out stream) {
	given := false
	for _, w := range files {
		if w == "-" {
			continue
		}
		given = true
		f := s.read(s.path(w))
		if !f.known && !f.download {
			f = stream{given: true, wants: f.wants}
		}
		out = out.followedBy(f)
	}
	if !given {
		return in
	}
	return out
}

// downloads is the stream of curl and wget, to the pipe or into a file.
func (s *Shell) downloads(name string, a *Act) stream {
	got := stream{given: true, download: true, text: downloaded}
	to := a.Options["output"]
	if name == "wget" {
		to = a.Options["output-document"]
	}
	switch {
	case len(to) > 0 && to[len(to)-1] != "-":
		s.files[s.path(to[len(to)-1])] = got
		return stream{given: true}
	case name == "wget" && len(to) == 0, len(a.Options["remote-name"]) > 0, name == "aria2c":
		for _, w := range a.Words {
			file := path.Base(w)
			s.files[s.path(file)] = got
		}
		return stream{given: true}
	}
	return got
}

func echo(args []string) string {
	escapes, newline := false, "\n"
	for len(args) > 0 && len(args[0]) > 1 && strings.Trim(args[0], "neE") == "-" {
		escapes = escapes || strings.Contains(args[0], "e")
		if strings.Contains(args[0], "n") {
			newline = ""
		}
		args = args[1:]
	}
	text := patterns.Replace(strings.Join(args, " "))
	if escapes {
		text = unescape(strings.ReplaceAll(text, `\0`, `\`)) // \0NNN is its own way to write \NNN
	}
	return text + newline
}

// printf formats as printf does: again and again, until no argument is left.
func printf(args []string) string {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] == "-v" {
		return ""
	}
	said := strings.Split(patterns.Replace(strings.Join(args, "\x00")), "\x00")
	var b strings.Builder
	for rest, used := said[1:], 1; used > 0 && b.Len() <= maxCarried; {
		text, n, err := expand.Format(nil, said[0], rest)
		if err != nil {
			return strings.Join(said, " ") // a form that is not read
		}
		b.WriteString(text)
		if used, rest = n, rest[n:]; len(rest) == 0 {
			break
		}
	}
	return Tidy(b.String())
}

// decode undoes the encodings in which a script is smuggled past a reader.
func decode(name string, args []string, in stream) stream {
	decodes := slices.ContainsFunc(args, func(a string) bool {
		return a == "-d" || a == "-D" || a == "--decode" || a == "-r" || a == "-rp" || a == "-p" || a == "-di" || a == "-A"
	})
	if name == "gunzip" || !in.known || !decodes {
		return stream{given: true, download: in.download, secrets: in.secrets, wants: in.wants}
	}
	text := strings.Join(strings.Fields(in.text), "")
	var raw []byte
	var err error
	if name == "xxd" {
		raw, err = hex.DecodeString(text)
	} else {
		raw, err = base64.StdEncoding.DecodeString(text)
		if err != nil {
			raw, err = base64.RawStdEncoding.DecodeString(text)
		}
	}
	if err != nil {
		return stream{given: true}
	}
	return plainText(Tidy(string(raw)))
}

// translate is tr for two sets of equal length, with ranges.
func translate(text, from, to string) string {
	spread := func(set string) (runes []rune) {
		r := []rune(unescape(patterns.Replace(set)))
		for i := 0; i < len(r); i++ {
			if i+2 < len(r) && r[i+1] == '-' && r[i] <= r[i+2] && r[i+2]-r[i] < 256 {
				for c := r[i]; c <= r[i+2]; c++ {
					runes = append(runes, c)
				}
				i += 2
				continue
			}
			runes = append(runes, r[i])
		}
		return runes
	}
	f, t := spread(from), spread(to)
	return strings.Map(func(r rune) rune {
		if i := slices.Index(f, r); i >= 0 && len(t) > 0 {
			return t[min(i, len(t)-1)]
		}
		return r
	}, text)
}

func reverse(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		r := []rune(l)
		slices.Reverse(r)
		lines[i] = string(r)
	}
	return strings.Join(lines, "\n")
}
