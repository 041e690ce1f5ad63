package folder_test

import "github.com/skillrouter/skillrouter/internal/errs"

// explain is an error as a person is told of it.
func explain(err error) string {
	if err == nil {
		return ""
	}
	if field := errs.FieldOf(err); field != "" {
		return field + " " + errs.MessageOf(err)
	}
	return errs.MessageOf(err)
}
