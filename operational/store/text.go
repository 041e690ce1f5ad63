package store

import (
	"strings"

	"golang.org/x/text/unicode/norm"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// maxFilterWords is how many words of a filter are looked for: each is a pass
// over the text of every row that the other conditions leave.
const maxFilterWords = 16

// fold makes one text of the parts in the form in which filters compare it:
// SQLite's own functions know the case of ASCII letters only.
func fold(parts ...string) string {
	return strings.ToLower(norm.NFC.String(strings.Join(parts, "\n")))
}

// holding keeps the rows whose folded text holds every word.
func holding(q *gorm.DB, text string) *gorm.DB {
	words := strings.Fields(fold(text))
	for _, word := range words[:min(len(words), maxFilterWords)] {
		q = q.Where(`folded LIKE ? ESCAPE '\'`, "%"+likeLiteral(word)+"%")
	}
	return q
}

// likeLiteral takes the meaning from the characters that LIKE has plans with.
func likeLiteral(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// holdingAny keeps the rows whose folded text holds one of the words, and
// lists those that hold more of them first, and then in the order given. No
// words keep all rows.
func holdingAny(q *gorm.DB, words []string, order string) *gorm.DB {
	if len(words) == 0 {
		return q.Order(order)
	}
	const one = `folded LIKE ? ESCAPE '\'`
	patterns := make([]any, len(words))
	for i, w := range words {
		patterns[i] = "%" + likeLiteral(fold(w)) + "%"
	}
	either := strings.Repeat(one+" OR ", len(words)-1) + one
	const counted = "CASE WHEN " + one + " THEN 1 ELSE 0 END"
	sum := strings.Repeat(counted+" + ", len(words)-1) + counted
	return q.Where("("+either+")", patterns...).
		Clauses(clause.OrderBy{Expression: clause.Expr{SQL: sum + " DESC, " + order, Vars: patterns, WithoutParentheses: true}})
}
