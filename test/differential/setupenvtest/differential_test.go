package setupenvtest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
)

// sides are both tools, built.
type sides struct{ ours, peer string }

func newSides(t *testing.T) sides {
	t.Helper()
	dir := t.TempDir()
	slipway, err := build.Slipway(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := peerProgram(t.Context(), filepath.Join(dir, "peer"))
	if err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(dir, "setup-envtest") // a name that slipway answers to
	if err := os.Symlink(slipway, ours); err != nil {
		t.Fatal(err)
	}
	return sides{ours: ours, peer: peer}
}

// A step is a command line; its words are separated by spaces.
type step struct {
	words string
	stdin []byte
	env   string
	wordy bool // what it says differs: only its status counts
}

// TestSameSteps runs one history on both, each in a folder of its own.
func TestSameSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	tools := newSides(t)
	archive := programs(t, "controller-tools/envtest/")
	history := []step{
		{words: "list -i"},
		{words: "use -i"},
		{words: "use -i 1.30.x"},
		{words: "cleanup"},
		{words: "sideload 1.30.2", stdin: archive},
		{words: "sideload 1.30.4 -p path", stdin: archive},
		{words: "sideload --os darwin --arch arm64 1.29.0 -p env", stdin: archive},
		{words: "list -i"},
		{words: "list -i --os * --arch *"},
		{words: "list -i 1.30.4 --os=* --arch=amd64"},
		{words: "use -i"},
		{words: "-i use latest -p path"},
		{words: "use latest-on-disk"},
		{words: "use -i 1.30.x!"},
		{words: "use 1.30.2 -p env"},
		{words: "use 1.30"},
		{words: "use ~1.30.1 --print=path"},
		{words: "use <1.30.4 -p path"},
		{words: "use <=1.30.4 -p path"},
		{words: "use -p path 1.30.*"},
		{words: "use -i 1.29.0"},
		{words: "use -i --os darwin --arch arm64 1.29.0 -p path"},
		{words: "use --use-env", env: "KUBEBUILDER_ASSETS=/else/where/1.28.3-linux-s390x"},
		{words: "use", env: "ENVTEST_USE_ENV=1 KUBEBUILDER_ASSETS=/else/where/1.28.3-linux-s390x"},
		{words: "use --use-env -p path", env: "KUBEBUILDER_ASSETS=bin/k8s/../k8s/1.30.2-linux-amd64"},
		{words: "use --use-env -i 1.30.2", env: "KUBEBUILDER_ASSETS=/no/programs"},
		{words: "use 1.31", env: "ENVTEST_INSTALLED_ONLY=1"},
		{words: "sideload 1.30.9", stdin: []byte("no archive")},
		{words: "sideload 1.30", stdin: archive},
		{words: "sideload", stdin: archive},
		{words: "sideload --os * 1.30.2", stdin: archive},
		{words: "cleanup <1.30 --os * --arch *"},
		{words: "cleanup 1.30.x"},
		{words: "list -i --os * --arch *"},
		{words: "version", wordy: true},
		{words: "-h", wordy: true},
		{words: ""}, {words: "frobnicate"}, {words: "use one"}, {words: "use v1.30.2"}, {words: "use 1.30 1.31 1.32"},
		{words: "use -p folder"}, {words: "use -v loud"}, {words: "use --no-such-flag"}, {words: "use -i --force"},
		{words: "use -i --os * 1.30.2"}, {words: "list -i --os="}, {words: "list -i -v debug"}, {words: "list -i --verify=false --index http://localhost"},
	}
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for _, s := range history {
		t.Run(s.words, func(t *testing.T) {
			ours, peer := s.run(t, tools.ours, dirs[0]), s.run(t, tools.peer, dirs[1])
			if ours != peer {
				t.Errorf("ours:\n%s\npeer:\n%s", ours, peer)
			}
		})
		if t.Failed() {
			break // what follows counts on it
		}
	}
}

// run tells what came of the step: status, output, and what the folder holds then.
func (s step) run(t *testing.T, tool, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool, append([]string{"--bin-dir", "bin"}, strings.Fields(s.words)...)...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(s.stdin)
	cmd.Env = append(cmd.Environ(), "KUBEBUILDER_ASSETS=", "ENVTEST_USE_ENV=", "ENVTEST_INSTALLED_ONLY=")
	cmd.Env = append(cmd.Env, strings.Fields(s.env)...)
	out, err := cmd.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	if s.wordy {
		out = nil
	}
	return fmt.Sprintf("status %d\n%s\n%s", cmd.ProcessState.ExitCode(), out, tree(t, filepath.Join(dir, "bin")))
}

// tree lists the files below dir.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintln(&b, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

// programs is an archive as they are published: scripts stand for the programs.
func programs(t *testing.T, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	files := tar.NewWriter(zip)
	text := []byte("#!/bin/sh\n")
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if err := files.WriteHeader(&tar.Header{Name: folder + name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPeerFindsOurs: a project may go on using the tool it has, on the folder that ours has set up.
func TestPeerFindsOurs(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	tools, dir := newSides(t), t.TempDir()
	set := step{words: "use 1.37.x -p path"}.run(t, tools.ours, dir)
	found := step{words: "use -i 1.37.x -p path"}.run(t, tools.peer, dir)
	if set != found || !strings.HasPrefix(set, "status 0\nbin/k8s/1.37.") {
		t.Errorf("ours:\n%s\npeer:\n%s", set, found)
	}
	if removed := (step{words: "cleanup"}).run(t, tools.peer, dir); !strings.HasPrefix(removed, "status 0\nremoved 1.37.") {
		t.Errorf("cleanup: %s", removed)
	}
}

// peerProgram builds controller-runtime's setup-envtest.
func peerProgram(ctx context.Context, dir string) (string, error) {
	root, err := build.Root(ctx)
	if err != nil {
		return "", err
	}
	return build.Compile(ctx, filepath.Join(root, "test", "differential"), dir, "setup-envtest", "sigs.k8s.io/controller-runtime/tools/setup-envtest")
}
