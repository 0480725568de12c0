package generate_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

// remembering makes a project whose last run is remembered.
func remembering(t *testing.T) (dir string, o generate.Options) {
	t.Helper()
	dir = project(t)
	write(t, dir, "hack/header.txt", "// Owned by YEAR.\n")
	o = options(dir)
	o.Uses[0].Options = "headerFile=hack/header.txt,year=2026"
	o.Cache = t.TempDir()
	for range 2 { // the first one makes folders, which the second one finds
		mustRun(t, o)
	}
	if !mustRun(t, o).Recalled {
		t.Fatal("a third run does everything again")
	}
	return dir, o
}

func mustRun(t *testing.T, o generate.Options) generate.Result {
	t.Helper()
	result, err := generate.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestRecalledIsTheSame: a run in which nothing changed tells what the last one told.
func TestRecalledIsTheSame(t *testing.T) {
	dir, o := remembering(t)
	write(t, dir, "api/v1/types.go", strings.Replace(types, "MaxLength=10", "MaxLenght=10", 1))
	o.Lenient = true
	told := mustRun(t, o)
	if told.Recalled || len(told.Findings) != 1 {
		t.Fatalf("recalled %v, findings %v; want a new run that finds the mistake", told.Recalled, told.Findings)
	}
	again := mustRun(t, o)
	if !again.Recalled || !slices.Equal(again.Findings, told.Findings) {
		t.Errorf("recalled %v, findings %v; want %v", again.Recalled, again.Findings, told.Findings)
	}
	if len(again.Files) != len(told.Files) {
		t.Errorf("%d files, want %d", len(again.Files), len(told.Files))
	}
	for i, f := range again.Files {
		if f.Path != told.Files[i].Path || f.Action != report.Unchanged {
			t.Errorf("file %d: %s %s, want %s unchanged", i, f.Action, f.Path, told.Files[i].Path)
		}
	}
}

// TestNothingStaleIsRecalled changes one thing at a time that the result depends
// on; the next run must see it.
func TestNothingStaleIsRecalled(t *testing.T) {
	change := map[string]func(t *testing.T, dir string, o *generate.Options){
		"a type": func(t *testing.T, dir string, _ *generate.Options) {
			write(t, dir, "api/v1/types.go", strings.Replace(types, "Name string", "Nome string", 1)) // as long as before
		},
		"a type, with its old time": func(t *testing.T, dir string, _ *generate.Options) {
			path := filepath.Join(dir, "api/v1/types.go")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "api/v1/types.go", strings.Replace(types, "MaxLength=10", "MaxLength=11", 1))
			if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"a file replaced by an older one": func(t *testing.T, dir string, _ *generate.Options) {
			path := filepath.Join(dir, "api/v1/types.go")
			write(t, dir, "older", strings.Replace(types, "MaxLength=10", "MaxLength=11", 1))
			info, err := os.Stat(path)
			if err == nil {
				err = os.Chtimes(filepath.Join(dir, "older"), time.Time{}, info.ModTime())
			}
			if err == nil {
				err = os.Rename(filepath.Join(dir, "older"), path)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"a new file": func(t *testing.T, dir string, _ *generate.Options) {
			write(t, dir, "api/v1/more.go", "package v1\n\n// +kubebuilder:rbac:groups=a,resources=b,verbs=get\n")
		},
		"a new package": func(t *testing.T, dir string, _ *generate.Options) { write(t, dir, "api/v2/types.go", "package v2\n") },
		"a new module":  func(t *testing.T, dir string, _ *generate.Options) { write(t, dir, "more/go.mod", "module more\n") },
		"a removed file": func(t *testing.T, dir string, _ *generate.Options) {
			remove(t, dir, "internal/controller/controller.go")
		},
		"go.mod":  func(t *testing.T, dir string, _ *generate.Options) { appendTo(t, dir, "go.mod", "\n") },
		"go.work": func(t *testing.T, dir string, _ *generate.Options) { write(t, dir, "go.work", "go 1.26\nuse .\n") },
		"vendor":  func(t *testing.T, dir string, _ *generate.Options) { write(t, dir, "vendor/modules.txt", "") },
		"the header": func(t *testing.T, dir string, _ *generate.Options) {
			appendTo(t, dir, "hack/header.txt", "// And you.\n")
		},
		"an edited output":  func(t *testing.T, dir string, _ *generate.Options) { appendTo(t, dir, outputs[1], "# mine\n") },
		"an edited Go file": func(t *testing.T, dir string, _ *generate.Options) { appendTo(t, dir, outputs[0], "// mine\n") },
		"a deleted output":  func(t *testing.T, dir string, _ *generate.Options) { remove(t, dir, outputs[2]) },
		"a variable":        func(t *testing.T, _ string, _ *generate.Options) { t.Setenv("GOFLAGS", "-tags=special") },
		"the go command": func(t *testing.T, dir string, _ *generate.Options) {
			write(t, dir, "path/go", "#!/bin/sh\nexit 1\n")
			if err := os.Chmod(filepath.Join(dir, "path/go"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", filepath.Join(dir, "path"))
			t.Setenv("GOROOT", "/nowhere")
		},
		"plurals": func(t *testing.T, dir string, _ *generate.Options) {
			write(t, dir, "inflections.json", `{"widget": "widgetry"}`)
			t.Setenv("INFLECT_PATH", filepath.Join(dir, "inflections.json"))
		},
		"plurals in the working folder": func(t *testing.T, _ string, _ *generate.Options) {
			dir := t.TempDir()
			write(t, dir, "inflections.json", `{"widget": "widgetry"}`)
			t.Chdir(dir)
		},
		"the C compiler": func(t *testing.T, _ string, _ *generate.Options) { t.Setenv("CC", "tcc") },
		"no C compiler": func(t *testing.T, _ string, _ *generate.Options) {
			_, gcc := exec.LookPath("gcc")
			_, clang := exec.LookPath("clang")
			if gcc != nil && clang != nil {
				t.Skip("there is none")
			}
			dir := t.TempDir()
			program, err := exec.LookPath("go")
			if err == nil {
				program, err = filepath.EvalSymlinks(program)
			}
			if err == nil {
				err = os.Symlink(program, filepath.Join(dir, "go"))
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir)
		},
		"the program, with its old size and time": func(t *testing.T, _ string, _ *generate.Options) {
			path, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"tags":        func(_ *testing.T, _ string, o *generate.Options) { o.Tags = []string{"a"} },
		"no tags":     func(_ *testing.T, _ string, o *generate.Options) { o.Tags = []string{} },
		"an option":   func(_ *testing.T, _ string, o *generate.Options) { o.Uses[2].Options = "roleName=other" },
		"an output":   func(_ *testing.T, _ string, o *generate.Options) { o.Uses[1].Output.Config = "crds" },
		"a generator": func(_ *testing.T, _ string, o *generate.Options) { o.Uses = o.Uses[:2] },
		"paths":       func(_ *testing.T, _ string, o *generate.Options) { o.Paths = []string{"./api/..."} },
		"version":     func(_ *testing.T, _ string, o *generate.Options) { o.Version = "slipway-v2" },
		"lenience":    func(_ *testing.T, _ string, o *generate.Options) { o.Lenient = true },
		"a damaged manifest": func(t *testing.T, _ string, o *generate.Options) {
			files, err := filepath.Glob(filepath.Join(o.Cache, "*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, f := range files {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				data[len(data)/2] ^= 1
				if err := os.WriteFile(f, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
		"forgotten": func(t *testing.T, _ string, o *generate.Options) {
			if err := mustRun(t, *o).Forget(); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, apply := range change {
		t.Run(name, func(t *testing.T) {
			dir, o := remembering(t)
			apply(t, dir, &o)
			recalled, err := generate.Run(t.Context(), o)
			if recalled.Recalled {
				t.Fatal("it was not seen")
			}
			o.Cache = ""
			fresh, freshErr := generate.Run(t.Context(), o)
			if (err == nil) != (freshErr == nil) || len(recalled.Files) != len(fresh.Files) {
				t.Fatalf("%d files, %v; without a cache %d, %v", len(recalled.Files), err, len(fresh.Files), freshErr)
			}
			for i, f := range fresh.Files {
				if !bytes.Equal(f.Content, recalled.Files[i].Content) {
					t.Errorf("%s differs from what a run without a cache makes", f.Path)
				}
			}
		})
	}
}

// TestNothingIsRemembered: what cannot be told again is done again.
func TestNothingIsRemembered(t *testing.T) {
	for name, change := range map[string]func(o *generate.Options){
		"printed":  func(o *generate.Options) { o.Uses[2].Output.To = generate.ToStdout },
		"dry run":  func(o *generate.Options) { o.DryRun, o.Version = true, "slipway-v2" },
		"no cache": func(o *generate.Options) { o.Cache = "" },
	} {
		t.Run(name, func(t *testing.T) {
			_, o := remembering(t)
			change(&o)
			for range 3 {
				if mustRun(t, o).Recalled {
					t.Error("recalled")
				}
			}
		})
	}
}

// TestMistakesAreNotRemembered: a run that failed is done again.
func TestMistakesAreNotRemembered(t *testing.T) {
	dir, o := remembering(t)
	write(t, dir, "api/v1/broken.go", "package v1\n\ntype (\n")
	for range 3 {
		if result := mustRun(t, o); result.Recalled || !result.Failed() {
			t.Errorf("recalled %v, failed %v", result.Recalled, result.Failed())
		}
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, dir, name, text string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, string(data)+text)
}
