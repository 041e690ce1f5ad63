package act

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// NamesDatabase reports whether the first operands of a program name a database.
func NamesDatabase(name string) bool { return programOf(name).number("sql", "operands") > 0 }

// OnlySQL reports whether a program does nothing but run the SQL that it is given.
func OnlySQL(name string) bool { return programOf(name).says("sql", "only") }

// Targets are the words that name a connection: hosts, databases, files,
// variables, each in its one spelling.
type Targets []string

// databaseEffects is the database that a program creates or drops.
func databaseEffects(a *Act, p program) []Effect {
	verb, names := p.one("database"), a.Words
	if verb == "" && len(names) > 0 {
		verb, names = names[0], names[1:]
	}
	if len(names) == 0 || verb != "create" && verb != "drop" {
		return nil
	}
	st := &Statement{Verb: strings.ToUpper(verb), Object: "database", Names: []string{strings.ToLower(names[0])}, text: a.Text()}
	return []Effect{{Kind: EffectSQL, SQL: st, Targets: append(Targets{target(names[0])}, targetsOf(a.Options["host"])...)}}
}

// sqlEffects reads what the clients of databases are told to run.
func (s *Shell) sqlEffects(a *Act, p program, in stream) []Effect {
	if !p.has("sql") || len(a.Options["help"]) > 0 {
		return nil
	}
	r := readOptions(a.Name, parseOptions(p["client"]), a.Source[1:], false)
	operands, words := r.operands, p.number("sql", "words")
	if len(operands) < words || words > 0 && !slices.ContainsFunc(operands[:words], func(w string) bool {
		return w == "sql" || w == "client" || w == "query" || w == "execute" || w == "db" || w == "shell"
	}) {
		return nil
	}
	operands = operands[words:]
	n := min(p.number("sql", "operands"), len(operands))
	targets := s.connection(a, p, r, operands[:n])
	scripts, hidden := s.clientScripts(a, p, r, operands[n:], in)
	if a.Name == "pg_restore" && len(r.options["dbname"]) > 0 || a.Name == "supabase" && (slices.Contains(r.operands, "reset") || slices.Contains(r.operands, "push")) {
		hidden = true
	}
	var out []Effect
	for _, text := range scripts {
		if strings.ContainsRune(text, Unknown) && !LooksSQL(text) {
			hidden = true
		}
		out = append(out, s.statements(text, &targets)...)
	}
	if hidden {
		out = append(out, Effect{Kind: EffectSQL, SQL: &Statement{Hidden: true, text: a.Text()}, Targets: targets})
	}
	return out
}

// connection names what a client connects to: by its options, its environment, its operands and
// the hosts around it.
func (s *Shell) connection(a *Act, p program, r read, operands []string) (targets Targets) {
	file := p.says("sql", "file")
	for _, name := range p["target"] {
		targets = append(targets, targetsOf(r.options[name])...)
	}
	for _, name := range []string{"PGHOST", "PGDATABASE", "PGSERVICE", "MYSQL_HOST", "DATABASE_URL"} {
		targets = append(targets, targetsOf([]string{cmp.Or(a.Env[name], s.env[name])})...)
	}
	for _, w := range operands {
		if file {
			w = s.path(strings.TrimSuffix(strings.TrimPrefix(w, "file:"), "?mode=rw"))
		}
		targets = append(targets, targetsOf([]string{w})...)
	}
	if file && len(operands) == 0 {
		targets = Targets{memoryDatabase}
	}
	for _, h := range s.where {
		targets = append(targets, target(h))
	}
	return targets
}

// memoryDatabase is the name of a database that lies in memory alone.
const memoryDatabase = ":memory:"

// passing reports whether nothing but databases in memory, or files in places that are for a while, is named.
func (t Targets) passing() bool {
	return len(t) > 0 && !slices.ContainsFunc(t, func(name string) bool {
		return !strings.Contains(name, memoryDatabase) && (!strings.HasPrefix(name, "/") || !scratch(name))
	})
}

// clientScripts is the SQL that a client is told to run; hidden tells that some of it is not seen.
func (s *Shell) clientScripts(a *Act, p program, r read, operands []string, in stream) (scripts []string, hidden bool) {
	told := false
	for _, name := range p["query"] {
		for _, v := range r.options[name] {
			scripts, told = append(scripts, v), true
		}
	}
	if p.says("sql", "rest") && len(operands) > 0 {
		scripts, told = append(scripts, strings.Join(operands, ";\n")), true
	}
	for _, name := range p["queries"] {
		for _, v := range r.options[name] {
			told = true
			f := s.read(s.path(v))
			if v == "-" || v == "/dev/stdin" {
				f = in
			}
			if s.need(f); f.known {
				scripts = append(scripts, f.text)
			} else {
				hidden = true
			}
		}
	}
	if (!told || a.Name == "mysql" || a.Name == "clickhouse-client") && in.given {
		if s.need(in); in.known {
			scripts = append(scripts, in.text)
		} else if !told {
			hidden = true
		}
	}
	return scripts, hidden
}

// statements reads a script that a client is given. Its own commands, which
// run a shell or another file, are followed too.
func (s *Shell) statements(text string, targets *Targets) (out []Effect) {
	text = patterns.Replace(text)
	var sql strings.Builder
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, `\!`):
			s.script(trimmed[2:], stream{})
		case strings.HasPrefix(trimmed, ".shell "), strings.HasPrefix(trimmed, ".system "):
			_, command, _ := strings.Cut(trimmed, " ")
			s.script(command, stream{})
		case strings.HasPrefix(trimmed, `\i `), strings.HasPrefix(trimmed, `\ir `), strings.HasPrefix(trimmed, ".read "), strings.HasPrefix(trimmed, "source "), strings.HasPrefix(trimmed, `\. `):
			_, file, _ := strings.Cut(trimmed, " ")
			if f := s.needs(s.path(strings.Trim(file, `'" ;`))); f.known {
				sql.WriteString(f.text)
			} else {
				out = append(out, Effect{Kind: EffectSQL, SQL: &Statement{Hidden: true, text: trimmed}, Targets: *targets})
			}
		case strings.HasPrefix(trimmed, `\copy `):
			sql.WriteString(trimmed[1:] + "\n")
		case strings.HasPrefix(trimmed, `\c `), strings.HasPrefix(trimmed, `\connect `), strings.HasPrefix(strings.ToUpper(trimmed), "USE "):
			_, name, _ := strings.Cut(trimmed, " ")
			name, sqlRest, _ := strings.Cut(name, ";")
			*targets = append(*targets, targetsOf([]string{strings.Trim(name, "`\"' ;")})...)
			sql.WriteString(sqlRest + "\n")
		case strings.HasPrefix(trimmed, `\`) && !strings.Contains(trimmed, ";"), strings.HasPrefix(trimmed, ".") && !strings.Contains(trimmed, ";"):
		default:
			sql.WriteString(line)
		}
	}
	for _, st := range Statements(sql.String()) {
		for _, f := range st.attach {
			*targets = append(*targets, targetsOf([]string{f})...)
		}
		if st.Verb != "" {
			st.text = strings.TrimSpace(text)
			out = append(out, Effect{Kind: EffectSQL, SQL: &st, Targets: append(slices.Clone(*targets), targetsOf(st.schemas)...)})
		}
	}
	return out
}

// targetsOf spells the words that name a connection. A URL yields its host and its database.
func targetsOf(words []string) (out Targets) {
	for _, w := range words {
		w = strings.Trim(w, `"' `)
		if w == "" {
			continue
		}
		if scheme, rest, ok := strings.Cut(w, "://"); ok && !strings.HasPrefix(scheme, "$") {
			rest, _, _ = strings.Cut(rest, "?")
			host, db, _ := strings.Cut(rest, "/")
			if i := strings.LastIndex(host, "@"); i >= 0 {
				host = host[i+1:]
			}
			host, _, _ = strings.Cut(host, ":")
			out = append(out, target(host))
			if db != "" {
				out = append(out, target(db))
			}
			continue
		}
		if strings.Contains(w, "=") && !strings.HasPrefix(w, "$") {
			for pair := range strings.FieldsSeq(w) {
				if k, v, ok := strings.Cut(pair, "="); ok && (k == "host" || k == "dbname" || k == "service" || k == "hostaddr") {
					out = append(out, target(v))
				}
			}
			continue
		}
		if strings.HasPrefix(w, "$") {
			// Parameters behind the variable of a URL do not change which it is.
			w, _, _ = strings.Cut(w, "?")
		}
		out = append(out, target(w))
	}
	return out
}

func target(w string) string { return strings.ToLower(strings.Trim(w, `"'`)) }

// Same reports whether two connections have a name in common. A file is the
// same whatever directory the rule leaves out.
func (t Targets) Same(other Targets) bool {
	for _, a := range t {
		for _, b := range other {
			if a == b || strings.Contains(a+b, ".") && Relate(Clean("", a), Clean("", b)) == Same {
				return true
			}
			if stem(a) == stem(b) && !strings.Contains(a+b, "/") && !strings.HasPrefix(a, "$") {
				return true
			}
		}
	}
	return false
}

// stem is the name of a database without the ending of its file.
func stem(target string) string {
	base := path.Base(target)
	for _, ext := range []string{".db", ".sqlite", ".sqlite3", ".db3"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}
