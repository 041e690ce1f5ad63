// Package plot draws how figures grow with a size, both axes by powers of ten, as SVG: a line whose slope is the size's own is
// linear, a flat one does not grow.
package plot

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
	panelRight              = 30 // for half of the last size
	panelBottom             = 28
	legendTop, legendRow    = 10, 18
	legendColumn            = 205
)

// Panel is one figure over the size, drawn for each of its lines.
type Panel struct {
	Title string
	Lines []Line
}

// Line is a figure at each size; 0 or less where it was not measured.
type Line struct {
	Name   string
	Values []float64
}

// inks tell lines apart, also for who does not see all colours: those of one colour have dashes of their own.
var inks = []struct{ colour, dash string }{
	{"#0b57d0", ""},
	{"#b3261e", ""},
	{"#b3261e", "5 3"},
	{"#2e7d32", ""},
	{"#2e7d32", "5 3"},
	{"#0b57d0", "5 3"},
	{"#8e24aa", ""},
	{"#8e24aa", "5 3"},
	{"#b26a00", ""},
	{"#b26a00", "5 3"},
	{"#455a64", ""},
	{"#455a64", "5 3"},
	{"#00838f", ""},
	{"#00838f", "5 3"},
}

// Draw draws the panels, two in a row, above what the lines are called. A line has the same ink in each.
func Draw(label string, sizes []int, panels []Panel) []byte {
	var names []string
	for _, p := range panels {
		for _, l := range p.Lines {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	rows := (len(panels) + 1) / 2
	width := 2*(panelLeft+panelWidth) + panelGap - 10 + panelRight
	below := rows * (panelTop + panelHeight + panelBottom)
	height := below + (len(names)+2)/3*legendRow + legendTop
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(label))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for at, p := range panels {
		x := panelLeft + at%2*(panelWidth+panelLeft+panelGap-10)
		y := panelTop + at/2*(panelHeight+panelTop+panelBottom)
		p.draw(&b, sizes, names, x, y)
	}
	for at, name := range names {
		x, y, ink := panelLeft+at%3*legendColumn, below+legendTop+at/3*legendRow, inks[at%len(inks)]
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="%s" stroke-width="2" stroke-dasharray="%s"/><text x="%d" y="%d" fill="#222">%s</text>`+"\n",
			x, y, ink.colour, ink.dash, x+30, y+4, html.EscapeString(name))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func (p Panel) draw(b *strings.Builder, sizes []int, names []string, left, top int) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range p.Lines {
		for _, v := range l.Values {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold" fill="#222">%s</text>`+"\n", left, top-12, html.EscapeString(p.Title))
	if high < low { // nothing was measured
		return
	}
	low, high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	from, to := math.Log10(float64(sizes[0])), math.Log10(float64(sizes[len(sizes)-1]))
	x := func(size int) float64 {
		return float64(left) + (math.Log10(float64(size))-from)/max(to-from, 1e-9)*panelWidth
	}
	y := func(value float64) float64 {
		return float64(top) + panelHeight - (math.Log10(value)-low)/max(high-low, 1)*panelHeight
	}
	for power := low; power <= high; power++ {
		at := y(math.Pow(10, power))
		fmt.Fprintf(b, `<path d="M%d %.1fh%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%g</text>`+"\n",
			left, at, panelWidth, left-6, at+4, math.Pow(10, power))
	}
	for _, size := range sizes {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%s</text>`+"\n", x(size), top+panelHeight+16, Thousands(size))
	}
	for _, l := range p.Lines {
		ink := inks[slices.Index(names, l.Name)%len(inks)]
		var path strings.Builder
		for i, v := range l.Values {
			if v <= 0 {
				continue
			}
			move := "L"
			if path.Len() == 0 {
				move = "M"
			}
			fmt.Fprintf(&path, "%s%.1f %.1f", move, x(sizes[i]), y(v))
		}
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", path.String(), ink.colour, ink.dash)
	}
}

// Thousands writes a number with commas between its thousands.
func Thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
