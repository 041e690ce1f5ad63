package classify_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/skillrouter/skillrouter/router/classify"
)

// grammar makes lines. Its file has three kinds of section:
//
//	[words]       $name = one | another | a third with $other inside
//	[verbs]       base past participle gerund third-person, one verb a line:
//	              $vb $vd $vn $vg $vz stand for one verb's forms; _ is a blank
//	              $gib is a word that nobody has met, so that unknown words tell nothing
//	[class]       patterns, one a line, of words, $names and (one|another|)
//
// A name's line that begins with | goes on with the line before.
type grammar struct {
	names    map[string][]string
	verbs    [][]string
	patterns map[string][]string
}

// The names whose words the stores can know, with the kind of mention they are.
var mentionNames = map[string]string{
	"agent": classify.MentionAgent, "taskid": classify.MentionTask, "env": classify.MentionEnvironment,
	"cve": classify.MentionCVE, "findingid": classify.MentionFinding, "project": classify.MentionProject,
}

const maxDepth = 12 // of names within names; a deeper one is a circle

func readGrammar(path string) (*grammar, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := &grammar{names: map[string][]string{}, patterns: map[string][]string{}}
	section, last := "", ""
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case line[0] == '[' && line[len(line)-1] == ']':
			section = line[1 : len(line)-1]
		case section == "words" && line[0] == '|':
			g.names[last] = append(g.names[last], alternatives(line[1:])...)
		case section == "words":
			name, rest, ok := strings.Cut(line, "=")
			if !ok || name[0] != '$' {
				return nil, fmt.Errorf("%s:%d: want $name = words", path, n+1)
			}
			last = strings.TrimSpace(name[1:])
			g.names[last] = append(g.names[last], alternatives(rest)...)
		case section == "verbs":
			forms := strings.Fields(line)
			if len(forms) != 5 {
				return nil, fmt.Errorf("%s:%d: want five forms", path, n+1)
			}
			for i := range forms {
				forms[i] = strings.ReplaceAll(forms[i], "_", " ")
			}
			g.verbs = append(g.verbs, forms)
		case section == "":
			return nil, fmt.Errorf("%s:%d: a line before the first section", path, n+1)
		default:
			g.patterns[section] = append(g.patterns[section], line)
		}
	}
	for _, patterns := range g.patterns {
		for _, p := range patterns {
			if err := g.check(p); err != nil {
				return nil, fmt.Errorf("%s: %w in %q", path, err, p)
			}
		}
	}
	for name, list := range g.names {
		for _, p := range list {
			if err := g.check(p); err != nil {
				return nil, fmt.Errorf("%s: $%s: %w", path, name, err)
			}
		}
	}
	return g, nil
}

func (g *grammar) check(pattern string) error {
	if strings.Count(pattern, "(") != strings.Count(pattern, ")") {
		return fmt.Errorf("parentheses do not match")
	}
	for rest := pattern; ; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			return nil
		}
		name := nameOf(rest[i+1:])
		rest = rest[i+1+len(name):]
		switch name {
		case "vb", "vd", "vn", "vg", "vz", "gib":
			continue
		}
		if len(g.names[name]) == 0 {
			return fmt.Errorf("no words are called $%s", name)
		}
	}
}

// alternatives splits at bars outside parentheses.
func alternatives(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, ch := range text {
		switch ch {
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth == 0 {
				out = append(out, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(text[start:]))
}

func nameOf(s string) string {
	i := 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	return s[:i]
}

// expand makes one line of a pattern, and the mentions in it.
func (g *grammar) expand(random *rand.Rand, pattern string) (string, []classify.Mention) {
	var b strings.Builder
	var mentions []classify.Mention
	verb := g.verbs[random.IntN(len(g.verbs))]
	g.write(&b, &mentions, random, pattern, verb, 0)
	return strings.Join(strings.Fields(b.String()), " "), mentions
}

func (g *grammar) write(b *strings.Builder, mentions *[]classify.Mention, random *rand.Rand, pattern string, verb []string, depth int) {
	if depth > maxDepth {
		return
	}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '(':
			end := closing(pattern, i)
			choices := alternatives(pattern[i+1 : end])
			g.write(b, mentions, random, choices[random.IntN(len(choices))], verb, depth+1)
			i = end
		case '$':
			name := nameOf(pattern[i+1:])
			i += len(name)
			if form := strings.Index("bdngz", strings.TrimPrefix(name, "v")); len(name) == 2 && name[0] == 'v' && form >= 0 {
				b.WriteString(verb[form])
				continue
			}
			if name == "gib" {
				b.WriteString(gibberish(random))
				continue
			}
			list := g.names[name]
			from := b.Len()
			g.write(b, mentions, random, list[random.IntN(len(list))], g.verbs[random.IntN(len(g.verbs))], depth+1)
			if kind, ok := mentionNames[name]; ok {
				*mentions = append(*mentions, classify.Mention{Kind: kind, Name: b.String()[from:]})
			}
		default:
			b.WriteByte(pattern[i])
		}
	}
}

// closing gives the place of the parenthesis that closes the one at i.
func closing(pattern string, i int) int {
	depth := 0
	for j := i; j < len(pattern); j++ {
		switch pattern[j] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return len(pattern) - 1
}

// gibberish makes a word up.
func gibberish(random *rand.Rand) string {
	pick := func(list string) string { f := strings.Fields(list); return f[random.IntN(len(f))] }
	var b strings.Builder
	for range 1 + random.IntN(3) {
		b.WriteString(pick("b br c ch cl d dr f fl g gr h j k kl l m n p pl qu r s sh sk st t th tr v w x y z"))
		b.WriteString(pick("a e i o u ai ea ee ie oo ou"))
		b.WriteString(pick("n r l m s t x ck nd st rm - - - -"))
	}
	word := strings.ReplaceAll(b.String(), "-", "")
	return word + pick("a er on ix it o um y le ar s is")
}
