package llm

import (
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// messageFrame is how many tokens a message costs besides its text: the role and
// the marks around it, 3 to 5 in the chat templates of today's models.
const messageFrame = 4

// Estimate guesses how many tokens a text has, for models whose vocabulary is not
// known here: a token for 4 bytes of ASCII, and one for each other character.
// For English it is within about a tenth; for JSON it is up to 40 % too few.
func Estimate(text string) int {
	ascii, others := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + others
}

// fits returns a TooLarge error if a request with its answer is over the window.
func fits(messages []Message, answer, window int, count func(string) int) error {
	if window <= 0 {
		return nil
	}
	if answer <= 0 {
		answer = min(DefaultAnswer, window/4)
	}
	tokens := 0
	for _, m := range messages {
		tokens += count(m.Content) + messageFrame
	}
	if tokens+answer > window {
		return errs.Errorf(errs.TooLarge,
			"the request has about %d tokens and its answer may have %d, and the model's window is %d (llm.context_window)", tokens, answer, window)
	}
	return nil
}
