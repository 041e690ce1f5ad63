package strictjson

import (
	"reflect"
	"slices"
	"strings"
)

// Member is a field of a struct as JSON knows it.
type Member struct {
	reflect.StructField
	Name, Options string // of its tag, such as "id" and "omitempty"
}

// Members are those that a struct has in JSON by their tags, in their order, those of embedded ones too. Anything else has none.
func Members(t reflect.Type) (members []Member) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" || name == "" {
			continue
		}
		same := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
		switch one := (Member{field, name, options}); {
		case same < 0:
			members = append(members, one)
		case len(field.Index) < len(members[same].Index): // it hides an embedded struct's
			members[same] = one
		}
	}
	return members
}

// MemberOf is the member of a name, if a type has one.
func MemberOf(t reflect.Type, name string) (Member, bool) {
	members := Members(t)
	at := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if at < 0 {
		return Member{}, false
	}
	return members[at], true
}
