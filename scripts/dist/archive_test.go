package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	moment  = time.Date(2026, 11, 21, 20, 1, 30, 0, time.UTC)
	entries = []entry{
		{name: "skillrouter", mode: 0o755, text: []byte("program")},
		{name: "README.md", mode: 0o644, text: []byte("# Read me\n")},
		{name: "man/man1/skillrouter.1", mode: 0o644, text: []byte(".TH")},
	}
)

// TestArchivesAreReproducible: neither the order of what is packed nor the zone of its time shows in the bytes, and what is packed does.
func TestArchivesAreReproducible(t *testing.T) {
	for name, write := range map[string]func(io.Writer, string, time.Time, []entry) error{"tar": writeTar, "zip": writeZip} {
		t.Run(name, func(t *testing.T) {
			pack := func(at time.Time, list []entry) []byte {
				var b bytes.Buffer
				if err := write(&b, "skillrouter_1", at, list); err != nil {
					t.Fatal(err)
				}
				return b.Bytes()
			}
			want := pack(moment, entries)
			other := slices.Clone(entries)
			slices.Reverse(other)
			if !bytes.Equal(want, pack(moment.In(time.FixedZone("", 3*3600)).Add(200*time.Millisecond), other)) {
				t.Error("the same content in another order, told by another clock, is packed otherwise")
			}
			other[0].text = []byte("changed")
			if bytes.Equal(want, pack(moment, other)) || bytes.Equal(want, pack(moment.Add(time.Hour), entries)) {
				t.Error("other content is packed as the same bytes: the comparison says nothing")
			}
		})
	}
}

// TestTar: what unpacks has the modes, and nobody's name.
func TestTar(t *testing.T) {
	var b bytes.Buffer
	if err := writeTar(&b, "skillrouter_1", moment, entries); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		if header.Uid != 0 || header.Uname != "" || !header.ModTime.Equal(moment) {
			t.Errorf("%s is of %d %q at %s", header.Name, header.Uid, header.Uname, header.ModTime)
		}
		if program := strings.HasSuffix(header.Name, "/skillrouter"); program != (header.Mode == 0o755) {
			t.Errorf("%s has mode %o", header.Name, header.Mode)
		}
	}
	if want := []string{"skillrouter_1/README.md", "skillrouter_1/man/man1/skillrouter.1", "skillrouter_1/skillrouter"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// TestZip: Windows' archive can be read, and says UTC.
func TestZip(t *testing.T) {
	var b bytes.Buffer
	if err := writeZip(&b, "skillrouter_1", moment, entries); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		if !f.Modified.Equal(moment) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
	}
}

// TestContent: each platform's package has what belongs to it, and nothing tells of the machine that made it.
func TestContent(t *testing.T) {
	b := &builder{root: "../..", name: "1.0.0", at: moment}
	for _, test := range []struct {
		platform    platform
		want, never []string
	}{
		{platform{"linux", "amd64"}, []string{"systemd/user/skillrouter.service", "systemd/system/skillrouter.service", "man/man1/skillrouter-serve.1", "install.sh"}, []string{"launchd"}},
		{platform{"darwin", "arm64"}, []string{"launchd/dev.skillrouter.plist", "man/man1/skillrouter.1", "install.sh"}, []string{"systemd"}},
		{platform{"windows", "amd64"}, []string{"completions/powershell/skillrouter.ps1"}, []string{"man/", "systemd", "launchd", "install.sh"}},
	} {
		t.Run(test.platform.String(), func(t *testing.T) {
			content, err := b.content(test.platform)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]string{}
			for _, e := range content {
				if _, twice := seen[e.name]; twice {
					t.Errorf("%s is there twice", e.name)
				}
				seen[e.name] = string(e.text)
				for _, never := range test.never {
					if strings.HasPrefix(e.name, never) {
						t.Errorf("%s is not for %s", e.name, test.platform)
					}
				}
			}
			for _, want := range append(test.want, "README.md", "CHANGELOG.md", "LICENSE", "docs/first-run.md", "completions/bash/skillrouter", "completions/zsh/_skillrouter", "completions/fish/skillrouter.fish") {
				if seen[want] == "" {
					t.Errorf("there is no %s", want)
				}
			}
			if page := seen["man/man1/skillrouter-serve.1"]; page != "" && (!strings.Contains(page, "Nov 2026") || strings.Contains(page, t.TempDir()) || strings.Contains(page, "/root/")) {
				t.Errorf("the man page is not of the commit's month, or holds a path of this machine:\n%.400s", page)
			}
		})
	}
}
