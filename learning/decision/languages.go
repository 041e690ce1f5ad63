package decision

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

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
