package respond

import (
	"strings"

	"skillrouter/cmd/locate"
)

// What of a tool's arguments may name files: the values of pathArgs are paths, and in the others each word may be one.
var (
	pathArgs = []string{"file_path", "filePath", "path", "paths", "file", "filename", "notebook_path", "target_file", "old_path", "new_path", "source", "destination", "directory", "cwd", "workdir"}
	textArgs = []string{"command", "cmd", "script", "patch", "input", "diff", "commands"}
)

// Bounds of what is looked at for names of files, in words and in bytes of each text.
const (
	maxFileWords = 256
	maxFileText  = 64 << 10
)

// around is where the tool is used, with what the words of its arguments lead to.
func (h *Hook) around() locate.Around {
	place := locate.Place{Server: h.server, LookupEnv: h.process.LookupEnv}
	return place.Around(h.call.Dir, h.fileWords())
}

// fileWords are the words of the tool's arguments that may be names of files.
func (h *Hook) fileWords() (words []string) {
	for _, name := range pathArgs {
		words = append(words, texts(h.call.Args[name])...)
	}
	for _, name := range textArgs {
		for _, text := range texts(h.call.Args[name]) {
			text = text[:min(len(text), maxFileText)]
			if strings.Contains(text, "*** Begin Patch") || strings.Contains(text, "\n+++ ") {
				words = append(words, patched(text)...)
				continue
			}
			words = append(words, strings.FieldsFunc(text, betweenWords)...)
		}
		if len(words) > maxFileWords {
			return words[:maxFileWords]
		}
	}
	return words
}

// betweenWords tells whether a character ends a word of a command line, as far as names of files go.
func betweenWords(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;|&<>()=,", r) }

// patched are the files that a patch names.
func patched(text string) (files []string) {
	for line := range strings.Lines(text) {
		if len(files) == maxFileWords {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		if head, name, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(head, "*** ") {
			files = append(files, name)
			continue
		}
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			name, _, _ = strings.Cut(name, "\t")
			files = append(files, strings.TrimPrefix(name, "b/"))
		}
	}
	return files
}

// texts are the texts of an argument: itself, or those of a list.
func texts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}
