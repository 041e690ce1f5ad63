// Command recording writes docs/demo.svg: what `skillrouter demo` prints, as a picture that moves. It
// runs the demo, so that the picture shows nothing but what the program really says.
//
//	go run ./scripts/recording [-program bin/skillrouter] [-file docs/demo.svg]
package main

import (
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// How the picture looks: characters and lines that are seen at once, and their size in pixels.
const (
	columns, rows         = 110, 26
	charWidth, lineHeight = 7.3, 16.0
	margin                = 12.0
	// perLine is how long a line takes to come, and perPart how long a reader has for what stands between blank lines.
	perLine, perPart = 120 * time.Millisecond, 1800 * time.Millisecond
)

func main() {
	program := flag.String("program", "bin/skillrouter", "program to show")
	file := flag.String("file", "docs/demo.svg", "file to write")
	flag.Parse()
	printed, err := exec.Command(*program, "demo", "--fast").Output()
	if err == nil {
		err = os.WriteFile(*file, []byte(picture(lines(string(printed)))), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// lines cuts what was printed into lines that fit.
func lines(printed string) (list []string) {
	for line := range strings.Lines(strings.TrimSpace(printed)) {
		line = strings.TrimRight(line, " \n")
		if utf8.RuneCountInString(line) > columns {
			line = string([]rune(line)[:columns-1]) + "…"
		}
		list = append(list, line)
	}
	return list
}

// picture draws the lines, and moves them up as they come.
func picture(list []string) string {
	width, height := columns*charWidth+2*margin, rows*lineHeight+2*margin
	shown := make([]time.Duration, len(list)) // when each line is there
	var at time.Duration
	for i, line := range list {
		if at += perLine; line == "" {
			at += perPart
		}
		shown[i] = at
	}
	total := at + 2*perPart
	var frames, text strings.Builder
	frame := func(when time.Duration, last int) {
		up := float64(max(0, last+1-rows)) * lineHeight
		fmt.Fprintf(&frames, "%.2f%%{transform:translateY(-%.0fpx)}", 100*when.Seconds()/total.Seconds(), up)
	}
	frame(0, rows-1)
	for i := rows; i < len(list); i++ {
		frame(shown[i], i)
	}
	frame(total, len(list)-1)
	for i, line := range list {
		fmt.Fprintf(&text, `<text class="%s" x="%.0f" y="%.0f" xml:space="preserve">%s</text>`+"\n", class(line), margin, margin+float64(i+1)*lineHeight-4, html.EscapeString(line))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" role="img" aria-label="skillrouter demo, as it prints">
<title>skillrouter demo: three agents report a failure, a rule comes of it, and the rule stops a fourth</title>
<style>
rect{fill:#10151c}text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#a9b4c0}.say{fill:#e8edf2}.head{fill:#7fb8ff;font-weight:bold}.run{fill:#8fd6a3}.bad{fill:#ff8b84;font-weight:bold}.warn{fill:#ffd27a}
.moves{animation:up %[3]gs steps(1) infinite}@keyframes up{%[4]s}
@media(prefers-reduced-motion:reduce){.moves{animation:none}}
</style>
<rect width="100%%" height="100%%" rx="8"/>
<svg x="0" y="%[5]g" width="%[1]g" height="%[6]g" viewBox="0 %[5]g %[1]g %[6]g"><g class="moves">
%[7]s</g></svg>
</svg>
`, width, height, total.Seconds(), frames.String(), margin, rows*lineHeight, text.String())
}

// class is how a line is drawn.
func class(line string) string {
	switch said := strings.TrimSpace(line); {
	case strings.HasPrefix(said, "BLOCKED"):
		return "bad"
	case strings.HasPrefix(said, "Warned"), strings.HasPrefix(said, "⚠"):
		return "warn"
	case strings.HasPrefix(line, "    $ "):
		return "run"
	case line != "" && line[0] >= '1' && line[0] <= '9':
		return "head"
	case !strings.HasPrefix(line, " "):
		return "say"
	}
	return "out"
}
