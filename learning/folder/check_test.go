package folder_test

import "skillrouter"

// explain is an error as a person is told of it.
func explain(err error) string {
	if err == nil {
		return ""
	}
	if field := skillrouter.FieldOf(err); field != "" {
		return field + " " + skillrouter.MessageOf(err)
	}
	return skillrouter.MessageOf(err)
}
