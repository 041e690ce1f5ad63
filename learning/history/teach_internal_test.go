package history

import "testing"

// TestWhatIncidentsTeach: what is seen often enough, and mended by more than chance, teaches something; the rest waits for nobody.
func TestWhatIncidentsTeach(t *testing.T) {
	made := []string{"mkdir shop && cp -r base/. shop"}
	for name, c := range map[string]struct {
		incident Incident
		want     string // the whole fix; empty: it teaches nothing
	}{
		"two sessions, mended twice":   {Incident{Sessions: 2, Fixes: []Fix{{Command: "bin/test", Worked: 2}}}, "`bin/test`"},
		"two sessions, mended once":    {Incident{Sessions: 2, Fixes: []Fix{{Command: "bin/test", Worked: 1}}}, ""},
		"three sessions, mended once":  {Incident{Sessions: 3, Fixes: []Fix{{Command: "bin/test", Worked: 1}}}, "`bin/test`"},
		"not accepted":                 {Incident{Sessions: 9, Fixes: []Fix{{Command: "bin/test", Worked: 9}}}, ""},
		"mended by edits, mostly":      {Incident{Sessions: 9, Edits: 5, Fixes: []Fix{{Command: "bin/test", Worked: 2}}}, ""},
		"steps that the error names":   {Incident{Sessions: 3, Example: "No module named 'shop'", Fixes: []Fix{{Steps: made, Command: "python a.py", Worked: 1}}}, "`mkdir shop && cp -r base/. shop`, then `python a.py`"},
		"steps of something else":      {Incident{Sessions: 3, Example: "can't open file 'b.py'", Fixes: []Fix{{Steps: made, Command: "python a.py", Worked: 1}}}, ""},
		"a folder that is not there":   {Incident{Sessions: 9, Program: "cd", Fixes: []Fix{{Command: "python3 a.py", Worked: 2}}}, ""},
		"the folder that was meant":    {Incident{Sessions: 9, Program: "cd", Fixes: []Fix{{Command: "cd ../shop && make", Worked: 2}}}, "`cd ../shop && make`"},
		"all steps":                    {Incident{Sessions: 2, Fixes: []Fix{{Steps: []string{"mkdir shop", "cp b shop/a"}, Command: "make shop/a", Worked: 2}}}, "`mkdir shop`, then `cp b shop/a`, then `make shop/a`"},
		"a file of one's own making":   {Incident{Sessions: 9, Example: "No module named 'shop'", Fixes: []Fix{{Steps: []string{"mkdir shop; touch shop/__init__.py"}, Command: "python a.py", Worked: 9}}}, ""},
		"a step that only looks":       {Incident{Sessions: 2, Fixes: []Fix{{Steps: []string{"pwd && ls -d */out"}, Command: "bin/test", Worked: 2}}}, "`bin/test`"},
		"only looks, and a script":     {Incident{Sessions: 2, Fixes: []Fix{{Steps: []string{"pwd && ls -d */out"}, Command: "python3 << 'EOF' …", Worked: 2}}}, ""},
		"a script behind what matters": {Incident{Sessions: 2, Fixes: []Fix{{Command: "source venv/bin/activate && python << 'EOF' …", Worked: 2}}}, "`source venv/bin/activate && python << 'EOF' …`"},
	} {
		c.incident.Accepted = name != "not accepted"
		got := ""
		if fix := c.incident.teaches(asker{}); fix != nil {
			got = fix.lasts()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNoAgentIsToldToDestroy: what deletes, forces or skips a check is a risk in each of its common forms, also where it was stored before it was known for one.
func TestNoAgentIsToldToDestroy(t *testing.T) {
	for _, command := range []string{
		"git checkout -f main", "git switch --discard-changes x", "git branch -D x", "git commit -n -m x", "git commit -an -m x", "git reset HEAD~1 --hard", "git push --delete origin x",
		"git push origin -d x", "git worktree remove ../x", "docker compose down -v", "docker compose down --volumes", "dropdb shop && createdb shop", "find . -name x -delete",
		"kubectl delete pod x", "npx prisma migrate reset", "php artisan migrate:fresh", "python manage.py flush --no-input", "rails db:drop db:create", "redis-cli FLUSHALL",
		"Remove-Item -Recurse build", "terraform destroy", "helm uninstall shop", "aws s3api delete-bucket --bucket x",
	} {
		inc := Incident{Fixes: []Fix{{Command: command, Worked: 3}}}
		if fix := inc.offered(asker{}, nil); fix != nil {
			t.Errorf("an agent is told %q", fix.Command)
		}
	}
	for _, command := range []string{
		"git checkout main", "git switch -c x", "git branch -d x", "git commit -m 'drop n'", "git reset HEAD~1", "git push origin main", "git worktree add ../x", "docker compose up -d",
		"docker compose down", "createdb shop", "find . -name x", "kubectl get pods", "npx prisma migrate dev", "rails db:migrate", "redis-cli ping", "npm run deleted-items",
	} {
		inc := Incident{Fixes: []Fix{{Command: command, Worked: 3}}}
		if inc.offered(asker{}, nil) == nil {
			t.Errorf("no agent is told %q", command)
		}
	}
}
