package markup

import (
	"bytes"
	"fmt"
	"reflect"
	"text/template/parse"
)

// execution is one execution of a template.
type execution struct {
	templates *Templates
	page      *bytes.Buffer
	variables []variable // of the present template, the newest last
	calls     int
}

type variable struct {
	name  string
	value reflect.Value
}

// template executes a template with variables of its own.
func (e *execution) template(name string, data reflect.Value, calls int) error {
	tree := e.templates.trees[name]
	if tree == nil {
		return fmt.Errorf("there is no template %q", name)
	}
	if calls > maxCalls {
		return fmt.Errorf("template %s: templates call each other more than %d deep", name, maxCalls)
	}
	outer := *e
	e.variables, e.calls = []variable{{"$", data}}, calls
	err := e.list(tree.Root, data)
	*e = outer
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	return nil
}

func (e *execution) list(list *parse.ListNode, dot reflect.Value) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		if err := e.node(node, dot); err != nil {
			return err
		}
	}
	return nil
}

func (e *execution) node(node parse.Node, dot reflect.Value) error {
	switch n := node.(type) {
	case *parse.TextNode:
		e.page.Write(n.Text)
	case *parse.ActionNode:
		value, err := e.pipe(n.Pipe, dot)
		if err != nil || len(n.Pipe.Decl) > 0 {
			return err
		}
		e.page.WriteString(e.templates.escapes[n].harmless(text(value)))
	case *parse.TemplateNode:
		value, err := e.pipe(n.Pipe, dot)
		if err != nil {
			return err
		}
		return e.template(n.Name, value, e.calls+1)
	case *parse.IfNode:
		return e.branch(&n.BranchNode, dot, false)
	case *parse.WithNode:
		return e.branch(&n.BranchNode, dot, true)
	case *parse.RangeNode:
		return e.each(n, dot)
	}
	return nil
}

// branch executes an if, or a with, for which dot becomes the value.
func (e *execution) branch(n *parse.BranchNode, dot reflect.Value, with bool) error {
	defer e.forget(len(e.variables))
	value, err := e.pipe(n.Pipe, dot)
	if err != nil {
		return err
	}
	if !truth(value) {
		return e.list(n.ElseList, dot)
	}
	if with {
		dot = value
	}
	return e.list(n.List, dot)
}

// forget drops the variables that were declared since.
func (e *execution) forget(known int) { e.variables = e.variables[:known] }

// each executes a range over a list or, by its keys, a map.
func (e *execution) each(n *parse.RangeNode, dot reflect.Value) error {
	defer e.forget(len(e.variables))
	list, err := e.pipe(n.Pipe, dot)
	if err != nil {
		return err
	}
	list, isNil := direct(list)
	one := func(key, value reflect.Value) error {
		defer e.forget(len(e.variables))
		if names := n.Pipe.Decl; len(names) > 0 {
			e.declare(names[len(names)-1], value)
			if len(names) > 1 {
				e.declare(names[0], key)
			}
		}
		return e.list(n.List, value)
	}
	switch {
	case isNil:
	case list.Kind() == reflect.Slice, list.Kind() == reflect.Array:
		for i := range list.Len() {
			if err := one(reflect.ValueOf(i), list.Index(i)); err != nil {
				return err
			}
		}
		if list.Len() > 0 {
			return nil
		}
	case list.Kind() == reflect.Map:
		for _, key := range sortedKeys(list) {
			if err := one(key, list.MapIndex(key)); err != nil {
				return err
			}
		}
		if list.Len() > 0 {
			return nil
		}
	default:
		return wrong(n.Pipe, "cannot go through a %s", list.Type())
	}
	return e.list(n.ElseList, dot)
}

func (e *execution) declare(name *parse.VariableNode, value reflect.Value) {
	e.variables = append(e.variables, variable{name.Ident[0], value})
}

// pipe evaluates a pipeline, and declares its variable unless it is a range's.
func (e *execution) pipe(pipe *parse.PipeNode, dot reflect.Value) (value reflect.Value, err error) {
	if pipe == nil {
		return value, nil
	}
	for i, command := range pipe.Cmds {
		var last []reflect.Value
		if i > 0 {
			last = []reflect.Value{value}
		}
		if value, err = e.command(command, dot, last); err != nil {
			return value, err
		}
	}
	if len(pipe.Decl) == 1 {
		e.declare(pipe.Decl[0], value)
	}
	return value, nil
}

// command evaluates a command: a function with its arguments, or a value.
func (e *execution) command(n *parse.CommandNode, dot reflect.Value, last []reflect.Value) (reflect.Value, error) {
	if name, ok := n.Args[0].(*parse.IdentifierNode); ok {
		return e.call(name, n.Args[1:], dot, last)
	}
	if len(n.Args) > 1 || last != nil {
		return reflect.Value{}, wrong(n, "takes no arguments: methods are not called here, only functions")
	}
	return e.value(n.Args[0], dot)
}

// value evaluates what stands by itself.
func (e *execution) value(node parse.Node, dot reflect.Value) (reflect.Value, error) {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.NilNode:
		return reflect.Value{}, nil
	case *parse.BoolNode:
		return reflect.ValueOf(n.True), nil
	case *parse.StringNode:
		return reflect.ValueOf(n.Text), nil
	case *parse.NumberNode:
		if n.IsInt {
			return reflect.ValueOf(int(n.Int64)), nil
		}
		return reflect.ValueOf(n.Float64), nil
	case *parse.FieldNode:
		return members(n, dot, n.Ident)
	case *parse.VariableNode:
		for i := len(e.variables) - 1; i >= 0; i-- {
			if e.variables[i].name == n.Ident[0] {
				return members(n, e.variables[i].value, n.Ident[1:])
			}
		}
	case *parse.ChainNode:
		of, err := e.value(n.Node, dot)
		if err != nil {
			return of, err
		}
		return members(n, of, n.Field)
	case *parse.PipeNode:
		return e.pipe(n, dot)
	case *parse.IdentifierNode:
		return e.call(n, nil, dot, nil)
	}
	return reflect.Value{}, wrong(node, "is not known here")
}

// members follows names from a value: fields of structs, and what maps hold.
func members(node parse.Node, of reflect.Value, names []string) (reflect.Value, error) {
	for _, name := range names {
		is, isNil := direct(of)
		switch {
		case isNil:
			return of, wrong(node, "there is nothing that could have %s", name)
		case is.Kind() == reflect.Map && is.Type().Key().Kind() == reflect.String:
			of = is.MapIndex(reflect.ValueOf(name).Convert(is.Type().Key()))
			continue
		case is.Kind() == reflect.Struct:
			if field, found := is.Type().FieldByName(name); found && field.IsExported() {
				var err error
				if of, err = is.FieldByIndexErr(field.Index); err != nil {
					return of, wrong(node, "%v", err)
				}
				continue
			}
		}
		return of, wrong(node, "%s has no field %s; a method needs a function that calls it", is.Type(), name)
	}
	return of, nil
}

// direct follows pointers and interfaces to what they hold.
func direct(value reflect.Value) (held reflect.Value, isNil bool) {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		if value.IsNil() {
			return value, true
		}
		value = value.Elem()
	}
	return value, !value.IsValid()
}
