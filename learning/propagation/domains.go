package propagation

import (
	_ "embed"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed domains.txt
var domainsText string

// seedDomains says which domain an agent of a name works in.
var seedDomains = wordlist.Map(domainsText, "")
