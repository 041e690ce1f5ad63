package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The measures of a panel, in pixels.
const (
	panelWidth, panelHeight = 250, 170
	panelLeft, panelTop     = 52, 34
	panelGap                = 40
	legendHeight            = 44
)

// panel is one figure over the size of the collection.
type panel struct {
	title string
	value func(figures) float64
}

var panels = []panel{
	{"p50 of a search, ms", func(f figures) float64 { return f.P50 }},
	{"p99 of a search, ms", func(f figures) float64 { return f.P99 }},
	{"resident memory, MB", func(f figures) float64 { return f.Resident }},
	{"start to first answer, ms", func(f figures) float64 { return f.Start }},
}

// inks tell the engines apart, also for who does not see all colours: each has a dash of its own.
var inks = []struct{ colour, dash string }{
	{"#0b57d0", ""}, {"#b3261e", ""}, {"#b3261e", "5 3"}, {"#2e7d32", ""}, {"#2e7d32", "5 3"},
}

// plot draws how the figures grow with the size, both axes by powers of ten, as SVG.
func plot(runs []run) []byte {
	if len(runs) == 0 {
		return nil
	}
	width := 2*(panelLeft+panelWidth) + panelGap + 10
	height := 2*(panelTop+panelHeight+28) + legendHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" role="img" aria-label="Search beside other engines, by the size of the collection">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for at, p := range panels {
		x := panelLeft + at%2*(panelWidth+panelLeft+panelGap-10)
		y := panelTop + at/2*(panelHeight+panelTop+28)
		p.draw(&b, runs, x, y)
	}
	for at, f := range runs[0].Engines {
		x, y := panelLeft+at%3*205, height-legendHeight+10+at/3*18
		ink := inks[at%len(inks)]
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="%s" stroke-width="2" stroke-dasharray="%s"/><text x="%d" y="%d" fill="#222">%s</text>`+"\n",
			x, y, ink.colour, ink.dash, x+30, y+4, html.EscapeString(f.Says))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func (p panel) draw(b *strings.Builder, runs []run, left, top int) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range runs {
		for _, f := range r.Engines {
			low, high = min(low, p.value(f)), max(high, p.value(f))
		}
	}
	low, high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	from, to := math.Log10(float64(runs[0].Size)), math.Log10(float64(runs[len(runs)-1].Size))
	x := func(size int) float64 {
		return float64(left) + (math.Log10(float64(size))-from)/max(to-from, 1e-9)*panelWidth
	}
	y := func(value float64) float64 {
		return float64(top) + panelHeight - (math.Log10(value)-low)/max(high-low, 1)*panelHeight
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold" fill="#222">%s</text>`+"\n", left, top-12, p.title)
	for power := low; power <= high; power++ {
		at := y(math.Pow(10, power))
		fmt.Fprintf(b, `<path d="M%d %.1fh%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%g</text>`+"\n",
			left, at, panelWidth, left-6, at+4, math.Pow(10, power))
	}
	for _, r := range runs {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%s</text>`+"\n", x(r.Size), top+panelHeight+16, thousands(r.Size))
	}
	for at, engine := range runs[0].Engines {
		ink := inks[at%len(inks)]
		var path strings.Builder
		for _, r := range runs {
			i := slices.IndexFunc(r.Engines, func(f figures) bool { return f.Name == engine.Name })
			if i < 0 {
				continue // it was not measured at this size
			}
			move := "L"
			if path.Len() == 0 {
				move = "M"
			}
			fmt.Fprintf(&path, "%s%.1f %.1f", move, x(r.Size), y(p.value(r.Engines[i])))
		}
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", path.String(), ink.colour, ink.dash)
	}
}
