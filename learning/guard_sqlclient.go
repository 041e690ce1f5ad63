package learning

import (
	"path"
	"slices"
	"strings"
)

// guardSQLClient says how a client of a database is told what to run, and on which.
type guardSQLClient struct {
	options  string
	run      []string // options whose value is SQL
	files    []string // options whose value is a file of SQL
	target   []string // options that name the connection
	operands int      // how many leading operands name it
	rest     bool     // further operands are SQL
	words    int      // subcommands before all that
}

var guardSQLClients = map[string]guardSQLClient{
	"psql": {
		options: "c=command: f=file: d=dbname: h=host: p=port: U=username: v=set=variable: o=output: L=log-file: F=field-separator: R=record-separator: P=pset: T=table-attr: w W a=echo-all b e E n q s S l t A x X 1=single-transaction V=version",
		run:     []string{"command"}, files: []string{"file"}, target: []string{"dbname", "host"}, operands: 1,
	},
	"mysql": {
		options: "e=execute: h=host: u=user: p=password? P=port: D=database: S=socket: B N s v r t E f H X C A ssl-mode: defaults-file: defaults-extra-file: default-character-set: init-command: login-path: protocol: max-allowed-packet:",
		run:     []string{"execute", "init-command"}, target: []string{"host", "database", "login-path", "defaults-file", "defaults-extra-file"}, operands: 1,
	},
	"sqlite3": {
		options: "", run: []string{"cmd"}, files: []string{"init"}, operands: 1, rest: true,
	},
	"duckdb":            {options: "c: s: f: cmd: readonly", run: []string{"c", "s", "cmd"}, files: []string{"f"}, operands: 1, rest: true},
	"sqlcmd":            {options: "Q: q: S: d: U: P: i: o: H: E C N b", run: []string{"Q", "q"}, files: []string{"i"}, target: []string{"S", "d"}},
	"clickhouse-client": {options: "q=query: h=host: d=database: u=user: password: port: queries-file: n m", run: []string{"query"}, files: []string{"queries-file"}, target: []string{"host", "database"}},
	"clickhouse":        {options: "q=query: h=host: d=database: u=user: password: port: queries-file:", run: []string{"query"}, files: []string{"queries-file"}, target: []string{"host", "database"}, words: 1},
	"cockroach":         {options: "e=execute: url: host: d=database: f=file: u=user: p: certs-dir: insecure", run: []string{"execute"}, files: []string{"file"}, target: []string{"url", "host", "database"}, words: 1},
	"usql":              {options: "c=command: f=file: o:", run: []string{"command"}, files: []string{"file"}, operands: 1},
	"bq":                {options: "project_id: dataset_id: use_legacy_sql? format:", target: []string{"project_id"}, words: 1, rest: true},
	"wrangler":          {options: "command: file: remote local env: c: y", run: []string{"command"}, files: []string{"file"}, operands: 1, words: 2},
	"turso":             {options: "", operands: 1, rest: true, words: 2},
	"cqlsh":             {options: "e=execute: f=file: u: p: k:", run: []string{"execute"}, files: []string{"file"}, operands: 1},
	"beeline":           {options: "u: e: f: n: p:", run: []string{"e"}, files: []string{"f"}, target: []string{"u"}},
	"snowsql":           {options: "q=query: f=filename: a: u: d: s: w: r: c:", run: []string{"query"}, files: []string{"filename"}, target: []string{"a", "d", "c"}},
	"sqlplus":           {options: "S s L M:", operands: 1},
	"isql":              {options: "i: o: u: p: d:", files: []string{"i"}, operands: 1},
	"pg_restore":        {options: "d=dbname: h=host: U=username: p=port: c=clean C=create j=jobs: t=table: n=schema: F=format: f=file: l L: a s v O x 1", target: []string{"dbname", "host"}},
	"supabase":          {options: "db-url: f=file: project-ref: linked local", target: []string{"db-url", "project-ref"}, files: []string{"file"}, words: 2},
}

// guardTargets are the words that name a connection: hosts, databases, files,
// variables, each in its one spelling.
type guardTargets []string

// sqlEffects reads what the clients of databases are told to run.
func (s *guardShell) sqlEffects(a *guardAct, in guardStream) []guardEffect {
	switch a.name {
	case "dropdb", "createdb":
		if len(a.words) == 0 {
			return nil
		}
		verb := map[string]string{"dropdb": "DROP", "createdb": "CREATE"}[a.name]
		st := &guardStatement{verb: verb, object: "database", names: []string{strings.ToLower(a.words[0])}, text: a.text()}
		return []guardEffect{{kind: guardEffectSQL, sql: st, targets: append(guardTargets{guardTarget(a.words[0])}, guardTargetsOf(a.options["host"])...)}}
	case "mysqladmin":
		if len(a.words) > 1 && (a.words[0] == "drop" || a.words[0] == "create") {
			st := &guardStatement{verb: strings.ToUpper(a.words[0]), object: "database", names: []string{strings.ToLower(a.words[1])}, text: a.text()}
			return []guardEffect{{kind: guardEffectSQL, sql: st, targets: append(guardTargets{guardTarget(a.words[1])}, guardTargetsOf(a.options["host"])...)}}
		}
		return nil
	}
	client, ok := guardSQLClients[a.name]
	if !ok || len(a.options["help"]) > 0 {
		return nil
	}
	args := a.source[1:]
	var r guardRead
	if a.name == "sqlite3" || a.name == "duckdb" {
		r = guardSqliteWords(args)
	} else {
		r = guardReadOptions(a.name, guardParseOptionList(client.options), args, false)
	}
	operands := r.operands
	if len(operands) < client.words {
		return nil
	}
	if client.words > 0 && !slices.ContainsFunc(operands[:client.words], func(w string) bool {
		return w == "sql" || w == "client" || w == "query" || w == "execute" || w == "db" || w == "shell"
	}) {
		return nil
	}
	operands = operands[client.words:]
	var targets guardTargets
	for _, name := range client.target {
		targets = append(targets, guardTargetsOf(r.options[name])...)
	}
	for _, name := range []string{"PGHOST", "PGDATABASE", "PGSERVICE", "MYSQL_HOST", "DATABASE_URL"} {
		if v := a.env[name]; v != "" {
			targets = append(targets, guardTargetsOf([]string{v})...)
		} else if v := s.env[name]; v != "" {
			targets = append(targets, guardTargetsOf([]string{v})...)
		}
	}
	n := min(client.operands, len(operands))
	for _, w := range operands[:n] {
		if a.name == "sqlite3" || a.name == "duckdb" {
			w = s.path(strings.TrimSuffix(strings.TrimPrefix(w, "file:"), "?mode=rw"))
		}
		targets = append(targets, guardTargetsOf([]string{w})...)
	}
	operands = operands[n:]
	for _, h := range s.where {
		targets = append(targets, guardTarget(h))
	}

	var scripts []string
	told := false
	for _, name := range client.run {
		for _, v := range r.options[name] {
			scripts, told = append(scripts, v), true
		}
	}
	if client.rest && len(operands) > 0 {
		scripts, told = append(scripts, strings.Join(operands, ";\n")), true
	}
	hidden := false
	for _, name := range client.files {
		for _, v := range r.options[name] {
			told = true
			f := s.read(s.path(v))
			if v == "-" || v == "/dev/stdin" {
				f = in
			}
			if f.known {
				scripts = append(scripts, f.text)
			} else {
				hidden = true
			}
		}
	}
	if (!told || a.name == "mysql" || a.name == "clickhouse-client") && in.given {
		if in.known {
			scripts = append(scripts, in.text)
		} else if !told {
			hidden = true
		}
	}
	if a.name == "pg_restore" && len(r.options["dbname"]) > 0 || a.name == "supabase" && (slices.Contains(r.operands, "reset") || slices.Contains(r.operands, "push")) {
		hidden = true
	}
	var out []guardEffect
	for _, text := range scripts {
		if strings.ContainsRune(text, guardUnknown) && !guardLooksSQL(text) {
			hidden = true
		}
		out = append(out, s.statements(text, &targets)...)
	}
	if hidden {
		out = append(out, guardEffect{kind: guardEffectSQL, sql: &guardStatement{hidden: true, text: a.text()}, targets: targets})
	}
	return out
}

// statements reads a script that a client is given. Its own commands, which
// run a shell or another file, are followed too.
func (s *guardShell) statements(text string, targets *guardTargets) (out []guardEffect) {
	text = guardPatterns.Replace(text)
	var sql strings.Builder
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, `\!`):
			s.script(trimmed[2:], guardStream{})
		case strings.HasPrefix(trimmed, ".shell "), strings.HasPrefix(trimmed, ".system "):
			_, command, _ := strings.Cut(trimmed, " ")
			s.script(command, guardStream{})
		case strings.HasPrefix(trimmed, `\i `), strings.HasPrefix(trimmed, `\ir `), strings.HasPrefix(trimmed, ".read "), strings.HasPrefix(trimmed, "source "), strings.HasPrefix(trimmed, `\. `):
			_, file, _ := strings.Cut(trimmed, " ")
			if f := s.read(s.path(strings.Trim(file, `'" ;`))); f.known {
				sql.WriteString(f.text)
			} else {
				out = append(out, guardEffect{kind: guardEffectSQL, sql: &guardStatement{hidden: true, text: trimmed}, targets: *targets})
			}
		case strings.HasPrefix(trimmed, `\copy `):
			sql.WriteString(trimmed[1:] + "\n")
		case strings.HasPrefix(trimmed, `\c `), strings.HasPrefix(trimmed, `\connect `), strings.HasPrefix(strings.ToUpper(trimmed), "USE "):
			_, name, _ := strings.Cut(trimmed, " ")
			name, sqlRest, _ := strings.Cut(name, ";")
			*targets = append(*targets, guardTargetsOf([]string{strings.Trim(name, "`\"' ;")})...)
			sql.WriteString(sqlRest + "\n")
		case strings.HasPrefix(trimmed, `\`) && !strings.Contains(trimmed, ";"), strings.HasPrefix(trimmed, ".") && !strings.Contains(trimmed, ";"):
		default:
			sql.WriteString(line)
		}
	}
	for _, st := range guardStatements(sql.String()) {
		for _, f := range st.attach {
			*targets = append(*targets, guardTargetsOf([]string{f})...)
		}
		if st.verb != "" {
			st.text = strings.TrimSpace(text)
			out = append(out, guardEffect{kind: guardEffectSQL, sql: &st, targets: append(slices.Clone(*targets), guardTargetsOf(st.schemas)...)})
		}
	}
	return out
}

// guardSqliteWords reads sqlite3's own way of options: -word, some with a value.
func guardSqliteWords(args []string) guardRead {
	r := guardRead{options: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		name := strings.TrimLeft(args[i], "-")
		switch {
		case !strings.HasPrefix(args[i], "-") || len(args[i]) < 2:
			r.operands = append(r.operands, args[i])
		case slices.Contains([]string{"cmd", "init", "separator", "nullvalue", "newline", "mmap", "vfs", "maxsize", "lookaside", "pagecache", "escape", "c", "s", "f"}, name) && i+1 < len(args):
			i++
			r.set(name, args[i])
		default:
			r.set(name, "")
		}
	}
	return r
}

// guardTargetsOf spells the words that name a connection. A URL yields its host and its database.
func guardTargetsOf(words []string) (out guardTargets) {
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
			out = append(out, guardTarget(host))
			if db != "" {
				out = append(out, guardTarget(db))
			}
			continue
		}
		if strings.Contains(w, "=") && !strings.HasPrefix(w, "$") {
			for pair := range strings.FieldsSeq(w) {
				if k, v, ok := strings.Cut(pair, "="); ok && (k == "host" || k == "dbname" || k == "service" || k == "hostaddr") {
					out = append(out, guardTarget(v))
				}
			}
			continue
		}
		if strings.HasPrefix(w, "$") {
			// Parameters behind the variable of a URL do not change which it is.
			w, _, _ = strings.Cut(w, "?")
		}
		out = append(out, guardTarget(w))
	}
	return out
}

func guardTarget(w string) string { return strings.ToLower(strings.Trim(w, `"'`)) }

// same reports whether two connections have a name in common. A file is the
// same whatever directory the rule leaves out.
func (t guardTargets) same(other guardTargets) bool {
	for _, a := range t {
		for _, b := range other {
			if a == b || strings.Contains(a+b, ".") && guardRelate(guardClean("", a), guardClean("", b)) == guardSame {
				return true
			}
			if guardStem(a) == guardStem(b) && !strings.Contains(a+b, "/") && !strings.HasPrefix(a, "$") {
				return true
			}
		}
	}
	return false
}

// guardStem is the name of a database without the ending of its file.
func guardStem(target string) string {
	base := path.Base(target)
	for _, ext := range []string{".db", ".sqlite", ".sqlite3", ".db3"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}
