package skillrouter

import (
	"bytes"
	"slices"
	"strings"
)

// Redact replaces what looks like a secret in text by "[redacted: kind]", and
// returns the kinds it found, each once, in the order of their first finding.
// It knows the token forms of the services that coding agents meet, private
// key blocks, passwords in addresses, and values that are assigned to a name
// such as password or api_key. Placeholders ("${TOKEN}", "your-api-key",
// "****") and code that only passes a secret on stay as they are. Time is
// linear in the length of text, and text without a secret is returned as it is.
func Redact(text string) (string, []string) {
	r := redactor{text: text}
	for i := 0; i < len(text); i++ {
		switch trigger[text[i]] {
		case 0:
		case startsToken:
			if i == 0 || !isWord(text[i-1]) {
				i = r.token(i)
			}
		case assigns:
			i = r.assignment(i)
		case startsOption:
			if strings.HasPrefix(text[i:], blockBegin) {
				i = r.keyBlock(i)
			} else if i == 0 || text[i-1] <= ' ' {
				i = r.option(i)
			}
		}
	}
	if r.out == nil {
		return text, nil
	}
	r.out = append(r.out, text[r.copied:]...)
	return string(r.out), r.kinds
}

// redactor is one pass over a text. Each find method looks at the position of
// a trigger and returns the position where the pass goes on, less one.
type redactor struct {
	text   string
	out    []byte // what is redacted so far, nil until something is
	copied int    // text up to here is in out
	kinds  []string
	noEnd  bool // no key block ends further on in the text
}

// The kinds of trigger bytes.
const (
	startsToken  = iota + 1 // first byte of a token's prefix
	assigns                 // = or :
	startsOption            // -, of an option or of a key block
)

// trigger is what a byte can begin. Everything else is passed over.
var trigger = func() (table [256]byte) {
	for c, forms := range formsBy {
		if len(forms) > 0 {
			table[c] = startsToken
		}
	}
	table['b'], table['B'] = startsToken, startsToken // Bearer, Basic
	table['='], table[':'] = assigns, assigns
	table['-'] = startsOption
	return table
}()

// cut replaces text[from:to].
func (r *redactor) cut(from, to int, kind string) int {
	if r.out == nil {
		r.out = make([]byte, 0, len(r.text)+32)
	}
	r.out = append(r.out, r.text[r.copied:from]...)
	r.out = append(append(append(r.out, "[redacted: "...), kind...), ']')
	r.copied = to
	if !slices.Contains(r.kinds, kind) {
		r.kinds = append(r.kinds, kind)
	}
	return to - 1
}

// tokenForm is a token that is known by its prefix.
type tokenForm struct {
	prefix, kind string
	chars        func(byte) bool // what follows the prefix
	least, most  int             // how many of these, 0 for any number at the most
	parts        int             // how many runs of chars, joined by dots
	solid        int             // the least run of letters and digits together, with a digit: words joined by dashes have none
}

// tokenForms are the published forms: GitHub's and Slack's token prefixes, AWS
// access key ids, Google, Stripe, Shopify, OpenAI and Anthropic keys, GitLab,
// Atlassian, npm, PyPI, Docker, Hugging Face, SendGrid, Vault, age and
// DigitalOcean tokens, JSON Web Tokens (a JSON object in base64url begins with
// eyJ), and our own.
var tokenForms = []tokenForm{
	{"AKIA", "aws_access_key", isUpperDigit, 16, 16, 1, 0},
	{"ASIA", "aws_access_key", isUpperDigit, 16, 16, 1, 0},
	{"ghp_", "github_token", isAlnum, 36, 255, 1, 0},
	{"gho_", "github_token", isAlnum, 36, 255, 1, 0},
	{"ghu_", "github_token", isAlnum, 36, 255, 1, 0},
	{"ghs_", "github_token", isAlnum, 36, 255, 1, 0},
	{"ghr_", "github_token", isAlnum, 36, 255, 1, 0},
	{"github_pat_", "github_token", isWord, 40, 255, 1, 0},
	{"xoxb-", "slack_token", isTokenByte, 20, 0, 1, 6},
	{"xoxp-", "slack_token", isTokenByte, 20, 0, 1, 6},
	{"xoxa-", "slack_token", isTokenByte, 20, 0, 1, 6},
	{"xoxr-", "slack_token", isTokenByte, 20, 0, 1, 6},
	{"xoxs-", "slack_token", isTokenByte, 20, 0, 1, 6},
	{"xapp-", "slack_token", isTokenByte, 20, 0, 1, 6},
	{"hooks.slack.com/services/", "slack_webhook", isPathByte, 30, 0, 1, 6},
	{"sk-", "api_key", isTokenByte, 20, 0, 1, 12},
	{"sk_live_", "stripe_key", isAlnum, 16, 0, 1, 0},
	{"sk_test_", "stripe_key", isAlnum, 16, 0, 1, 0},
	{"rk_live_", "stripe_key", isAlnum, 16, 0, 1, 0},
	{"shpat_", "shopify_token", isAlnum, 32, 32, 1, 0},
	{"skr_", "skillrouter_token", isTokenByte, 20, 0, 1, 0},
	{"AIza", "google_api_key", isTokenByte, 35, 35, 1, 0},
	{"ya29.", "google_token", isTokenByte, 20, 0, 1, 6},
	{"GOCSPX-", "google_secret", isTokenByte, 20, 0, 1, 0},
	{"glpat-", "gitlab_token", isTokenByte, 20, 0, 1, 0},
	{"ATATT3", "atlassian_token", isTokenByte, 60, 0, 1, 0},
	{"npm_", "npm_token", isAlnum, 36, 36, 1, 0},
	{"pypi-", "pypi_token", isTokenByte, 50, 0, 1, 6},
	{"dckr_pat_", "docker_token", isTokenByte, 20, 0, 1, 0},
	{"hf_", "huggingface_token", isAlnum, 30, 0, 1, 0},
	{"hvs.", "vault_token", isTokenByte, 20, 0, 1, 6},
	{"AGE-SECRET-KEY-1", "age_key", isUpperDigit, 50, 60, 1, 0},
	{"dop_v1_", "digitalocean_token", isAlnum, 64, 64, 1, 0},
	{"SG.", "sendgrid_key", isTokenByte, 60, 0, 2, 6},
	{"eyJ", "jwt", isTokenByte, 30, 0, 3, 6},
}

// formsBy holds the forms by their first byte.
var formsBy = func() (table [256][]tokenForm) {
	for _, form := range tokenForms {
		c := form.prefix[0]
		table[c] = append(table[c], form)
	}
	return table
}()

// match returns where the token that begins text ends, or 0.
func (f tokenForm) match(text string) int {
	if !strings.HasPrefix(text, f.prefix) {
		return 0
	}
	from := len(f.prefix)
	end := run(text, from, f.chars)
	for range f.parts - 1 {
		if end == len(text) || text[end] != '.' {
			return 0
		}
		end = run(text, end+1, f.chars)
	}
	body := strings.TrimRight(text[from:end], "-")
	if len(body) < f.least || f.most > 0 && len(body) > f.most || f.solid > 0 && (!mixed(body) || longestSolid(body) < f.solid) {
		return 0
	}
	return from + len(body)
}

// token looks for a token that begins at i, where a word begins.
func (r *redactor) token(i int) int {
	rest := r.text[i:]
	if c := rest[0]; c == 'b' || c == 'B' {
		return r.credentials(i)
	}
	joined := i > 0 && r.text[i-1] == '-'
	for _, form := range formsBy[rest[0]] {
		// A run of token bytes begins once: what follows a dash was looked at with it.
		if joined && form.chars('-') {
			continue
		}
		if n := form.match(rest); n > 0 {
			return r.cut(i, i+n, form.kind)
		}
	}
	return i
}

// credentials looks for the schemes of the Authorization header, "Bearer" and
// "Basic", and what follows them.
func (r *redactor) credentials(i int) int {
	rest := r.text[i:]
	for _, scheme := range []string{"bearer", "basic"} {
		n := len(scheme)
		if len(rest) <= n+1 || rest[n] != ' ' || !strings.EqualFold(rest[:n], scheme) {
			continue
		}
		from := i + n + 1
		if hasForm(r.text[from:]) {
			return i // its own form says more of it
		}
		to := run(r.text, from, isCredentialByte)
		value := r.text[from:to]
		switch {
		case scheme == "bearer" && len(value) >= 16 && mixed(value):
			return r.cut(from, to, "bearer_token")
		case scheme == "basic" && isBasic(value):
			return r.cut(from, to, "basic_credentials")
		}
	}
	return i
}

// hasForm tells whether a token of a known form begins text.
func hasForm(text string) bool {
	return text != "" && slices.ContainsFunc(formsBy[text[0]], func(f tokenForm) bool { return f.match(text) > 0 })
}

const (
	blockBegin = "-----BEGIN "
	blockEnd   = "-----END "
	keyWords   = "PRIVATE KEY"
	// blockLabel is the longest label of a PEM block that is looked at.
	blockLabel = 64
)

// keyBlock looks whether the PEM block (RFC 7468) that begins at i holds a
// private key. A block without an end is cut up to the last line of base64.
func (r *redactor) keyBlock(i int) int {
	label := r.text[i+len(blockBegin):]
	label = label[:min(len(label), blockLabel)]
	closing := strings.Index(label, "-----")
	if closing < 0 || !strings.Contains(label[:closing], keyWords) {
		return i
	}
	from := i + len(blockBegin) + closing + len("-----")
	if !r.noEnd {
		if end := strings.Index(r.text[from:], blockEnd); end >= 0 {
			to := from + end + len(blockEnd)
			if close := strings.Index(r.text[to:min(len(r.text), to+blockLabel)], "-----"); close >= 0 {
				to += close + len("-----")
			}
			return r.cut(i, to, "private_key")
		}
		r.noEnd = true
	}
	to := from
	for to < len(r.text) && (isBase64(r.text[to]) || r.text[to] == '\n' || r.text[to] == '\r' || r.text[to] == '\\') {
		to++
	}
	return r.cut(i, to, "private_key")
}

// run returns where the run of bytes of a class that begins at i ends.
func run(text string, i int, class func(byte) bool) int {
	for i < len(text) && class(text[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isUpperDigit(c byte) bool { return isDigit(c) || c >= 'A' && c <= 'Z' }

func isWord(c byte) bool { return isAlnum(c) || c == '_' }

func isTokenByte(c byte) bool { return isWord(c) || c == '-' }

func isDotted(c byte) bool { return isTokenByte(c) || c == '.' }

func isPathByte(c byte) bool { return isTokenByte(c) || c == '/' }

func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// isCredentialByte is a byte of token68 (RFC 9110, section 11.2).
func isCredentialByte(c byte) bool {
	return isDotted(c) || c == '~' || c == '+' || c == '/' || c == '='
}

// longestSolid returns the length of the longest run of letters and digits in
// s that has a digit.
func longestSolid(s string) int {
	longest := 0
	for from := 0; from < len(s); from++ {
		to := run(s, from, isAlnum)
		if to-from > longest && has(s[from:to], isDigit) {
			longest = to - from
		}
		from = to
	}
	return longest
}

// mixed tells whether s has letters and digits, as random tokens of any
// length have and words have not.
func mixed(s string) bool {
	return has(s, isDigit) && has(s, isLetter) && !repetitive(s)
}

func has(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if class(s[i]) {
			return true
		}
	}
	return false
}

// repetitive tells whether s has hardly any different bytes, as the dummies
// in documentation have: xxxx0000.
func repetitive(s string) bool {
	var seen [256]bool
	distinct := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			distinct++
		}
	}
	return distinct <= 4
}

// isBasic tells whether value is base64 of "user:password" (RFC 7617).
func isBasic(value string) bool {
	if len(value) < 8 || len(value) > 512 {
		return false
	}
	text, err := decodeBase64(value)
	return err == nil && bytes.IndexByte(text, ':') > 0 && !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' })
}
