package classify

import "bytes"

// shapeOf recognises a chunk that is no ordinary word by its form alone. It
// gives symNone for words.
func shapeOf(b []byte) uint8 {
	var digits, letters, uppers, dots, dashes, slashes, colons, underscores, others int
	camel := false
	for i, ch := range b {
		switch {
		case '0' <= ch && ch <= '9':
			digits++
		case 'a' <= ch && ch <= 'z':
			letters++
		case 'A' <= ch && ch <= 'Z':
			letters++
			uppers++
			if i > 0 && 'a' <= b[i-1] && b[i-1] <= 'z' {
				camel = true
			}
		case ch >= 0x80:
			letters++
		case ch == '.':
			dots++
		case ch == '-':
			dashes++
		case ch == '/' || ch == '\\':
			slashes++
		case ch == ':':
			colons++
		case ch == '_':
			underscores++
		case ch == '\'':
			if digits == 0 && i > 0 {
				return symNone
			}
			others++
		default:
			others++
		}
	}
	n := len(b)
	switch {
	case hasPrefixFold(b, "cve-") && digits > 0, hasPrefixFold(b, "ghsa-"), hasPrefixFold(b, "rustsec-"), hasPrefixFold(b, "cwe-") && digits > 0:
		return symCVE
	case n > 2 && b[0] == '-' && letters > 0 && (b[1] == '-' || n == 2):
		return symFlag
	case letters == 0:
		return numberShape(b, digits, dots, dashes, slashes, colons)
	case bytes.Contains(b, []byte("://")):
		return symHost
	case b[0] == '#' && digits > 0:
		return symTicket
	case letters == 1 && (b[0]|0x20) == 'v' && digits > 0 && n > 1:
		return symVersion
	case hasPrefixFold(b, "0x"):
		return symErrorCode
	case colons >= 2 && bytes.Contains(b, []byte("::")), bytes.HasSuffix(b, []byte("()")):
		return symCode
	case slashes > 0:
		return pathShape(b, slashes, dots, underscores)
	case camel && endsName(b, "Error", "Exception", "Failure", "Fault"):
		return symErrorName
	case dashes == 0 && dots == 0 && underscores == 0 && isErrorCode(b, digits, uppers):
		return symErrorCode
	case underscores > 0 && uppers == letters && others == 0:
		return symErrorCode // ERR_MODULE_NOT_FOUND, SQLITE_BUSY: shouted names are constants
	case digits > 0 && dashes == 1 && isTicket(b):
		if uppers > 0 || b[1] == '-' {
			return symTicket
		}
		return symAgentName
	case underscores > 0 && others == 0:
		if digits > 0 && '0' <= b[n-1] && b[n-1] <= '9' && underscores == 1 {
			return symAgentName
		}
		return symCode
	case dots > 0 && dashes == 0 && others == 0 && slashes == 0 && fileEnding(b):
		return symFile
	case dots > 0 && hostEnding(b):
		return symHost
	case dots > 0 && b[0] != '.' && others == 0 && digits == 0:
		return symCode // os.Open, e.g. and the like
	case dashes > 0 && endsName(b, "-bot", "-agent", "-dev", "-worker", "-builder"):
		return symAgentName
	case camel && uppers < letters && !allUpperHead(b):
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
