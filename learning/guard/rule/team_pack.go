package rule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
)

// Bounds of a team's packs.
const (
	// MaxPackFile bounds the file of a pack, in bytes: 256 rules of four parts of 250 bytes.
	MaxPackFile = 256 << 10
	// MaxTeamPacks bounds the packs of a team: their names are shown in one list, and each check can meet all of their rules.
	MaxTeamPacks = 16
	maxRuleName  = 40 // bytes of a command in the id of its rule
)

var packName = lazyregexp.New(`^[a-z][a-z0-9-]{0,31}$`)

// NewTeamPack reads the pack that a team wrote, as packs.txt is written. A row may name a command in the place of a harm. others
// are the team's packs, the one apart that it takes the place of. Its errors name the line and the part of it. The pack is refused as a whole
// where a rule can fit nothing or nearly everything, and where an alternative does not pass this pack, the program's and the others.
func NewTeamPack(ctx context.Context, text string, others []Pack) (Pack, error) {
	if err := check.Required("text", text, MaxPackFile); err != nil {
		return Pack{}, err
	}
	pack, err := readTeamPack(text, NewRule)
	if err != nil {
		return Pack{}, errs.InvalidField("text", "is no pack: %v. Nothing was changed", err)
	}
	if err := check.NoSecret("text", text); err != nil {
		return Pack{}, err
	}
	var rules []*Rule
	others = slices.DeleteFunc(slices.Clone(others), func(p Pack) bool { return p.Name == pack.Name })
	for _, p := range slices.Concat(Packs(), others, []Pack{pack}) {
		for _, r := range p.Rules {
			rules = append(rules, r.In(ModeBlock))
		}
	}
	guard := New(rules, nil)
	for i, r := range pack.Rules {
		if err := ctx.Err(); err != nil {
			return Pack{}, err
		}
		alternative := r.Draft.Alternatives[0]
		if v := guard.Judge(ctx, Action{Command: alternative}); v.Decision != DecisionAllow {
			why := strings.Join(v.Notes, "; ")
			if len(v.Matches) > 0 {
				why = fmt.Sprintf("rule %s fits it", v.Matches[0].RuleID)
			}
			return Pack{}, errs.InvalidField("text", "is no pack: line %d, alternative: %q does not pass the guard itself: %s. Nothing was changed", pack.lines[i], Short(alternative), why)
		}
	}
	return pack, nil
}

// StoredTeamPack reads a pack that was accepted once: what makes its commands too wide may have changed since.
func StoredTeamPack(text string) (Pack, error) {
	return readTeamPack(text, storedRule)
}

// storedRule is a rule of a draft that was accepted once.
func storedRule(d RuleDraft) (*Rule, error) {
	r, err := NewRule(d)
	if err != nil && !d.Force {
		r, err = NewRule(d.Forced())
	}
	return r, err
}

func readTeamPack(text string, compile func(RuleDraft) (*Rule, error)) (Pack, error) {
	if strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\r' && r != '\t' && (unicode.IsControl(r) || check.BreaksLine(r))
	}) {
		return Pack{}, fmt.Errorf("it holds control characters: it is no text file")
	}
	packs, err := readPacks(strings.TrimPrefix(text, "\ufeff"), func(pack, line string) (*Rule, error) { return readTeamRule(pack, line, compile) })
	switch {
	case err != nil:
		return Pack{}, err
	case len(packs) != 1:
		return Pack{}, fmt.Errorf("a file holds one pack, and this has %d headings [NAME VERSION MODE]", len(packs))
	case !packName.MatchString(packs[0].Name):
		return Pack{}, fmt.Errorf("the name %q is not made of a letter and up to 31 small letters, digits and hyphens", packs[0].Name)
	case slices.ContainsFunc(Packs(), func(p Pack) bool { return p.Name == packs[0].Name }):
		return Pack{}, fmt.Errorf("the name %q is that of a pack of the program: choose another", packs[0].Name)
	case packs[0].About == "" || len(packs[0].About) > maxPackText:
		return Pack{}, fmt.Errorf("a line \"about: what it is for\" is needed, of at most %d bytes", maxPackText)
	case len(packs[0].Rules) == 0:
		return Pack{}, fmt.Errorf("it has no rule")
	}
	packs[0].Text = text
	return packs[0], nil
}

// readTeamRule reads a row whose first part is a harm, or a command. A command may hold " | ", so that the parts are counted from the end.
func readTeamRule(pack, line string, compile func(RuleDraft) (*Rule, error)) (*Rule, error) {
	fields := strings.Split(line, " | ")
	if len(fields) < len(packColumns) {
		return nil, fmt.Errorf("a rule has five parts, a harm or a command, severity, title, reason and alternative, not %d", len(fields))
	}
	parts := fields[len(fields)-len(packColumns)+1:]
	command := strings.TrimSpace(strings.Join(fields[:len(fields)-len(parts)], " | "))
	if harm := act.Harm(command); act.KnownHarm(harm) {
		d, err := packDraft(pack, command, parts)
		return harmRule(d, harm), err
	}
	if command == "" || len(command) > maxPackText {
		return nil, fmt.Errorf("command: it is empty, or longer than %d bytes", maxPackText)
	}
	d, err := packDraft(pack, ruleName(command), parts)
	if err != nil {
		return nil, err
	}
	if err := learning.CheckID("command", d.ID); err != nil {
		return nil, fmt.Errorf("command: it %s", message(err))
	}
	title := d.Title
	d.Commands, d.Title = []string{command}, strings.ReplaceAll(title, "`", "") // code in a title would be a command as well
	r, err := compile(d)
	if err != nil {
		return nil, fmt.Errorf("command: %q makes no rule: %s", Short(command), message(err))
	}
	r.Draft.Title, r.packed = title, true
	if act.Prose(command) && !act.LooksSQL(command) || !r.Deterministic() || len(r.Unused()) > 0 || !r.fitsItself(command) {
		return nil, fmt.Errorf("command: %q can fit nothing: it only names a program, stands for any command or any file, is no command that can be read, or is what the rule recommends", Short(command))
	}
	return r, nil
}

// fitsItself tells whether the rule stops its own command, with any name where a placeholder stands.
func (r *Rule) fitsItself(command string) bool {
	own := Action{Command: strings.ReplaceAll(generalized(command), anything, "any1")}
	c := &checking{rules: newIndex([]*Rule{r}), action: &own, found: map[string]*Match{}}
	return c.run().Decision == DecisionBlock
}

// ruleName is the end of the id of a command's rule: its words, for people, and a part of its hash, so that it is no other's.
func ruleName(command string) string {
	sum := sha256.Sum256([]byte(command))
	words := strings.FieldsFunc(strings.ToLower(command), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return strings.Trim(name[:min(len(name), maxRuleName)], "-") + "." + hex.EncodeToString(sum[:4])
}

// message is what an error says to the caller, without the name of its field.
func message(err error) string {
	if wide, ok := errors.AsType[*TooWide](err); ok {
		return fmt.Sprintf("it fits nearly every command, such as %q", wide.Example)
	}
	if known, ok := errors.AsType[*errs.Error](err); ok {
		return known.Message
	}
	return err.Error()
}
