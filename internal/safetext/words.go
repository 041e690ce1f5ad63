package safetext

import "strconv"

// Counted says how many there are, in words that fit the number: "1 task" and "3 tasks".
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}

// Strings are named values as texts.
func Strings[Name ~string](names []Name) (texts []string) {
	for _, name := range names {
		texts = append(texts, string(name))
	}
	return texts
}
