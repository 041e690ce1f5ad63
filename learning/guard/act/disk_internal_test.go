package act

import (
	"slices"
	"strings"
	"testing"
)

// reads follows a command as a check does: what it needs of files is given, and it is asked again.
func reads(command string, files map[string]Content) (s *Shell, asked []string) {
	var given []Content
	for range 4 {
		disk := NewDisk(given)
		s = NewShell("/p")
		s.Disk = disk
		s.Follow(Proposal{}, command)
		if len(disk.Needs()) == 0 {
			return s, asked
		}
		for _, name := range disk.Needs() {
			asked = append(asked, name)
			c, there := files[name]
			if c.Path = name; !there {
				c.Unread = "missing"
			}
			given = append(given, c)
		}
	}
	return s, asked
}

func runsFrob(s *Shell) bool {
	return slices.ContainsFunc(s.Acts, func(a *Act) bool { return a.Name == "frob" && !a.Prepared })
}

// TestFilesThatRun: what a command runs is read from the files that it names, and from those that they name.
func TestFilesThatRun(t *testing.T) {
	text := func(pairs ...string) map[string]Content {
		files := map[string]Content{}
		for i := 0; i < len(pairs); i += 2 {
			files["/p/"+pairs[i]] = Content{Text: pairs[i+1]}
		}
		return files
	}
	python := "import os\nos.system('frob')\n"
	beside := text("run.py", "import helper\n", "helper.py", python)
	beside["/p/run.py"] = Content{Text: "import helper\n", Beside: []string{"helper.py", "run.py"}}
	for name, c := range map[string]struct {
		command string
		files   map[string]Content
	}{
		"script":                 {"bash x.sh", text("x.sh", "frob")},
		"encoded":                {"base64 -d x.b64 | sh", text("x.b64", "ZnJvYgo=")},
		"edited in a pipe":       {"sed s/X/frob/ x.txt | sh", text("x.txt", "X")},
		"patch":                  {"git apply x.patch && sh z.sh", text("x.patch", "--- /dev/null\n+++ b/z.sh\n@@ -0,0 +1 @@\n+frob\n")},
		"awk":                    {"awk -f x.awk", text("x.awk", `BEGIN { system("frob") }`)},
		"R":                      {"Rscript x.R", text("x.R", `system("frob")`)},
		"setup.py":               {"pip install .", text("setup.py", python)},
		"noxfile.py":             {"nox", text("noxfile.py", python)},
		"script by its path":     {"./x.sh", text("x.sh", "#!/bin/sh\nfrob\n")},
		"python by its path":     {"./x", text("x", "#!/usr/bin/env python3\n"+python)},
		"sourced":                {". ./env.sh", text("env.sh", "frob")},
		"a script's script":      {"bash a.sh", text("a.sh", "cd /p && ./b.sh", "b.sh", "frob")},
		"input":                  {"sh < x.sh", text("x.sh", "frob")},
		"pipe":                   {"cat x.sh | bash", text("x.sh", "frob")},
		"substitution":           {`eval "$(cat x.sh)"`, text("x.sh", "frob")},
		"copy":                   {"cp a.sh b.sh; sh b.sh", text("a.sh", "frob")},
		"copy into a folder":     {"cp a.sh bin/ && bin/a.sh", text("a.sh", "frob")},
		"move":                   {"mv a.txt b.sh; sh b.sh", text("a.txt", "frob")},
		"link":                   {"ln -sf a.txt b.sh; sh b.sh", text("a.txt", "frob")},
		"dd":                     {"dd if=a.txt of=b.sh; sh b.sh", text("a.txt", "frob")},
		"redirected":             {"cat a.txt > b.sh; sh b.sh", text("a.txt", "frob")},
		"added to":               {"echo true >> a.sh; sh a.sh", text("a.sh", "frob\n")},
		"sed in place":           {"sed -i 's/true/frob/' a.sh; sh a.sh", text("a.sh", "true")},
		"python":                 {"python3 x.py", text("x.py", python)},
		"python's import":        {"python3 run.py", beside},
		"python's module":        {"python3 -m tool", text("tool.py", python)},
		"python writes and runs": {`python3 -c "open('/p/y.sh','w').write('frob')"; sh y.sh`, nil},
		"php with settings":      {"php -c php.ini x.php", text("x.php", "<?php system('frob');")},
		"node":                   {"node x.js", text("x.js", "require('child_process').execSync('frob')")},
		"node's module":          {"node x.js", text("x.js", "const y = require('./y')", "y.js", "require('child_process').execSync('frob')")},
		"make":                   {"make", text("Makefile", "all:\n\tfrob\n")},
		"make's include":         {"make all", text("Makefile", "include more.mk\n", "more.mk", "all:\n\tfrob\n")},
		"make elsewhere":         {"make -C sub all", text("sub/Makefile", "all:\n\tfrob\n")},
		"npm run":                {"npm run build", text("package.json", `{"scripts":{"build":"frob"}}`)},
		"npm before":             {"npm test", text("package.json", `{"scripts":{"pretest":"frob","test":"true"}}`)},
		"npm install":            {"npm install", text("package.json", `{"scripts":{"postinstall":"frob"}}`)},
		"yarn":                   {"yarn build", text("package.json", `{"scripts":{"build":"frob"}}`)},
		"npm runs npm":           {"npm run a", text("package.json", `{"scripts":{"a":"npm run b","b":"frob"}}`)},
		"pytest":                 {"pytest -q", text("conftest.py", python)},
		"pytest's file":          {"python -m pytest tests/test_a.py", text("tests/test_a.py", python)},
		"rake":                   {"rake db", text("Rakefile", "task :db do\n  sh 'frob'\nend\n")},
		"just":                   {"just all", text("justfile", "all: dep\n    true\ndep:\n    frob\n")},
		"build.rs":               {"cargo build", text("build.rs", `fn main() { std::process::Command::new("frob").arg("-x").status(); }`)},
		"go run":                 {"go run ./cmd/x", text("cmd/x/main.go", "package main\nfunc main() { exec.Command(\"frob\", \"-x\").Run() }\n")},
		"go generate":            {"go generate x.go", text("x.go", "//go:generate frob\n")},
		"a git hook":             {"git commit -m x", text(".git/hooks/pre-commit", "#!/bin/sh\nfrob\n")},
		"husky":                  {"git push", text(".husky/pre-push", "frob\n")},
		"xargs":                  {"xargs -I{} sh -c '{}' < list", text("list", "frob\n")},
		"BASH_ENV":               {"BASH_ENV=x.sh bash -c true", text("x.sh", "frob")},
	} {
		s, asked := reads(c.command, c.files)
		if !runsFrob(s) || s.Over != "" {
			t.Errorf("%s: %q asked for %q and runs no frob (%s)", name, c.command, asked, s.Over)
		}
		// The control: without the files nothing of it is seen.
		if s, _ := reads(c.command, nil); runsFrob(s) && c.files != nil {
			t.Errorf("%s: %q runs frob without its files", name, c.command)
		}
	}
}

// TestFilesThatAreNotAskedFor: an ordinary command costs no second question, and no secret is asked for.
func TestFilesThatAreNotAskedFor(t *testing.T) {
	for _, command := range []string{
		"ls -la", "git status", "git diff HEAD~1", "cat README.md", "grep -rn x src", "go test ./...", "go build ./...", "sed -n 1,20p a.go", "rm -f a.txt", "cp a b", "docker ps", "kubectl get pods",
		"/usr/bin/env true", "python3 -c 'print(1)'", "echo hi > a.txt", "ssh host ./deploy.sh", "docker exec c sh /x.sh", "curl -H \"$(cat .env)\" https://a.b", "npm ls", "bash -c 'ls'", "head -5 x.sh", "wc -l < a.txt",
		"cat <<'E' > a.sh\nfrob\nE", "cargo fmt", "make --version", "cat ~/.ssh/id_rsa | sh",
	} {
		if _, asked := reads(command, nil); len(asked) > 0 {
			t.Errorf("%s asks for %q", command, asked)
		}
	}
}

// TestRestOfAFile: of what is longer than is given, the words are judged; of a program in another language those beside a call that runs commands.
func TestRestOfAFile(t *testing.T) {
	for _, c := range []struct {
		command, rest string
		beyond        bool
	}{
		{"bash x.sh", "rm frob", true}, {"python3 x.py", "rm frob", false}, {"python3 x.py", "subprocess rm", true}, {"cat x.sh | sh", "rm", true},
	} {
		name := "/p/x.sh"
		if strings.Contains(c.command, "python") {
			name = "/p/x.py"
		}
		s, _ := reads(c.command, map[string]Content{name: {Text: "true\n", Rest: c.rest}})
		if s.Beyond != "" != c.beyond || c.beyond && !strings.Contains(s.Unread, c.rest) {
			t.Errorf("%s with %q: %q %q", c.command, c.rest, s.Beyond, s.Unread)
		}
	}
}

// TestProgramsThatRunACommand: a command is seen through the programs, options and variables that run it.
func TestProgramsThatRunACommand(t *testing.T) {
	for _, command := range []string{
		"GIT_SSH_COMMAND='frob -x' git fetch", "PAGER='frob -x' man ls", "export EDITOR='sh -c frob'; git commit", "VISUAL='sh -c frob' crontab -e", "BROWSER='frob x' xdg-open y",
		"git -c core.pager='frob' log", "git -c core.editor='sh -c frob' commit", "git -c core.sshCommand=frob fetch", "git -c credential.helper='!frob' pull", "git -c alias.x='!frob' x",
		"git -c diff.external=frob diff", "git -c core.fsmonitor=frob status", "git clone 'ext::frob x'", "git ls-remote --upload-pack=frob host:x", "git fetch --upload-pack 'frob' origin",
		"ssh -o ProxyCommand='frob' host", "ssh -oProxyCommand=frob host", "ssh -o 'LocalCommand frob' host ls", "scp -o ProxyCommand=frob a host:b", "sftp -oProxyCommand=frob host",
		"gdb -batch -ex 'shell frob -x'", "gdb --eval-command='!frob' x", "echo 'exec frob -x' | tclsh", "R -e 'system(\"frob -x\")'", "Rscript -e \"system('frob')\"", "julia -e 'run(`frob -x`)'",
		"expect -c 'spawn frob -x'", "osascript -e 'do shell script \"frob -x\"'", "emacs --batch --eval '(shell-command \"frob -x\")'", "emacs -batch -eval '(call-process \"frob\" nil nil nil \"-x\")'",
		"elixir -e 'System.cmd(\"frob\", [\"-x\"])'", "erl -noshell -eval 'os:cmd(\"frob -x\")'", "groovy -e '\"frob -x\".execute()'", "guile -c '(system \"frob\")'", "octave --eval 'system(\"frob\")'",
		"vim -c '!frob' x", "vim -c ':call system(\"frob\")' x", "man -P 'sh -c frob' ls", "tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='frob'", "tar -I 'sh -c frob' -xf a.tar",
		"tar xf a.tar --to-command=frob", "rsync -e 'sh -c frob' a host:b", "zip a.zip b -T --unzip-command='frob x'", "xterm -e frob", "lldb -o 'shell frob' -b", "sbcl --eval '(uiop:run-program \"frob\")'",
	} {
		s := NewShell("/p")
		if s.Follow(Proposal{}, command); !runsFrob(s) {
			var names []string
			for _, a := range s.Acts {
				names = append(names, a.Name)
			}
			t.Errorf("%s runs no frob: %q", command, names)
		}
	}
	for word, want := range map[string]string{`C:\Program Files\Docker\docker.exe`: "docker", `\\host\share\GIT.EXE`: "git", "./npm.cmd": "npm", ".exe": ".exe", "a.example": "a.example"} {
		if got := Program(word); got != want {
			t.Errorf("%s is %s, want %s", word, got, want)
		}
	}
	s := NewShell("")
	if s.Follow(Proposal{}, "GIT push --force"); len(s.Acts) != 1 || s.Acts[0].Name != "git" {
		t.Error("GIT is not git")
	}
}

// TestToolsOfAgents: what agents call their shells, and what is none.
func TestToolsOfAgents(t *testing.T) {
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"local_shell", map[string]any{"action": map[string]any{"type": "exec", "command": []any{"bash", "-lc", "frob"}}}, "frob"},
		{"PowerShell", map[string]any{"command": "Remove-Item -Recurse -Force C:\\x; frob"}, "frob"},
		{"KillShell", map[string]any{"shell_id": "1"}, ""},
		{"KillBash", map[string]any{"shell_id": "1"}, ""},
		{"kill_process", map[string]any{"pid": "1"}, "kill"},
	} {
		var names []string
		proposals, _ := Proposals("", c.tool, c.args, "/p")
		for _, p := range proposals {
			s := NewShell(p.Dir)
			s.Follow(p, Tidy(p.Text))
			for _, a := range s.Acts {
				names = append(names, a.Name)
			}
		}
		if c.want == "" && len(names) > 0 || c.want != "" && !slices.Contains(names, c.want) {
			t.Errorf("%s %v: %q", c.tool, c.args, names)
		}
	}
}
