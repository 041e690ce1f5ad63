package rule_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// guardPatience is how long a check may take in a test: what has no bound takes minutes. No verdict depends on it.
const guardPatience = 20 * time.Second

// padded are texts of up to 64 KiB, and some longer ones, around a command. Each is written once: TestGuardReadsToTheEnd asks for the verdict,
// BenchmarkHostile for the cost.
func padded(command string) map[string]string {
	nested, evals := command, command
	for range 12 {
		nested = "echo " + base64.StdEncoding.EncodeToString([]byte(nested)) + " | base64 -d | sh"
	}
	for range 9 {
		evals = "eval " + guardQuote(evals)
		if len(evals) > 60<<10 {
			break
		}
	}
	distinct, exports, words := strings.Builder{}, strings.Builder{}, strings.Builder{}
	for i := range 9000 {
		fmt.Fprintf(&distinct, "a%d\n", i)
		fmt.Fprintf(&words, " w%d", i)
	}
	for i := range 2500 {
		fmt.Fprintf(&exports, "export a%d=1\nls\n", i)
	}
	return map[string]string{
		"colons":             strings.Repeat(":;", 2047) + command + "\n" + strings.Repeat(":;", 2047),
		"64 KiB of colons":   strings.Repeat(":;", 32<<10-50) + command,
		"lines before":       strings.Repeat("echo a\n", 9000) + command,
		"lines around":       strings.Repeat("echo a\n", 4500) + command + "\n" + strings.Repeat("echo b\n", 4500),
		"distinct commands":  distinct.String() + command,
		"exports":            exports.String() + command,
		"commands with &&":   strings.Repeat("true && ", 8000) + command,
		"words of a loop":    "for x in" + words.String() + "; do echo $x; done; " + command,
		"base64 in base64":   nested,
		"evals":              evals,
		"long word":          "echo " + strings.Repeat("a", 63<<10) + "; " + command,
		"quoted script":      "bash -c '" + strings.Repeat(":;", 30<<10) + command + "'",
		"pipe of lines":      "{ " + strings.Repeat("echo :\n", 7000) + "echo '" + command + "'; } | sh",
		"here-document":      "cat > /tmp/notes.md <<'EOF'\n" + strings.Repeat("rm is a word\n", 4500) + "EOF\n" + command,
		"comments":           strings.Repeat("# rm\n", 12000) + command,
		"nested loops":       strings.Repeat("for i in 1 2 3 4 5 6 7 8 9 10; do ", 30) + "ls" + strings.Repeat("; done", 30) + "; " + command,
		"doubling":           "a=xxxxxxxx\n" + strings.Repeat("a=$a$a\n", 2000) + command,
		"a megabyte":         strings.Repeat("true; ", 1<<20/6-20) + command,
		"more than that":     strings.Repeat("true; ", 1<<20/6+20) + command,
		"braces":             "echo " + strings.Repeat("{a,b}", 10000) + "; " + command,
		"brackets":           strings.Repeat("( ", 10000) + command + strings.Repeat(" )", 10000),
		"open brackets":      strings.Repeat("(", 10000) + command,
		"python with calls":  "python3 -c " + guardQuote(strings.Repeat("f(", 9000)) + "; " + command,
		"python with names":  "python3 -c " + guardQuote(strings.Repeat("a='b'; f\"{a} {b}\"\n", 3000)) + "; " + command,
		"functions":          strings.Repeat("f() { f; }; f; ", 3500) + command,
		"substitutions":      "echo " + strings.Repeat("$(echo a)", 6000) + "; " + command,
		"open here-docs":     strings.Repeat("cat <<A\n", 5000) + "A\n" + command,
		"patterns of values": "x=" + strings.Repeat("a", 8000) + "; echo " + strings.Repeat("${x%%*a*a*a*b}", 500) + "; " + command,
		"sudo chain":         strings.Repeat("sudo ", 10000) + command,
		"many words":         "echo " + strings.Repeat("x ", 30000) + "; " + command,
		"rm of many":         "rm -f " + strings.Repeat("x ", 30000) + "; " + command,
		"environment":        strings.Repeat("A=1 ", 14000) + command,
		"xargs of many":      "printf '%s\\n'" + words.String() + " | xargs -I{} echo {}; " + command,
	}
}

func hostileGuard(t testing.TB) *rule.Guard {
	rules := guardTestRules(t)
	for _, p := range rule.Packs() {
		for _, r := range p.Rules {
			rules = append(rules, r.In(rule.ModeBlock))
		}
	}
	return rule.New(rules, rule.NewSimilarByWords())
}

// TestGuardReadsToTheEnd: a command is found in any text of up to 64 KiB, and what is longer or deeper is blocked unread.
func TestGuardReadsToTheEnd(t *testing.T) {
	guard := hostileGuard(t)
	for _, command := range []string{"rm -rf ~", "git push --force origin main", "terraform destroy -auto-approve"} {
		for name, text := range padded(command) {
			start := time.Now()
			v := guard.Check(t.Context(), rule.Action{Command: text, Agent: "test"})
			took := time.Since(start)
			t.Logf("%-20s %6d bytes %8s %s %q", name, len(text), took.Round(time.Millisecond), v.Decision, v.Notes)
			if v.Decision != rule.DecisionBlock || took > guardPatience {
				t.Errorf("%s: %s: %s in %s, %q", command, name, v.Decision, took, v.Notes)
			}
		}
	}
	// The control: the same texts around what nobody blocks.
	for name, text := range padded("ls -la") {
		v := guard.Check(t.Context(), rule.Action{Command: text, Agent: "test"})
		t.Logf("%-20s %s %q %+v", name, v.Decision, v.Notes, v.Matches)
	}
}
