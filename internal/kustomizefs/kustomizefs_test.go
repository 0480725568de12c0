//go:build unix

package kustomizefs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/kustomizefs"
)

// bomb is a mapping of lists of which each has nine times the one before it.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("l0: &l0 [text, text, text, text, text, text, text, text, text]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), ", "))
	}
	return b.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

func wide(text string) string {
	b := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

func read(t *testing.T, disk *kustomizefs.Disk, name, text string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := disk.ReadFile(path)
	if err == nil && string(got) != text {
		t.Errorf("%s: another text was read", name)
	}
	return err
}

// TestBombs: whatever way aliases are put into a file, it is not read.
func TestBombs(t *testing.T) {
	quoted := strings.NewReplacer("&", `\x26`, "*", `\u002a`, "\n", `\n`).Replace(bomb(9))
	for name, text := range map[string]string{
		"plain": bomb(9), "second document": "a: b\n---\n" + bomb(9), "after a mistake": "a: [\n---\n" + bomb(9),
		"in a patch": "patches:\n- patch: |-\n" + indented(bomb(9)), "in a quoted patch": `patches: [{patch: "` + quoted + `"}]`,
		"in a patch in a patch": "transformers:\n- |-\n  patch: |-\n" + indented(indented(bomb(9))),
		"a patch often":         "a: &a |-\n" + indented(bomb(5)) + "\nb: &b [" + strings.Repeat("*a, ", 99) + "]\nc: [" + strings.Repeat("*b, ", 99) + "]\n",
		"long text":             "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a, *a, *a, *a, *a]\n",
		"itself":                "a: &a [*a]\n", "wide": wide(bomb(9)),
	} {
		disk := kustomizefs.Over(filesys.MakeFsOnDisk())
		if err := read(t, disk, "kustomization.yaml", text); !errors.Is(err, kustomizefs.ErrAliases) || !errors.Is(disk.Exceeded(), kustomizefs.ErrAliases) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHarmless: aliases as people use them, and signs that are none.
func TestHarmless(t *testing.T) {
	disk := kustomizefs.Over(filesys.MakeFsOnDisk())
	for name, text := range map[string]string{
		"labels": "a: &labels {app: x, tier: y}\nb:\n  <<: *labels\nc: *labels\n", "signs": "a: b && c\nd: '*'\ne: \"\\x41 &a *b\"\n", "no YAML": "&a: [*b {{\n", "empty": "", "some": bomb(3),
	} {
		if err := read(t, disk, name, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if disk.Exceeded() != nil {
		t.Error(disk.Exceeded())
	}
}

// TestSizes: files that are too large, too many or none are not read.
func TestSizes(t *testing.T) {
	dir := t.TempDir()
	huge, pipe, small := filepath.Join(dir, "huge"), filepath.Join(dir, "pipe"), filepath.Join(dir, "small")
	for _, err := range []error{os.WriteFile(huge, nil, 0o644), os.Truncate(huge, 33<<20), syscall.Mkfifo(pipe, 0o644), os.WriteFile(small, make([]byte, 1<<20), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	disk := kustomizefs.Over(filesys.MakeFsOnDisk())
	if _, err := disk.ReadFile(huge); !errors.Is(err, kustomizefs.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := disk.ReadFile(pipe); err == nil {
		t.Error("a pipe was read")
	}
	if _, err := disk.ReadFile(filepath.Join(dir, "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	reads := 0
	for ; reads < 100; reads++ {
		if _, err := disk.ReadFile(small); err != nil {
			break
		}
	}
	if reads != 64 {
		t.Errorf("%d megabytes were read", reads)
	}
}

// TestReads: folders that include each other again and again are read a limited number of times.
func TestReads(t *testing.T) {
	small := filepath.Join(t.TempDir(), "kustomization.yaml")
	if err := os.WriteFile(small, []byte("resources: [a, b]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	disk := kustomizefs.Over(filesys.MakeFsOnDisk())
	for range 10_000 {
		if _, err := disk.ReadFile(small); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := disk.ReadFile(small); !errors.Is(err, kustomizefs.ErrTooMuch) {
		t.Error(err)
	}
}

// FuzzReadFile: no text makes it fail in another way, or take long.
func FuzzReadFile(f *testing.F) {
	for _, text := range []string{bomb(3), "a: &a [*a]", "a: \"\\x26\"", wide("a: &a b\nc: *a"), "a: b\n---\n&a *a"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "file")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := kustomizefs.Over(filesys.MakeFsOnDisk()).ReadFile(path); err != nil && !errors.Is(err, kustomizefs.ErrAliases) {
			t.Error(err)
		}
	})
}
