package condition

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token is.
type tokenKind int

const (
	endToken tokenKind = iota
	wordToken
	numberToken
	textToken
	signToken // an operator or a bracket
)

// token is a word, a number, a text or a sign of a condition.
type token struct {
	kind     tokenKind
	value    string // of a text: what it stands for
	number   float64
	from, to int // in bytes
}

func (t token) is(sign string) bool { return t.kind == signToken && t.value == sign }

// signs are the operators and brackets, the longer ones first. Some are only known to be refused by name.
var signs = []string{
	"==", "!=", "<=", ">=", "&&", "||", "**", "..", "??", "?.", "::",
	"<", ">", "+", "-", "*", "/", "%", "!", "^", "|", "?", ":", ",", ".", ";", "=", "#", "(", ")", "[", "]", "{", "}",
}

// lex cuts a condition into tokens; the last one is its end.
func lex(text string) ([]token, error) {
	var tokens []token
	for at := 0; ; {
		at += len(text[at:]) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
		if at == len(text) {
			return append(tokens, token{kind: endToken, value: "the end", from: at, to: at}), nil
		}
		next, err := lexOne(text, at)
		if err != nil {
			return nil, noExpression(text, at, "%s", err.Error())
		}
		tokens = append(tokens, next)
		at = next.to
	}
}

func lexOne(text string, at int) (token, error) {
	rest := text[at:]
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case first >= '0' && first <= '9', first == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return lexNumber(text, at)
	case first == '\'' || first == '"' || first == '`':
		return lexText(text, at)
	case inWord(first):
		end := strings.IndexFunc(rest, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(rest)
		}
		return token{kind: wordToken, value: rest[:end], from: at, to: at + end}, nil
	}
	for _, sign := range signs {
		if strings.HasPrefix(rest, sign) {
			return token{kind: signToken, value: sign, from: at, to: at + len(sign)}, nil
		}
	}
	return token{}, fmt.Errorf("%q means nothing", first)
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// lexNumber reads a number: decimal, or an integer with the prefix 0x, 0o or 0b.
func lexNumber(text string, at int) (token, error) {
	end := at
	for end < len(text) {
		c := text[end]
		switch {
		case c == '.' && !strings.HasPrefix(text[end:], ".."), inWord(rune(c)) && c < utf8.RuneSelf:
		case (c == '+' || c == '-') && (text[end-1] == 'e' || text[end-1] == 'E') && !strings.HasPrefix(text[at:], "0x"):
		default:
			return numbered(text[at:end], at, end)
		}
		end++
	}
	return numbered(text[at:end], at, end)
}

func numbered(written string, at, end int) (token, error) {
	t := token{kind: numberToken, value: written, from: at, to: end}
	plain := strings.ReplaceAll(written, "_", "")
	var err error
	if len(plain) > 1 && plain[0] == '0' && strings.ContainsRune("xXoObB", rune(plain[1])) {
		var whole int64
		whole, err = strconv.ParseInt(plain, 0, 64)
		t.number = float64(whole)
	} else if t.number, err = strconv.ParseFloat(plain, 64); errors.Is(err, strconv.ErrRange) {
		return t, fmt.Errorf("%s is too large a number", written)
	}
	if err != nil {
		return t, fmt.Errorf("%s is no number", written)
	}
	return t, nil
}

// lexText reads a text in quotation marks, with the escapes of Go. Between ` nothing is an escape.
func lexText(text string, at int) (token, error) {
	quote, rest := text[at], text[at+1:]
	if quote == '`' {
		end := strings.IndexByte(rest, quote)
		if end < 0 {
			return token{}, errors.New("this text does not end")
		}
		return token{kind: textToken, value: rest[:end], from: at, to: at + end + 2}, nil
	}
	var value strings.Builder
	for rest != "" && rest[0] != quote {
		if strings.HasPrefix(rest, `\'`) || strings.HasPrefix(rest, `\"`) {
			value.WriteByte(rest[1])
			rest = rest[2:]
			continue
		}
		r, multibyte, tail, err := strconv.UnquoteChar(rest, 0)
		if err != nil || rest[0] == '\n' {
			return token{}, errors.New("this text has an escape that means nothing, or a line's end")
		}
		if multibyte {
			value.WriteRune(r)
		} else {
			value.WriteByte(byte(r))
		}
		rest = tail
	}
	if rest == "" {
		return token{}, errors.New("this text does not end")
	}
	if !utf8.ValidString(value.String()) {
		return token{}, errors.New("this text is not valid UTF-8")
	}
	return token{kind: textToken, value: value.String(), from: at, to: len(text) - len(rest) + 1}, nil
}

// noExpression is the error of a text that cannot be read, with the column at fault, from 1.
func noExpression(text string, at int, format string, args ...any) error {
	column := utf8.RuneCountInString(text[:min(at, len(text))])
	column = max(min(column, utf8.RuneCountInString(text)-1), 0)
	return fmt.Errorf("is no expression: %s, at column %d", fmt.Sprintf(format, args...), column+1)
}

// The words that are operators; the rest of words are names.
var wordOperators = []string{"and", "or", "not", "in", "contains", "startsWith", "endsWith", "matches", "is"}

func isOperatorWord(t token) bool {
	return t.kind == wordToken && slices.Contains(wordOperators, t.value)
}
