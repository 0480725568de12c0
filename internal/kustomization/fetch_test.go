//go:build unix

package kustomization

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/kustomizefs"
)

// TestBuildRunsNothing: git, which fetches the bases that are addresses, runs no program that a kustomization names,
// whoever names the base.
func TestBuildRunsNothing(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	canary := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "x.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+canary+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		base   string
		option bool
	}{
		"ref":       {"file:///x/y?ref=--upload-pack=" + program, true},
		"version":   {"file:///x/y//z?version=%2D-upload-pack=" + program, true},
		"elsewhere": {"ssh://git@localhost/x/y?timeout=1s&ref=--upload-pack=" + program, true},
		"file":      {"file:///x/y?ref=v1", false},
	} {
		for _, kind := range []string{"resources", "components", "bases"} {
			t.Run(name+" in "+kind, func(t *testing.T) {
				ctx, end := kustomizefs.Online(t.Context(), func(string) {})
				defer end()
				_, err := Kustomization{Folder: unpack(t, "-- kustomization.yaml --\n"+kind+": [\""+c.base+"\"]\n")}.Build(ctx)
				if err == nil || errors.Is(err, kustomizefs.ErrOption) != c.option {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	t.Run("what git itself refuses", func(t *testing.T) { // as in a base that was fetched, which kustomize reads
		said, err := kustomizefs.Await(t.Context(), kustomizefs.Over(filesys.MakeFsOnDisk()), exec.Command("git", "ls-remote", "--upload-pack="+program, "file:///x/y").CombinedOutput)
		if err == nil {
			t.Errorf("it was fetched: %s", said)
		}
	})
	if _, err := os.Stat(canary); err == nil {
		t.Error("a program was run")
	}
	if value, set := os.LookupEnv("GIT_ALLOW_PROTOCOL"); set {
		t.Errorf("it stays set: %s", value)
	}
}
