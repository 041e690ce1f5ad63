package operation

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Op is one operation: the method of a service that does it, and how it is called from outside. HTTP mounts it, the
// client calls it, and the documents describe it, all by this one entry. Lists of them stand beside the services.
type Op struct {
	Verb, Path, Tag, Summary string

	About    string // what the id in the path is
	MaxBody  int64  // of a request, in bytes; 0: as usual
	Made     bool   // it makes something
	ByHand   bool   // HTTP answers it in a shape of its own, which the client knows by Member
	Member   string // of the answer, which holds what the method returns; empty: the answer is that itself
	Argument string // the name of a text or number that the method takes and that stands in no path
	Required bool   // it must be given
	Scope    string // the scope that a caller's token needs, before its body is read; empty: "read" for a GET, else "agent"
	Walled   bool   // see Keeps

	madeIf   reflect.Value // a function of what the method returns, see MakesIf
	standsIn string        // the id that is meant where a caller of the client says none
	method   reflect.Value
	id, in   reflect.Type // what the method takes beside a context, of which each may be nil
	out      reflect.Type // what it returns beside an error; nil: nothing
	siblings []string     // see Siblings
}

// List is operations below one path, which the documents show together.
type List []*Op

// lists holds every list, which packages make when the program starts: what is said of it is worked out when it is first asked for.
var lists []List

// byMethod holds every operation by its method, for those who call it by that.
var byMethod = sync.OnceValue(func() map[string]*Op {
	all := map[string]*Op{}
	for _, list := range lists {
		for _, op := range list {
			key := keyOf(op.method)
			if all[key] != nil {
				panic(key + " is two operations")
			}
			all[key] = op
			before, _, named := strings.Cut(op.Path, "{")
			for _, other := range list {
				if rest, below := strings.CutPrefix(other.Path, before); named && below && !strings.HasPrefix(rest, "{") {
					word, _, _ := strings.Cut(rest, "/")
					op.siblings = append(op.siblings, word)
				}
			}
		}
	}
	return all
})

// Of is a list of operations below a path.
func Of(tag, path string, ops ...*Op) List {
	list := Below(tag, path, ops...)
	lists = append(lists, list)
	return list
}

// Below is the same of operations that are no service's own: nobody finds them by their methods.
func Below(tag, path string, ops ...*Op) List {
	for _, op := range ops {
		op.Tag, op.Path = tag, path+op.Path
	}
	return ops
}

// Siblings are the words that other paths of the list have in the place of the operation's id.
func (op *Op) Siblings() []string {
	byMethod()
	return op.siblings
}

// With is the operations of several lists.
func With(lists ...List) List { return slices.Concat(lists...) }

// Find is the operation that a method of a service is, such as fact.Service.Recall. One that is none is a mistake of this program.
func Find(method any) *Op {
	op := Known(method)
	if op == nil {
		panic(keyOf(reflect.ValueOf(method)) + " is no operation")
	}
	return op
}

// Known is the same for a method that may be none; nil: it is none.
func Known(method any) *Op { return byMethod()[keyOf(reflect.ValueOf(method))] }

// keyOf names a method expression, as its package, its interface and its name.
func keyOf(method reflect.Value) string { return runtime.FuncForPC(method.Pointer()).Name() }

// Get, Post, Put, Patch and Delete are an operation by its verb of HTTP: the path below the list's, what it does in
// one sentence, and the method, which takes a context and then nothing, what it is about, or an id and what becomes of it.
func Get(path, summary string, method any) *Op { return newOp("GET", path, summary, method) }

// Post is an operation that is sent.
func Post(path, summary string, method any) *Op { return newOp("POST", path, summary, method) }

// Put is an operation that stores.
func Put(path, summary string, method any) *Op { return newOp("PUT", path, summary, method) }

// Patch is an operation that changes the fields that are sent.
func Patch(path, summary string, method any) *Op { return newOp("PATCH", path, summary, method) }

// Delete is an operation that removes.
func Delete(path, summary string, method any) *Op { return newOp("DELETE", path, summary, method) }

func newOp(verb, path, summary string, method any) *Op {
	op := &Op{Verb: verb, Path: path, Summary: summary, method: reflect.ValueOf(method)}
	t := op.method.Type()
	if t.NumIn() < 2 || t.NumIn() > 4 || t.In(1) != reflect.TypeFor[context.Context]() || t.Out(t.NumOut()-1) != reflect.TypeFor[error]() {
		panic(fmt.Sprintf("%s is no method of a service", t))
	}
	switch {
	case t.NumIn() == 4:
		op.id, op.in = t.In(2), t.In(3)
	case t.NumIn() == 3 && scalar(t.In(2)) && (strings.Contains(path, "{") || op.inQuery()):
		op.id = t.In(2)
	case t.NumIn() == 3:
		op.in = t.In(2)
	}
	if t.NumOut() == 2 {
		op.out = t.Out(0)
	}
	return op
}

func scalar(t reflect.Type) bool { return t.Kind() == reflect.String || t.Kind() == reflect.Int64 }

// Makes says that the operation makes something.
func (op *Op) Makes() *Op {
	op.Made = true
	return op
}

// MakesIf says that it makes something if made, a function of what the method returns, says so.
func (op *Op) MakesIf(made any) *Op {
	op.Made, op.madeIf = true, reflect.ValueOf(made)
	return op
}

// Holds names the member of the answer that holds what the method returns; how many these are, if it is a list, stands beside it.
func (op *Op) Holds(member string) *Op {
	op.Member = member
	return op
}

// Shaped says that HTTP answers the operation in a shape of its own, which holds what the method returns as a member; empty: it is the whole.
func (op *Op) Shaped(member string) *Op {
	op.ByHand, op.Member = true, member
	return op
}

// Takes names the text or number that the method takes: a parameter of the query, or the one member of the body. A name that ends in "!" must be given.
func (op *Op) Takes(name string) *Op {
	op.Argument, op.Required = strings.CutSuffix(name, "!")
	return op
}

// Needs says which scope a caller's token needs, where that is not as usual. Services ask again, for what only they know.
func (op *Op) Needs(scope string) *Op {
	op.Scope = scope
	return op
}

// Keeps says that the operation keeps to the projects of a token that is bound to some: nothing that it answers shows or
// counts what is of another project, or of none, and what it writes is of the token's. All others are refused to such a
// token, so that an operation that joins shows it nothing.
func (op *Op) Keeps() *Op {
	op.Walled = true
	return op
}

// Named says what the id in the path is.
func (op *Op) Named(about string) *Op {
	op.About = about
	return op
}

// Else is the id that is meant where a caller of the client says none.
func (op *Op) Else(id string) *Op {
	op.standsIn = id
	return op
}

// UpTo bounds a request, in bytes.
func (op *Op) UpTo(limit int64) *Op {
	op.MaxBody = limit
	return op
}

// All are the operations of every service that this program has, in the order of their methods' names.
func All() (list List) {
	for _, key := range slices.Sorted(maps.Keys(byMethod())) {
		list = append(list, byMethod()[key])
	}
	return list
}

// As is the operation done by another function, which takes a service and what a method of it would, and answers in a shape of its own.
func (op *Op) As(do any) *Op {
	other, shaped := newOp(op.Verb, op.Path, op.Summary, do), *op
	shaped.method, shaped.id, shaped.in, shaped.out = other.method, other.id, other.in, other.out
	shaped.Member, shaped.ByHand = "", false
	return &shaped
}

// Of is the service whose method it is.
func (op *Op) Of() reflect.Type { return op.method.Type().In(0) }

// Types are those of what the method takes beside a context, and of what it returns beside an error; nil: nothing.
func (op *Op) Types() (takes []reflect.Type, returns reflect.Type) {
	for _, t := range []reflect.Type{op.id, op.in} {
		if t != nil {
			takes = append(takes, t)
		}
	}
	return takes, op.out
}
