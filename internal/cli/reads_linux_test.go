package cli_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/rounds"
)

// TestFilesAreReadOnce: a verb opens each file of a project once, kustomize and the generators included. What it
// replaces it opens once more, to see whether it is still the same. The kernel counts. Other programs, which read by
// themselves, are not there.
func TestFilesAreReadOnce(t *testing.T) {
	const webhook, kind = " webhook --group batch --version v1 --kind CronJob --no-typecheck", " api --group batch --version v1 --no-typecheck --kind "
	verbs := []string{
		"generate --check", "generate", "deploy --print", "deploy --dry-run", "undeploy --dry-run", "helm --dry-run", "tools link",
		"install", "uninstall --dry-run", "image build --tag op:v1", "test", "kustomize build config/default", "controller-gen object paths=./...",
		"create" + kind + "Captain --resource --controller --dry-run", "delete" + kind + "CronJob --dry-run",
		"create" + webhook + " --defaulting --dry-run", "delete" + webhook + " --dry-run", "delete" + webhook + " --make=false --with-changes",
		"edit --enable network-policy --dry-run --no-typecheck", "edit --enable network-policy --no-typecheck",
		"edit --multigroup --dry-run --no-typecheck", "edit --license none --dry-run",
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, project := range map[string]func(t *testing.T, root string){
		"slipway": func(t *testing.T, root string) {
			if err := os.CopyFS(root, os.DirFS(filepath.Join(here, "../../examples/cronjob"))); err != nil {
				t.Fatal(err)
			}
		},
		"kubebuilder": func(t *testing.T, root string) { extract(t, here+"/testdata/script/edit/commented.txtar", "", root) },
		"other": func(t *testing.T, root string) {
			extract(t, here+"/testdata/script/create/code_places.txtar", "op/", root)
		},
	} {
		t.Run(name, func(t *testing.T) {
			vars, err := goEnv()
			if err != nil {
				t.Fatal(err)
			}
			for _, variable := range vars {
				key, value, _ := strings.Cut(variable, "=")
				t.Setenv(key, value)
			}
			t.Setenv("PATH", t.TempDir())
			t.Setenv("HOME", t.TempDir())
			t.Setenv("SLIPWAY_CACHE", t.TempDir())
			t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
			some := len(verbs)
			if name == "slipway" { // whose generators read the libraries' code each time
				some = rounds.Of(some, 3)
			}
			for _, verb := range verbs[:some] {
				root := t.TempDir()
				project(t, root)
				t.Chdir(root)
				before := contents(t, root)
				opened := opens(t, root, func() {
					var out bytes.Buffer // some cannot do their work here, when they have read what they need
					cli.Main(t.Context(), cli.Env{Args: strings.Fields(verb), Dir: root, Getenv: os.Getenv, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out})
				})
				if len(opened) == 0 && name == "slipway" {
					t.Errorf("slipway %s reads nothing", verb)
				}
				for file, times := range opened {
					most := 1
					if now, _ := os.ReadFile(filepath.Join(root, file)); !bytes.Equal(now, before[file]) { // none where it is gone
						most = 2
					}
					if times > most {
						t.Errorf("slipway %s opens %s %d times", verb, file, times)
					}
				}
			}
		})
	}
}

// contents are those of all files below a folder.
func contents(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[name], err = os.ReadFile(filepath.Join(root, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// extract writes the files of a script that lie below a folder.
func extract(t *testing.T, script, folder, root string) {
	t.Helper()
	archive, err := txtar.ParseFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if name, is := strings.CutPrefix(f.Name, folder); is {
			file := filepath.Join(root, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, f.Data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// opens counts how often each file below a folder is opened while work goes on. All of them are an hour old: the times
// of new ones do not tell later changes.
func opens(t *testing.T, root string, work func()) map[string]int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	folders := map[int32]string{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return errors.Join(err, os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
		}
		watched, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN|unix.IN_CLOSE) // equal events in a row would become one
		folders[int32(watched)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	work()
	opened, buffer := map[string]int{}, make([]byte, 1<<16)
	for {
		n, err := unix.Read(fd, buffer)
		if errors.Is(err, unix.EAGAIN) {
			return opened
		}
		if err != nil {
			t.Fatal(err)
		}
		for rest := buffer[:n]; len(rest) > 0; {
			folder, mask, length := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:]), binary.NativeEndian.Uint32(rest[12:])
			name := string(bytes.TrimRight(rest[unix.SizeofInotifyEvent:][:length], "\x00"))
			rest = rest[unix.SizeofInotifyEvent+length:]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				t.Fatal("more was opened than the kernel keeps")
			}
			if file, err := filepath.Rel(root, filepath.Join(folders[folder], name)); err == nil && mask&unix.IN_OPEN != 0 && mask&unix.IN_ISDIR == 0 {
				opened[file]++
			}
		}
	}
}
