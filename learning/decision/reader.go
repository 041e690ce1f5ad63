// Package decision finds what a person decides, forbids and takes back in what they type, and keeps it as entries of knowledge: of the latest word on
// a matter, until it is taken back. It owns how such sentences are read, for prompts and for transcripts. It must know no agent and no hook.
package decision

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/tfidf/text"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Bounds of what a person says that is to be kept to.
const (
	// MaxTyped bounds what is typed, in bytes: what is longer is mostly pasted, and nobody there said it.
	MaxTyped = 1500
	// minStanding and maxStanding bound a sentence, in bytes: a shorter one points at something else, a longer one tells a story.
	minStanding = 15
	maxStanding = 300
)

// Saying is a sentence of a person that is to be kept to from then on.
type Saying struct {
	Category string // knowledge.CategoryDecision or CategoryConstraint
	Text     string // the sentence
	Around   string // the paragraph that it stands in
	Sure     bool   // it is kept at once; else it is proposed, to a person
	Back     bool   // it only takes back what was said before
}

// How people say what is to be kept to. What a prompt says is kept at once, so these begin where a sentence begins, behind its opening
// words: a sentence that asks, supposes, quotes, tells of others or gives work to do begins in another way. TestSaid holds what they find.
var (
	// opening are the words with which people begin, before they say it.
	opening = lazyregexp.New(`(?i)^(?:(?:remember to|(?:please )?(?:note|remember|keep in mind|be aware|understand) that|ok(?:ay)?|so|well|also|and|but|hey|hi|yes|please|pls|actually|btw|by the way|fyi|note|important|reminder|remember|heads[ -]up|one more thing|another thing|for the record|just so you know|just a reminder|as a reminder|to be clear|listen|sorry|correction|finally|everybody|in general|generally|(?:in|for) (?:this|our|the) (?:whole )?(?:repo|repository|project|codebase|code base|monorepo|team|workspace)|(?:please )?(?:keep in mind|be aware|understand)|make sure(?: that)?(?: to| you| we)?|be (?:sure|careful) to|take care to|make it a habit to|it(?:'s| is) (?:very |really )?(?:important|crucial|essential|critical)(?: to me)?(?: that (?:you|we)| to)|i(?: want|'d like| would like| need| expect) you to)[,:;.!]*\s+(?:that )?|no[,.;:!]\s+|here[,:]\s+)+`)
	// labels name what stands behind them.
	labels = lazyregexp.New(`(?i)^(?:the |a |our |my |one |new |final |architecture |architectural |design |technical |product |house |team |project |general |hard |golden )*(?:(decision|agreement)|rule|policy|convention|guideline|standing order)(?: (?:for|in|of) (?:this|our|the|all)(?: \w+){1,3}| here| from now on| number \w+)?(?: is)?(?: final)?(?: that\s|\s?[:—–]\s|:\s*| - )(.{3,})`)
	// rules announce a list of them.
	rules = lazyregexp.New(`(?i)\b(?:rules?|conventions?|guidelines?|policies|decisions?|decided|agreed|remember|keep in mind|important|from now on|never|always|going forward)\b[^:]{0,40}:$`)

	resolved = lazyregexp.New(`(?i)^(?:(?:after|following|since|because of|due to|in|at|during|yesterday|this morning|last week|with) [^,.]{0,50}?,? ?)?(?:we (?:talked|spoke|discussed|met|looked|thought)[^,.]{0,40} and )?(?:(?:the|our) (?:\w+ ){0,2}(?:team|board|guild|group|leads?|committee|council)|the two of us|we all|we both|we|i)(?:'ve| have)? (?:just |now |finally |all |also |already |both )*(?:(?:decided|agreed|settled|opted|chose|chosen|picked|committed|resolved)\b)[ ,:]+(.+)`)
	passive  = lazyregexp.New(`(?i)^it (?:was|is|has been) (?:decided|agreed)(?: that| to|:)? (.+)`)
	// idle is what is decided of the moment, not of the project.
	idle  = lazyregexp.New(`(?i)^(?:(?:to|that we|that i|that|on|for) )?(?:(?:would|'d|will|should) )?(?:go with (?:your|option|the (?:first|second|third|other|latter|former|last|next)|that|this|it)|your|meet|talk|chat|wait|look|discuss|have|take a|postpone|finish|go home|go out|do (?:that|this|it|so|the)|leave it|try|ask|start|continue|revisit|go ahead|think|sleep|see|finish|pause|call|celebrate|buy|give you|let you|fire|hire|that you would|you would|anything|nothing|against it|not to decide|you are|you're|it is|it's|the (?:wrong|right|same)|th(?:is|ese|ose|em)|it)\b`)
	mine  = lazyregexp.New(`(?i)^(?:i|i've|i have)\b`)
	keeps = lazyregexp.New(`(?i)^(?:that|on|we|against|to (?:use|keep|drop|move|switch|go with|stay|stick|store|adopt|remove|replace|standardi[sz]e|support|stop))\b`)
	going = lazyregexp.New(`(?i)^(?:we're|we are|we will|we'll|we'd rather|we've|we|let's|let us)(?: now| all| always| also| just)* (?:going (?:with|to (?:use|go with|stick|stay|standardi[sz]e|adopt|switch|move|migrate|drop|replace))|stick(?:ing)? (?:with|to)|stay(?:ing)? (?:with|on)|standardi[sz](?:e|ing) on|adopt(?:ing)?|switch(?:ing)? (?:over )?(?:from|to)|mov(?:e|ing) (?:over )?(?:away from|to)|(?:have |'ve )?(?:switched|moved|moving|migrated) (?:over )?(?:from|to [A-Z])|migrat(?:e|ing) (?:from|to|away from)|dropp(?:ing|ed support for)|retiring|replacing .{2,40} (?:with|by)|want to (?:stick|stay|standardi[sz]e|avoid)|(?:now use|use .{2,60} (?:now instead of|everywhere|throughout|for everything))) (.+)`)
	// pointing is what "we go with …" says that means something in the talk.
	pointing = lazyregexp.New(`(?i)^(?:the |your |my |that |this |these |those )?(?:option|approach|plan|variant|solution|version|proposal|suggestion|idea|first|second|third|last|latter|former|other|next|new one|simple|simpler|one|that|this|it|them|a|an|on|ahead)\b`)
	lets     = lazyregexp.New(`(?i)^let(?:'s| us)\b`)
	common   = lazyregexp.New(`(?i)\b(?:standardi[sz]e|adopt|everywhere|throughout)\b`)
	longer   = lazyregexp.New(`(?i)^(?:we|you|nobody|agents?)(?:'ll| will)? (?:no longer|do(?:es)? ?n[o']t (?:\w+ ){1,6}any ?more|don't (?:\w+ ){1,6}any ?more|stopped using|have stopped using) ?(.*)`)

	// from is how people say from when on, or how strictly.
	from = lazyregexp.New(`(?i)\b(?:from now on|from (?:here|this point|today|tomorrow|monday) on(?:wards?)?|going forward|at all times|under (?:no|any) circumstances?|without exceptions?|no exceptions|as a (?:general )?rule|for all (?:future|further|upcoming) \w+|next time and every time(?: after)?|as of (?:today|now|this week|next week))\b|(?:^|, ?)in (?:the )?future(?:,| please| always| never| do\b| use\b|[.! ]*$)`)
	// ends is from at a sentence's beginning or end: within a sentence it may be a part of what is to be written.
	ends = lazyregexp.New(`(?i)^(?:from now|from (?:here|this|today)|going forward|at all times|under (?:no|any) circumstance|without exception|as a (?:general )?rule|for all (?:future|further|upcoming)|next time and every|as of (?:today|now|this|next)|in (?:the )?future\b)|(?:from now on|going forward|at all times|under (?:no|any) circumstances|without exceptions?|no exceptions|from (?:here|this point|today) on(?:wards?)?|in (?:the )?future)[.! ]*$|^(?:do not|don'?t|never|no|use|stop|always)\b`)
	// speaker begins what is told of somebody, and forAll what is decided for all.
	speaker = lazyregexp.New(`(?i)^(?:i|it|he|she|they|we|you|this|that|there|which|what|who|everything|something)(?:'\w+)?\b`)
	forAll  = lazyregexp.New(`(?i)^(?:we|our|the|\w+s) |\b(?:is|are|will be) `)
	unsaid  = lazyregexp.New(`(?i)^(?:wrong|broken|not|unclear|missing|outdated|in|on|at)\b`)
	makes   = lazyregexp.New(`(?i)^(?:write|add|create|generate|draft|implement|build|explain|describe|translate|summari[sz]e|show|print|rename|fix|document|grep|find|search|review|design|list)\b`)

	ordered = lazyregexp.New(`(?i)^(?:never,? ever|never again|never|always|only ever|don'?t ever|do not ever|don'?t you ever|don'?t you dare(?: to)?|do not,? under any circumstances,?) (.+)`)
	adults  = lazyregexp.New(`(?i)^(?:(?:you|we|everyone|everybody|all of (?:you|us)|all agents|agents?|every agent|contributors) (?:(must|should|shall|have to|need to|are to|can|could|may|might|would) )?(never|always)|(?:you|we|agents?|nobody|no one|no agent|no one here|none of (?:you|us)) (?:must not|mustn't|mustnt|may not|shall not|should never)|(?:nobody|no one|no agent|no one here|none of (?:you|us)) (?:may ever|should ever|may|must|shall|should|is allowed to|is to)|(?:all |our )?(?:tests|commits|migrations|secrets|branches|pull requests|services|controllers|components|modules|packages|comments|functions|scripts|releases|dependencies|builds|credentials|passwords|keys|tokens|logs) (?:(?:must|should|may) (?:always|never|not)|never (?:go|belong|get))) (.+)`)
	denied  = lazyregexp.New(`(?i)^(?:you are|you're|we are|we're|agents are|nobody is|it is|it's|you have) (?:strictly |absolutely )?(?:never allowed|not allowed|forbidden|prohibited|not permitted|not supposed)(?: for \w+)? to (.+)`)
	everAt  = lazyregexp.New(`(?i)^(?:no|nothing|nobody|none|don'?t|do not|not|stop)\b(.+),? ever(?: again)?[.! ]*$`)
	each    = lazyregexp.New(`(?i)^(?:whenever|every time|each time|any ?time) (?:you|we) [^,]{3,80}, (?:please |also |then |always |never |you (?:must|should|have to|need to) )*(\w+.*)`)
	wants   = lazyregexp.New(`(?i)^i (?:never|don'?t ever|do not ever) want (?:to (?:see|read|find|have) |you to )?(.+)|^i (?:don'?t|do not) want (?:you )?to ever (.+)`)
	asking  = lazyregexp.New(`(?i)^(?:don'?t|do not|never|nobody|no)\b (.+) (?:without|unless you have|before (?:you have|having)) (?:asking|telling|my|checking with|a review|first asking|talking to|(?:an? )?(?:explicit )?approval|i (?:agree|approve|say))\b|^(?:always )?(?:ask|tell|check with) me (?:first )?(?:before|whenever) ((?:you|we|any|\w+ing)\b.+)`)
	beside  = lazyregexp.New(`(?i)^(?:use|keep|put|store|deploy|run|write|release|merge|publish|ship|start|name|return|leave)\b(.+(?:[,;] (?:and )?(?:never|don'?t ever) \w+|\bonly (?:after|before|between|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b).*)`)
	where   = lazyregexp.New(`(?i)^(?:don'?t|do not|no|avoid|prefer|only use) (.+) (?:anywhere )?(?:in|across|throughout) (?:this|our|the whole|the entire) (?:codebase|repo|repository|project|code base|monorepo)\b`)
	stages  = lazyregexp.New(`(?i)^(?:before|after|with|for|at) (?:every|each) (?:single )?(?:commit|push|release|merge|deploy|deployment|pr|pull request|change|task|session|migration)[, ]+(?:please |always )?(\w+ .+)`)
	ours    = lazyregexp.New(`(?i)^our (?:convention|policy|rule|standard|style|default)(?: here| for [\w ]{2,30}?)? (?:is|are) (.+)`)
	habit   = lazyregexp.New(`(?i)^(.{3,60}?)\b(?:here|in (?:this|our) (?:repo|repository|project|codebase)) (?:is|are|must|should)(?: be)? (?:always|never) `)

	// again takes back what was forbidden, and forget what was said, where there is such.
	again  = lazyregexp.New(`(?i)^(?:you|we|agents|everyone|everybody)(?: all)? (?:can|may|are allowed to|are free to)(?: now)? (.+?)(?: again| now| from now on| any ?time)+[.! ]*$`)
	forget = lazyregexp.New(`(?i)^(?:please )?(?:forget|ignore|drop|scrap|lift|revoke|cancel|take back|undo)(?: about)? (?:the|that|our|my|this) (?:rule|decision|ban|freeze|constraint|restriction|prohibition|policy|agreement)s? (?:about|on|against|that|to|of|for|not to|with) (.+)|^(?:please )?(?:forget|ignore) what i (?:said|told you) about (.+)|^(.+) (?:is|are) (?:allowed|fine|ok|okay|permitted)(?: again| now| from now on)+[.! ]*$`)

	// passing is what holds for once, or is no instruction: plans, doubts, what the speaker does.
	passing = lazyregexp.New(`(?i)\b(?:never mind|yet|right now|for now|until (?:i|we|you)\b|today|tonight|at this (?:point|time|stage)|this (?:time|once)|just (?:this )?once|for the moment|this session|next session|(?:for|in) this (?:task|pr|pull request|change|commit|step)|i think|i guess|i suppose|i believe|maybe|perhaps|probably|not sure|wonder(?:ing)?|might|could you|can you|would you|used to|not always|was a mistake|or not|isn't it|right$)\b`)
	// reported is what others say.
	reported = lazyregexp.New(`(?i)\b(?:says|said|writes|wrote|told|complain(?:s|ed)|claim(?:s|ed)|states|stated|recommends|suggests|reads|according to|such as|e\.g\.|for example|for instance|originally|back then|last year|years? ago)\b`)
	supposes = lazyregexp.New(`(?i)^(?:if|suppose|imagine|assum(?:e|ing)|what if|let's (?:say|assume|imagine|pretend)|say we|pretend|unless|as soon as|in case|whether|when|why|how|who|where|what|which|did|do (?:we|you|i)|does|should (?:we|i)|shall we|have (?:we|you)|are (?:we|you)|is (?:it|there)|can|could|would|will)\b`)

	// What follows "never" where no order begins: what is no verb, and forms that tell what was or is.
	noVerb  = lazyregexp.New(`(?i)^(?:mind|visible|on|open|true|false|null|nil|the|a|an|in|at|as|been|had|was|were|is|are|has|got|saw|went|found|made|heard|knew|thought|came|did|took|told|gave|again|enough|happy|available|empty|enabled|shows?|could|would|can|\w*(?:[^e]ed|[^s]ing)|\w*(?:[bcdfgklmnprtvwxy]|se|te|re|ve|ge|de|le|ke|me|ne|pe|ce|he|xe|ze)s)\b`)
	isVerb  = lazyregexp.New(`(?i)^(?:embed|shed|shred|wed|bring|ping|string|bus|alias|bias|canvas|focus|add|discuss|does)\b`)
	adverbs = lazyregexp.New(`(?i)^(?:\w+ly |ever |again |use any |just |also |first )+`)

	// What is proposed besides, of transcripts: see TestVerdicts.
	holds     = lazyregexp.New(`(?i)\b(?:please|you|we|should|must|can|to|and|but|so|,|;|:|^) ?(?:always|never|only ever) [a-z]|\b(?:from now on|going forward|in all cases|at all times|every time|each time|as a (?:general )?rule|under no circumstances|without exception|throughout|no exceptions|next time)\b|(?:^|, ?)in (?:the )?future\b|\bin (?:the )?future[.!]?$|^(?:please )?(?:do not|don'?t) (?:ever|forget to)\b`)
	instructs = lazyregexp.New(`(?i)\b(?:please|always|never|don'?t|do not|(?:you|we|it|they|all|every|each)\b.{0,40}\b(?:should|must|need|have to|can always)|let'?s)\b|^(?:use|run|keep|make|put|write|add|check|commit|ask|prefer|avoid|only|remember|recall)\b`)
	stead     = lazyregexp.New(`(?i)^(?:no,? |ok,? |please |always |we |you should |you must )*(?:be )?(?:us(?:e|ing)|run|prefer)\b.{2,120}(?:\binstead of\b|\brather than\b|, not\b)|^(?:no,? )?you should(?:n't| not| always| only)? (?:be |have )?(?:us(?:e|ing|ed)|run(?:ning)?)\b`)
	decided   = lazyregexp.New(`(?i)^(?:no,? |ok,? )?we(?:'ve| have)? (?:decided|agreed|chose|settled)\b|^(?:no,? |ok,? |please )*(?:keep|use|run|put|store|deploy|write|leave|start)\b.{3,120}(?:\bonly (?:after|before|between|on|in|with)\b|[,;] ?(?:do not|don't|never|not) )`)
	fleeting  = lazyregexp.New(`(?i)\b(?:yet|until|tomorrow|at this (?:point|time|stage)|i(?:'ve|'d|'m| have| had| am)? (?:always|never)|does(?:n't| not)|did(?:n't| not)|was|were)\b|\b(?:we|i) may\b`)

	listed = lazyregexp.New(` \([a-h1-9]\) `)
	bullet = lazyregexp.New(`^(?:[-*•]|\d{1,2}[.)]|\([a-z0-9]\)|#{1,6}) `)
	quoted = lazyregexp.New("\"[^\"\n]{2,}\"|“[^”\n]{2,}”|«[^»\n]{2,}»|(?:^|[\\s(])'[^'\n]{2,}'(?:[\\s).,:;!]|$)|`[^`\n]+`")
	pasted = lazyregexp.New(`^(?:>|\+|@@|diff |\d{4}-\d\d-\d\d|\[?\d\d:\d\d|(?:ERROR|WARN|INFO|DEBUG|FATAL)\b|Traceback|at \S+\(|\||\$ )`)
)

// Said finds what a person said in a text that is to be kept to from then on, sentence by sentence.
func Said(text string) (list []Saying) {
	for _, p := range paragraphs(text) {
		first := len(list)
		for _, sentence := range split(listed.ReplaceAllString(p.text, "; "), false) {
			s := Saying{Text: oneLine(sentence), Around: p.text}
			if len(sentence) < minStanding || len(sentence) > maxStanding || strings.HasSuffix(sentence, "?") || strings.Contains(sentence, "[redacted") {
				continue
			}
			plain := strings.NewReplacer("*", "", "_", "", "’", "'").Replace(sentence)
			plain = quoted.Compiled().ReplaceAllStringFunc(plain, func(q string) string {
				if strings.Contains(q, "`") {
					return "CODE"
				}
				return " QUOTE "
			})
			if s.Category = s.reads(oneLine(plain), p.rule); s.Category == "" {
				s.Category = s.readsForeign(oneLine(plain))
			}
			if s.Category == "" && s.maybe(sentence) {
				s.Category = knowledge.CategoryDecision
			}
			if s.Category != "" {
				list = append(list, s)
			}
		}
		for i := first; i < len(list) && len(list)-first > 1; i++ {
			list[i].Around = list[i].Text // two entries of one text would be told as one
		}
	}
	return list
}

// reads is what kind of saying a sentence surely is; empty: none. listed tells that it is an item of a list of rules.
func (s *Saying) reads(plain string, listed bool) string {
	rest := opening.ReplaceAllString(plain, "")
	if strings.Contains(plain, "?") || strings.Contains(plain, "QUOTE") || passing.MatchString(from.ReplaceAllString(plain, "")) || supposes.MatchString(rest) {
		return ""
	}
	category, what := knowledge.CategoryDecision, ""
	m := labels.FindStringSubmatch(rest)
	switch {
	case m != nil:
		if what = m[2]; m[1] == "" {
			category = knowledge.CategoryConstraint
		}
	case reported.MatchString(rest):
		return ""
	default:
		if what = decides(rest); what != "" {
			break
		}
		if category, what = strictly(rest); what != "" {
			break
		}
		if category = knowledge.CategoryConstraint; listed {
			what = rest
		} else if what = orders(rest); what == "" {
			category, what = knowledge.CategoryDecision, firstOf(rest, again, forget)
			s.Back = what != ""
		}
	}
	if s.Sure = len(contentOf(what)) > 0; !s.Sure { // it points at something in the talk
		return ""
	}
	return category
}

// decides is what a sentence decides; empty: nothing.
func decides(rest string) string {
	if m := resolved.FindStringSubmatch(rest); m != nil && !idle.MatchString(m[1]) && (!mine.MatchString(rest) || keeps.MatchString(m[1])) {
		return m[1]
	}
	if m := passive.FindStringSubmatch(rest); m != nil && !idle.MatchString(m[1]) {
		return m[1]
	}
	if m := going.FindStringSubmatch(rest); m != nil && !pointing.MatchString(m[1]) && (!lets.MatchString(rest) || common.MatchString(rest)) {
		return m[1]
	}
	if longer.MatchString(rest) {
		return rest
	}
	if m := ours.FindStringSubmatch(rest); m != nil && !unsaid.MatchString(m[1]) {
		return m[1]
	}
	return ""
}

// strictly is what a sentence says that holds from now on, or in all cases.
func strictly(rest string) (category, what string) {
	if !from.MatchString(rest) || !ends.MatchString(rest) || makes.MatchString(rest) && !from.MatchString(rest[len(rest)*2/3:]) {
		return "", ""
	}
	what = strings.TrimLeft(from.ReplaceAllString(rest, ""), ", ")
	switch {
	case speaker.MatchString(what) && !strings.HasPrefix(strings.ToLower(what), "we "):
		return "", ""
	case forAll.MatchString(what):
		return knowledge.CategoryDecision, what
	}
	return knowledge.CategoryConstraint, what
}

// orders is what a sentence tells everybody to do, or not to do.
func orders(rest string) string {
	if m := ordered.FindStringSubmatch(rest); m != nil && verb(m[1]) {
		return m[1]
	}
	if m := adults.FindStringSubmatch(rest); m != nil && verb(m[3]) {
		complains := m[1] == "" && m[2] != "" && strings.HasPrefix(strings.ToLower(rest), "you ")
		if !complains && !slices.Contains([]string{"can", "could", "may", "might", "would"}, strings.ToLower(m[1])) {
			return m[3]
		}
	}
	if what := firstOf(rest, denied, everAt, wants, asking, beside, where, habit); what != "" && !strings.HasPrefix(what, "be ") {
		return what
	}
	for _, form := range []*lazyregexp.Regexp{each, stages} {
		if m := form.FindStringSubmatch(rest); m != nil && verb(m[1]) && !speaker.MatchString(m[1]) {
			return m[1]
		}
	}
	return ""
}

// firstOf is what the first of some forms that fits says.
func firstOf(rest string, forms ...*lazyregexp.Regexp) string {
	for _, form := range forms {
		if m := form.FindStringSubmatch(rest); m != nil {
			return strings.TrimSpace(strings.Join(m[1:], " "))
		}
	}
	return ""
}

// verb tells whether an order can begin so: with a verb's plain form.
func verb(rest string) bool {
	rest = adverbs.ReplaceAllString(rest, "")
	return isVerb.MatchString(rest) || !noVerb.MatchString(rest)
}

// maybe tells whether a sentence is worth a person's look.
func (s *Saying) maybe(sentence string) bool {
	plain := strings.NewReplacer("*", "", "_", "").Replace(Openers.ReplaceAllString(sentence, ""))
	if len(sentence) < 20 || (passing.MatchString(plain) || fleeting.MatchString(plain)) && !decided.MatchString(plain) {
		return false
	}
	return stead.MatchString(plain) || decided.MatchString(plain) || instructs.MatchString(plain) && holds.MatchString(plain)
}

// frame are the words with which things are decided and forbidden, which say nothing of what.
var frame = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(`never always ever again decide decided agree agreed instead rather use using now future please thing things way like so do not don no
		longer anymore everything anything something nothing that this it these those here there project repo repository codebase keep again just only must should may can every time
		ask me let us we you our your team good fine ok way one ones same such forward exception rule go going before after`) {
		words[text.Stem(word)] = true
	}
	return words
})

// contentOf are the words of what is decided, as they are compared.
func contentOf(said string) map[string]bool {
	words, frame := map[string]bool{}, frame()
	for _, term := range text.Terms(said) {
		if !frame[term] && !text.StopWord(term) {
			words[term] = true
		}
	}
	return words
}

// paragraph is a text of a message on one line: who wraps lines ends no sentence.
type paragraph struct {
	text string
	rule bool // it is an item of a list that is headed as one of rules
}

// paragraphs are the texts of a message that the person says: without blocks of code, quotations, what was pasted from a log or a diff, and what
// a line that ends in a colon hands over to be worked on.
func paragraphs(text string) (list []paragraph) {
	mark, open, heading, diff := "", false, "", strings.Contains(text, "\n+")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		item := bullet.MatchString(line)
		switch m := Fence(line); {
		case m != "" && mark == "":
			mark, open = m, false
		case m != "" && strings.HasPrefix(m, mark):
			mark = ""
		case mark != "":
		case line == "", strings.HasPrefix(line, "<"), pasted.MatchString(line), diff && strings.HasPrefix(line, "-"): // agents put their own notes into a person's mouth, between marks
			open = false
		case strings.HasSuffix(line, ":"):
			heading, open = line, false
			list = append(list, paragraph{text: strings.TrimSuffix(bullet.ReplaceAllString(line, ""), ":")})
		case heading != "" && !rules.MatchString(heading) && !item:
			open = false
		case heading != "" && item:
			if rules.MatchString(heading) {
				list, open = append(list, paragraph{bullet.ReplaceAllString(line, ""), true}), true
			}
		case open && !item:
			list[len(list)-1].text += " " + line
		default:
			list, open = append(list, paragraph{text: bullet.ReplaceAllString(line, "")}), true
		}
	}
	return list
}

// Fence returns the mark of a line that opens or closes a fenced block.
func Fence(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			n := len(mark)
			for n < len(line) && line[n] == mark[0] {
				n++
			}
			return line[:n]
		}
	}
	return ""
}

// saidSecret is a secret as people say it, rather than as programs are given it.
var saidSecret = lazyregexp.New("(?i)\\b(pass(?:word|phrase|code)|secret(?: key)?|api[ _-]?key|access[ _-]?key|(?:auth|access|api)[ _-]?token|token|credentials?|pin)( (?:for|of|to) [^.\\n]{1,40}?)? (is|are|was) (now )?(\"[^\"\\n]+\"|'[^'\\n]+'|`[^`\\n]+`|[^\\s]+)")

// WithoutSecrets cuts out secrets that are said in a sentence: "the password is hunter2".
func WithoutSecrets(text string) string {
	return saidSecret.Compiled().ReplaceAllStringFunc(text, func(found string) string {
		parts := saidSecret.Compiled().FindStringSubmatchIndex(found)
		value := strings.TrimRight(found[parts[10]:], ".,;!?)")
		if bare := strings.Trim(value, "\"'`"); bare == value && !strings.ContainsAny(bare, "0123456789!@#$%^&*_+=") || len(bare) < 4 || strings.HasPrefix(bare, "[redacted") || strings.HasPrefix(bare, "$") {
			return found // "the token is expired"
		}
		return found[:parts[10]] + "[redacted: password]" + found[parts[10]+len(value):]
	})
}

// Openers are the words with which people correct themselves or go on, before what they state.
var Openers = lazyregexp.New(`(?i)^(?:(?:no|nope|wait|actually|sorry|correction|ok(?:ay)?|so|well|also|yes|and|but|note|fyi|remember|important|by the way|for the record|please (?:note|remember))(?: that)?[,:]? )+`)

// oneLine puts a text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

//go:embed languages.txt
var languages string

// foreign are the forms of languages.txt: how people say in other languages what is to be kept to, and what sounds like it and is not.
var foreign = sync.OnceValue(func() map[string]*regexp.Regexp {
	forms, signs := map[string]*regexp.Regexp{}, strings.NewReplacer("…", `(.{0,80}?)`, "<", `(?:^|[^\p{L}\p{N}])`, ">", `(?:[^\p{L}\p{N}]|$)`)
	for name, around := range map[string][2]string{
		"opening": {"^(?:", `(?:[,:;.!、]+\s*|\s+))+`}, "decision": {"^", "(.*)"}, "constraint": {"^", "(.*)"}, "none": {"^", ""}, "pointing": {"<", ">"},
	} {
		forms[name] = regexp.MustCompile("(?is)" + signs.Replace(around[0]+"(?:"+strings.Join(wordlist.Lines(languages, name), "|")+")"+around[1]))
	}
	return forms
})

// readsForeign is reads for a sentence in another language.
func (s *Saying) readsForeign(plain string) string {
	forms := foreign()
	rest := forms["opening"].ReplaceAllString(plain, "")
	if strings.ContainsAny(plain, "?？¿") || strings.Contains(plain, "QUOTE") {
		return ""
	}
	for _, category := range []string{knowledge.CategoryDecision, knowledge.CategoryConstraint} {
		if m := forms[category].FindStringSubmatch(rest); m != nil && !forms["none"].MatchString(rest) { // which few sentences come to
			what := forms["pointing"].ReplaceAllString(" "+strings.Join(m[1:], "  ")+" ", "  ")
			if s.Sure = len(contentOf(what)) > 0; s.Sure {
				return category
			}
		}
	}
	return ""
}

// Sentences cuts a line of prose into sentences: at an end mark that is followed
// by white space and something that can begin another, at a semicolon, and
// before "and the", but nowhere within a quotation of code.
func Sentences(line string) []string { return split(line, true) }

// split is Sentences, which cuts before "and the" only if it is to find the clauses too.
func split(line string, clauses bool) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimLeft(line, "-*•> \t")
	var list []string
	from := 0
	code := false
	cut := func(to, next int) {
		if s := strings.TrimSpace(line[from:to]); s != "" {
			list = append(list, s)
		}
		from = next
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case i < from: // a part of what was cut at
		case c == '`':
			code = !code
		case code:
		case strings.HasPrefix(line[i:], "。"):
			cut(i+len("。"), i+len("。"))
		case c == ';' && i+1 < len(line) && line[i+1] == ' ':
			cut(i, i+1)
		case (c == '.' || c == '!' || c == '?') && i+1 < len(line) && line[i+1] == ' ' && !abbreviated(line[from:i+1]):
			if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[i+1:], " ")); !unicode.IsLower(next) || c == '?' || !clauses { // who types quickly begins without a capital
				cut(i+1, i+1)
			}
		case clauses && (c == ' ' || c == ','):
			for _, and := range []string{", and the ", " and the ", ", and our ", " and our ", " and its ", ", but the ", " but the ", ", while the ", " while the ", ", the "} {
				if strings.HasPrefix(line[i:], and) && strings.Contains(line[from:i], " ") {
					cut(i, i+strings.LastIndex(strings.TrimSuffix(and, " "), " ")+1)
					break
				}
			}
		}
	}
	cut(len(line), len(line))
	return list
}

func abbreviated(text string) bool {
	for _, short := range []string{"e.g.", "i.e.", "etc.", "vs.", "approx.", "no.", "Mr.", "Dr."} {
		if strings.HasSuffix(text, short) {
			return true
		}
	}
	return false
}
