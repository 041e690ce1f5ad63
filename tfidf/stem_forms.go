package tfidf

import (
	"strings"
	"sync"
)

// irregular lists forms that no rule of stemming joins, the word itself last in its
// line. Left out are forms that in a developer's texts are mostly another word:
// left, bound, saw, stuck, lay, wound, rose, lit, shed, bases, axes, lives, leaves.
const irregular = `
arose arisen arise
ate eaten eat
awoke awoken awake
became become
began begun begin
bent bend
bit bitten bite
blew blown blow
bought buy
bred breed
broke broken break
brought bring
built build
burnt burn
came come
caught catch
chose chosen choose
clung cling
crept creep
dealt deal
dove dive
drank drunk drink
drew drawn draw
drove driven drive
dug dig
dwelt dwell
fed feed
felt feel
flew flown fly
fled flee
forbade forbidden forbid
forgot forgotten forget
forgave forgiven forgive
fought fight
found find
froze frozen freeze
gave given give
goes gone went go
got gotten get
grew grown grow
heard hear
held hold
hid hidden hide
hung hang
kept keep
knelt kneel
knew known know
laid lay
leapt leap
learnt learn
led lead
lent lend
lost lose
made make
meant mean
met meet
misled mislead
misread misread
overcame overcome
overrode overridden override
overtook overtaken overtake
overwrote overwritten overwrite
paid pay
proven prove
ran run
rebuilt rebuild
redrew redrawn redraw
reran rerun
resent resend
rewound rewind
rewrote rewritten rewrite
rode ridden ride
rang rung ring
said say
sang sung sing
sank sunk sink
sat sit
sent send
sewn sew
shaken shook shake
shone shine
shot shoot
shown show
shrank shrunk shrink
slept sleep
slid slide
sold sell
sought seek
sped speed
spent spend
spilt spill
spoke spoken speak
spelt spell
sprang sprung spring
stole stolen steal
stood stand
strove striven strive
struck stricken strike
swam swum swim
swept sweep
swore sworn swear
taken took take
taught teach
thought think
threw thrown throw
told tell
tore torn tear
understood understand
undid undone undo
unwound unwind
upheld uphold
withdrew withdrawn withdraw
withheld withhold
woke woken wake
won win
wore worn wear
wove woven weave
wept weep
wrote written write
children child
men man
women woman
feet foot
teeth tooth
mice mouse
geese goose
oxen ox
indices index
vertices vertex
matrices matrix
appendices appendix
analyses analysis
crises crisis
diagnoses diagnosis
hypotheses hypothesis
parentheses parenthesis
theses thesis
syntheses synthesis
phenomena phenomenon
criteria criterion
schemata schema
quanta quantum
bacteria bacterium
stimuli stimulus
nuclei nucleus
radii radius
foci focus
halves half
shelves shelf
wolves wolf
knives knife
wives wife
thieves thief
loaves loaf
`

// forms maps an irregular form to the stem of its word.
var forms = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(irregular) {
		group := strings.Fields(line)
		if len(group) < 2 {
			continue
		}
		base := ruleStem(group[len(group)-1])
		for _, form := range group[:len(group)-1] {
			m[form] = base
		}
	}
	return m
})
