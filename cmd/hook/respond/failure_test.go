package respond

import "testing"

func TestInPlaceOf(t *testing.T) {
	for _, c := range []struct {
		failed, worked string
		want           bool
	}{
		{"npm install lodash", "pnpm add lodash", true},
		{"pytest tests/ -x", "poetry run pytest tests/", true},
		{"python manage.py test", "make test", true},
		{"cargo fmtt", "cargo fmt --all", true},
		{"make test", "make test", false},
		{"make  test", "make test ", false},
		{"go test ./...", "go build ./...", false},
		{"git psuh", "git status", false},
		{"npm run lint", "docker run -d postgres", false},
		{"ls shop", "cat shop/x", false},
		{"", "make", false},
	} {
		if got := inPlaceOf(c.failed, c.worked); got != c.want {
			t.Errorf("%q in place of %q: %v", c.worked, c.failed, got)
		}
	}
}

func TestMisused(t *testing.T) {
	for said, want := range map[string]bool{
		"bash: pyest: command not found": true, "ModuleNotFoundError: No module named 'shop'": true, "error: unknown option `--foo'": true, "error: externally-managed-environment": true,
		"npm error: only allow pnpm": true, "--- FAIL: TestTotal": false, "total is 3, want 4": false, "": false,
	} {
		if got := misused.MatchString(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

func TestMendedBy(t *testing.T) {
	for _, c := range []struct {
		failed, said, worked string
		want                 bool
	}{
		{"./migrate up", "the advisory lock is held", "./migrate up --steal-lock", true},
		{"./migrate up", "the advisory lock is held", "./migrate down", false},
		{"make deploy", "needs STAGE", "STAGE=test make deploy", true},
		{"go test ./cart", "--- FAIL: TestTotal", "go test ./cart -run Other", false},
		{"npm install lodash", "this repository only allows pnpm", "pnpm add lodash", true},
		{"make test", "the lock is held", "make test", false},
	} {
		if got := (attempt{Command: c.failed, Said: c.said}).mendedBy(c.worked); got != c.want {
			t.Errorf("%q (%s), then %q: %v", c.failed, c.said, c.worked, got)
		}
	}
}
