package history

import (
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/episode"
)

// Bounds of what a person says that is to be kept to.
const (
	// maxTyped bounds a turn that a person typed, in bytes: what is longer is mostly pasted, and
	// nobody there said it.
	maxTyped = 1500
	// minStanding and maxStanding bound a sentence, in bytes: a shorter one points at something else, a longer one tells a story.
	minStanding = 20
	maxStanding = 300
	// standingConfidence is what such a sentence is worth: a person said it, of whatever it is.
	standingConfidence = 0.75
)

var (
	// holds is how people say that something is to be done, or not, each time.
	holds = lazyregexp.New(`(?i)\b(?:please|you|we|should|must|can|to|and|but|so|,|;|:|^) ?(?:always|never|only ever) [a-z]|\b(?:from now on|going forward|in all cases|at all times|every time|each time|as a (?:general )?rule|under no circumstances|without exception|throughout|no exceptions|next time)\b|(?:^|, ?)in (?:the )?future\b|\bin (?:the )?future[.!]?$|^(?:please )?(?:do not|don'?t) (?:ever|forget to)\b`)
	// told is how somebody is told what to do.
	instructs = lazyregexp.New(`(?i)\b(?:please|always|never|don'?t|do not|(?:you|we|it|they|all|every|each)\b.{0,40}\b(?:should|must|need|have to|can always)|let'?s)\b|^(?:use|run|keep|make|put|write|add|check|commit|ask|prefer|avoid|only|remember|recall)\b`)
	// stead is how people say what to use in the place of another.
	stead = lazyregexp.New(`(?i)^(?:no,? |ok,? |please |always |we |you should |you must )*(?:be )?(?:us(?:e|ing)|run|prefer)\b.{2,120}(?:\binstead of\b|\brather than\b|, not\b)|^(?:no,? )?you should(?:n't| not| always| only)? (?:be |have )?(?:us(?:e|ing|ed)|run(?:ning)?)\b`)
	// decided is how people say what they decided, and within which bounds something is to be done.
	decided = lazyregexp.New(`(?i)^(?:no,? |ok,? )?we(?:'ve| have)? (?:decided|agreed|chose|settled)\b|^(?:no,? |ok,? |please )*(?:keep|use|run|put|store|deploy|write|leave|start)\b.{3,120}(?:\bonly (?:after|before|between|on|in|with)\b|[,;] ?(?:do not|don't|never|not) )`)
	// passing is what holds for once, or is no instruction: plans, doubts, what the speaker does.
	passing = lazyregexp.New(`(?i)\b(?:never mind|yet|right now|for now|until|today|tomorrow|tonight|at this (?:point|time|stage)|this time|for the moment|this session|next session|i think|i guess|maybe|perhaps|not sure|wonder|might|could you|can you|would you|i(?:'ve|'d|'m| have| had| am)? (?:always|never)|used to|not always|does(?:n't| not)|did(?:n't| not)|was|were)\b|\b(?:we|i) may\b`)
	listed  = lazyregexp.New(` \([a-h1-9]\) `)
	bullet  = lazyregexp.New(`^(?:[-*•]|\d{1,2}[.)]|\([a-z0-9]\)|#{1,6}) `)
)

// standing finds what a person said that is to be kept to from then on, sentence by sentence.
func (t Transcript) standing() (drafts []ProposalDraft) {
	for i, turn := range t.Turns {
		for _, paragraph := range paragraphs(turn.Content) {
			for _, sentence := range sentences(listed.ReplaceAllString(paragraph, "; ")) {
				plain := strings.NewReplacer("*", "", "_", "").Replace(openers.ReplaceAllString(sentence, ""))
				if len(sentence) < minStanding || len(sentence) > maxStanding || strings.HasSuffix(sentence, "?") || strings.Contains(sentence, "[redacted") || passing.MatchString(plain) && !decided.MatchString(plain) {
					continue
				}
				if !stead.MatchString(plain) && !decided.MatchString(plain) && !(instructs.MatchString(plain) && holds.MatchString(plain)) {
					continue
				}
				drafts = append(drafts, ProposalDraft{
					Kind: ProposalEpisode, Confidence: standingConfidence, Evidence: []string{sentence}, Turns: []int{i},
					Episode: &episode.Draft{EventType: episode.EventDecision, Title: oneLine(sentence), Content: "A person said so to an agent: " + oneLine(sentence)},
				})
			}
		}
	}
	return drafts
}

// paragraphs are the texts of a message without its blocks of code, each on one line: who wraps lines ends no sentence.
func paragraphs(text string) (list []string) {
	mark, open := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch m := fence(line); {
		case m != "" && mark == "":
			mark, open = m, false
		case m != "" && strings.HasPrefix(m, mark):
			mark = ""
		case mark != "":
		case line == "" || strings.HasPrefix(line, "<"): // agents put their own notes into a person's mouth, between marks
			open = false
		case open && !bullet.MatchString(line):
			list[len(list)-1] += " " + line
		default:
			list, open = append(list, bullet.ReplaceAllString(line, "")), true
		}
	}
	return list
}
