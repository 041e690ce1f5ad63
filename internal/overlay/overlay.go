// Package overlay puts what a caller changes over what is there: the fields of a patch that are set, which are pointers, over the
// fields of the same names.
package overlay

import "reflect"

// Each visits the fields that a patch sets, by their places in it, with those of the same names. Both are pointers to structs.
func Each(patch, of any, visit func(i int, set, field reflect.Value)) {
	from, to := reflect.ValueOf(patch).Elem(), reflect.ValueOf(of).Elem()
	for i := range from.NumField() {
		set := from.Field(i)
		if set.Kind() != reflect.Pointer || set.IsNil() {
			continue
		}
		if field := to.FieldByName(from.Type().Field(i).Name); field.IsValid() {
			visit(i, set, field)
		}
	}
}

// Put sets the fields of of to what a patch says.
func Put(of, patch any) {
	Each(patch, of, func(_ int, set, field reflect.Value) {
		if set.Type() != field.Type() {
			set = set.Elem()
		}
		field.Set(set)
	})
}

// Take sets the fields that a patch sets to those of of, which were checked and cleaned since Put. What they pointed to is the
// caller's, and stays as it is.
func Take(patch, of any) {
	Each(patch, of, func(_ int, set, field reflect.Value) {
		if set.Type() != field.Type() {
			own := reflect.New(field.Type())
			own.Elem().Set(field)
			field = own
		}
		set.Set(field)
	})
}

// Copy sets the fields of a struct that another has too, by name and type. Both are pointers.
func Copy(to, from any) {
	into, of := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range of.NumField() {
		if field := into.FieldByName(of.Type().Field(i).Name); field.IsValid() && field.Type() == of.Field(i).Type() {
			field.Set(of.Field(i))
		}
	}
}
