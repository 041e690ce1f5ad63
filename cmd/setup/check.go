package setup

import (
	"errors"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
)

// tomlFree sees that a TOML file is one, has no table of ours that somebody
// wrote by hand, and still is one with ours in it.
func tomlFree(path string, without, with []byte) error {
	var found struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(without, &found); err != nil {
		line := 0
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = wrong.Position()
		}
		return refused(path, line, "this is no TOML: %v", err)
	}
	if _, has := found.Servers[serverName]; has {
		return refused(path, 0, "it has a table mcp_servers.%s already, which somebody else wrote: remove it first", serverName)
	}
	var all map[string]any
	if err := toml.Unmarshal(with, &all); err != nil {
		return refused(path, 0, "the table mcp_servers.%s cannot be added to it: %v", serverName, err)
	}
	return nil
}

// yamlFree sees that a YAML file is a map of values, has no "read" of its own,
// and still is one with ours in it.
func yamlFree(path string, without, with []byte) error {
	found := map[string]any{}
	if err := yaml.Unmarshal(without, &found); err != nil {
		return refused(path, 0, "this is no YAML that settings can be added to: %v", err)
	}
	if _, has := found["read"]; has {
		return refused(path, 0, `it has a list "read" already: add %s to it by hand`, aiderFile)
	}
	if err := yaml.Unmarshal(with, &found); err != nil {
		return refused(path, 0, "the setting \"read\" cannot be added to it: %v", err)
	}
	return nil
}
