package router

import (
	"bytes"
	"encoding/json"
)

// goldenHead is the first line of a golden file, for who reads it.
type goldenHead struct {
	Documents int                `json:"documents"`
	All       Measure            `json:"all"`
	Styles    map[string]Measure `json:"styles"`
	Routed    int                `json:"routed"`
	Right     int                `json:"routed_right"`
}

// Encode writes a golden as lines of JSON: the means, then a line for each
// question. Only the ranks and the classes are compared; the figures are there to be read.
func (g *Golden) Encode(documents int) ([]byte, error) {
	head := goldenHead{Documents: documents, All: Mean(g.Questions, ""), Styles: map[string]Measure{}, Routed: len(g.Routing), Right: routedRight(g.Routing)}
	for _, style := range Styles(g.Questions) {
		head.Styles[style] = Mean(g.Questions, style)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(head); err != nil {
		return nil, err
	}
	for _, q := range g.Questions {
		if err := encoder.Encode(q); err != nil {
			return nil, err
		}
	}
	for _, r := range g.Routing {
		if err := encoder.Encode(r); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
