// Package lazyregexp compiles regular expressions when they are first used: a hook, which runs for
// milliseconds, uses few of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. The program starts for
// each step of an agent, and most steps need none of its hundred expressions. It is safe for
// concurrent use.
type Regexp struct {
	expression string
	once       sync.Once
	compiled   *regexp.Regexp
}

// Lazily returns an expression like regexp.MustCompile, but compiles it at its first use.
// That use panics if the expression is not valid, so each expression needs a test that uses
// it.
func New(expression string) *Regexp { return &Regexp{expression: expression} }

// Compiled returns the expression ready for use.
func (r *Regexp) Compiled() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.expression) })
	return r.compiled
}

// MatchString is [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool { return r.Compiled().MatchString(s) }

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string { return r.Compiled().FindStringSubmatch(s) }

// FindAllString is [regexp.Regexp.FindAllString].
func (r *Regexp) FindAllString(s string, n int) []string { return r.Compiled().FindAllString(s, n) }

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.Compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(s, by string) string { return r.Compiled().ReplaceAllString(s, by) }
