package act

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (s *Shell) stmts(stmts []*syntax.Stmt, in stream) stream {
	var out streams
	for _, st := range stmts {
		out.add(s.stmt(st, in))
		if s.Over != "" {
			break
		}
	}
	return out.all()
}

// stmt follows one statement and returns what it would print.
func (s *Shell) stmt(st *syntax.Stmt, in stream) stream {
	if !s.step() {
		return stream{}
	}
	var outputs, appended []string
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = plainText(s.heredoc(r))
		case syntax.WordHdoc:
			in = plainText(s.text(r.Word) + "\n")
		case syntax.RdrIn, syntax.RdrInOut:
			from := s.path(s.text(r.Word))
			in = s.read(from)
			if guarded(from) {
				s.reads(from)
			}
			if strings.Contains(in.text, downloaded) {
				in.download = true
			}
		case syntax.DplIn, syntax.DplOut:
		default:
			if r.N == nil || r.N.Value == "1" {
				switch to := s.text(r.Word); {
				case to == "" || to == "/dev/null":
				case r.Op == syntax.AppOut || r.Op == syntax.AppAll:
					appended = append(appended, to)
				default:
					outputs = append(outputs, to)
				}
			}
		}
	}
	out := s.cmd(st.Cmd, in)
	if st.Cmd == nil {
		out = plainText("")
	}
	for _, to := range outputs {
		s.write(to, out, "")
	}
	for _, to := range appended {
		s.write(to, out, verbAppend)
	}
	if len(outputs)+len(appended) > 0 {
		return stream{}
	}
	return out
}

func (s *Shell) heredoc(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	var f fields
	for _, p := range r.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			v := lit.Value
			if !quotedWord(r.Word) {
				v = doubleQuoted(v)
			}
			if r.Op == syntax.DashHdoc {
				v = strings.TrimLeft(strings.ReplaceAll(v, "\n\t", "\n"), "\t")
			}
			f.open = true
			f.cur.WriteString(v)
			s.spend(len(v))
			continue
		}
		s.expansion(&f, p, true)
	}
	return strings.Join(s.words(&f), " ")
}

func quotedWord(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		}
	}
	return false
}

// cmd follows a command of any form.
func (s *Shell) cmd(c syntax.Command, in stream) stream {
	switch c := c.(type) {
	case nil:
		return stream{}
	case *syntax.CallExpr:
		return s.call(c, in)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			out := s.stmt(c.X, in)
			if !out.given {
				out = stream{given: true}
			}
			return s.stmt(c.Y, out)
		}
		return s.stmt(c.X, in).followedBy(s.stmt(c.Y, in))
	case *syntax.Subshell:
		dir := s.dir
		out := s.stmts(c.Stmts, in)
		s.dir = dir
		return out
	case *syntax.Block:
		return s.stmts(c.Stmts, in)
	case *syntax.IfClause:
		var out stream
		for ; c != nil; c = c.Else {
			s.stmts(c.Cond, in)
			out = out.followedBy(s.stmts(c.Then, in))
		}
		return out
	case *syntax.WhileClause:
		return s.while(c, in)
	case *syntax.ForClause:
		return s.loop(c, in)
	case *syntax.CaseClause:
		s.text(c.Word)
		var out stream
		for _, item := range c.Items {
			out = out.followedBy(s.stmts(item.Stmts, in))
		}
		return out
	case *syntax.FuncDecl:
		if c.Name != nil && c.Body != nil {
			s.funcs[c.Name.Value] = c.Body
			if multiplies(c.Body, c.Name.Value) {
				s.note(&Act{Name: ForkBomb, Words: []string{ForkBomb}, Source: []string{c.Name.Value + "()"}})
			}
		}
	case *syntax.DeclClause:
		s.assign(c.Args, c.Variant != nil && c.Variant.Value == "export")
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return s.stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		return s.stmt(c.Stmt, in)
	default:
		s.substitutions(c)
	}
	return stream{}
}

// multiplies reports whether the body of a function calls the function at both ends of a pipe, or behind itself.
func multiplies(body *syntax.Stmt, name string) (found bool) {
	syntax.Walk(body, func(n syntax.Node) bool {
		if pipe, ok := n.(*syntax.BinaryCmd); ok && pipe.Op == syntax.Pipe && calls0(pipe.X) == name && calls0(pipe.Y) == name {
			found = true
		}
		return !found
	})
	return found
}

// calls0 is the name that a plain command calls.
func calls0(st *syntax.Stmt) string {
	if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		return call.Args[0].Lit()
	}
	return ""
}

// substitutions follows the $(…) within a node that does nothing else.
func (s *Shell) substitutions(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.capture(n.Stmts)
			return false
		case *syntax.ProcSubst:
			s.processFile(n)
			return false
		}
		return s.Over == ""
	})
}

func (s *Shell) while(c *syntax.WhileClause, in stream) stream {
	name := readVariable(c.Cond)
	if name == "" || !in.given {
		s.stmts(c.Cond, in)
		return s.stmts(c.Do, in)
	}
	s.stmts(c.Cond, in)
	s.need(in)
	return s.turns(name, in.items(), c.Do, stream{given: true})
}

// turns follows a loop whose variable has each of the items in turn.
func (s *Shell) turns(name string, items []string, do []*syntax.Stmt, in stream) stream {
	var out streams
	for _, item := range items {
		s.set(name, shellValue{item})
		out.add(s.stmts(do, in))
		if !s.step() {
			break
		}
	}
	return out.all()
}

// readVariable finds NAME in "while … read -r NAME".
func readVariable(cond []*syntax.Stmt) string {
	for _, st := range cond {
		call, ok := st.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "read" {
			continue
		}
		for _, w := range call.Args[1:] {
			if v := w.Lit(); v != "" && v[0] != '-' {
				return v
			}
		}
	}
	return ""
}

func (s *Shell) loop(c *syntax.ForClause, in stream) stream {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		s.substitutions(c.Loop)
		return s.stmts(c.Do, in)
	}
	items := s.fields(iter.Items)
	if !iter.InPos.IsValid() {
		items, _ = s.lookup("@")
	}
	if len(items) == 0 {
		items = []string{string(Unknown)}
	}
	return s.turns(iter.Name.Value, items, c.Do, in)
}

// call follows a simple command.
func (s *Shell) call(c *syntax.CallExpr, in stream) stream {
	if len(c.Args) == 0 {
		s.assign(c.Assigns, false)
		return stream{}
	}
	env := map[string]string{}
	for _, a := range c.Assigns {
		if a.Name != nil {
			env[a.Name.Value] = s.text(a.Value)
			s.noteVariable(a.Name.Value, env[a.Name.Value])
		}
	}
	return s.command(s.fields(c.Args), env, in)
}

func (s *Shell) assign(assigns []*syntax.Assign, exported bool) {
	for _, a := range assigns {
		switch {
		case a.Name == nil:
			if exported {
				// export "$x": which variable that is does not matter here.
				s.text(a.Value)
			}
			continue
		case a.Naked:
			continue
		}
		name := a.Name.Value
		var value shellValue
		if a.Array != nil {
			var words []*syntax.Word
			for _, e := range a.Array.Elems {
				if e.Value != nil {
					words = append(words, e.Value)
				}
			}
			value = s.fields(words)
		} else {
			value = shellValue{s.text(a.Value)}
		}
		if a.Append {
			old, _ := s.lookup(name)
			if a.Array != nil {
				value = append(append(shellValue{}, old...), value...)
			} else if len(old) > 0 {
				value = shellValue{old[0] + value[0]}
			}
		}
		s.set(name, value)
		s.env[name] = strings.Join(value, " ")
		s.noteVariable(name, strings.Join(value, " "))
	}
}

// noteVariable adds the setting of a variable, which a rule may be about.
func (s *Shell) noteVariable(name, value string) {
	s.note(&Act{Name: SetsVariable, Words: []string{name, value}, Source: []string{name + "=" + value}})
	switch {
	case commandVars()[name] && strings.Contains(value, " "):
		s.script(strings.TrimPrefix(value, "|"), stream{})
	case (name == "BASH_ENV" || name == "ENV") && value != "":
		s.run(s.needs(s.path(value)), nil, stream{})
	}
}

// capture follows a command substitution in a shell of its own and returns what it prints.
func (s *Shell) capture(stmts []*syntax.Stmt) stream {
	if s.deep() {
		return stream{}
	}
	s.depth++
	dir := s.dir
	out := s.stmts(stmts, stream{})
	s.dir = dir
	s.depth--
	if !out.given {
		return stream{}
	}
	return out
}

// processFile follows <(…) or >(…) and returns the name of the file it becomes.
func (s *Shell) processFile(p *syntax.ProcSubst) string {
	name := "/dev/fd/" + strconv.Itoa(63+len(s.files)+len(s.sinks))
	if p.Op == syntax.CmdOut {
		s.sinks[name] = p.Stmts
		return name
	}
	out := s.capture(p.Stmts)
	out.given = true
	s.files[name] = out
	return name
}
