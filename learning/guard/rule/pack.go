package rule

import (
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
)

// packsText holds the packs; how they are written is told in it.
//
//go:embed packs.txt
var packsText string

// Mode says what a pack's rules do when an action fits them.
type Mode string

// The modes of a pack, the weakest first.
const (
	ModeOff   Mode = "off"
	ModeWarn  Mode = "warn"
	ModeBlock Mode = "block"
)

// AllModes are all modes of a pack, the weakest first.
func AllModes() []Mode { return []Mode{ModeOff, ModeWarn, ModeBlock} }

// Weaker tells whether a pack in this mode stops less than in the other.
func (m Mode) Weaker(other Mode) bool {
	return slices.Index(AllModes(), m) < slices.Index(AllModes(), other)
}

// Modes say what a pack's rules do everywhere, and in the projects where it is otherwise.
type Modes struct {
	All      Mode            `json:"all"`
	Projects map[string]Mode `json:"projects,omitempty"`
}

// In is the mode in a project; "" is an action of none.
func (m Modes) In(project string) Mode {
	if mode, other := m.Projects[project]; other && project != "" {
		return mode
	}
	return m.All
}

// Equal tells whether both say the same of every project.
func (m Modes) Equal(other Modes) bool {
	return m.All == other.All && maps.Equal(m.Projects, other.Projects)
}

// off tells whether the pack is off everywhere.
func (m Modes) off() bool {
	weaker := func(mode Mode) bool { return mode != ModeOff }
	return m.All == ModeOff && !slices.ContainsFunc(slices.Collect(maps.Values(m.Projects)), weaker)
}

// Pack is a set of rules that belong together and are switched together.
type Pack struct {
	Name    string
	Version int
	Default Mode // while nobody has said otherwise
	About   string
	Signs   []string // files and folders of a project that speak for it
	Rules   []*Rule
}

// Packs are the packs that the guard has by itself. MNEMOSYNE's five rules are the pack mnemosyne.
var Packs = sync.OnceValue(func() []Pack {
	packs, err := ReadPacks(packsText)
	if err != nil {
		panic(err) // they are part of the program
	}
	for i := range packs {
		if packs[i].Name == PackBuiltins {
			packs[i].Rules = Builtins()
		}
	}
	return packs
})

// PackBuiltins is the pack that holds Builtins. PackCore holds in every project: none weakens it.
const (
	PackBuiltins = "mnemosyne"
	PackCore     = "core"
)

// Bounds of packs, so that a file of them is read at once and its rules are shown in a list.
const (
	maxPacks     = 64
	maxPackRules = 256
	maxPackText  = 500 // bytes of a title, a reason or an alternative
)

// ReadPacks reads packs as packs.txt is written. One bad row refuses the whole text: half a pack
// protects from half of what its name says.
func ReadPacks(text string) ([]Pack, error) {
	var packs []Pack
	rules := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		fail := func(format string, args ...any) ([]Pack, error) {
			return nil, fmt.Errorf("line %d of the packs: %s", number, fmt.Sprintf(format, args...))
		}
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			p, err := readPackHead(strings.Fields(strings.Trim(line, "[]")))
			if err != nil {
				return fail("%v", err)
			}
			if slices.ContainsFunc(packs, func(o Pack) bool { return o.Name == p.Name }) || len(packs) >= maxPacks {
				return fail("the pack %s stands there twice, or is one too many", p.Name)
			}
			packs = append(packs, p)
		case len(packs) == 0:
			return fail("a rule stands under no pack")
		case strings.HasPrefix(line, "about: "):
			packs[len(packs)-1].About = strings.TrimPrefix(line, "about: ")
		case strings.HasPrefix(line, "signs: "):
			packs[len(packs)-1].Signs = strings.Fields(line)[1:]
		case len(rules) >= maxPackRules:
			return fail("there are more than %d rules", maxPackRules)
		default:
			p := &packs[len(packs)-1]
			r, err := readPackRule(p.Name, line)
			if err != nil {
				return fail("%v", err)
			}
			if rules[r.Draft.ID] {
				what, _, _ := strings.Cut(line, " | ")
				return fail("%s stands there twice", what)
			}
			rules[r.Draft.ID] = true
			p.Rules = append(p.Rules, r)
		}
	}
	return packs, nil
}

func readPackHead(words []string) (Pack, error) {
	if len(words) != 3 {
		return Pack{}, fmt.Errorf("a heading is [NAME VERSION MODE]")
	}
	version, err := strconv.Atoi(words[1])
	if err != nil || version < 1 {
		return Pack{}, fmt.Errorf("%q is no version, which is a number from 1", words[1])
	}
	mode := Mode(words[2])
	if !slices.Contains(AllModes(), mode) {
		return Pack{}, fmt.Errorf("%q is no mode", words[2])
	}
	return Pack{Name: words[0], Version: version, Default: mode}, nil
}

// packColumns are the parts of a row of a pack.
var packColumns = [...]string{"harm", "severity", "title", "reason", "alternative"}

func readPackRule(pack, line string) (*Rule, error) {
	fields := strings.Split(line, " | ")
	if len(fields) != len(packColumns) {
		return nil, fmt.Errorf("a rule has five parts, harm, severity, title, reason and alternative, not %d", len(fields))
	}
	harm := act.Harm(fields[0])
	if !act.KnownHarm(harm) {
		return nil, fmt.Errorf("harm: no command does the harm %q", harm)
	}
	severity := learning.Severity(fields[1])
	if !slices.Contains(learning.Severities(), severity) {
		return nil, fmt.Errorf("severity: %q is no severity", severity)
	}
	for i, text := range fields {
		if strings.TrimSpace(text) == "" || len(text) > maxPackText {
			return nil, fmt.Errorf("%s: it is empty, or longer than %d bytes", packColumns[i], maxPackText)
		}
	}
	d := RuleDraft{
		ID: "pack:" + pack + ":" + string(harm), Title: fields[2], Reason: fields[3], Severity: severity, Confidence: 1, Category: pack, Domain: pack,
		Alternatives: []string{fields[4]}, Block: severity != learning.SeverityLow,
	}
	return &Rule{Draft: d, title: act.TitleOf(d.Title), harm: harm, packed: true}, nil
}

// lasting are the harms that nobody allows again and again: a secret that was shown once is out, what was
// downloaded today is not what will run tomorrow, and of a disk or a home nothing is left to go wrong twice.
var lasting = []act.Harm{act.HarmSecret, act.HarmSend, act.HarmCommit, "secret.change", "guard.self", act.HarmDownload, act.HarmRoot, act.HarmDisk, "backup.delete"}

// Lasting tells whether a rule of that id is of a pack and names a harm that nobody allows again and again.
func Lasting(ruleID string) bool {
	harm := act.Harm(ruleID[strings.LastIndexByte(ruleID, ':')+1:])
	return strings.HasPrefix(ruleID, "pack:") && slices.Contains(lasting, harm)
}

// always reports whether what the rule says is told beside what somebody reported: by it is decided who may allow the action.
func (r *Rule) always() bool { return r.harm == act.HarmApprove || slices.Contains(lasting, r.harm) }

// In returns the rule as a pack has it that is in one mode everywhere; nil if the pack is off.
func (r *Rule) In(mode Mode) *Rule { return r.Under(Modes{All: mode}) }

// Under returns the rule as its pack's modes have it; nil if the pack is off everywhere.
func (r *Rule) Under(modes Modes) *Rule {
	if modes.off() {
		return nil
	}
	next := *r
	next.modes = &modes
	return &next
}

// Bounds of a look at a project: enough for its upper folders.
const (
	maxSeen     = 2000 // files and folders
	maxSeenDeep = 3    // folders below one another
)

// PacksFor says which packs the files of a project speak for, of those that are off by default, in the
// order of the packs. What cannot be read is passed over. It looks at names alone, at most 2,000 of
// them, three folders deep.
func PacksFor(project fs.FS) (names []string) {
	seen := 0
	found := map[string]bool{}
	_ = fs.WalkDir(project, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if seen++; seen > maxSeen {
			return fs.SkipAll
		}
		base := entry.Name()
		if entry.IsDir() {
			if base == "node_modules" || base == ".git" || base == "vendor" || strings.Count(name, "/") >= maxSeenDeep {
				return fs.SkipDir
			}
			base += "/"
		}
		for _, p := range Packs() {
			if p.Default == ModeOff && !found[p.Name] {
				found[p.Name] = slices.ContainsFunc(p.Signs, func(sign string) bool {
					ok, err := path.Match(sign, base)
					return ok && err == nil || sign == base
				})
			}
		}
		return nil
	})
	for _, p := range Packs() {
		if found[p.Name] {
			names = append(names, p.Name)
		}
	}
	return names
}
