package main

import (
	"slices"

	"skillrouter/scripts/bench/plot"
)

// drawing is how the figures grow with the size, as SVG.
func drawing(runs []run) []byte {
	if len(runs) == 0 {
		return nil
	}
	panels := []plot.Panel{{Title: "p50 of a search, ms"}, {Title: "p99 of a search, ms"}, {Title: "resident memory, MB"}, {Title: "start to first answer, ms"}}
	sizes := make([]int, len(runs))
	for i, r := range runs {
		sizes[i] = r.Size
	}
	for _, engine := range runs[0].Engines {
		for at, value := range []func(figures) float64{
			func(f figures) float64 { return f.P50 }, func(f figures) float64 { return f.P99 },
			func(f figures) float64 { return f.Resident }, func(f figures) float64 { return f.Start },
		} {
			line := plot.Line{Name: engine.Says, Values: make([]float64, len(runs))}
			for i, r := range runs {
				if n := slices.IndexFunc(r.Engines, func(f figures) bool { return f.Name == engine.Name }); n >= 0 {
					line.Values[i] = value(r.Engines[n])
				}
			}
			panels[at].Lines = append(panels[at].Lines, line)
		}
	}
	return plot.Draw("Search beside other engines, by the size of the collection", sizes, panels)
}
