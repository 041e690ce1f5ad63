package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// compareBuilds makes the package of a platform from two clones that lie in
// folders of different names and depths, and fails unless both are the same,
// byte for byte, and know no path of this machine. With fresh the second has
// no build cache to take from.
func compareBuilds(ctx context.Context, p platform, fresh bool) error {
	here, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "skillrouter-dist-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var packages [2][]byte
	for i, place := range []string{filepath.Join(dir, "a"), filepath.Join(dir, "another", "place")} {
		if err := clone(ctx, place); err != nil {
			return err
		}
		cache := ""
		if i == 1 && fresh {
			cache = filepath.Join(dir, "cache")
		}
		b, err := newBuilder(ctx, place, "", cache)
		if err != nil {
			return err
		}
		for _, name := range programs {
			program, err := b.compile(ctx, p, name)
			if err != nil {
				return err
			}
			for _, path := range []string{dir, here, os.Getenv("HOME") + "/"} {
				if len(path) > len("/x/") && bytes.Contains(program, []byte(path)) {
					return fmt.Errorf("%s holds this machine's %s", name, path)
				}
			}
		}
		name, text, err := b.pack(ctx, p)
		if err != nil {
			return err
		}
		packages[i] = text
		fmt.Printf("%x  %s, from %s\n", sha256.Sum256(text), name, place)
	}
	if !bytes.Equal(packages[0], packages[1]) {
		return errors.New("two builds of one commit differ")
	}
	fmt.Println("Both are the same, byte for byte.")
	return nil
}
