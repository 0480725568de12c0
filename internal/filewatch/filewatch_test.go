package filewatch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/filewatch"
)

// cases are changes of a project, and which files are reported.
var cases = map[string]func(w *watching){
	"save": func(w *watching) {
		w.save("api/types.go", "package one")
		w.expect("api/types.go")
	},
	"save by renaming": func(w *watching) {
		w.replace("api/types.go", "package two")
		w.expect("api/types.go")
	},
	"save as vim does": func(w *watching) {
		w.move("a.go", "a.go~")
		w.save("a.go", "package vim")
		w.must(os.Chmod(w.path("a.go"), 0o600))
		w.remove("a.go~")
		w.expect("a.go")
	},
	"new and removed files": func(w *watching) {
		w.save("api/b.go", "package b")
		w.expect("api/b.go")
		w.remove("api/b.go")
		w.expect("api/b.go")
	},
	"new nested folders": func(w *watching) {
		w.save("internal/new/deep.go", "package deep")
		w.save("internal/new.go", "package new")
		w.expect("internal/new/deep.go", "internal/new.go")
		w.save("internal/new/deep.go", "package deeper")
		w.expect("internal/new/deep.go")
	},
	"removed folders": func(w *watching) {
		w.remove("api")
		w.expect("api/types.go", "api/v1/more.go")
		w.save("api/v1/more.go", "package more")
		w.expect("api/v1/more.go")
	},
	"moved folder": func(w *watching) {
		w.move("api", "pkg")
		w.expect("api/types.go", "api/v1/more.go", "pkg/types.go", "pkg/v1/more.go")
		w.save("pkg/v1/more.go", "package moved")
		w.expect("pkg/v1/more.go")
		w.save("api/v1/more.go", "package new")
		w.expect("api/v1/more.go")
	},
	"folder for a file": func(w *watching) {
		w.remove("a.go")
		w.save("a.go/b.go", "package b")
		w.expect("a.go", "a.go/b.go")
	},
	"mode": func(w *watching) {
		w.must(os.Chmod(w.path("a.go"), 0o600))
		w.must(os.Chmod(w.path("api"), 0o700))
		w.expect()
	},
	"same bytes": func(w *watching) {
		w.save("a.go", "package two")
		w.expect("a.go")
		w.overwrite("a.go", "package two")
		w.expect()
		w.replace("a.go", "package two")
		w.expect()
		w.overwrite("a.go", "package one")
		w.expect("a.go")
	},
	"touch": func(w *watching) {
		w.save("a.go", "package two")
		w.expect("a.go")
		w.must(os.Chtimes(w.path("a.go"), time.Time{}, time.Now().Add(time.Hour)))
		w.expect()
	},
	"what does not matter": func(w *watching) {
		w.save("notes.md", "notes")
		w.save("bin/tool.go", "package tool")
		w.save("api/bin/tool.go", "package tool")
		w.must(os.Mkdir(w.path("empty"), 0o755))
		w.expect()
	},
	"links that lead out": func(w *watching) {
		outside := w.TempDir()
		w.must(os.WriteFile(filepath.Join(outside, "x.go"), []byte("package x"), 0o600))
		if err := os.Symlink(outside, w.path("link")); err != nil {
			w.Skip(err)
		}
		w.must(os.Symlink(filepath.Join(outside, "x.go"), w.path("link.go")))
		w.expect("link.go")
		w.must(os.WriteFile(filepath.Join(outside, "x.go"), []byte("package changed"), 0o600))
		w.expect()
	},
}

// eachWay runs a test with events and without.
func eachWay(t *testing.T, test func(w *watching)) {
	for name, poll := range map[string]bool{"events": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newWatching(t, poll))
		})
	}
}

func TestChanges(t *testing.T) {
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, func(w *watching) { change(w.begin()) })
		})
	}
}

// TestThroughALink: names begin with the folder as it was named.
func TestThroughALink(t *testing.T) {
	eachWay(t, func(w *watching) {
		link := filepath.Join(w.TempDir(), "link")
		if err := os.Symlink(w.root, link); err != nil {
			w.Skip(err)
		}
		w.root = link
		w.begin().save("api/v1/more.go", "package more")
		w.expect("api/v1/more.go")
	})
}

// TestBranch: another branch of git is one batch, and so is the way back.
func TestBranch(t *testing.T) {
	eachWay(t, func(w *watching) {
		git := func(args ...string) {
			w.Helper()
			args = append([]string{"-C", w.root, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
			if out, err := exec.CommandContext(w.Context(), "git", args...).CombinedOutput(); err != nil {
				w.Fatalf("%v\n%s", err, out)
			}
		}
		git("init", "-q", "-b", "main")
		git("add", ".")
		git("commit", "-qm", "one")
		git("checkout", "-qb", "other")
		var names []string
		for i := range 200 {
			names = append(names, fmt.Sprintf("pkg%d/sub/file%d.go", i%20, i))
			w.save(names[i], "package sub")
		}
		git("add", ".")
		git("commit", "-qm", "two")
		git("checkout", "-q", "main")
		checkout := func(branch string) func() { return func() { git("checkout", "-q", branch) } }
		for _, got := range w.held(checkout("other"), checkout("main"), checkout("other")) {
			if len(got) != len(names) || !slices.IsSorted(got) {
				w.Errorf("%d files are reported", len(got))
			}
		}
	})
}

// TestAwayAndBack: what went and came back within a batch is in it once, if it has changed; what came and went is not.
// The folder is still watched.
func TestAwayAndBack(t *testing.T) {
	eachWay(t, func(w *watching) {
		got := w.held(func() {
			w.move("api", "away")
			w.move("away", "api")
			w.save("b.go", "package b")
			w.remove("b.go")
			w.remove("a.go")
			w.save("a.go", "package b")
		}, func() { w.save("api/v1/more.go", "package v2") })
		if want := [][]string{{w.path("a.go")}, {w.path("api/v1/more.go")}}; !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			w.Errorf("reported are %q, want %q", got, want)
		}
	})
}

// TestMaxDelay: files that always change are reported nevertheless.
func TestMaxDelay(t *testing.T) {
	eachWay(t, func(w *watching) {
		w.options.Quiet, w.options.MaxDelay = time.Hour, 50*time.Millisecond
		if w.options.Poll {
			w.options.Quiet = time.Millisecond
		}
		ctx, cancel := context.WithCancel(w.Context())
		ended := make(chan struct{})
		ready := make(chan struct{})
		var err error
		go func() {
			defer close(ended)
			err = filewatch.Watch(ctx, w.options, func() { close(ready) }, func([]string) { cancel() })
		}()
		<-ready
		for i := 0; ctx.Err() == nil; i++ {
			w.save("a.go", fmt.Sprint("package a", i))
		}
		<-ended
		w.must(err)
	})
}

// TestFolders: single folders are watched without those below, also before they are there, and until they are no longer
// named. What was in a folder when it was named is not reported.
func TestFolders(t *testing.T) {
	eachWay(t, func(w *watching) {
		module := filepath.Join(w.root, "bin", "module")
		folders := []filewatch.Folder{{Path: w.path("api"), Below: true}, {Path: module}}
		w.options.Folders = func() []filewatch.Folder { return folders }
		w.begin()
		next := func(want ...string) {
			w.Helper()
			for _, name := range want {
				if got := w.batch(); !slices.Equal(got, []string{w.path(name)}) {
					w.Errorf("reported are %q, want %s", got, name)
				}
			}
		}
		w.must(os.MkdirAll(filepath.Join(w.root, "elsewhere", "sub"), 0o755))
		w.must(os.WriteFile(filepath.Join(w.root, "elsewhere", "m.go"), []byte("package m"), 0o600))
		w.must(os.Rename(filepath.Join(w.root, "elsewhere"), module)) // it comes with its files
		next("bin/module/m.go")
		w.save("bin/module/sub/below.go", "package sub")
		w.replace("bin/module/m.go", "package n")
		next("bin/module/m.go")

		folders = []filewatch.Folder{{Path: w.root}, {Path: w.path("api"), Below: true}}
		w.replace("api/types.go", "package n")
		next("api/types.go")
		w.replace("bin/module/m.go", "package o")
		w.replace("a.go", "package n")
		next("a.go")
		w.replace("api/v1/more.go", "package n")
		next("api/v1/more.go")
	})
}

// TestMatters: a file that matters since the last batch is reported when it changes.
func TestMatters(t *testing.T) {
	eachWay(t, func(w *watching) {
		matters := ".go"
		w.options.Matters = func(file string) bool { return strings.HasSuffix(file, matters) }
		folders := w.options.Folders
		w.options.Folders = func() []filewatch.Folder { // in the watcher's goroutine
			if _, err := os.Stat(w.path("md")); err == nil {
				matters = ".md"
			}
			return folders()
		}
		w.save("api/notes.md", "one")
		w.begin()
		w.save("md", "")
		w.replace("a.go", "package b")
		if got := w.batch(); !slices.Equal(got, []string{w.path("a.go")}) {
			w.Errorf("reported are %q", got)
		}
		if w.options.Poll {
			w.replace("api/other.md", "new") // until it is reported, the other one has been read
			if got := w.batch(); !slices.Equal(got, []string{w.path("api/other.md")}) {
				w.Errorf("reported are %q", got)
			}
		}
		w.save("a.go", "package c")
		w.replace("api/notes.md", "two")
		if got := w.batch(); !slices.Equal(got, []string{w.path("api/notes.md")}) {
			w.Errorf("reported are %q", got)
		}
	})
}

// TestWhileWorking: what is written while changed runs, or while work goes on, is reported though it has the same
// bytes.
func TestWhileWorking(t *testing.T) {
	eachWay(t, func(w *watching) {
		ctx, cancel := context.WithCancel(w.Context())
		defer cancel()
		round, busy := 0, false
		w.options.Busy = func() bool { return busy }
		again := func() { w.replace("a.go", "package b") }
		err := filewatch.Watch(ctx, w.options, again, func(files []string) {
			if !slices.Equal(files, []string{w.path("a.go")}) {
				w.Errorf("reported are %q", files)
			}
			switch round++; round {
			case 1:
				again()
			case 2:
				busy = true
				time.AfterFunc(10*w.options.Quiet, again)
			case 3:
				cancel()
			}
		})
		w.must(err)
	})
}

// TestManyFolders: what is beyond the limits is passed over with a warning, and what is within them is watched.
func TestManyFolders(t *testing.T) {
	eachWay(t, func(w *watching) {
		w.options.MaxFolders, w.options.MaxFiles = 3, 4 // the root, api, api/v1; a.go, types.go, more.go, last.go
		w.save("last.go", "")
		w.save("later/b.go", "package b")
		w.save("z.go", "package b")
		w.begin()
		w.replace("later/b.go", "package c")
		w.replace("api/v1/more.go", "package c")
		w.expect("api/v1/more.go")
		texts := strings.Join(w.texts(), "\n")
		if strings.Count(texts, "not all folders are watched") != 1 || strings.Count(texts, "not all files are watched") != 1 {
			w.Errorf("the warnings are\n%s", texts)
		}
	})
}

// TestDeep: folders are followed to a limit, and not to the end of a path.
func TestDeep(t *testing.T) {
	eachWay(t, func(w *watching) {
		deep := strings.Repeat("d/", 70)
		w.save(deep+"b.go", "package b")
		w.begin().save(deep+"b.go", "package c")
		w.expect()
		w.save(strings.Repeat("d/", 60)+"b.go", "package c")
		w.expect(strings.Repeat("d/", 60) + "b.go")
	})
}

// TestNotes: that files are polled is reported, with the reason, and nothing is reported otherwise.
func TestNotes(t *testing.T) {
	eachWay(t, func(w *watching) {
		w.begin()
		want := []string{"looking for changed files every 20ms: as requested"}
		if !w.options.Poll {
			want = nil
		}
		if got := w.texts(); !slices.Equal(got, want) {
			w.Errorf("notes are %q", got)
		}
	})
}
