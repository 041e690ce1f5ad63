package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// SummaryEvent is the name of the episodes that say how a session went.
const SummaryEvent = "session-summary"

// Bounds of a summary: a page at most, which the next session begins with.
const (
	maxAsked     = 4   // requests of a person: the first, and the last ones
	maxAskedText = 200 // bytes of each
	maxEdited    = 8   // files
	maxFailing   = 3   // commands whose last run failed
	maxClosing   = 900 // bytes of what the agent said last
	maxSayings   = 4   // sentences of each that decide, bind or say what is open, the last ones
	maxSaying    = 160 // bytes of the longest that is taken for one
)

// How people and agents say what they decided, what must be kept to, and what is open.
var (
	decides = lazyregexp.New(`(?i)^decision:|\b(?:we|i|you|let'?s)\b[^.?!]{0,30}\b(?:decided|chose|agreed|settled on|go(?:ing)? with|will use|stay with)\b`)
	binds   = lazyregexp.New(`(?i)\b(?:never|always|must|do not|don'?t|only use|make sure|not allowed|under no circumstances|no longer)\b`)
	opens   = lazyregexp.New(`(?i)^(?:still |left )?open\b|^(?:to ?do|remaining|next steps?)\b ?:|\bstill (?:open|missing|to be done)\b|\bnot (?:yet )?(?:done|finished) yet\b|\bnot yet (?:done|finished|tested)\b|\bremains? open\b`)
)

// digest is how a session went, in its parts.
type digest struct {
	asked, edited, failing []string
	decided, bound, open   []string
	closing                string
}

// summarize says how a session went: what was asked, decided and forbidden,
// which files were changed, which commands failed to the end, what was called open, and what
// the agent said last, which is where agents tell what they did. ok is false if nobody asked
// for anything.
func summarize(t Transcript) (d digest, ok bool) {
	for _, turn := range t.Turns {
		switch turn.Role {
		case roleUser:
			if text := oneLine(turn.Content); text != "" && !strings.HasPrefix(text, "<") { // agents put their own notes into a person's mouth, between marks
				d.asked = append(d.asked, check.Head(text, maxAskedText))
				d.decided, d.bound = sayings(d.decided, turn.Content, decides), sayings(d.bound, turn.Content, binds)
			}
		case roleAssistant:
			said := []string{}
			for line := range strings.Lines(turn.Content) {
				line = strings.TrimRight(line, "\n")
				if match := editedLine.FindStringSubmatch(line); match != nil {
					if !slices.Contains(d.edited, match[1]) {
						d.edited = append(d.edited, match[1])
					}
				} else {
					said = append(said, line)
				}
			}
			if text := strings.TrimSpace(strings.Join(said, "\n")); text != "" && !isCommand(text) {
				d.closing = text
				d.decided, d.open = sayings(d.decided, text, decides), sayings(d.open, text, opens)
			}
		}
	}
	if len(d.asked) > maxAsked {
		d.asked = append(d.asked[:1:1], d.asked[len(d.asked)-maxAsked+1:]...)
	}
	if len(d.asked) > 0 {
		d.failing = readScene(t).failing()
	}
	return d, len(d.asked) > 0
}

// draft is the episode of a digest.
func (d digest) draft(t Transcript) episode.Draft {
	var b strings.Builder
	fmt.Fprintf(&b, "Asked: %s", strings.Join(d.asked, " | "))
	part := func(name string, list []string) {
		list = slices.DeleteFunc(slices.Clone(list), func(text string) bool {
			return slices.Contains(d.asked, text) || strings.Contains(oneLine(d.closing), text)
		})
		if len(list) > 0 {
			fmt.Fprintf(&b, "\n%s: %s", name, strings.Join(list, " | "))
		}
	}
	part("Decided", d.decided)
	part("To be kept to, as the person said", d.bound)
	if len(d.edited) > 0 {
		fmt.Fprintf(&b, "\nChanged: %s", strings.Join(d.edited[:min(len(d.edited), maxEdited)], ", "))
		if more := len(d.edited) - maxEdited; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	if len(d.failing) > 0 {
		fmt.Fprintf(&b, "\nFailed to the end: %s", strings.Join(d.failing[:min(len(d.failing), maxFailing)], "; "))
	}
	part("Left open", d.open)
	if d.closing != "" {
		fmt.Fprintf(&b, "\nSaid at the end: %s", tail(d.closing, maxClosing))
	}
	return episode.Draft{
		EventType: episode.EventOutcome, Event: SummaryEvent, Title: "Session: " + d.asked[0], Content: b.String(),
		AgentID: t.AgentID, SessionID: t.SessionID, Project: t.Project, Place: t.Place, Persona: t.Persona,
	}
}

// sayings adds the sentences of a text that an expression fits and that ask nothing, each
// once, the last ones in the order in which they were said last.
func sayings(list []string, text string, fits *lazyregexp.Regexp) []string {
	for line := range strings.Lines(text) {
		for _, sentence := range decision.Sentences(line) {
			sentence = oneLine(sentence)
			if len(sentence) > maxSaying || strings.HasSuffix(sentence, "?") || !fits.MatchString(sentence) {
				continue
			}
			list = append(slices.DeleteFunc(list, func(other string) bool { return other == sentence }), sentence)
			list = list[max(0, len(list)-maxSayings):]
		}
	}
	return list
}

// isCommand tells whether a text is nothing but a command that was run.
func isCommand(text string) bool {
	return !strings.Contains(text, "\n") && hasPrompt([]string{text})
}

// tail is the end of a text, from the beginning of a line where it can be.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[len(text)-most:], "")
	if at := strings.IndexByte(text, '\n'); at >= 0 && at < most/2 {
		return text[at+1:]
	}
	return "…" + text
}
