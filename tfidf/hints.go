package tfidf

import "strings"

// words makes a set of the words of a text.
func words(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// stopWords are the words of a question that do not say what it is about.
// They are dropped from queries only, and kept there if nothing else is left:
// "how to" finds what is titled so.
var stopWords = words(`
a about after again all also am an and any are as at be because been before being between both but by
can cannot cant could couldnt did didnt do does doesnt doing dont down during each either else ever
few for from further get gets getting give given had has hasnt have havent having he her here hers him his how however
i if im in into is isnt it its itself ive just let lets like may me might mine more most much must my myself
neither no nor of off on once one only or other our ours out over own per please
shall she should shouldnt so some such than that thats the their theirs them then there these they this those through to too
under until up upon us use used uses using very via
was wasnt we were werent what whats when where whether which while who whom whose why will with within without wont would wouldnt
yes yet you your yours yourself`)

// settings are the languages and systems that a query names to say where it
// is asked, while the answer, written there, seldom does.
var settings = words(`
bash c cpp golang java javascript js linux mac macos osx perl php py python python2 python3 ruby rust shell
typescript ubuntu unix windows`)

// programming are the languages and libraries that make a question none for a shell's command.
var programming = words(`
c cpp csharp django golang java javascript js kotlin numpy pandas php py python python2 python3 react ruby rust scala
sql swift typescript`)

// timeWords tell when something was or will be.
var timeWords = words(`
yesterday today tomorrow tonight week weeks weekend month months year years day days hour hours minute minutes
morning afternoon evening night ago last next recently lately earlier later soon now since until date birthday anniversary
first finally just monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december`)

// datedNouns make "what" and "which" before them a question for a time.
var datedNouns = words(`date day month time year`)

// asksForTime tells whether the words of a query ask when.
func asksForTime(query []string) bool {
	for i, w := range query {
		next := ""
		if i+1 < len(query) {
			next = query[i+1]
		}
		if w == "when" || (w == "what" || w == "which") && datedNouns[next] || w == "how" && next == "long" {
			return true
		}
	}
	return false
}

// kindQuestions begin questions whose answer may be a member of a kind.
var kindQuestions = words(`what which who whose where how in at on from`)

// asksForKind tells whether the words of a query may ask for a member of a kind that they name.
func asksForKind(query []string) bool { return len(query) > 1 && kindQuestions[query[0]] }
