package generate

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/generation"
)

var (
	slipwayFlag = flag.String("slipway", "", "a slipway program to test; it is built when empty")
	peerFlag    = flag.String("controller-gen", "", "a controller-gen program; it is built when empty")
)

// drawSeed is what all draws depend on. The flags -seed and -mutants say which
// numbers of the endless row of packages are drawn.
const drawSeed = 23

// testPrograms are the programs that the flags name, or both newly built.
func testPrograms(t *testing.T) generation.Programs {
	t.Helper()
	if *slipwayFlag != "" && *peerFlag != "" {
		return generation.Programs{Slipway: *slipwayFlag, Peer: *peerFlag}
	}
	p, err := generation.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if *versionFlag != "" {
		if p.Peer, err = controllerGen(t.Context(), t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// outcome is how a program ended and what it told.
type outcome struct {
	code   int
	output string
}

// crashed reports whether the program, which is written in Go, ended by a panic.
func (o outcome) crashed() bool {
	return strings.Contains(o.output, "\ngoroutine ")
}

// execute runs a program in dir, without network.
func execute(ctx context.Context, t *testing.T, dir, program string, args ...string) outcome {
	t.Helper()
	return executeIn(ctx, t, dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off"), program, args...)
}

// executeIn runs a program in dir with an environment.
func executeIn(ctx context.Context, t *testing.T, dir string, environment []string, program string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, environment
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", cmd, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), output.String()}
}

// module makes a folder a module that may import whatever the repository's root
// module does, so that nothing is downloaded.
func module(t *testing.T, dir, path string) {
	t.Helper()
	root, err := build.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(goMod), "\n")
	goSum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"go.mod": "module " + path + "\n" + rest, "go.sum": string(goSum)})
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tempPackages is a module with drawn packages, which one generator runs on.
type tempPackages struct {
	generation.Programs
	dir       string
	generator string // with its options
	pkgs      []string
	files     map[string]map[string]string
	// stricter reports whether we may refuse, with what we said, what controller-gen takes. Without it we may not.
	stricter func(said string) bool
}

// fill draws packages and writes them to the folder "pool".
func (b *tempPackages) fill(t *testing.T, first, count int, draw func(seed uint64, number int) map[string]string) {
	t.Helper()
	b.files = make(map[string]map[string]string)
	for number := first; number < first+count; number++ {
		name := packageNumber(number)
		b.files[name] = draw(drawSeed, number)
		writeFiles(t, filepath.Join(b.dir, "pool", name), b.files[name])
		b.pkgs = append(b.pkgs, name)
	}
}

// run runs the generator on packages, with the words before its arguments. For
// the time they lie in one folder: controller-gen loads what a path names anew
// for each path.
func (b *tempPackages) run(t *testing.T, program string, pkgs []string, words ...string) outcome {
	t.Helper()
	b.move(t, pkgs, "pool", "run")
	defer b.move(t, pkgs, "run", "pool")
	return execute(t.Context(), t, b.dir, program, append(words, b.generator, "paths=./run/...")...)
}

func (b *tempPackages) move(t *testing.T, pkgs []string, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(b.dir, to), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range pkgs {
		if err := os.Rename(filepath.Join(b.dir, from, name), filepath.Join(b.dir, to, name)); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	// messagePackage finds the package that a message of controller-gen speaks of.
	messagePackage = regexp.MustCompile(`(?m)^(?:.*/)?(p\d{4,})(?:/[^/:]*)?:.*$`)
	// ownPlace is a position in a drawn package as we tell it.
	ownPlace = regexp.MustCompile(`(p\d{4,})/\w+\.go:\d+:\d+`)
)

// peerFails runs controller-gen and finds which packages it fails on, with its
// message. A package on which it crashes is found by halves.
func (b *tempPackages) peerFails(t *testing.T, pkgs []string) (failing map[string]string, crashing map[string]bool) {
	t.Helper()
	failing, crashing = make(map[string]string), make(map[string]bool)
	switch o := b.run(t, b.Peer, pkgs); {
	case o.code == 0:
	case !o.crashed():
		for _, m := range messagePackage.FindAllStringSubmatch(o.output, -1) {
			failing[m[1]] += m[0] + "\n"
		}
		if len(failing) == 0 && len(pkgs) > 1 {
			t.Fatalf("controller-gen failed on no package:\n%s", o.output)
		}
	case len(pkgs) == 1:
		crashing[pkgs[0]] = true
	default:
		for _, half := range [][]string{pkgs[:len(pkgs)/2], pkgs[len(pkgs)/2:]} {
			f, c := b.peerFails(t, half)
			for name, message := range f {
				failing[name] = message
			}
			for name := range c {
				crashing[name] = true
			}
		}
	}
	return failing, crashing
}

// check makes sure that we fail where controller-gen does and returns the other
// packages.
func (b *tempPackages) check(t *testing.T, failing map[string]string) []string {
	t.Helper()
	var good []string
	for _, name := range b.pkgs {
		switch message, fails := failing[name]; {
		case !fails:
			good = append(good, name)
		case message != "crash":
			b.mustFail(t, name, message)
		}
	}
	return good
}

// onlyUnused reports whether controller-gen complains of nothing but imports
// that are missing. It looks for them also where nothing is generated from.
func onlyUnused(message string) bool {
	for line := range strings.Lines(message) {
		if !strings.Contains(line, "use of unimported package") {
			return false
		}
	}
	return true
}

func (b *tempPackages) mustFail(t *testing.T, name, message string) {
	t.Helper()
	switch o := b.run(t, b.Slipway, []string{name}, "controller-gen"); {
	case o.crashed():
		t.Errorf("%s: we crash:\n%s\n%s", name, o.output, describeFiles(b.files[name]))
	case o.code == 0 && !onlyUnused(message):
		t.Errorf("%s: controller-gen fails, we do not: %s\n%s", name, message, describeFiles(b.files[name]))
	case o.code > 1, o.code == 1 && !ownPlace.MatchString(o.output):
		t.Errorf("%s: status %d and no finding with a place:\n%s", name, o.code, o.output)
	}
}

// mustEnd: where controller-gen crashes we tell something or write something.
func (b *tempPackages) mustEnd(t *testing.T, name string) {
	t.Helper()
	if o := b.run(t, b.Slipway, []string{name}, "controller-gen"); o.crashed() || o.code > 1 {
		t.Errorf("%s: status %d:\n%s\n%s", name, o.code, o.output, describeFiles(b.files[name]))
	}
}

// tellWrongFailures tells on which packages we fail and controller-gen does not,
// and returns the others. A message of controller-gen about another package's
// type does not name the package that it fails on, so it is asked again.
func (b *tempPackages) tellWrongFailures(t *testing.T, good []string, sure bool) []string {
	t.Helper()
	var rest []string
	for name := range slices.Values(good) {
		o := b.run(t, b.Slipway, []string{name}, "controller-gen")
		switch {
		case o.code == 0:
			rest = append(rest, name)
		case b.stricter != nil && b.stricter(o.output):
		case sure || b.run(t, b.Peer, []string{name}).code == 0:
			t.Errorf("%s: we fail, controller-gen does not:\n%s\n%s", name, o.output, describeFiles(b.files[name]))
		}
	}
	return rest
}

// diffText shows the first lines in which two contents differ.
func diffText(t *testing.T, peers, ours []byte) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"peers": string(peers), "ours": string(ours)})
	return diff(filepath.Join(dir, "peers"), filepath.Join(dir, "ours"))
}
