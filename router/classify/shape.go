package classify

import (
	"regexp"
	"strings"
	"sync"
)

// The characters of names: all that has no punctuation of its own, and letters alone, as others than ASCII count as such.
const (
	letters = `A-Za-z\x{80}-\x{10FFFF}`
	plain   = letters + `0-9.:/\\-`
)

// shapes recognise a chunk that is no ordinary word by its form alone: the first that fits counts.
var shapes = sync.OnceValue(func() (list []shape) {
	for _, one := range []struct {
		symbol uint8
		form   string
	}{
		{symNone, `^[A-Z]?[a-z]*$|^[^0-9]+'`},
		{symCVE, `(?i)^(?:(?:cve|cwe)-.*[0-9]|ghsa-|rustsec-)`},
		{symFlag, `^--.*[` + letters + `]`},
		{symNumber, `^[^` + letters + `]*$`}, // see numberShape
		{symHost, `://`},
		{symTicket, `^#.*[0-9]`},
		{symVersion, `^[vV][^` + letters + `]*[0-9][^` + letters + `]*$`},
		{symErrorCode, `(?i)^0x`},
		{symCode, `::|\(\)$`},
		{symPath, `^/|^[.~].*[/\\]|[/\\].*[/\\._]|[._].*[/\\]`},
		{symNone, `[/\\]`}, // and/or, tcp/ip
		{symErrorName, `[a-z](?:[A-Z].*)?(?:Error|Exception|Failure|Fault)$`},
		{symErrorCode, `^[A-Z]{1,4}[0-9]{3,}$|^E[A-Z]{2,}(?:[A-Z][A-CEFH-Z]|[A-DF-Z]D|[A-MO-Z]G)$|^ECONNREFUSED$`},
		{symErrorCode, `^[A-Z0-9.:-]*_[A-Z0-9._:-]*$`}, // ERR_MODULE_NOT_FOUND, SQLITE_BUSY: shouted names are constants
		{symTicket, `^(?:[^\x00-@]|[^\x00-@]*[A-Z][^\x00-@]*)-[0-9]+$`},
		{symAgentName, `^[^\x00-@]+-[0-9]+$|^[` + plain + `]*_(?:[` + plain + `]*[0-9])$`},
		{symCode, `^[` + plain + `]*_[_` + plain + `]*$`},
		{symFile, `^[` + letters + `0-9.:]*\.(?:go|py|js|ts|tsx|jsx|rs|c|h|cpp|java|rb|sh|ps1|md|txt|json|jsonl|yaml|yml|toml|xml|html|css|sql|db|log|mod|sum|lock|so|dll|exe|zip|gz|tar|env|cfg|ini|conf|proto|csv|pdf|png|svg|wasm|jar|pem|key|crt)$`},
		{symHost, `^.+:.*\.|\..*:|\.(?:com|org|net|io|dev|local|internal|lan|corp|cloud|app|example|test|de|uk|eu|gov|edu)$`},
		{symCode, `^[` + letters + `:-][` + letters + `.:-]*\.[` + letters + `.:-]*$`}, // os.Open, e.g. and the like
		{symAgentName, `-(?:bot|agent|dev|worker|builder)$`},
		{symCode, `[a-z][A-Z]`},
	} {
		list = append(list, shape{one.symbol, regexp.MustCompile(`(?s)` + one.form)})
	}
	return list
})

type shape struct {
	symbol uint8
	form   *regexp.Regexp
}

// shapeOf gives symNone for words.
func shapeOf(chunk string) uint8 {
	for _, s := range shapes() {
		switch {
		case !s.form.MatchString(chunk):
		case s.symbol == symNumber:
			return numberShape(chunk)
		default:
			return s.symbol
		}
	}
	return symNone
}

// numberShape tells the chunks without a letter apart.
func numberShape(chunk string) uint8 {
	digits := len(chunk) - len(strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, chunk))
	dots := strings.Count(chunk, ".")
	switch {
	case digits == 0:
		return symNone
	case chunk[0] == '#':
		return symTicket
	case dots == 3:
		return symAddress
	case strings.Count(chunk, ":") == 1 && digits <= 4 && dots == 0:
		return symClock
	case strings.Count(chunk, "-") == 2 && digits >= 6, strings.Count(chunk, "/")+strings.Count(chunk, `\`) == 2 && digits >= 4:
		return symDate
	case dots > 0 && dots < 3:
		return symVersion
	}
	return symNumber
}
