package safetext

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Fencer makes the marks that enclose a text of an agent when a model reads it. A mark is
// computed from the text and from a key that only this process knows. So the writer of a
// text cannot know its mark, and the same text always gets the same mark, which lets a
// model's prompt cache work.
type Fencer struct{ key [32]byte }

// NewFencer makes a Fencer with a key of its own.
func NewFencer() *Fencer {
	f := &Fencer{}
	_, _ = rand.Read(f.key[:]) // never fails, see crypto/rand
	return f
}

// Mark returns the mark of a text: eight hexadecimal digits that the text does not hold.
func (f *Fencer) Mark(text string) string {
	for turn := 0; ; turn++ {
		sum := hmac.New(sha256.New, f.key[:])
		sum.Write([]byte(strconv.Itoa(turn) + "\n" + text))
		if mark := hex.EncodeToString(sum.Sum(nil)[:4]); !strings.Contains(text, mark) {
			return mark
		}
	}
}

// What a reader takes for structure, in whatever spelling. Each names what stands before the character that is replaced.
var (
	// imitation begins like a mark of ours, or like a special token of a model's template: <|im_start|>, <<SYS>>, </s>.
	imitation = lazyregexp.New(`(?i)<(\s*(?:/?\s*memory|[|｜]|<?\s*/?\s*(?:sys|s)\s*>))`)
	// structure is a tag by which agents and models tell apart who speaks, what a tool said, and what is thought.
	structure = lazyregexp.New(`(?i)<(\s*/?\s*(?:` +
		`antml|sys|system|user|assistant|human|developer|model|tools?|functions?|invoke|parameters?|think(?:ing)?|reasoning|reflection|scratchpad|instructions?|important|prompt|` +
		`role|turn|start|begin|end|bos|eos|pad|unk|mask|sep|cls|context|env|environment|command|local|bash|session|task|notification|hook|result|results|output|error|override|admin|reminder|policy` +
		`)(?:[_:-][\w:.-]*)?\s*[/>\s=])`)
	// bracketed is the same in the brackets of Llama's and Mistral's templates.
	bracketed = lazyregexp.New(`\[(\s*/?\s*(?:INST|SYS|SYSTEM|SYSTEM_PROMPT|TOOL_CALLS?|TOOL_RESULTS?|TOOL_CONTENT|AVAILABLE_TOOLS|BOS|EOS|UNUSED_?\d+|(?i:inst))\s*\])`)
	// speaker begins a line as a transcript does.
	speaker = lazyregexp.New(`(?m)^([ \t>*#_-]*(?:Human|HUMAN|Assistant|ASSISTANT|System|SYSTEM|User|USER|Developer|DEVELOPER|AI|### ?(?:Instruction|Response|Input))[ \t*_]*):`)
)

// Unfenced returns a text in which nothing looks like a mark, or like what a model takes for structure: it replaces the
// opening bracket of each such place, or the colon after a speaker's name, by another character.
func Unfenced(text string) string {
	if strings.Contains(text, "<") {
		text = imitation.ReplaceAllString(text, "‹$1")
		text = structure.ReplaceAllString(text, "‹$1")
	}
	if strings.Contains(text, "[") {
		text = bracketed.ReplaceAllString(text, "［$1")
	}
	if strings.Contains(text, ":") {
		text = speaker.ReplaceAllString(text, "$1：")
	}
	return text
}
