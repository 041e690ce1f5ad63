package httpapi

import (
	_ "embed"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/goccy/go-yaml"

	"github.com/skillrouter/skillrouter/router/transfer"
)

//go:embed plain.yaml
var plainPaths string

// plainOperations describes the routes that are no typed handlers, whether they are mounted or not.
func plainOperations() (list []huma.Operation) {
	var paths map[string]map[string]huma.Operation
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(plainPaths, "KINDS", strings.Join(transfer.Kinds(), ", "))), &paths); err != nil {
		panic(err) // a mistake of this program
	}
	for path, byMethod := range paths {
		for method, op := range byMethod {
			op.Method, op.Path = strings.ToUpper(method), path
			list = append(list, op)
		}
	}
	return list
}
