package tfidf

import (
	"strings"
	"sync"
)

// kinds lists members of a kind that a question may ask for by its name: of
// "which country", "what instrument". It was written for this project.
const kinds = `
country: america usa england britain uk france germany spain italy portugal ireland scotland sweden norway denmark finland netherlands belgium switzerland austria poland greece turkey russia ukraine canada mexico brazil argentina chile peru colombia china japan korea india pakistan indonesia thailand vietnam philippines malaysia singapore australia egypt morocco kenya nigeria israel
city: london paris berlin rome madrid barcelona lisbon dublin amsterdam vienna prague budapest athens istanbul moscow york boston chicago seattle francisco angeles vegas miami toronto vancouver tokyo kyoto seoul beijing shanghai singapore bangkok mumbai delhi sydney melbourne dubai
state: california texas florida oregon washington nevada colorado arizona michigan minnesota connecticut massachusetts georgia ohio virginia carolina alaska hawaii
season: spring summer autumn winter fall
instrument: guitar piano violin drums clarinet flute saxophone trumpet cello bass keyboard ukulele
pet: dog cat puppy kitten hamster rabbit parrot bird fish turtle snake gecko guinea
animal: dog cat horse bird bear lion elephant fish turtle rabbit snake
sport: basketball football soccer tennis baseball hockey golf volleyball swimming skiing surfing running cycling climbing boxing
hobby: painting drawing reading writing cooking baking gardening photography hiking knitting gaming dancing pottery yoga cycling
color: red blue green yellow orange purple pink black white brown gray
subject: math mathematics history physics chemistry biology geography literature art
language: english spanish french german italian portuguese chinese japanese korean russian arabic
job: teacher nurse doctor engineer programmer developer lawyer counselor writer chef manager designer assistant driver
relative: mother father brother sister aunt uncle cousin grandma grandpa son daughter
food: pizza pasta salad soup cake bread cheese chicken rice sushi burger sandwich cookie chocolate
genre: fantasy mystery romance thriller horror comedy drama jazz rock pop classical
vehicle: car truck bike motorcycle bus van boat
meal: breakfast lunch dinner
database: postgres postgresql mysql sqlite redis mongodb oracle
browser: chrome firefox safari edge
editor: vim emacs vscode nano
shell: bash zsh fish powershell
`

// members maps the stem of a kind's name to its members.
var members = sync.OnceValue(func() map[string][]relative {
	m := map[string][]relative{}
	for line := range strings.Lines(kinds) {
		kind, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		for _, w := range strings.Fields(list) {
			m[stem(kind)] = append(m[stem(kind)], relative{w, stem(w)})
		}
	}
	return m
})
