//go:build unix

// Package packaging_test runs scripts/install.sh from packages that are made here, with stand-ins for the programs.
package packaging_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// standIn is installed in place of the program: it answers what install.sh asks.
const standIn = "#!/bin/sh\ncase $1 in version) echo skillrouter 1.0.0;; completion) echo \"# $2\";; *) exit 64;; esac\n"

// checksums is the file that names each package and its SHA-256, as sha256sum reads it.
const checksums = "SHA256SUMS"

// entry is a file of a package.
type entry struct{ name, text string }

// content is what a package holds beside the programs, as far as install.sh asks.
func content(t *testing.T) []entry {
	t.Helper()
	script, err := os.ReadFile("../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	entries := []entry{{"install.sh", string(script)}, {"man/man1/skillrouter-serve.1", ".TH"}}
	for _, name := range []string{"systemd/user/skillrouter.service", "launchd/dev.skillrouter.plist"} {
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{name, string(text)})
	}
	return entries
}

// archiveOf makes a package such as those of a release, with the program's stand-in.
func archiveOf(t *testing.T, dir, program string) string {
	t.Helper()
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for _, e := range append(content(t), entry{"skillrouter", program}, entry{"skillrouter-hook", standIn}) {
		if err := archive.WriteHeader(&tar.Header{Name: "skillrouter_1.0.0_linux_amd64/" + e.name, Mode: 0o755, Size: int64(len(e.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "skillrouter_1.0.0_linux_amd64.tar.gz")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sums := fmt.Sprintf("%x  %s\n", sha256.Sum256(text.Bytes()), filepath.Base(file))
	if err := os.WriteFile(filepath.Join(dir, checksums), []byte(sums), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// install runs an install.sh and returns what it prints and whether it succeeded.
func install(t *testing.T, script, home string, args ...string) (string, bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{script}, args...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	text, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	return string(text), err == nil
}

// TestInstallArchive installs a package from its archive: no network, no Go.
func TestInstallArchive(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	file := archiveOf(t, dir, standIn)
	text, ok := install(t, "../install.sh", home, "--archive", file)
	if !ok || !strings.Contains(text, "installed "+home+"/.local/bin/skillrouter") {
		t.Fatal(text)
	}
	for name, want := range map[string]string{
		"bin/skillrouter": standIn, "bin/skillrouter-hook": standIn, "share/bash-completion/completions/skillrouter": "# bash\n",
		"share/zsh/site-functions/_skillrouter": "# zsh\n", "share/fish/vendor_completions.d/skillrouter.fish": "# fish\n",
	} {
		if got, err := os.ReadFile(filepath.Join(home, ".local", name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(home, ".local/share/man/man1/skillrouter-serve.1")); err != nil {
		t.Error(err)
	}

	// From the unpacked package, over what is there, into a folder with a blank in its name.
	unpacked := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", file, "-C", unpacked).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	prefix := filepath.Join(t.TempDir(), "of mine")
	if text, ok := install(t, filepath.Join(unpacked, "skillrouter_1.0.0_linux_amd64/install.sh"), home, "--prefix", prefix); !ok {
		t.Error(text)
	}
	if _, err := os.Stat(filepath.Join(prefix, "bin/skillrouter")); err != nil {
		t.Error(err)
	}
}

// TestInstallRefuses: what is not what its checksum says, or does not run, leaves what is installed as it was.
func TestInstallRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil   func(t *testing.T, file string)
		program string
		args    []string
		says    string
	}{
		"other bytes": {spoil: func(t *testing.T, file string) {
			t.Helper()
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("x"); err != nil {
				t.Fatal(err)
			}
		}, says: "not what its checksum says"},
		"no checksums": {spoil: func(t *testing.T, file string) {
			t.Helper()
			if err := os.Remove(filepath.Join(filepath.Dir(file), checksums)); err != nil {
				t.Fatal(err)
			}
		}, says: "no SHA256SUMS"},
		"not named": {spoil: func(t *testing.T, file string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), checksums), []byte("0  other.tar.gz\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, says: "does not name"},
		"another sum":            {args: []string{"--sha256", strings.Repeat("0", 64)}, says: "not what its checksum says"},
		"for another platform":   {program: "#!/bin/sh\nexit 126\n", says: "does not run here"},
		"sum without an archive": {args: []string{"--sha256"}, says: "needs a value"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			installed := filepath.Join(home, ".local/bin/skillrouter")
			if err := os.MkdirAll(filepath.Dir(installed), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(installed, []byte("before"), 0o700); err != nil {
				t.Fatal(err)
			}
			program := standIn
			if test.program != "" {
				program = test.program
			}
			file := archiveOf(t, t.TempDir(), program)
			if test.spoil != nil {
				test.spoil(t, file)
			}
			text, ok := install(t, "../install.sh", home, append([]string{"--archive", file}, test.args...)...)
			if ok || !strings.Contains(text, test.says) {
				t.Errorf("%v: %s", ok, text)
			}
			got, err := os.ReadFile(installed)
			if err != nil || string(got) != "before" {
				t.Errorf("what was installed is %q now (%v)", got, err)
			}
			if left, err := filepath.Glob(installed + ".*"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestInstallService: the unit that --service writes starts the program that was installed, wherever it lies,
// and systemd is told of it. A stand-in notes what systemctl is asked.
func TestInstallService(t *testing.T) {
	for _, platform := range []struct{ system, tool, unit, want string }{
		{"Linux", "systemctl", ".config/systemd/user/skillrouter.service", "ExecStart=\"%s/bin/skillrouter\" serve\n"},
		{"Darwin", "launchctl", "Library/LaunchAgents/dev.skillrouter.plist", "<string>%s/bin/skillrouter</string>"},
	} {
		t.Run(platform.system, func(t *testing.T) {
			home, bin := t.TempDir(), t.TempDir()
			asked := filepath.Join(home, "asked")
			for name, text := range map[string]string{
				"uname": "#!/bin/sh\necho " + platform.system + "\n", platform.tool: "#!/bin/sh\necho \"$@\" >>" + asked + "\n",
			} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			unpacked := t.TempDir()
			for _, e := range append(content(t), entry{"skillrouter", standIn}) {
				path := filepath.Join(unpacked, e.name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(e.text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			prefix := filepath.Join(t.TempDir(), "R&D|x")
			if text, ok := install(t, filepath.Join(unpacked, "install.sh"), home, "--prefix", prefix, "--service"); !ok {
				t.Fatal(text)
			}
			unit, err := os.ReadFile(filepath.Join(home, platform.unit))
			if err != nil {
				t.Fatal(err)
			}
			path := prefix
			if platform.system == "Darwin" {
				path = strings.ReplaceAll(prefix, "&", "&amp;") // in XML
			}
			if want := fmt.Sprintf(platform.want, path); !strings.Contains(string(unit), want) {
				t.Errorf("the file has no %s:\n%s", want, unit)
			}
			if text, err := os.ReadFile(asked); err != nil || !strings.Contains(string(text), "skillrouter") {
				t.Errorf("%s was asked %q (%v)", platform.tool, text, err)
			}
		})
	}
}
