package act

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Statement is one SQL statement, as far as the guard needs it.
type Statement struct {
	Verb    string   // upper case; "" for what changes nothing
	Object  string   // "table", "database", "schema", … in lower case
	Names   []string // what it changes, without schema, lower case
	schemas []string // schemas or databases that qualify the names
	Bounded bool     // a WHERE that can be false stands in it, or it is of a temporary table
	Prose   bool     // what follows the names is no SQL: it may be a sentence
	attach  []string // databases that it attaches
	Hidden  bool     // what runs is in a file or a variable
	Drops   bool     // an ALTER that drops a part, a GRANT of every right
	text    string
}

// sqlToken is a word, a quoted name, a string or a sign.
type sqlToken struct {
	text string // words in their own case; strings without quotes
	kind byte   // 'w' word, 'q' quoted name, 's' string, '$' dollar-quoted text, otherwise the sign itself
}

// What SQL begins with: a gap, which is white space or a comment, but for MySQL's /*!40000 …*/, of which the inside runs; a text in
// quotes; a text between two $tag$; a word. What is open at the end ends there.
var (
	sqlGap    = lazyregexp.New(`(?s)^(?:[ \t\n\r]+|--[^\n]*|/\*!\d*|/\*.*?(?:\*/|\z)|\*/)`)
	sqlString = lazyregexp.New(`(?s)^'((?:''|\\.|[^'\\])*)(?:'|\\?\z)`)
	sqlName   = lazyregexp.New(`(?s)^(?:"((?:""|[^"])*)(?:"|\z)|` + "`((?:``|[^`])*)(?:`|\\z)" + `|\[([\pL_][^\]]*)(?:\]|\z))`)
	sqlTag    = lazyregexp.New(`^\$(?:[A-Za-z_]\w{0,61})?\$`)
	sqlWord   = lazyregexp.New(`^[\pL\p{Nd}_${}` + string(Unknown) + `]+`)
	inString  = lazyregexp.New(`(?s)''|\\(.)`)
)

// sqlTokens splits SQL. It never fails.
func sqlTokens(text string) (tokens sqlText) {
	for i := 0; i < len(text); {
		rest := text[i:]
		if n := gapAt(text, i); n > 0 {
			i += n
			continue
		}
		token, n := sqlToken{kind: rest[0]}, 0
		switch tag, word := sqlTag.Compiled().FindString(rest), sqlWord.Compiled().FindString(rest); {
		case tag != "":
			body, _, _ := strings.Cut(rest[len(tag):], tag)
			token, n = sqlToken{body, '$'}, min(len(body)+2*len(tag), len(rest))
		case word != "":
			token, n = sqlToken{word, 'w'}, len(word)
		case rest[0] == '\'':
			found := sqlString.FindStringSubmatch(rest)
			token, n = sqlToken{inString.Compiled().ReplaceAllStringFunc(found[1], func(two string) string { return two[1:] }), 's'}, len(found[0])
		default:
			if found := sqlName.FindStringSubmatch(rest); found != nil {
				token, n = sqlToken{strings.ReplaceAll(found[1]+found[2]+found[3], rest[:1]+rest[:1], rest[:1]), 'q'}, len(found[0])
				break
			}
			r, size := utf8.DecodeRuneInString(rest)
			if token.text, n = rest[:size], size; r >= utf8.RuneSelf {
				token.kind = '.'
			}
		}
		tokens = append(tokens, token)
		i += n
	}
	return tokens
}

// gapAt is the length of the gap at a place of a text, 0 if there is none. A comment behind # begins a line, or a word.
func gapAt(text string, i int) int {
	if text[i] == '#' && (i == 0 || text[i-1] == '\n' || text[i-1] == ' ') {
		line, _, _ := strings.Cut(text[i:], "\n")
		return len(line)
	}
	if strings.IndexByte(" \t\n\r-/*", text[i]) < 0 {
		return 0
	}
	return len(sqlGap.Compiled().FindString(text[i:]))
}

// statements reads SQL as statements. Those within functions, CTEs and
// anonymous blocks count as statements of their own.
func Statements(text string) []Statement {
	statements := sqlDepth(text, 0)
	// A backslash before a quote stands for the quote in MySQL, and for itself in the standard's strings, where the text ends there: so it
	// is read both ways, if its quotes come out even without it.
	if plain := strings.ReplaceAll(text, `\`, ""); strings.Contains(text, `\'`) && closed(plain) {
		statements = append(statements, sqlDepth(plain, 0)...)
	}
	return statements
}

// closed tells whether every string of a text ends in it.
func closed(text string) bool {
	in := false
	for i := 0; i < len(text); i++ {
		if !in {
			if n := gapAt(text, i); n > 0 {
				i += n - 1
				continue
			}
		}
		in = in != (text[i] == '\'')
	}
	return !in
}

func sqlDepth(text string, depth int) (out []Statement) {
	if depth > 4 {
		return nil
	}
	tokens := sqlTokens(text)
	from := 0
	for i := 0; i <= len(tokens); i++ {
		if i < len(tokens) && tokens[i].kind != ';' {
			continue
		}
		if i > from {
			out = append(out, readStatement(tokens[from:i], depth)...)
		}
		from = i + 1
		if len(out) > 500 {
			break
		}
	}
	return out
}

func (t sqlToken) word() string {
	if t.kind != 'w' {
		return ""
	}
	return strings.ToUpper(t.text)
}

// sqlText is a text, or a statement, as tokens.
type sqlText []sqlToken

// word is the word at i, empty if none is there.
func (t sqlText) word(i int) string {
	if i < len(t) {
		return t[i].word()
	}
	return ""
}

// find is where the first of the words stands, -1 if none does.
func (t sqlText) find(words ...string) int {
	return slices.IndexFunc(t, func(x sqlToken) bool { return slices.Contains(words, x.word()) })
}

// skip passes over words that may stand before a name.
func (t sqlText) skip(k int, before string) int {
	for k < len(t) && beforeNames()[before][t.word(k)] {
		k++
	}
	return k
}

func readStatement(t sqlText, depth int) (out []Statement) {
	switch t.word(0) {
	case "EXPLAIN", "DESCRIBE", "DESC":
		if t[:min(len(t), 4)].find("ANALYZE", "ANALYSE") < 0 {
			return nil
		}
	case "COMMENT":
		if t.word(1) != "ON" {
			return nil
		}
	case "ATTACH":
		for _, x := range t {
			if x.kind == 's' || x.kind == 'q' {
				return []Statement{{attach: []string{x.text}}}
			}
		}
		return nil
	}
	for _, x := range t {
		if x.kind == '$' {
			out = append(out, sqlDepth(x.text, depth+1)...)
		}
	}
	// A statement that is executed may be put together of several texts.
	if i := t.find("EXECUTE", "EXEC"); i >= 0 {
		var built strings.Builder
		for _, x := range t[i+1:] {
			if x.kind == 's' {
				built.WriteString(x.text)
			}
		}
		out = append(out, sqlDepth(built.String(), depth+1)...)
	}
	// The first verb rules the statement; after WITH, EXPLAIN, BEGIN and in blocks it comes later.
	for i := 0; i < len(t); i++ {
		verb := t.word(i)
		if i == 0 && slices.Contains([]string{"SELECT", "SHOW", "VALUES", "TABLE", "SET"}, verb) {
			// SELECT … INTO writes a table; otherwise nothing that follows is a verb.
			if k := t.find("INTO"); k > 0 && verb == "SELECT" && k+1 < len(t) && !strings.EqualFold(t[k+1].text, "OUTFILE") && t[k+1].kind != '@' {
				st := Statement{Verb: "CREATE", Object: "table", Bounded: true}
				st.name(t, k+1)
				out = append(out, st)
			}
			return out
		}
		if !sqlWrites()[verb] || i > 0 && !startsStatement(t[i-1]) {
			continue
		}
		if st, end := readWrite(t, i, verb); st.Verb != "" {
			out = append(out, st)
			i = max(i, end)
		}
	}
	return out
}

// startsStatement reports whether a verb behind a token begins a statement of its
// own: after a bracket (a CTE), or a word that opens a block.
func startsStatement(before sqlToken) bool {
	return before.kind == '(' || before.kind == ')' || sqlOpeners()[before.word()]
}

// readWrite reads one changing statement from its verb on.
func readWrite(t sqlText, i int, verb string) (st Statement, end int) {
	st = Statement{Verb: verb, Object: "table"}
	k := i + 1
	switch verb {
	case "INSERT", "REPLACE", "MERGE", "UPSERT":
		k = t.skip(k, "INSERT")
		if verb == "REPLACE" && k < len(t) && t[k].kind == '(' {
			return Statement{}, 0 // the function replace(…)
		}
	case "UPDATE":
		k = t.skip(k, verb)
		if t.word(k) == "" && (k >= len(t) || t[k].kind != 'q') || t[k:].find("SET") < 0 {
			return Statement{}, 0
		}
	case "DELETE":
		k = t.skip(k, verb)
		if t[k:].find("FROM") < 0 {
			return Statement{}, 0
		}
		k = t.skip(k, "FROM")
	case "TRUNCATE":
		k = t.skip(k, verb)
	case "COPY":
		if from, to := t[k:].find("FROM"), t[k:].find("TO"); from < 0 || to >= 0 && to < from {
			return Statement{}, 0
		}
	case "GRANT", "REVOKE", "COMMENT":
		on := t[k:].find("ON")
		st.Drops = verb == "GRANT" && t.word(k) == "ALL"
		if on < 0 {
			st.Object = "role"
			break
		}
		k = t.skip(k+on+1, "ON")
	case "LOAD":
		into := t[k:].find("TABLE")
		if into < 0 {
			return Statement{}, 0
		}
		k += into + 1
	default:
		k = t.skip(k, "object")
		st.Object = strings.ToLower(t.word(k))
		st.Drops = verb == "ALTER" && dropsPart(t[k:])
		if st.Object == "" {
			return Statement{}, 0
		}
		st.Bounded = verb == "DROP" && t[i:k].find("TEMP", "TEMPORARY") >= 0
		k = t.skip(k+1, "of object")
		if slices.Contains([]string{"index", "trigger", "policy", "rule"}, st.Object) {
			k += t[k:].find("ON") + 1
		}
	}
	end = st.name(t, k)
	if verb == "TRUNCATE" || verb == "DROP" {
		for end < len(t) && t[end].kind == ',' {
			end = st.name(t, end+1)
		}
	}
	rest := t[min(end, len(t)):]
	st.Prose = readsOn(rest, verb)
	if where := rest.find("WHERE"); where >= 0 {
		st.Bounded = !alwaysTrue(rest[where+1:])
	}
	return st, end - 1
}

// dropsPart reports whether an ALTER drops a column, a partition and the like, and not only a rule about one.
func dropsPart(t sqlText) bool {
	for i := range t[:max(0, len(t)-1)] {
		if t.word(i) == "DROP" && !afterNames()["ALTER"][t.word(i+1)] {
			return true
		}
	}
	return false
}

// readsOn reports whether what follows the names of a statement reads on
// as a sentence would: "drop table support from the docs".
func readsOn(t sqlText, verb string) bool {
	may := afterNames()[verb]
	ends := func(k int) bool { return k >= len(t) || t[k].kind != 'w' || may[t.word(k)] }
	return slices.Contains([]string{"DROP", "TRUNCATE", "DELETE"}, verb) && !ends(0) && (verb != "DELETE" || !ends(1)) // a table may have an alias
}

// alwaysTrue reports whether a condition is one that people write to mean all rows.
func alwaysTrue(t sqlText) bool {
	var b strings.Builder
	for _, x := range t {
		b.WriteString(strings.ToUpper(x.text))
	}
	switch b.String() {
	case "", "TRUE", "1", "1=1", "TRUE=TRUE", "11", "AA":
		return true
	}
	return len(t) == 3 && t[1].kind == '=' && t[0].text == t[2].text && t[0].kind == t[2].kind
}

// name reads a possibly qualified name at k and returns what follows it.
func (st *Statement) name(t sqlText, k int) int {
	var parts []string
	for k < len(t) && (t[k].kind == 'w' || t[k].kind == 'q' || t[k].kind == 's' && len(parts) == 0) {
		parts = append(parts, strings.ToLower(t[k].text))
		k++
		if k < len(t) && t[k].kind == '.' {
			k++
			continue
		}
		break
	}
	if len(parts) == 0 {
		return k
	}
	st.Names = append(st.Names, parts[len(parts)-1])
	st.schemas = append(st.schemas, parts[:len(parts)-1]...)
	return k
}

// LooksSQL reports whether a text is SQL rather than a command: a verb,
// and the word that must follow it.
func LooksSQL(text string) bool {
	t := sqlTokens(text[:min(len(text), 2<<10)])
	few := len(t) <= 4
	for len(t) > 0 && (t[0].kind == ';' || t[0].kind == '(') {
		t = t[1:]
	}
	switch first := t.word(0); first {
	case "SELECT":
		called := len(t) > 2 && t[1].kind == 'w' && t[2].kind == '(' // SELECT json_extract(…)
		return t.find("FROM") >= 0 || few || called || writesAfter(t)
	case "UPDATE":
		return t.find("SET") >= 0 && len(t) > 3
	case "DELETE":
		return t.word(1) == "FROM"
	case "INSERT", "REPLACE", "MERGE":
		return t.find("INTO") >= 0
	case "TRUNCATE":
		return t.word(1) == "TABLE" || len(t) == 1 && t[0].text == "TRUNCATE" || len(t) == 2 && t[1].kind == 'w' || strings.HasSuffix(strings.TrimSpace(text), ";")
	case "DROP", "ALTER", "CREATE":
		return sqlObjects()[t.word(1)]
	case "WITH":
		return t.find("AS") >= 0
	case "GRANT", "REVOKE":
		return t.find("TO", "FROM") >= 0
	case "BEGIN", "START", "EXPLAIN", "DO":
		return strings.Contains(text, ";") || first == "EXPLAIN"
	}
	return false
}

// writesAfter reports whether a statement that changes something follows the
// first: "select" alone is a word of the shell, too.
func writesAfter(t sqlText) bool {
	for i := range len(t) - 1 {
		if t[i].kind == ';' && sqlWrites()[t.word(i+1)] {
			return true
		}
	}
	return false
}
