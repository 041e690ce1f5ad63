package config

import _ "embed" // the annotated example

// Example is an annotated configuration file that says every setting and its
// default.
//
//go:embed skillrouter.example.yaml
var Example string
