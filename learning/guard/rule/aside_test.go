package rule_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// TestAside: only what changes no file is judged alike where nobody knows what agents made before. What is read is sent with the question.
func TestAside(t *testing.T) {
	g := rule.New(nil, rule.NewSimilarByWords())
	for command, alone := range map[string]bool{
		"ls -la": true, "git status": true, "npm test": true, "git add . && npm test": true, "go test ./...": true, "go test ./... | grep FAIL": true,
		"bash x.sh": true, "python3 x.py": true, "cat a.txt": true, "source env.sh": true, "frobnicate": true, "echo a > b": false, "tee /tmp/x.sh <<< 'tool wipe --all'": false, "mkdir -p a/b": false, "sed -i s/a/b/ x.go": false,
		"cat > x.sh <<'EOF'\nrm -rf /data\nEOF": false, "cp a b": false, "git clone https://example.com/x.git": false, "ls \"": true,
	} {
		if _, got := g.Aside(t.Context(), rule.Action{Command: command, Agent: "a", Folder: "/home/u/p", Project: "p"}); got != alone {
			t.Errorf("%q: alone %t, want %t", command, got, alone)
		}
	}
}
