package classify

import "bytes"

// shapeOf recognises a chunk that is no ordinary word by its form alone. It
// gives symNone for words.
func shapeOf(b []byte) uint8 {
	c, is := partsOf(b)
	if !is {
		return symNone
	}
	n := len(b)
	switch {
	case hasPrefixFold(b, "cve-") && c.digits > 0, hasPrefixFold(b, "ghsa-"), hasPrefixFold(b, "rustsec-"), hasPrefixFold(b, "cwe-") && c.digits > 0:
		return symCVE
	case n > 2 && b[0] == '-' && c.letters > 0 && (b[1] == '-' || n == 2):
		return symFlag
	case c.letters == 0:
		return numberShape(b, c.digits, c.dots, c.dashes, c.slashes, c.colons)
	case bytes.Contains(b, []byte("://")):
		return symHost
	case b[0] == '#' && c.digits > 0:
		return symTicket
	case c.letters == 1 && (b[0]|0x20) == 'v' && c.digits > 0 && n > 1:
		return symVersion
	case hasPrefixFold(b, "0x"):
		return symErrorCode
	case c.colons >= 2 && bytes.Contains(b, []byte("::")), bytes.HasSuffix(b, []byte("()")):
		return symCode
	case c.slashes > 0:
		return pathShape(b, c.slashes, c.dots, c.underscores)
	}
	return nameShape(b, c)
}

// parts are how many of each kind of character a chunk has.
type parts struct {
	digits, letters, uppers, dots, dashes, slashes, colons, underscores, others int
	camel                                                                       bool // a capital follows a small letter
}

// partsOf counts the characters of a chunk; is tells that it may be more than a word with an apostrophe.
func partsOf(b []byte) (c parts, is bool) {
	for i, ch := range b {
		switch {
		case '0' <= ch && ch <= '9':
			c.digits++
		case 'a' <= ch && ch <= 'z':
			c.letters++
		case 'A' <= ch && ch <= 'Z':
			c.letters++
			c.uppers++
			c.camel = c.camel || i > 0 && 'a' <= b[i-1] && b[i-1] <= 'z'
		case ch >= 0x80:
			c.letters++
		case ch == '.':
			c.dots++
		case ch == '-':
			c.dashes++
		case ch == '/' || ch == '\\':
			c.slashes++
		case ch == ':':
			c.colons++
		case ch == '_':
			c.underscores++
		case ch == '\'' && c.digits == 0 && i > 0:
			return c, false
		default:
			c.others++
		}
	}
	return c, true
}

// nameShape recognises names by their form: of errors, tickets, agents, files, hosts and code.
func nameShape(b []byte, c parts) uint8 {
	plain := c.others == 0
	switch last := b[len(b)-1]; {
	case c.camel && endsName(b, "Error", "Exception", "Failure", "Fault"):
		return symErrorName
	case c.dashes == 0 && c.dots == 0 && c.underscores == 0 && isErrorCode(b, c.digits, c.uppers):
		return symErrorCode
	case c.underscores > 0 && c.uppers == c.letters && plain:
		return symErrorCode // ERR_MODULE_NOT_FOUND, SQLITE_BUSY: shouted names are constants
	case c.digits > 0 && c.dashes == 1 && isTicket(b):
		if c.uppers > 0 || b[1] == '-' {
			return symTicket
		}
		return symAgentName
	case c.underscores == 1 && plain && '0' <= last && last <= '9':
		return symAgentName
	case c.underscores > 0 && plain:
		return symCode
	case c.dots > 0 && c.dashes == 0 && plain && fileEnding(b):
		return symFile
	case c.dots > 0 && hostEnding(b):
		return symHost
	case c.dots > 0 && b[0] != '.' && plain && c.digits == 0:
		return symCode // os.Open, e.g. and the like
	case c.dashes > 0 && endsName(b, "-bot", "-agent", "-dev", "-worker", "-builder"):
		return symAgentName
	case c.camel && c.uppers < c.letters && !allUpperHead(b):
		return symCode
	}
	return symNone
}

func hasPrefixFold(b []byte, p string) bool { return len(b) >= len(p) && equalFoldAny(b[:len(p)], p) }

func equalFoldAny(b []byte, s string) bool {
	for i := range b {
		ch := b[i]
		if 'A' <= ch && ch <= 'Z' {
			ch += 'a' - 'A'
		}
		if ch != s[i] {
			return false
		}
	}
	return true
}

func endsName(b []byte, endings ...string) bool {
	for _, e := range endings {
		if len(b) >= len(e) && string(b[len(b)-len(e):]) == e {
			return true
		}
	}
	return false
}

// numberShape tells the chunks without a letter apart.
func numberShape(b []byte, digits, dots, dashes, slashes, colons int) uint8 {
	switch {
	case digits == 0:
		return symNone
	case b[0] == '#':
		return symTicket
	case dots == 3:
		return symAddress
	case colons == 1 && digits <= 4 && dots == 0:
		return symClock
	case dashes == 2 && digits >= 6, slashes == 2 && digits >= 4:
		return symDate
	case dots > 0 && dots <= 3:
		return symVersion
	}
	return symNumber
}

// isErrorCode recognises E0382, TS2345, SQLSTATE-like and errno-like names.
func isErrorCode(b []byte, digits, uppers int) bool {
	if digits >= 3 && uppers >= 1 && uppers <= 4 && digits+uppers == len(b) && b[0] >= 'A' {
		return true
	}
	return len(b) >= 5 && b[0] == 'E' && uppers == len(b) && !endsName(b, "ED", "NG") || string(b) == "ECONNREFUSED"
}

// isTicket recognises a run of letters, a dash and digits.
func isTicket(b []byte) bool {
	dash := bytes.IndexByte(b, '-')
	if dash < 1 || dash == len(b)-1 {
		return false
	}
	for _, ch := range b[:dash] {
		if ch < 'A' {
			return false
		}
	}
	return isDigits(b[dash+1:])
}

func pathShape(b []byte, slashes, dots, underscores int) uint8 {
	if b[0] == '/' || b[0] == '.' || b[0] == '~' || slashes > 1 || dots > 0 || underscores > 0 {
		return symPath
	}
	return symNone // and/or, tcp/ip
}

func fileEnding(b []byte) bool {
	dot := bytes.LastIndexByte(b, '.')
	switch string(b[dot+1:]) {
	case "go", "py", "js", "ts", "tsx", "jsx", "rs", "c", "h", "cpp", "java", "rb", "sh", "ps1", "md", "txt", "json", "jsonl",
		"yaml", "yml", "toml", "xml", "html", "css", "sql", "db", "log", "mod", "sum", "lock", "so", "dll", "exe", "zip", "gz", "tar",
		"env", "cfg", "ini", "conf", "proto", "csv", "pdf", "png", "svg", "wasm", "jar", "pem", "key", "crt":
		return true
	}
	return false
}

func hostEnding(b []byte) bool {
	if bytes.IndexByte(b, ':') > 0 {
		return true
	}
	dot := bytes.LastIndexByte(b, '.')
	switch string(b[dot+1:]) {
	case "com", "org", "net", "io", "dev", "local", "internal", "lan", "corp", "cloud", "app", "example", "test", "de", "uk", "eu", "gov", "edu":
		return true
	}
	return false
}

// allUpperHead tells acronyms with a small ending (APIs, PRs, CVEs) from code.
func allUpperHead(b []byte) bool {
	for _, ch := range b[:len(b)-1] {
		if ch >= 'a' && ch <= 'z' {
			return false
		}
	}
	return true
}
